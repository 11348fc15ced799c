"""What every format keeps: round trips, one error for whatever is wrong, no harm done."""

from __future__ import annotations

import gzip
from io import BytesIO
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst.core.errors import ClmstError, FileFormatError, InvalidArgumentError
from clmst.core.graph import Graph
from clmst.generators import generate
from clmst.io import FORMATS, read_forest, read_graph, write_forest, write_graph
from clmst.io.registry import Format, find
from tests.helpers.strategies import LAYOUTS, EdgeArrays, Layout, edge_arrays
from tests.io.files import (
    FORMAT_OF,
    GRAPH_FORMATS,
    lightest,
    refuses,
    weight_by_edge,
    weights_of,
    written,
)

every_format = pytest.mark.parametrize("chosen", GRAPH_FORMATS, ids=lambda each: each.name)
# CSV does not store counts, so missing rows cannot be noticed.
TABLES = {"csv", "tsv"}
COUNTED = [each for each in GRAPH_FORMATS if each.name not in TABLES]

ROADS = EdgeArrays(
    n=40,
    u=np.arange(39),
    v=np.arange(39) // 3 + np.arange(39) % 3 // 2 * 20 + 1,
    w=np.arange(39) * 37 % 101 + 1,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("contract")


def contents(data: bytes, chosen: Format) -> object:
    """Return the part of a file that is equal in equal files. An archive also contains the time."""
    if chosen.name != "npz":
        return data
    with np.load(BytesIO(data)) as arrays:
        return {name: array.tobytes() for name, array in arrays.items()}


def roads(chosen: Format) -> bytes:
    return written(ROADS.graph(), chosen)


# ---------------------------------------------------------------------- round trips


@every_format
@given(raw=edge_arrays(), layout=st.sampled_from(LAYOUTS), end=st.sampled_from(["", ".gz"]))
def test_a_file_gives_back_the_graph(
    folder: Path, chosen: Format, raw: EdgeArrays, layout: Layout, end: str
) -> None:
    """Vertices, edges and weights; of parallel edges the lightest; no self-loops."""
    raw = weights_of(raw, chosen)
    path = folder / f"graph{chosen.suffixes[0]}{end}"
    write_graph(raw.graph(layout), path)
    graph = read_graph(path)
    assert graph.n_vertices == raw.n
    assert graph.vertex_labels is None
    assert weight_by_edge(graph) == lightest(raw)
    if graph.n_edges:
        assert (graph.weights.dtype.kind == "f") == (raw.w.dtype.kind == "f")


@every_format
@given(raw=edge_arrays())
def test_writing_what_was_read_gives_the_same_file(chosen: Format, raw: EdgeArrays) -> None:
    first = written(weights_of(raw, chosen).graph(), chosen)
    second = written(read_graph(BytesIO(first), format=chosen.name), chosen)
    assert contents(second, chosen) == contents(first, chosen)


@every_format
@pytest.mark.parametrize("n", [0, 1, 5])
def test_graphs_without_edges(tmp_path: Path, chosen: Format, n: int) -> None:
    path = tmp_path / f"graph{chosen.suffixes[0]}"
    write_graph(Graph.from_edges([], [], [], n_vertices=n), path)
    graph = read_graph(path)
    assert (graph.n_vertices, graph.n_edges) == (n, 0)


@every_format
def test_every_suffix_is_read_and_written(tmp_path: Path, chosen: Format) -> None:
    for suffix in chosen.suffixes:
        path = tmp_path / f"graph{suffix.upper()}.GZ"
        write_graph(ROADS.graph(), path)
        assert path.read_bytes()[:2] == b"\x1f\x8b"
        assert weight_by_edge(read_graph(path)) == lightest(ROADS)
    write_graph(ROADS.graph(), path := tmp_path / "roads", format=chosen.name)  # its name overrules
    for graph in (read_graph(str(path), format=chosen.name), Graph.read(path, format=chosen.name)):
        assert weight_by_edge(graph) == lightest(ROADS)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.array([True, False]), ["1", "0"]),
        (np.array([2**64 - 1, 0], np.uint64), ["18446744073709551615", "0"]),
        (np.array([0.1, np.inf]), ["0.1", "inf"]),
        (np.array([0.1, -0.0], np.float32), ["0.10000000149011612", "-0.0"]),
        (np.array([0.1, 6e-8], np.float16), ["0.0999755859375", "5.960464477539063e-08"]),
    ],
)
def test_weights_are_written_exactly(weights: np.ndarray, words: list[str]) -> None:
    text = written(Graph.from_edges([0, 1], [1, 2], weights), FORMAT_OF["edge-list"]).decode()
    assert [line.split()[2] for line in text.splitlines()[1:]] == words


def test_more_rows_than_are_written_at_once() -> None:
    graph = generate("path", n=70_000)
    back = read_graph(BytesIO(written(graph, FORMAT_OF["edge-list"])), format="edge-list")
    assert np.array_equal(back.weights, graph.weights)


@pytest.mark.parametrize("form", ["a{}", "b.c{}", "A{}.gz", "/x.gz/y{}"])
def test_every_suffix_means_one_format(tmp_path: Path, form: str) -> None:
    """Of a path, or as the name of a format; in any case, and with or without its dot."""
    assert len({each.name for each in FORMATS}) == len(FORMATS)
    for each in FORMATS:
        for suffix in each.suffixes:
            assert suffix == suffix.lower()
            for one in (suffix, suffix.upper()):
                assert find(Path(form.format(one)), None) is each
                assert find(tmp_path / "roads.xyz", one) is each
                assert find(tmp_path / "roads.xyz", one.removeprefix(".")) is each


@pytest.mark.parametrize(
    ("path", "name", "fact"),
    [
        ("roads.xyz", None, "suffix '.xyz'"),
        ("roads", None, "suffix ''"),
        ("roads.gz", None, "suffix ''"),
        ("roads.gr", "dimax", "no format 'dimax'"),
    ],
)
def test_unknown_formats_are_refused_with_the_known_ones(
    path: str, name: str | None, fact: str
) -> None:
    with pytest.raises(InvalidArgumentError) as failure:
        read_graph(path, format=name)
    assert fact in str(failure.value)
    assert "dimacs (.gr), steinlib (.stp), matrix-market (.mtx)" in str(failure.value)


def test_formats_say_what_they_cannot_do(tmp_path: Path) -> None:
    graph = Graph.from_edges([0], [1])
    with pytest.raises(
        InvalidArgumentError, match="no graph in format json; the format must be one of dimacs"
    ):
        read_graph(tmp_path / "a.json")
    with pytest.raises(
        InvalidArgumentError, match="no graph in format json; the format must be one of dimacs"
    ):
        write_graph(graph, tmp_path / "a.json")
    with pytest.raises(InvalidArgumentError, match="reads no forest in format json"):
        read_forest(tmp_path / "a.json", graph)
    forest_formats = "matrix-market, npz, edge-list, csv, tsv, parquet, json"
    with pytest.raises(
        InvalidArgumentError, match=f"metis; the format must be one of {forest_formats}$"
    ):
        write_forest(None, tmp_path / "a.graph")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------ bad input


@pytest.mark.parametrize("chosen", COUNTED, ids=lambda each: each.name)
@pytest.mark.parametrize("end", ["", ".gz"], ids=["plain", "gz"])
def test_a_truncated_file_is_refused(tmp_path: Path, chosen: Format, end: str) -> None:
    data = roads(chosen)
    for kept in (0.02, 0.2, 0.5, 0.8, 0.95):
        part = data[: int(len(data) * kept)]
        part = gzip.compress(part) if end else part
        refuses(tmp_path, f"{chosen.suffixes[0]}{end}", part, ": ")


@every_format
def test_a_compressed_file_without_gz_is_refused(tmp_path: Path, chosen: Format) -> None:
    refuses(tmp_path, chosen.suffixes[0], gzip.compress(roads(chosen)), ": ")


@pytest.mark.parametrize(
    ("label", "content"),
    [
        pytest.param(label, content, id=f"{content.name} called {label.suffixes[0]}")
        for label, content in permutations(GRAPH_FORMATS, 2)
        # Both are called .gr; an edge list may be called .csv, and so may a table with tabs.
        if (label.name, content.name) != ("dimacs", "steinlib")
        and not (label.name in TABLES and content.name in {"edge-list", *TABLES})
    ],
)
def test_a_mislabelled_file_is_refused(tmp_path: Path, label: Format, content: Format) -> None:
    refuses(tmp_path, label.suffixes[0], roads(content), ": ")


@every_format
def test_missing_empty_and_unreadable_files(tmp_path: Path, chosen: Format) -> None:
    path = tmp_path / f"roads{chosen.suffixes[0]}"
    for kind in (FileNotFoundError, InvalidArgumentError, ValueError, ClmstError):
        with pytest.raises(kind, match=f"^no such file: {path}$"):
            read_graph(path)
    path.touch()
    with pytest.raises(FileFormatError, match="the file is empty"):
        read_graph(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(InvalidArgumentError, match="is a directory"):
        read_graph(path)


# -------------------------------------------------------------------------- no harm


@pytest.mark.parametrize("suffix", [".graph", ".egr.gz"])
def test_a_failed_write_keeps_the_old_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"roads{suffix}"
    write_graph(ROADS.graph(), path)
    before = path.read_bytes()
    with pytest.raises(InvalidArgumentError):
        write_graph(Graph.from_edges([0], [1], [0.5]), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
