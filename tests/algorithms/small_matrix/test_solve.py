"""Small matrices solved in one launch: the same forest as the usual way, and the same errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.sparse import csgraph as scipys

import clmst
from clmst import Device, Forest, Graph, InvalidGraphError, families
from clmst.algorithms import direct
from clmst.algorithms.families import SMALL_MATRIX
from clmst.algorithms.small_matrix import solve as small_matrix
from clmst.core.kruskal import forest_of_matrix
from clmst.runtime.kernel_family import Case
from tests.helpers.bounds import bounds
from tests.helpers.capabilities import with_capabilities
from tests.helpers.forests import assert_forests, assert_same_forest, solve
from tests.helpers.matrices import any_weights, every_fault, every_spoilt, matrix, with_indices
from tests.helpers.strategies import WEIGHT_DTYPES
from tests.helpers.variants import as_variant
from tests.helpers.wrong_families import WrongFamilies

# SciPy's matrices lack float16.
DTYPES = [dtype for dtype in WEIGHT_DTYPES if dtype != np.float16]


def is_at_once(forest: Forest) -> bool:
    return forest.stats.get("shape") == "serial"


def assert_solved(given: Any, device: Device, *, maximum: bool = False) -> Forest:
    """Check that it is solved at once where the device can, and each part of it is as usual."""
    forest = solve(given, device, maximum=maximum)
    assert is_at_once(forest) == small_matrix.works_on(device)
    assert forest.stats["launches"] == 1 or not is_at_once(forest)
    graph = given if isinstance(given, Graph) else Graph.from_scipy(given)
    assert_same_forest(forest, clmst.kruskal(graph, maximum=maximum))
    usual = solve(given, device, maximum=maximum, algorithm="ecl")
    for name in ("edges", "weights", "edge_ids"):
        assert getattr(forest, name).dtype == getattr(usual, name).dtype
    return forest


@pytest.fixture(autouse=True)
def _equal_weights_too() -> Iterator[None]:
    with bounds(equal_slots=0):
        yield


@pytest.fixture
def serial(device: Device) -> Device:
    """Return a device that works by single work-items in the host's memory."""
    if device.policy.work_group_size != 1 or device.capabilities.host_arrays == "copied":
        pytest.skip("the device goes the usual way")
    return device


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_weights(any_device: Device, dtype: np.dtype) -> None:
    for symmetric in (False, True):
        for maximum in (False, True):
            assert_solved(matrix(symmetric=symmetric, dtype=dtype), any_device, maximum=maximum)


@pytest.mark.parametrize("symmetric", [False, True])
def test_every_device(serial: Device, symmetric: bool) -> None:
    """Those that read and write the host's arrays, and those that are given buffers."""
    assert_solved(matrix(300, symmetric=symmetric), serial)


@pytest.mark.parametrize("n", [1, 2, 3, 17, 400])
def test_sizes(any_device: Device, n: int) -> None:
    for seed in range(4):
        for symmetric in (False, True):
            A = matrix(n, symmetric=symmetric, seed=seed)
            assert_solved(A, any_device)
            assert_solved(with_indices(A, np.int64), any_device, maximum=True)
            assert_solved(sparse.csr_matrix(A), any_device)


@pytest.mark.parametrize("copies", ["its arrays are copied", "it has work-groups"])
def test_device_that_goes_the_usual_way(any_device: Device, copies: str) -> None:
    """Its kernel, which takes the host's arrays where they are, would get null pointers."""
    copied = with_capabilities(any_device, host_arrays="copied")
    device = copied if copies == "its arrays are copied" else as_variant(any_device, "gpu-shape")
    device.trust.given = False
    assert list(families.tested(device, SMALL_MATRIX)) == []
    assert "not for such a device" in str(device.trust.refusal(SMALL_MATRIX, Case()))
    A = matrix(dtype=np.uint32)
    assert small_matrix.solve_matrix(A, device, Case()) is None
    device.trust.given = True
    usual = clmst.minimum_spanning_forest(A, device=device)
    assert not is_at_once(usual)
    assert_same_forest(usual, clmst.kruskal(Graph.from_scipy(A)))


def test_a_long_path_and_a_star(any_device: Device) -> None:
    """Rising weights make one chain of all vertices in the first round; a star has one hub."""
    n = 5000
    vertices = np.arange(n - 1)
    path = sparse.coo_array((np.arange(1.0, n), (vertices, vertices + 1)), shape=(n, n)).tocsr()
    assert assert_solved(path, any_device).stats["rounds"] == 1
    star = sparse.coo_array((np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))), shape=(n, n))
    assert_solved(star.tocsr(), any_device)


def test_zeros_have_one_sign(any_device: Device) -> None:
    A = matrix(200, dtype=np.float32)
    A.data[(A.data == 0) & (np.arange(A.nnz) % 2 == 0)] = -0.0
    assert_solved(A, any_device)


def test_greatest_keys_are_edges(any_device: Device) -> None:
    A = matrix(dtype=np.uint64)
    A.data[:] = 2**64 - 1
    assert_solved(A, any_device)
    A.data[:] = 0
    assert_solved(A, any_device, maximum=True)


def test_read_only_arrays(any_device: Device) -> None:
    A = matrix()
    for array in (A.data, A.indices, A.indptr):
        array.flags.writeable = False
    assert_solved(A, any_device)


def test_a_forest_stays_what_it_is(any_device: Device) -> None:
    """Another solve, or a change of the matrix, does not change it."""
    A, B = matrix(seed=1), matrix(seed=2)
    first, again = (clmst.minimum_spanning_forest(A, device=any_device) for _ in range(2))
    clmst.minimum_spanning_forest(B, device=any_device)
    A.data[:], A.indices[:] = 0, 0
    assert_same_forest(first, again)
    assert first.edges.tolist() == again.edges.tolist()


def test_threads(any_device: Device) -> None:
    given = [matrix(100 + seed, seed=seed) for seed in range(20)]
    with ThreadPoolExecutor(4) as threads:
        found = threads.map(lambda A: clmst.minimum_spanning_forest(A, device=any_device), given)
        for A, forest in zip(given, found, strict=True):
            assert_same_forest(forest, clmst.kruskal(Graph.from_scipy(A)))


# ---------------------------------------------------------------- what goes the usual way


def test_calls_that_go_the_usual_way(any_device: Device) -> None:
    A = matrix()
    named: list[dict[str, Any]] = [
        {"algorithm": "prim"}, {"profile": True}, {"verify": True}, {"keep_on_device": True},
        {"options": clmst.EclOptions()},
    ]  # fmt: skip
    for options in named:
        forest: Any = clmst.minimum_spanning_forest(A, device=any_device, **options)
        assert not is_at_once(forest)


def test_matrices_that_go_the_usual_way(any_device: Device) -> None:
    A = matrix()
    with bounds(small_slots=A.nnz - 1):
        for given in (A, Graph.from_scipy(A)):
            assert not is_at_once(clmst.minimum_spanning_forest(given, device=any_device))
        any_weights(A)
        assert_solved(A, any_device)  # larger ones, if the host would have to sort them
    with bounds(small_slots=A.nnz - 1, small_slots_in_any_order=A.nnz - 1):
        assert not is_at_once(clmst.minimum_spanning_forest(A, device=any_device))
    empty = sparse.csr_array((5, 5))
    assert clmst.minimum_spanning_forest(empty, device=any_device).n_edges == 0


# ------------------------------------------------------------- matrices of any form, and graphs


@every_spoilt
def test_what_is_not_canonical_is_sorted(serial: Device, spoil: Callable[[Any], None]) -> None:
    """The lesser weight of a pair counts, of equal ones the first entry's; ties go to pairs."""
    for seed in range(6):
        A = matrix(symmetric=True, seed=seed)
        spoil(A)
        A.has_sorted_indices = A.has_canonical_format = False
        assert_solved(A, serial)
        assert_forests(A, serial, Graph.from_scipy(A))


@pytest.mark.parametrize("form", ["upper", "both", "any"])
def test_entries_that_are_there_twice(any_device: Device, form: str) -> None:
    """In sorted rows above the diagonal, or below as well, they are parallel edges of a maximum."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        u, v = np.sort(rng.integers(0, 6, (2, 14)), axis=0)
        w = rng.integers(1, 6, 14)
        if form == "both":
            u, v, w = np.append(u, v), np.append(v, u), np.append(w, w)
        order = np.arange(u.size) if form == "any" else np.lexsort((v, u))
        order = order[np.argsort(u[order], kind="stable")]
        starts = np.searchsorted(u[order], np.arange(7))
        A = sparse.csr_array((w[order], v[order], starts), shape=(6, 6))
        assert_forests(A, any_device, Graph.from_scipy(A))
        for maximum in (False, True):
            on_host = forest_of_matrix(A, maximum=maximum)
            if on_host is not None:
                assert_same_forest(on_host, clmst.kruskal(Graph.from_scipy(A), maximum=maximum))


def test_triangles_below_and_both_mixed(any_device: Device) -> None:
    """One direction below the diagonal, and some edges stored once, others twice."""
    upper = matrix(symmetric=False)
    below = sparse.csr_array(upper.T.tocsr())
    mixed = matrix(symmetric=True)
    last = int(np.flatnonzero(np.diff(mixed.indptr))[-1])
    mixed.indptr[last + 1 :] -= 1
    mixed.indices, mixed.data = mixed.indices[:-1], mixed.data[:-1]
    for A in (below, mixed):
        assert_solved(A, any_device)


@every_spoilt
def test_entries_that_scipys_function_takes(
    any_device: Device, spoil: Callable[[Any], None]
) -> None:
    """Every entry is an edge, and of equal weights the first entry wins, whatever its ends."""
    if not small_matrix.works_on(any_device):
        pytest.skip("the device goes the usual way")
    for seed in range(6):
        A = matrix(symmetric=True, seed=seed)
        spoil(A)
        ranks = np.lexsort((np.arange(A.nnz), A.data)).argsort()
        by_rank = sparse.csr_array((ranks + 1.0, A.indices, A.indptr), shape=A.shape)
        expected = np.sort(scipys.minimum_spanning_tree(by_rank).data) - 1
        entries = direct.entries_of(A, any_device)
        assert entries is not None
        assert (np.diff(entries) > 0).all()
        assert np.sort(ranks[entries]).tolist() == expected.tolist()


def test_weights_that_rise_are_joined_in_their_order(any_device: Device) -> None:
    """A tree is complete before all edges have been seen, or never."""
    for n in (2, 40, 400):
        A = matrix(n, symmetric=False)
        for data in (np.ones(A.nnz), np.arange(A.nnz) // 3.0):
            A.data = data
            assert assert_solved(A, any_device).stats["rounds"] == 1


def test_other_formats(any_device: Device) -> None:
    """Edge ids are entries of the matrix in CSR form."""
    for seed in range(4):
        A = matrix(symmetric=True, seed=seed)
        any_weights(A)
        for form in ("coo", "csc", "lil", "dok", "dia", "bsr"):
            assert_solved(A.asformat(form), any_device)
        assert_solved(sparse.coo_matrix(A), any_device)
        spoilt = A.tocoo()
        spoilt.row[7] = 60
        with pytest.raises(InvalidGraphError, match="must be below 60"):
            clmst.minimum_spanning_forest(spoilt, device=any_device)


def test_what_other_libraries_bring(any_device: Device) -> None:
    """It is listed first; so are the edges of a complete graph of few vertices."""
    u, v, w = np.random.default_rng(3).integers(0, 30, (3, 90))
    ends: Any = zip(u.tolist(), v.tolist(), w.tolist(), strict=True)
    network = nx.Graph()
    network.add_weighted_edges_from(ends)
    frame = pd.DataFrame({"source": u, "target": v, "weight": w})
    cells = np.random.default_rng(4).integers(0, 9, (40, 40)).astype(np.float32)
    cells = np.maximum(cells, cells.T)
    listed = (network, frame, np.ma.masked_equal(cells, 3))
    complete = (cells, cells.tolist(), clmst.DenseGraph(cells))
    for given in (*listed, *complete):
        forest = solve(given, any_device)
        assert is_at_once(forest) == small_matrix.works_on(any_device)
        assert_same_forest(forest, clmst.kruskal(given))
    with bounds(small_cells=cells.size - 1):
        assert solve(cells, any_device).stats["algorithm"] == "dense"


def test_graphs(any_device: Device) -> None:
    """With the caller's positions and names, and of parallel edges the lightest."""
    u, v, w = np.random.default_rng(2).integers(0, 30, (3, 200))
    for graph in (
        Graph.from_edges(u, v, w),
        Graph.from_edges(u, v, w).symmetrised(),
        Graph.from_scipy(matrix()),
        Graph.from_edges(u, v, w).replace(vertex_labels=[f"v{k}" for k in range(30)]),
    ):
        for maximum in (False, True):
            forest = assert_solved(graph, any_device, maximum=maximum)
            assert forest.vertex_labels == graph.vertex_labels


@pytest.mark.parametrize("maximum", [False, True])
@pytest.mark.parametrize("dtype", WEIGHT_DTYPES, ids=str)
def test_lists(any_device: Device, dtype: Any, maximum: bool) -> None:
    """Loops, parallel edges, ties and unsorted ends; sparse, and dense enough for a window."""
    rng = np.random.default_rng(4)
    for n, m in ((2, 1), (2, 9), (300, 200), (300, 700), (100, 4000)):
        u, v = rng.integers(0, n, (2, m))
        for values in (2, 40, 1 << 14):
            w = rng.integers(0, values, m).astype(dtype)
            assert_solved(Graph.from_edges(u, v, w, n), any_device, maximum=maximum)


@pytest.mark.parametrize("integer", [np.int8, np.int32, np.uint32, np.int64, np.uint64, ">i4"])
def test_ends_of_lists(any_device: Device, integer: Any) -> None:
    rng = np.random.default_rng(5)
    u, v = rng.integers(0, 90, (2, 900)).astype(integer)
    w = rng.random(900)
    for ends, others, weights in (
        (u, v, w), (u.astype(np.int64), v, w), (u[::2], v[1::2], w[::2]),
        (np.sort(u), v, np.sort(w)), (u[::-1], v, np.zeros(900)),
    ):  # fmt: skip
        assert_solved(Graph.from_edges(ends, others, weights, 90), any_device)


def test_merged_lists(any_device: Device) -> None:
    """Where the lightest of parallel edges count alone, a maximum forest goes the usual way."""
    u, v, w = np.random.default_rng(6).integers(0, 40, (3, 900))
    assert_solved(Graph.from_edges(u, v, w, merge_parallel=True), any_device)
    assert_forests(Graph.from_edges(u, v, w, merge_parallel=True), any_device)


def test_ends_changed_after_their_check(any_device: Device) -> None:
    u, v = np.random.default_rng(7).integers(0, 50, (2, 300))
    graph = Graph.from_edges(u, v, np.ones(300), 50)
    for wrong in (50, -1, 1 << 32):
        u[7] = wrong
        with pytest.raises(InvalidGraphError, match=r"u\[7\] is"):
            clmst.minimum_spanning_forest(graph, device=any_device)


@bounds(small_edges=16, small_slots=16)
def test_long_lists_go_the_usual_way(any_device: Device) -> None:
    u, v = np.random.default_rng(8).integers(0, 50, (2, 300))
    forest = clmst.minimum_spanning_forest(Graph.from_edges(u, v), device=any_device)
    assert not is_at_once(forest)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("symmetric", [False, True])
@every_fault
def test_faults_are_the_hosts_to_name(
    any_device: Device, message: str, spoil: Callable[[Any], None], symmetric: bool, index: Any
) -> None:
    A = with_indices(matrix(symmetric=symmetric), index)
    spoil(A)
    with pytest.raises(InvalidGraphError, match=message):
        clmst.minimum_spanning_forest(A, device=any_device)


def test_upper_words_of_indices_count(any_device: Device) -> None:
    """Narrowed without a look, this column would be a vertex."""
    A = with_indices(matrix(), np.int64)
    A.indices[5] += 1 << 32
    with pytest.raises(InvalidGraphError, match="must be below 60"):
        clmst.minimum_spanning_forest(A, device=any_device)


def test_an_untrusted_device_goes_the_usual_way(any_device: Device, wrong: WrongFamilies) -> None:
    wrong.names = {"small-matrix"}
    solve, device = direct.forest_of, Device(any_device.cl_device)
    assert solve(matrix(), device, maximum=False, host_allowed=False) is None
    assert wrong.tested == ["small-matrix"] * small_matrix.works_on(device)
    on_host = solve(matrix(), device, maximum=False, host_allowed=True)
    assert on_host is not None
    assert on_host.stats["device"] == "host"
