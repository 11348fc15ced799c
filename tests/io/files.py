"""What the tests of all formats share: small files, and what a file should hold."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clmst.core.errors import FileFormatError
from clmst.core.graph import Graph
from clmst.io import read_graph, write_graph
from clmst.io.registry import FORMATS, Format
from tests.helpers.strategies import EdgeArrays

GRAPH_FORMATS = [each for each in FORMATS if each.reader and each.writer]
FORMAT_OF = {each.name: each for each in FORMATS}

INTEGERS = tuple(
    np.dtype(name) for name in ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
)
SHORT_INTEGERS = tuple(np.dtype(name) for name in ("bool", "i1", "i2", "i4", "u1", "u2"))


def weights_of(raw: EdgeArrays, chosen: Format) -> EdgeArrays:
    """Return `raw` with weights that a file of the chosen format can hold."""
    w = raw.w
    if chosen.name == "ecl" and w.dtype not in SHORT_INTEGERS:
        w = np.arange(w.size, dtype=np.int32) % 7 - 3
    if chosen.name == "metis":
        w = np.maximum(w, 1) if w.dtype in INTEGERS else np.arange(w.size) % 7 + 1
    return raw._replace(w=w)


def lightest(raw: EdgeArrays) -> dict[tuple[int, int], Any]:
    """Return the least weight of each pair of vertices: what any file of the graph holds."""
    least: dict[tuple[int, int], Any] = {}
    for u, v, w in zip(raw.u.tolist(), raw.v.tolist(), raw.w.tolist(), strict=True):
        pair = (min(u, v), max(u, v))
        if u != v and (pair not in least or w < least[pair]):
            least[pair] = w
    return least


def weight_by_edge(graph: Graph) -> dict[tuple[Any, Any], Any]:
    """Return the weight of each edge, by the caller's names of its vertices."""
    u, v, w, _ = graph.edges()
    names = graph.vertex_labels or range(graph.n_vertices)
    triples = zip(u.tolist(), v.tolist(), w.tolist(), strict=True)
    edges = {(names[a], names[b]): weight for a, b, weight in triples}
    assert len(edges) == graph.n_edges, "a file holds no pair of vertices twice"
    return edges


def written(graph: Graph, chosen: Format) -> bytes:
    """Return the bytes of a file."""
    stream = BytesIO()
    write_graph(graph, stream, format=chosen.name)
    return stream.getvalue()


def parse(folder: Path, suffix: str, text: str | bytes) -> Graph:
    """Read a file of the given suffix and contents."""
    path = folder / f"file{suffix}"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_graph(path)


def refuses(folder: Path, suffix: str, text: str | bytes, message: str) -> None:
    """Check that reading such a file fails with one error that names it and says `message`."""
    with pytest.raises(FileFormatError, match=re.escape(message)) as failure:
        parse(folder, suffix, text)
    assert str(failure.value).startswith(f"{folder / f'file{suffix}'}: ")


def explicit(layout: str, values: str, n: int = 3) -> str:
    return (
        f"DIMENSION: {n}\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {layout}\n"
        f"DISPLAY_DATA_SECTION\n1 2 3\nEDGE_WEIGHT_SECTION\n{values}\nEOF\n"
    )
