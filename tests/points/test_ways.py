"""Points by every way: trees and core distances equal the results of all pairs, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import clmst
from clmst import DenseOptions, Device, Forest, InvalidGraphError, Points, cluster, route
from clmst.algorithms.bvh_boruvka import hierarchy, neighbours, prim
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.complete import way_of_core_distances
from clmst.algorithms.dense import one_group, tile_pairs
from clmst.algorithms.dense.tiles import PackedPoints
from clmst.core.point_checks import BOXED, UNROUNDED
from clmst.points.core_distances import core_by_the_host
from clmst.runtime.array import array_on_host
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher
from tests.helpers.bounds import bounds
from tests.helpers.forests import assert_same_forest
from tests.helpers.metrics import points_by
from tests.helpers.strategies import EXHAUSTIVE

Array = Any
FILTERS: tuple[Any, ...] = ("differences", "products")


def trees(points: Points, device: Device) -> Iterator[tuple[str, Forest]]:
    """Yield the tree by hierarchies, where one takes the metric, and by all pairs."""
    launch = Launcher(device, device.queue)
    if points.metric in BOXED:
        for local_height in (1, hierarchy.LOCAL_HEIGHT):  # as many points are ordered, and few
            matrix = DeviceMatrix.upload(points, device)
            hierarchy.hierarchy_of(matrix, launch, local_height=local_height)
            yield f"hierarchy, {local_height=}", bvh_boruvka.solve(matrix, launch).to_host(launch)
        if points.dimensions <= 12 and points.n_vertices > 1:
            yield "Prim", prim.solve(DeviceMatrix.upload(points, device), launch).to_host(launch)
    if points.dimensions <= 3:
        with bounds(dense_at_once=0):
            yield "rounds", clmst.minimum_spanning_forest(points, algorithm="dense", device=device)
    for by in FILTERS if points.dimensions > 3 else FILTERS[:1]:
        options = DenseOptions(filter=by)
        yield (
            by,
            clmst.minimum_spanning_forest(
                points, algorithm="dense", device=device, options=options
            ),
        )


def distances(points: Points, k: int, device: Device) -> Iterator[tuple[str, Array]]:
    """Yield the distances to the k-th nearest other points."""
    yield "public", clmst.core_distances(points, k + 1, device=device)
    yield "host", core_by_the_host(points, k + 1)
    matrix, launch = DeviceMatrix.upload(points, device), Launcher(device, device.queue)
    if points.metric in BOXED and 0 < k <= route.LIMITS.listed_neighbours:
        tree = hierarchy.hierarchy_of(matrix, launch)
        yield "hierarchy", points.multiplied(array_on_host(neighbours.distances(tree, k, launch)))
    for by in () if k == 0 else FILTERS if points.dimensions > 3 else FILTERS[:1]:
        packed = PackedPoints.of(matrix, launch, by=by)
        yield by, points.multiplied(tile_pairs.distances(packed, k, launch).to_host())


def assert_right(points: Points, device: Device, *, k: int = 4, maximum: bool = False) -> None:
    """Assert that trees, with and without core distances, equal the trees of all pairs."""
    graph, every = points.to_graph(), np.arange(points.n_vertices)
    expected = clmst.kruskal(graph)
    for way, found in trees(points, device):
        np.testing.assert_array_equal(found.edge_ids, expected.edge_ids, err_msg=way)
        assert found.weights.tobytes() == expected.weights.tobytes(), way
    if maximum:
        found = clmst.maximum_spanning_forest(points, device=device)
        assert_same_forest(found, clmst.kruskal(graph, maximum=True))
    if points.metric not in UNROUNDED or points.core_distances is not None:
        return
    k = min(k, every.size - 1)
    apart = points.weights_of(every[:, None], every)
    apart[every, every] = 0  # each point is its own nearest, whatever is rounded
    core = np.sort(apart, axis=1)[:, k]
    for way, told in distances(points, k, device):
        np.testing.assert_array_equal(told, core, err_msg=way)
    mutual = points.with_core_distances(core)
    assert_right(mutual, device, maximum=maximum)
    matrix = DeviceMatrix.upload(points, device)
    in_turns = 0 < k < every.size and way_of_core_distances(matrix, k) == route.TURNS
    if device.policy.work_group_size > 1 and points.dimensions <= 3 and 0 < k < 32:
        assert in_turns
    if in_turns:
        launch = Launcher(device, device.queue)
        found = one_group.MutualReachability(matrix, k, launch).tree().to_host(launch)
        assert_same_forest(found, clmst.kruskal(mutual.to_graph()))


def clusters(rng: np.random.Generator, n: int, d: int) -> Array:
    """Return points in clusters of very different density, and some between them."""
    scale = 10.0 ** -rng.integers(0, 9, (n, 1))
    return rng.random((6, d))[rng.integers(0, 6, n)] + scale * rng.normal(size=(n, d))


# Coordinates that a filter in float32 tells apart badly or not at all, whose squares overflow or
# vanish, that are in one cell of a hierarchy, or of which many are equal.
HARD: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
    "spread": lambda rng, n, d: rng.normal(size=(n, d)),
    "lattice": lambda rng, n, d: rng.integers(0, 3, (n, d)),
    "duplicates": lambda rng, n, d: rng.normal(size=(n, d))[rng.integers(0, n // 5 + 1, n)],
    "all equal": lambda _, n, d: np.ones((n, d)),
    "a line": lambda _, n, d: np.arange(n)[:, None] ** 2 * np.ones(d) + 1,
    "clusters": clusters,
    "a crowd": lambda rng, n, d: np.append(1e-9 * rng.random((n, d)), np.full((1, d), 1e9), 0),
    "last bits": lambda rng, n, d: 1 + rng.integers(0, 3, (n, d)) * 2.0**-50,
    "far from the origin": lambda rng, n, d: 1e9 + rng.normal(size=(n, d)),
    "scales": lambda rng, n, d: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-12, 12, (n, 1)),
    "all scales": lambda rng, n, d: (
        rng.normal(size=(n, d)) * 10.0 ** rng.integers(-150, 150, (n, 1))
    ),
    "greatest": lambda rng, n, d: rng.normal(size=(n, d)) * 1e306,
    "huge and tiny": lambda rng, n, d: rng.choice([-1e306, 1e306, 0, 1e200, 1e10], (n, d)),
    "squares beyond all doubles": lambda rng, n, d: rng.normal(size=(n, d)) * 1e160,
    "squares that underflow": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-162,
    "least": lambda rng, n, d: rng.integers(0, 9, (n, d)) * 2.0**-1022,
}
# Coordinates whose differences have fewer bits than others; only their squares are refused.
SUBNORMAL: dict[str, Callable[[np.random.Generator, int, int], Array]] = {
    "subnormal": lambda rng, n, d: rng.integers(0, 9, (n, d)) * 5e-324,
    "from subnormal on": lambda rng, n, d: rng.choice([-1e306, 1e306, 0, 1e200, 5e-324], (n, d)),
    "very many scales": lambda rng, n, d: (
        rng.normal(size=(n, d)) * 10.0 ** rng.integers(-300, 150, (n, 1))
    ),
}


@pytest.mark.parametrize("metric", UNROUNDED)
@pytest.mark.parametrize("d", [1, 2, 3, 5, 19])
@pytest.mark.covering
def test_hard_points(any_device: Device, metric: Any, d: int) -> None:
    """Neither boxes nor filters may reject a pair that counts.

    In the standard run every other metric than the Euclidean one takes half of the kinds. For each
    number of dimensions there are metrics with either half.
    """
    kinds = HARD | ({} if metric == "euclidean" else SUBNORMAL)
    if not (EXHAUSTIVE or metric == "euclidean"):
        kinds = dict([*kinds.items()][UNROUNDED.index(metric) // 5 % 2 :: 2])
    for name, make in kinds.items():
        given = make(np.random.default_rng(d), 140, d)
        is_origin = np.abs(given).max(axis=1, keepdims=True) == 0
        try:
            points = points_by(given + (is_origin if metric == "cosine" else 0), metric)
        except InvalidGraphError:
            assert metric in ("minkowski", "canberra", "braycurtis"), name
            continue  # a third power of a difference, or a sum, is beyond the range of doubles
        try:
            assert_right(points, any_device, maximum=name == "lattice")
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


@pytest.mark.parametrize(
    ("p", "d"),
    [
        (2.3, 3),
        pytest.param(2.5, 5, marks=pytest.mark.exhaustive),
        pytest.param(1.0009, 5, marks=pytest.mark.exhaustive),
        pytest.param(2.718281828, 10, marks=pytest.mark.exhaustive),
        pytest.param(12, 2, marks=pytest.mark.exhaustive),
        (40, 5),
    ],
)
def test_powers(any_device: Device, p: float, d: int) -> None:
    """With many digits of a fraction, and so high that terms in float32 vanish.

    The standard run takes one fraction and the highest power.
    """
    n = 140 if EXHAUSTIVE else 90  # the host computes powers with fractions, which takes long
    for name in ("spread", "lattice", "clusters", "last bits"):
        try:
            points = Points(HARD[name](np.random.default_rng(d), n, d), "minkowski", p=p)
        except InvalidGraphError:  # the 40th power of the least difference is below all doubles
            assert (name, p) == ("last bits", 40)
            continue
        assert_right(points, any_device, maximum=name == "lattice")


@pytest.mark.parametrize("exponent", [-950, -560, 560, 1010])
@pytest.mark.parametrize("d", [2, 16])
def test_a_power_of_two_multiplies_all_distances(exponent: int, d: int) -> None:
    """And changes nothing else, though squares of coordinates overflow or vanish."""
    rows = np.random.default_rng(d).normal(size=(60, d)) + 4 * (np.arange(60) % 3)[:, None]
    other_rows, labels = rows[::4] + 0.25, np.arange(60) % 3

    def answers(power: int) -> dict[str, Array]:
        """Return the results that must be equal, with all distances divided by the power of two."""
        X, new = np.ldexp(rows, power), np.ldexp(other_rows, power)
        model = cluster.HDBSCAN(5, min_samples=4, store_centers="both").fit(X)
        tree = clmst.minimum_spanning_forest(Points(X), verify=True)
        joined = cluster.neighbour_forest(X, np.roll(np.arange(60), 3)[:, None])
        solver = clmst.RepeatedSolver(Points(rows))
        moved = [solver.solve(x).weights for x in (rows, X, X)]
        lengths = [
            tree.weights,
            clmst.core_distances(X, 5),
            cluster.single_linkage(X)[:, 2],
            model.forest_.weights,
            model.medoids_,
            joined.weights,
            *moved[1:],
        ]
        same = [
            tree.edge_ids,
            cluster.single_linkage(X)[:, [0, 1, 3]],
            model.labels_,
            model.probabilities_,
            *cluster.approximate_predict(model, new, True),
            cluster.validity_index(X, labels),
            joined.edges,
        ]
        every = [*(np.ldexp(one, -power) for one in lengths), *same]
        return {str(number): one for number, one in enumerate(every)}

    expected = answers(0)
    for number, found in answers(exponent).items():
        np.testing.assert_array_equal(found, expected[number], err_msg=number)


@pytest.mark.parametrize("d", [2, 21])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 129, 257, 390, 513])
@pytest.mark.covering("device d")
def test_sizes(device: Device, n: int, d: int) -> None:
    """Around the bounds of leaves, levels and tiles."""
    assert_right(Points(np.random.default_rng(n).normal(size=(n, d))), device)


@pytest.mark.parametrize(
    "d",
    [
        pytest.param(d, marks=[] if d in (3, 9, 16, 33, 130) else pytest.mark.exhaustive)
        for d in (3, 4, 5, 9, 15, 16, 17, 18, 31, 32, 33, 37, 64, 130)
    ],
)
@pytest.mark.covering
def test_any_number_of_dimensions(device: Device, d: int) -> None:
    """A compiler may find it quicker to change the order of a sum, from 16 dimensions on.

    The standard run takes dimensions below that, that, one more than two vectors, and many.
    """
    rng = np.random.default_rng(d)
    assert_right(Points(rng.integers(0, 4, (150, d))), device)
    assert_right(Points(rng.random((300, d)), "cosine"), device)


@pytest.mark.parametrize("d", [1, 2, 3, 14])
@pytest.mark.parametrize(
    "k",
    [
        pytest.param(k, marks=[] if k in (1, 16, 17, 33, 149, 299) else pytest.mark.exhaustive)
        for k in (1, 15, 16, 17, 32, 33, 59, 149, 256, 299)
    ],
)
@pytest.mark.covering
def test_lists_of_any_length(device: Device, k: int, d: int) -> None:
    """A sample has too few values for the longest lists, and hierarchies have none of them.

    The standard run takes six of the lengths, the least and the greatest among them.
    """
    assert_right(Points(np.random.default_rng(k).normal(size=(300, d))), device, k=k)


@pytest.mark.parametrize("metric", ["rounded-euclidean", "great-circle"])
@pytest.mark.covering
def test_rounded_distances(device: Device, metric: Any) -> None:
    """Equal integers are in the order of edge ids, however their squares compare."""
    rng = np.random.default_rng(6)
    plane = rng.integers(-60, 60, (300, 2)) + rng.integers(0, 60, (300, 2)) / 100
    assert_right(Points(plane, metric), device, maximum=True)
    for scale in (1, 3) if metric == "rounded-euclidean" else ():
        for d in (1, 3, 13):
            assert_right(Points(scale * rng.normal(size=(150, d)), metric), device)


def test_decimal_degrees(any_device: Device) -> None:
    """Chords are compared, arcs returned; equal ones among them."""
    grid = np.stack(np.meshgrid(np.arange(-80, 81, 16), np.arange(-180, 180, 20)), -1)
    near = np.random.default_rng(7).uniform([46, 7], [47, 8], (200, 2))
    points = Points(np.concatenate([grid.reshape(-1, 2), near]), "haversine")
    assert_right(points, any_device, maximum=True)


def test_roots_that_round_to_equals(any_device: Device) -> None:
    """Squares that differ can have the same root; the lesser id must win, not the lesser square."""
    unit = np.float64(1.0)
    x = [0.0, unit, np.nextafter(unit, 2), np.nextafter(unit, 0), -np.nextafter(unit, 2), -unit]
    y = [0.0, 2e-8, 1e-8, 1.5e-8, 0.0, 2.1e-8]
    for order in np.random.default_rng(1).permuted(np.tile(np.arange(6), (40, 1)), axis=1):
        assert_right(Points(np.column_stack((x, y))[order]), any_device, maximum=True)


def test_thousands_of_dimensions(any_device: Device) -> None:
    """A sum in float32 loses each of many small terms, so that the farther point seems nearer."""
    points = np.zeros((3, 3000))
    points[1, 0] = 1
    points[2] = 2.0**-12.75
    points[2, 0] = np.sqrt(1 - 1e-5)
    assert clmst.core_distances(points, 2, device=any_device)[0] == 1
    assert_right(Points(points), any_device)


def test_stored_distances() -> None:
    """A matrix of all, and graphs of six neighbours; diagonals and loops count as 0."""
    coordinates = np.random.default_rng(5).random((40, 2))
    apart = cdist(coordinates, coordinates)
    expected = np.sort(apart, axis=1)
    matrix = np.where(np.eye(40), 7.0, apart)
    nearest = np.where(apart <= expected[:, 6:7], apart, 0)
    complete = clmst.DenseGraph(matrix)
    for k in (1, 3, 6):
        for given in (complete, sparse.csr_array(apart), sparse.csr_array(nearest)):
            np.testing.assert_array_equal(clmst.core_distances(given, k), expected[:, k - 1])
    edges = clmst.Graph.from_edges([0, 1, 1, 1], [1, 2, 1, 0], [3.0, 4.0, 9.0, 5.0])
    assert clmst.core_distances(edges, 2).tolist() == [3, 3, 4]
    with pytest.raises(InvalidGraphError, match="point 2 has 1 stored distances"):
        clmst.core_distances(edges, 3)
    with pytest.raises(InvalidGraphError, match=r"edge \(0, 1\) has the weight -1"):
        clmst.core_distances(sparse.csr_array([[0, -1.0], [0, 0]]), 2)


def test_no_points() -> None:
    assert clmst.core_distances(np.zeros((0, 2)), 1).shape == (0,)
