"""dense: matrices, points, and any graph by way of its matrix."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import Delaunay

import clmst
from clmst import DenseGraph, DenseOptions, Device, DeviceMatrix, EclOptions, Graph, Points
from clmst.algorithms import families
from clmst.algorithms.solving import most_vertices
from clmst.core.errors import (
    InvalidArgumentError,
    InvalidGraphError,
    OutOfDeviceMemoryError,
)
from clmst.core.weight_keys import Array
from clmst.runtime.verdicts import Verdict
from tests.helpers import forests
from tests.helpers.bounds import bounds
from tests.helpers.caches import use_own_cache
from tests.helpers.capabilities import with_capabilities
from tests.helpers.forests import assert_forests, assert_same_forest, random_graph
from tests.helpers.strategies import WEIGHT_DTYPES, special_weights

solve = partial(forests.solve, algorithm="dense")


def matrix(n: int, dtype: np.dtype[Any], *, seed: int = 1) -> np.ndarray:
    """Return a symmetric matrix of small and special weights, with many ties."""
    rng = np.random.default_rng(seed)
    values = np.concatenate([special_weights(dtype), rng.integers(0, 2, 5).astype(dtype)])
    upper = np.triu(rng.choice(np.arange(values.size), (n, n)))
    weights: Array = values[np.maximum(upper, upper.T)]
    return weights


# -------------------------------------------------------------------------- matrices


@pytest.mark.parametrize("dtype", WEIGHT_DTYPES, ids=str)
def test_matrix_of_every_dtype(any_device: Device, dtype: np.dtype[Any]) -> None:
    """The least and the greatest weight of a dtype are weights like others; so are zeros."""
    assert_forests(DenseGraph(matrix(270, dtype)), any_device, algorithm="dense")


def square(n: int, most: int = 40, times: float = 1) -> Array:
    """Return a symmetric matrix of random integers below a bound, times a factor."""
    weights = np.random.default_rng(n).integers(0, most, (n, n), dtype=np.int32)
    return np.maximum(weights, weights.T) * times if times != 1 else np.maximum(weights, weights.T)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 17, 255, 256, 257, 600])
def test_sizes_around_blocks(device: Device, n: int) -> None:
    complete = DenseGraph(square(n, 40 if n % 2 else 1 << 30))
    assert_same_forest(solve(complete, device), clmst.kruskal(complete))


@pytest.mark.parametrize("short_ids", [1 << 16, 4])  # so many vertices are too many for a test
def test_words_of_edges(device: Device, short_ids: int) -> None:
    """Doubles take two words, and tie in the first; ends, too, of more than 65536 vertices."""
    for weights in (square(300, 6), square(300, 6, 1 / 7), 1 + square(300, 1 << 20, 2.0**-50)):
        with bounds(dense_short_ids=short_ids):
            forest = solve(weights, device)
        assert_same_forest(forest, clmst.kruskal(weights))


def test_all_weights_equal(device: Device) -> None:
    """Then ids alone decide: a star about the first vertex."""
    forest = solve(np.zeros((700, 700), np.float32), device)
    assert forest.edges.tolist() == [[0, v] for v in range(1, 700)]
    assert forest.edge_ids.tolist() == list(range(699))


@pytest.mark.slow
def test_blocks_of_more_cells(any_device: Device) -> None:
    """From 16385 vertices on, a row has larger blocks, not more.

    The tree of points in the plane is one of their Delaunay triangulation. "auto" finds the same.
    """
    n = 16_500
    points = Points(np.random.default_rng(0).random((n, 2)))
    resident = clmst.to_device(points, any_device)
    forest = clmst.minimum_spanning_forest(resident, algorithm="dense")
    (plan,) = resident.plans.values()
    assert (plan.width, plan.n_blocks) == (288, 58)
    corners = Delaunay(points.coordinates).simplices
    u, v = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]).T
    u, v = np.minimum(u, v), np.maximum(u, v)
    triangles = Graph.from_edges(u, v, points.weights_of(u, v), merge_parallel=True)
    np.testing.assert_array_equal(forest.edges, clmst.kruskal(triangles).edges)
    assert_same_forest(clmst.minimum_spanning_forest(resident), forest)


def test_array_is_taken_as_it_is(any_device: Device) -> None:
    """The forest names cells and places in the condensed form."""
    weights = np.array([[9, 4, 0], [4, 9, 2], [0, 2, 9]])
    forest = solve(weights, any_device)
    assert forest.edges.tolist() == [[0, 2], [1, 2]]
    assert forest.edge_ids.tolist() == [1, 2]
    assert forest.weights.tolist() == [0, 2]
    assert forest.weights.dtype == weights.dtype
    assert forest.verify(DenseGraph(weights)).ok


def test_masked_array(any_device: Device) -> None:
    """Masked cells are not edges, so there can be several trees."""
    weights = np.ma.masked_equal(np.kron(np.eye(3, dtype=int), np.full((4, 4), 5)), 0)
    for algorithm in ("auto", "dense", "ecl"):
        forest = clmst.minimum_spanning_forest(weights, algorithm=algorithm, device=any_device)
        assert forest.n_components == 3
        assert forest.edge_ids.tolist() == [0, 1, 2, 38, 39, 40, 60, 61, 62]


@pytest.mark.parametrize("n", [1, 2, 33, 128, 129, 700, 2048])
def test_all_rounds_at_once(device: Device, n: int) -> None:
    """Of few vertices two launches, or two a round, where there are work-groups; else more."""
    rng = np.random.default_rng(n)
    points = Points(rng.integers(0, 50, (n, 2)), core_distances=rng.integers(0, 4, n))
    for graph in (points, DenseGraph(square(n, 50)), DenseGraph(square(n, 1 << 30, 0.1))):
        at_once = solve(graph, device)
        with bounds(dense_at_once=0):
            apart = solve(graph, device)
        assert_same_forest(at_once, apart)
        assert at_once.stats["components"] == apart.stats["components"]
        if device.policy.work_group_size > 1:
            assert at_once.stats["launches"] < apart.stats["launches"]
            if n <= 512:
                assert at_once.stats["launches"] == 2


def test_most_blocks_are_read_once(device: Device) -> None:
    """The entries of blocks save reading most blocks again."""
    stats = solve(square(3000, 1 << 30), device).stats
    assert stats["rounds"] == len(stats["components"]) - 1 == len(stats["blocks_again"]) + 1 > 3
    assert stats["blocks"] == 3000 * 12
    assert sum(stats["blocks_again"]) < stats["blocks"] / 4


@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_everything_is_read_again(device: Device, dtype: Any) -> None:
    """As CU does: the same forest, and all blocks in each round after the first."""
    complete = DenseGraph(square(600, 500, 1 if dtype is np.int32 else 1 / 7).astype(dtype))
    edges = random_graph(500, 3000, np.arange(30, dtype=dtype), apart=20)
    of_tiles = Points(np.random.default_rng(7).integers(0, 5, (300, 14)))
    for graph in (complete, edges, of_tiles):
        forest = solve(graph, device, options=DenseOptions(reread="all"))
        assert_same_forest(forest, clmst.kruskal(graph))
        stats = forest.stats
        assert stats["blocks_again"]
        assert set(stats["blocks_again"]) == {stats["blocks"]}


# ---------------------------------------------------------------------------- points


def test_filter_is_chosen_by_a_sample(any_device: Device) -> None:
    """Products separate points that are spread, but not clusters far from the center, or few."""
    rng = np.random.default_rng(20)
    spread = rng.normal(size=(1100, 128))
    tight = np.repeat(1e3 * rng.normal(size=(11, 128)), 100, axis=0) + 1e-3 * spread
    for expected, given in (("products", spread), ("differences", tight)):
        ways: Any = ("auto", "differences", "products")
        points = Points(given)
        trees = {by: solve(points, any_device, options=DenseOptions(filter=by)) for by in ways}
        is_long = any_device.policy.work_group_size == 1
        assert trees["auto"].stats["filter"] == (expected if is_long else "differences")
        for by in ways[1:]:
            assert trees[by].stats["filter"] == by
            np.testing.assert_array_equal(trees["auto"].edge_ids, trees[by].edge_ids)
    few = clmst.minimum_spanning_forest(Points(spread[:99]), device=any_device)
    assert few.stats["filter"] == "differences"


@pytest.mark.parametrize("refused", [False, True])
def test_other_filter_values_are_tested_only_if_products_are_refused(
    any_device: Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, refused: bool
) -> None:
    """So that a first call builds no kernels that it does not use."""
    use_own_cache(monkeypatch, tmp_path)
    points, device = Points(np.random.default_rng(0).normal(size=(1100, 128))), any_device
    if device.policy.work_group_size > 1:
        pytest.skip("products gain on a GPU only with more points")
    device = Device(device.cl_device)
    if refused:
        matrix = DeviceMatrix.upload(points, device)
        case = families.matrix_case(matrix, dimension_class=0, products=True)
        device.trust.store.keep(Verdict(family="dense-tiles", case=str(case), reason="planted"))
    forest = clmst.minimum_spanning_forest(points, device=device)
    assert forest.stats["filter"] == ("differences" if refused else "products")
    tested = [one.case for one in device.trust.verdicts() if one.reason is None]
    assert ["by products" in case for case in tested] == [not refused]


# --------------------------------------------------------------- any graph, by its matrix


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8"])
def test_keys_that_leave_none_free(any_device: Device, dtype: str) -> None:
    """The matrix takes the greatest key for no edge, so a key that no weight has must go."""
    info = np.iinfo(dtype)
    ends = np.array([info.min, info.min + 1, info.max - 1, info.max], dtype)
    for weights in (ends, ends[1:], ends[:-1], ends[::3], ends[1:3]):
        for m in (70, 400):  # few, so that the heaviest are in the forest, and many
            graph = random_graph(60, m, weights, apart=4)
            assert_forests(graph, any_device, algorithm="dense")


def test_matrix_stays_with_the_graph(any_device: Device) -> None:
    """Solving again builds nothing; the other direction takes the place of the first."""
    resident = clmst.to_device(random_graph(90, 2000), any_device)
    first, again, most = (
        solve(resident, None, maximum=maximum, profile=True) for maximum in (False, False, True)
    )
    assert_same_forest(again, first)
    assert "dense_build_cells" in first.stats["profile"]
    assert "dense_build_cells" not in again.stats["profile"]
    assert "dense_build_cells" in most.stats["profile"]
    assert [*first.stats["phases"]] == ["build", "read all blocks", "minimum edges", "merge"]
    kept = [key for key in resident.derived if isinstance(key, tuple) and key[0] == "dense"]
    assert kept == [("dense", True)]


@pytest.mark.parametrize("host_arrays", ["shared", "copied"])
def test_panels(any_device: Device, host_arrays: Any) -> None:
    """A matrix that is larger than one allocation comes in several."""
    if host_arrays == "shared":
        host_arrays = any_device.capabilities.host_arrays
    n = 500
    small = with_capabilities(any_device, max_allocation=300_000, host_arrays=host_arrays)
    complete = DenseGraph(square(n, 300))
    resident = clmst.to_device(complete, small)
    assert len(resident.panels) == (4 if host_arrays == "copied" else 1)
    assert_same_forest(clmst.minimum_spanning_forest(resident), clmst.kruskal(complete))
    graph = random_graph(n, 20_000, 300)
    for stored in (graph, graph.symmetrised()):
        on_device = clmst.to_device(stored, small)
        forest = clmst.minimum_spanning_forest(on_device, algorithm="dense")
        assert len(on_device.derived["dense", False].panels) == 4
        assert_same_forest(forest, clmst.kruskal(stored))


def test_matrix_that_does_not_fit(any_device: Device) -> None:
    """One error, before anything is allocated: how much it takes, how much there is."""
    small = with_capabilities(any_device, global_memory=1 << 20, host_arrays="copied")
    small.trust.given = True  # no room for the graphs of self-tests
    most = most_vertices("dense", small)
    assert most == 512
    needed = r"513 x 513 cells of 4 bytes needs 0.0 GiB \(1052676 bytes\); .* has 0.0 GiB"
    path = Graph.from_edges(np.arange(most), np.arange(1, most + 1))
    with pytest.raises(OutOfDeviceMemoryError, match=needed):
        solve(path, small)
    with pytest.raises(OutOfDeviceMemoryError, match=needed):
        solve(np.ones((most + 1, most + 1), np.float32), small)
    assert solve(np.ones((most, most), np.float32), small).n_edges == most - 1


# ------------------------------------------------------------------------ the public face


def test_forest_stays_on_the_device(any_device: Device) -> None:
    points = Points(np.random.default_rng(2).normal(size=(200, 2)))
    resident = clmst.to_device(points, any_device)
    assert isinstance(resident, DeviceMatrix)
    kept = clmst.minimum_spanning_forest(resident, keep_on_device=True)
    assert kept.slots is None
    assert (kept.n_edges, kept.n_components) == (199, 1)
    assert_same_forest(kept.to_host(), clmst.kruskal(points.to_graph()))
    with pytest.raises(InvalidArgumentError, match=r"is on .* already"):
        clmst.minimum_spanning_forest(resident, device=any_device.with_policy(any_device.policy))


@pytest.mark.parametrize(
    ("graph", "given", "message"),
    [
        (np.ones((3, 3)), {"algorithm": "ecl"}, "'ecl' takes edges: to_graph"),
        (DenseGraph(np.ones((3, 3))), {"algorithm": "ecl"}, "'ecl' takes edges: to_graph"),
        (Points([[1, 2]]), {"algorithm": "ecl"}, "'ecl' takes edges: to_graph"),
        (np.ones((3, 3)), {"options": EclOptions()}, "'dense' takes a DenseOptions"),
        (Graph.from_edges([0], [1]), {"options": EclOptions()}, "'dense' takes a DenseOptions"),
        (np.ones((2, 3)), {}, "the matrix is 2 x 3"),
        ([[0, 1, 2], [1, 0, 2]], {}, "a list must be a square matrix"),
        ({0: [1]}, {}, "the graph is of type dict"),
    ],
)
def test_bad_input_is_one_clear_error(
    any_device: Device, graph: Any, given: dict[str, Any], message: str
) -> None:
    with pytest.raises((InvalidArgumentError, InvalidGraphError), match=message):
        clmst.minimum_spanning_forest(
            graph, **{"algorithm": "dense", **given} if given else {}, device=any_device
        )
    with pytest.raises(InvalidArgumentError, match="reread is 'none'; it must be one of 'stale'"):
        DenseOptions(reread="none")  # type: ignore[arg-type]


@pytest.mark.parametrize("host_arrays", ["shared", "copied"])
@pytest.mark.parametrize("n", [0, 1])
def test_no_vertices_and_one(any_device: Device, host_arrays: Any, n: int) -> None:
    """Every input gives a forest without edges. A matrix without rows is solved without a panel."""
    if host_arrays == "shared":
        host_arrays = any_device.capabilities.host_arrays
    device = with_capabilities(any_device, host_arrays=host_arrays)
    matrix, coordinates = np.zeros((n, n)), np.ones((n, 2))
    points = [Points(coordinates, metric=m) for m in ("euclidean", "manhattan", "great-circle")]
    points.append(Points(coordinates, core_distances=np.zeros(n)))
    sparse_matrix = sparse.csr_array(matrix)
    for graph in (
        matrix,
        sparse_matrix,
        DenseGraph(matrix),
        Graph.from_scipy(sparse_matrix),
        *points,
    ):
        for brought in (graph, clmst.to_device(graph, device)):
            meant = device if brought is graph else None
            forest = clmst.minimum_spanning_forest(brought, device=meant, verify=True)
            kept = clmst.minimum_spanning_forest(brought, device=meant, keep_on_device=True)
            for found in (forest, kept.to_host()):
                assert (found.n_vertices, found.n_edges, found.n_components) == (n, 0, n)
                assert found.labels.tolist() == [0] * n
                assert found.linkage().shape == (0, 4)
                assert found.cut(height=1.0).shape == (n,)
            solver = clmst.RepeatedSolver(brought, devices=meant)
            weights = points[-1] if graph is points[-1] else coordinates
            again = solver.solve(weights if isinstance(graph, Points) else np.zeros(solver.n_edges))
            assert_same_forest(again, forest)
    assert clmst.csgraph.minimum_spanning_tree(sparse_matrix).shape == (n, n)
