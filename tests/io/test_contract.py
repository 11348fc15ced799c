"""What every format keeps: round trips, one error for whatever is wrong, no harm done."""

from __future__ import annotations

import gzip
from contextlib import suppress
from io import BytesIO
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst.core.errors import FileFormatError, InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.io import read_graph, write_graph
from clmst.io.registry import Format
from tests.io.files import FORMAT_OF, GRAPH_FORMATS, lightest, weight_by_edge, weights_of, written
from tests.strategies import LAYOUTS, EdgeArrays, Layout, edge_arrays

every_format = pytest.mark.parametrize("chosen", GRAPH_FORMATS, ids=lambda each: each.name)
# CSV has no place for counts, so nobody can see that rows are missing.
COUNTED = [each for each in GRAPH_FORMATS if each.name != "csv"]
either_way = pytest.mark.parametrize("end", ["", ".gz"], ids=["plain", "gz"])

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
    """Return what must be equal in equal files; an archive also has the time in it."""
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
@either_way
@pytest.mark.parametrize("n", [0, 1, 5])
def test_graphs_without_edges(tmp_path: Path, chosen: Format, end: str, n: int) -> None:
    path = tmp_path / f"graph{chosen.suffixes[0]}{end}"
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


@every_format
def test_the_name_of_a_format_overrules_the_suffix(tmp_path: Path, chosen: Format) -> None:
    path = tmp_path / "roads"
    write_graph(ROADS.graph(), path, format=chosen.name)
    assert weight_by_edge(read_graph(str(path), format=chosen.name)) == lightest(ROADS)
    assert weight_by_edge(Graph.read(path, format=chosen.name)) == lightest(ROADS)


# ------------------------------------------------------------------------ bad input


@pytest.mark.parametrize("chosen", COUNTED, ids=lambda each: each.name)
@either_way
@pytest.mark.parametrize("kept", [0.02, 0.2, 0.5, 0.8, 0.95])
def test_a_truncated_file_is_refused(tmp_path: Path, chosen: Format, end: str, kept: float) -> None:
    data = roads(chosen)
    data = data[: int(len(data) * kept)]
    path = tmp_path / f"roads{chosen.suffixes[0]}{end}"
    path.write_bytes(gzip.compress(data) if end else data)
    with pytest.raises(FileFormatError) as failure:
        read_graph(path)
    assert str(failure.value).startswith(f"{path}: ")


@every_format
def test_a_cut_gzip_file_is_refused(tmp_path: Path, chosen: Format) -> None:
    path = tmp_path / f"roads{chosen.suffixes[0]}.gz"
    data = gzip.compress(roads(chosen))
    for kept in (1, 10, 11, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:kept])
        with pytest.raises(FileFormatError, match="cannot be decompressed"):
            read_graph(path)


@every_format
def test_a_file_that_is_not_compressed_is_no_gz_file(tmp_path: Path, chosen: Format) -> None:
    path = tmp_path / f"roads{chosen.suffixes[0]}.gz"
    path.write_bytes(roads(chosen))
    with pytest.raises(FileFormatError, match="Not a gzipped file"):
        read_graph(path)


@every_format
def test_a_compressed_file_without_gz_is_refused(tmp_path: Path, chosen: Format) -> None:
    path = tmp_path / f"roads{chosen.suffixes[0]}"
    path.write_bytes(gzip.compress(roads(chosen)))
    with pytest.raises(FileFormatError):
        read_graph(path)


@pytest.mark.parametrize(
    ("label", "content"),
    [
        pytest.param(label, content, id=f"{content.name} called {label.suffixes[0]}")
        for label, content in permutations(GRAPH_FORMATS, 2)
        # Both are called .gr; an edge list may be called .csv.
        if (label.name, content.name) not in {("dimacs", "steinlib"), ("csv", "edge-list")}
    ],
)
def test_a_mislabelled_file_is_refused(tmp_path: Path, label: Format, content: Format) -> None:
    path = tmp_path / f"roads{label.suffixes[0]}"
    path.write_bytes(roads(content))
    with pytest.raises(FileFormatError):
        read_graph(path)


@every_format
def test_missing_empty_and_unreadable_files(tmp_path: Path, chosen: Format) -> None:
    path = tmp_path / f"roads{chosen.suffixes[0]}"
    with pytest.raises(InvalidArgumentError, match=f"^no such file: {path}$"):
        read_graph(path)
    path.touch()
    with pytest.raises(FileFormatError, match="the file is empty"):
        read_graph(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(InvalidArgumentError, match="is a directory"):
        read_graph(path)


@every_format
@given(data=st.data())
def test_damage_is_a_file_format_error_or_another_graph(
    folder: Path, chosen: Format, data: Any
) -> None:
    """Whatever bytes a file holds, reading it raises nothing else and never crashes."""
    original = roads(chosen)
    at = data.draw(st.integers(0, len(original) - 1), label="at")
    old = data.draw(st.integers(0, 3), label="bytes taken out")
    new = data.draw(st.binary(max_size=2), label="bytes put in")
    damaged = original[:at] + new + original[at + old :]
    path = folder / f"damaged{chosen.suffixes[0]}"
    path.write_bytes(damaged)
    with suppress(FileFormatError):
        assert read_graph(path).n_edges <= ROADS.u.size + 1


# -------------------------------------------------------------------------- no harm


@pytest.mark.parametrize("name", ["metis", "ecl"])
@either_way
def test_a_failed_write_keeps_the_old_file(tmp_path: Path, name: str, end: str) -> None:
    path = tmp_path / f"roads{FORMAT_OF[name].suffixes[0]}{end}"
    write_graph(ROADS.graph(), path)
    before = path.read_bytes()
    with pytest.raises(InvalidArgumentError):
        write_graph(Graph.from_edges([0], [1], [0.5]), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


# ----------------------------------------------------------------------- real graphs


@pytest.mark.parametrize(
    ("name", "n", "m", "components"),
    [
        ("USA-road-d.NY.gr.gz", 264_346, 365_050, 1),
        ("rome99.gr", 3_353, 4_444, 22),
        ("monaco.highways.gr.gz", 4_709, 5_093, 19),
        ("T3_instance080.gr.gz", 666, 221_445, 1),
        ("delaunay_n14.mtx.gz", 16_384, 49_122, 1),
        ("bcsstk13.mtx.gz", 2_003, 40_940, 1),
        ("PGPgiantcompo.graph", 10_680, 24_316, 1),
        ("astro-ph.graph.gz", 16_706, 121_251, 1_029),
        ("p2p-Gnutella31.txt.gz", 62_586, 147_892, 12),
        ("wiki-Vote.txt.gz", 7_115, 100_762, 24),
        ("tinyEWG.txt", 8, 16, 1),
        ("mediumEWG.txt", 250, 1_273, 1),
        ("karate.csv", 34, 78, 1),
        ("netscience.csv", 1_461, 2_742, 268),
    ],
)
def test_real_graphs(shared_data: Path, name: str, n: int, m: int, components: int) -> None:
    graph = read_graph(shared_data / name)
    assert (graph.n_vertices, graph.n_edges) == (n, m)
    assert kruskal(graph).n_components == components


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("USA-road-d.NY.gr.gz", 261_159_288),
        ("rome99.gr", 1_215_457),
        ("monaco.highways.gr.gz", 6_575_333),
        ("T3_instance080.gr.gz", 255_251),
        ("delaunay_n14.mtx.gz", 16_383),
        ("tinyEWG.txt", 1.81),
        ("mediumEWG.txt", 10.46351),
        ("karate.csv", 33),
        ("netscience.csv", 554.3975334),
    ],
)
def test_published_weights(shared_data: Path, name: str, total: float) -> None:
    assert kruskal(read_graph(shared_data / name)).total_weight == pytest.approx(total, rel=1e-12)
