"""Matrix Market files, beside SciPy's reader and writer."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from scipy.io import mmread, mmwrite

from clmst.core.graph import Graph
from tests.io.files import FORMAT_OF, lightest, parse, refuses, weight_by_edge, written
from tests.strategies import EdgeArrays, edge_arrays

BANNER = "%%MatrixMarket matrix coordinate real general\n"
GOOD = BANNER + "% a comment\n\n3 3 3\n1 2 0.5\n2 1 0.25\n3 3 -1\n"


def test_both_triangles_are_one_edge_and_the_diagonal_none(tmp_path: Path) -> None:
    graph = parse(tmp_path, ".mtx", GOOD)
    assert graph.n_vertices == 3
    assert weight_by_edge(graph) == {(0, 1): 0.25}


@pytest.mark.parametrize(
    ("banner", "entries", "dtype"),
    [
        ("pattern symmetric", "2 1\n3 1\n", np.uint8),
        ("integer symmetric", "2 1 1\n3 1 1\n", np.int64),
        ("Real General", "2 1 1\n3 1 1\n", np.float64),
        ("unsigned-integer general", "2 1 1\n1 3 1\n", np.int64),
    ],
)
def test_fields(tmp_path: Path, banner: str, entries: str, dtype: type) -> None:
    text = f"%%MatrixMarket matrix coordinate {banner}\n3 3 2\n{entries}"
    graph = parse(tmp_path, ".mtx", text)
    assert graph.weights.dtype == dtype
    assert weight_by_edge(graph) == {(0, 1): 1, (0, 2): 1}


@given(edge_arrays())
def test_scipy_reads_what_is_written(raw: EdgeArrays) -> None:
    """Its reader expands the symmetric matrix."""
    if raw.w.dtype == np.uint64 and (raw.w >= 1 << 63).any():
        raw = raw._replace(w=raw.w >> np.uint64(1))
    matrix = sparse.coo_array(mmread(BytesIO(written(raw.graph(), FORMAT_OF["matrix-market"]))))
    assert matrix.shape == (raw.n, raw.n)
    found = zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)
    assert {(u, v): w for u, v, w in found if u < v} == lightest(raw)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64, np.float32])
def test_what_scipy_writes_is_read(tmp_path: Path, dtype: type) -> None:
    rng = np.random.default_rng(5)
    u, v = rng.integers(0, 30, (2, 200))
    matrix = sparse.coo_array((rng.random(200) * 1e6, (u, v)), shape=(30, 30)).astype(dtype)
    matrix.sum_duplicates()
    mmwrite(tmp_path / "file.mtx", matrix, symmetry="general")
    graph = parse(tmp_path, ".mtx", (tmp_path / "file.mtx").read_bytes())
    expected = Graph.from_scipy(matrix)
    if dtype == np.float32:  # written as its own shortest decimals
        graph = graph.replace(weights=graph.weights.astype(dtype))
    assert weight_by_edge(graph) == weight_by_edge(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p sp 3 1\na 1 2 3\n", "line 1: 'p sp 3 1' is not the banner"),
        ("%%MatrixMarket matrix coordinate real\n", "line 1: '%%matrixmarket matrix coordinate"),
        (BANNER.replace("coordinate", "array") + "2 2\n1\n2\n3\n4\n", "the matrix is dense"),
        (BANNER.replace("real", "complex") + "2 2 0\n", "line 1: the matrix is complex general"),
        (BANNER.replace("real general", "complex hermitian") + "2 2 0\n", "complex hermitian"),
        (BANNER.replace("general", "skew-symmetric") + "2 2 0\n", "the matrix is real skew-symm"),
        (BANNER, "there is no line of sizes"),
        (BANNER + "3 3\n1 2 3\n", "line 2: '3 3' has 2 fields"),
        (BANNER + "3 4 0\n", "line 2: the matrix is 3 x 4; an adjacency matrix must be square"),
        (BANNER + "3 3 -1\n", "line 2: the header says '-1'"),
        (BANNER + "3 3 99999999999999\n1 2 3\n", "line 2: the header declares 3 vertices and 9999"),
        (GOOD.replace("3 3 3", "3 3 4"), "declares 4 entries but the file holds 3"),
        (GOOD.replace("3 3 3", "3 3 2"), "declares 2 entries but the file holds 3"),
        (GOOD.replace("3 3 -1", "4 3 -1"), "line 7: '4' is not a vertex number; they end at 3"),
        (GOOD.replace("3 3 -1", "0 3 -1"), "line 7: '0' is not a vertex number; they start at 1"),
        (GOOD.replace("3 3 -1", "3 3 x"), "line 7: 'x' is not a number"),
        (GOOD.replace("3 3 -1", "3 2 NaN"), "line 7: 'NaN' is the weight of edge (3, 2)"),
        (GOOD.replace("3 3 -1", "3 3 -1 0"), "line 7: the edge has 4 fields; it must have 3"),
        (GOOD.replace("3 3 -1", "3 3"), "line 7: the edge has 2 fields; it must have 3"),
        (GOOD.replace("3 3 -1", "3 3 1e400"), "line 7: '1e400' is beyond the range"),
        (GOOD.replace("real", "integer"), "the matrix is integer but entry 1, (1, 2), is 0.5"),
        (GOOD.replace("real", "pattern"), "the matrix is pattern but its entries have 3 fields"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    refuses(tmp_path, ".mtx", text, message)


def test_integers_that_need_it_are_written_unsigned(tmp_path: Path) -> None:
    big = np.array([2**64 - 1], np.uint64)
    data = written(Graph.from_edges([0], [1], big), FORMAT_OF["matrix-market"])
    assert data.startswith(b"%%MatrixMarket matrix coordinate unsigned-integer symmetric\n")
    assert weight_by_edge(parse(tmp_path, ".mtx", data)) == {(0, 1): 2**64 - 1}
