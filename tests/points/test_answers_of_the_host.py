"""Points, clusters, repeated and dynamic solves on the host: the same bits as on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst import Device, DynamicForest, Forest, Graph, Points, RepeatedSolver
from clmst.cluster import (
    HDBSCAN,
    SingleLinkage,
    approximate_predict,
    approximate_predict_scores,
    neighbour_forest,
    single_linkage,
    validity_index,
)
from clmst.core.quotients import DIVIDED
from tests.helpers.bounds import bounds
from tests.helpers.caches import resolving_anew
from tests.helpers.metrics import points_by

Array = Any
METRICS = ("euclidean", "manhattan", "chebyshev", "minkowski", "cosine", *DIVIDED)
ROUNDED = ("rounded-euclidean", "great-circle", "haversine")

pytestmark = pytest.mark.filterwarnings("ignore::clmst.DeviceWarning")


@pytest.fixture
def on_both(any_device: Device) -> Callable[[Callable[[], Any]], None]:
    """Return a function that makes a call on the device and on the host, and compares the bits."""

    def compare(call: Callable[[], Any]) -> None:
        with resolving_anew(any_device):
            expected = call()
        with resolving_anew(None):
            assert bits(call()) == bits(expected)

    return compare


def bits(found: Any) -> Any:
    """Return everything that a result has, in a form that differs if a bit does."""
    if isinstance(found, Forest):
        ids = found.edge_ids.astype(np.int64)  # of different widths in different ways
        return bits([found.edges, ids, found.weights, found.maximum])
    if isinstance(found, HDBSCAN):
        return bits([found.labels_, found.probabilities_, found.outlier_scores_, found.forest_,
                     found.condensed_tree_, found.cluster_persistence_])  # fmt: skip
    if isinstance(found, list | tuple):
        return [bits(one) for one in found]
    array = np.asarray(found)
    if array.dtype.names:
        return [bits(array[name]) for name in array.dtype.names]
    return array.dtype.str, array.shape, array.tobytes()


def drawn(seed: int, n: int, d: int) -> Array:
    """Draw points: spread, on a grid, repeated, in groups far apart, tiny, huge, in float32."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(n, d))
    made: list[Callable[[], Array]] = [
        lambda: normal,
        lambda: rng.integers(0, 4, (n, d)).astype(float),
        lambda: np.repeat(normal[: n // 9 + 1], 9, axis=0)[:n],
        lambda: normal * 0.01 + 50 * rng.integers(0, 3, (n, 1)) + 1,
        lambda: normal * 1e-160,
        lambda: normal * 1e160,
        lambda: normal.astype(np.float32),
    ]
    return made[seed % 7]()


SHAPES = [(300, 2), (200, 1), (260, 3), (150, 8), (220, 13), (130, 64)]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_clusters(on_both: Any, metric: str, n: int, d: int) -> None:
    for seed in range(7):
        X = drawn(seed, n, d)
        if metric == "cosine":
            X = X + (X == 0).all(axis=1, keepdims=True)
        if metric == "braycurtis":
            X = np.abs(X) + (X == 0).all(axis=1, keepdims=True)
        power = 3 if metric == "minkowski" else None
        for how in ({}, {"min_samples": 2, "alpha": 0.7, "ties": "simultaneous"}):
            every: dict[str, Any] = {"metric": metric, "p": power, **how}
            on_both(lambda X=X, every=every: HDBSCAN(**every).fit(X))


@pytest.mark.parametrize("metric", METRICS)
def test_core_distances_and_trees_of_all_lengths(on_both: Any, metric: str) -> None:
    for n in (0, 1, 2, 3, 10, 63, 64, 65, 200):
        X = np.abs(drawn(n, n, 4)) + 1e-300
        points = points_by(X, metric)
        on_both(lambda points=points: clmst.minimum_spanning_forest(points))
        for k in {1, min(2, n), min(7, n), n} - {0} if n else ():
            on_both(lambda points=points, k=k: clmst.core_distances(points.coordinates, k))
        if n:
            scale = float(np.abs(X).max())
            core = np.random.default_rng(n).choice([0, 0.5, 1, 3], n) * scale
            with_core = points_by(X, metric, core)
            on_both(lambda points=with_core: clmst.minimum_spanning_forest(points))


@pytest.mark.parametrize("metric", METRICS + ROUNDED)
def test_trees_of_both_directions(on_both: Any, metric: str) -> None:
    for seed in (0, 1, 2, 6):
        X = np.clip(drawn(seed, 170, 2), -80, 80) + 1.0
        points = points_by(X, metric)
        on_both(lambda points=points: clmst.minimum_spanning_forest(points))
        on_both(lambda points=points: clmst.maximum_spanning_forest(points))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u8", "?"])
def test_trees_of_matrices(on_both: Any, dtype: str) -> None:
    rng = np.random.default_rng(2)
    matrix = rng.integers(0, 2 if dtype == "?" else 40, (90, 90)).astype(dtype)
    matrix = np.maximum(matrix, matrix.T)
    on_both(lambda: clmst.minimum_spanning_forest(matrix))
    on_both(lambda: clmst.maximum_spanning_forest(matrix))


@pytest.mark.parametrize("metric", METRICS)
def test_infinite_core_distances(on_both: Any, metric: str) -> None:
    core = np.where(np.arange(120) % 3, 0.1, np.inf)
    points = points_by(drawn(0, 120, 3), metric, core)
    on_both(lambda: clmst.minimum_spanning_forest(points))


def test_ties_by_the_thousand(on_both: Any) -> None:
    """Lists of near points cannot hold all pairs that are equally far; rows of all pairs can."""
    rng = np.random.default_rng(4)
    few_values = rng.integers(0, 2, (1500, 12)).astype(float)
    equal = np.concatenate([np.zeros((600, 3)), np.eye(3)[rng.integers(0, 3, 600)]])
    for X in (few_values, equal, np.ones((400, 2))):
        on_both(lambda X=X: clmst.minimum_spanning_forest(Points(X)))
        on_both(lambda X=X: HDBSCAN(metric="manhattan").fit(X))


@pytest.mark.parametrize("rows", [False, True], ids=["by lists", "by rows"])
def test_both_ways_of_the_host(on_both: Any, rows: bool) -> None:
    with bounds(host_lists=10**9 if rows else 2):
        for n, d in ((2, 3), (7, 1), (60, 20), (300, 2)):
            X = drawn(3, n, d)
            on_both(lambda X=X: clmst.minimum_spanning_forest(Points(X)))


JOINED = {
    "by boxes": {},
    "boxes given up": {"host_compared": 0},
    "by searches": {"host_components": 1},
}


@pytest.mark.parametrize("joined", JOINED)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine"])
def test_groups_of_points(on_both: Any, metric: str, joined: str) -> None:
    """Groups far apart, with noise, with ties within and between them, with equal points."""
    rng = np.random.default_rng(8)
    power = 3 if metric == "minkowski" else None
    with bounds(**JOINED[joined]):
        for n, d in ((700, 2), (500, 5)):
            group = rng.integers(0, 12, (n, 1))
            middles = rng.uniform(1, 300, (12, d))[group[:, 0]]
            noise = np.where(rng.random((n, 1)) < 0.1, rng.uniform(1, 300, (n, d)), middles)
            for X in (
                noise + rng.normal(size=(n, d)),
                rng.integers(1, 6, (n, d)) + 100.0 * group,
                np.repeat(middles + rng.normal(size=(n, d)), 9, axis=0)[:n],
            ):
                on_both(lambda X=X: HDBSCAN(metric=metric, p=power, min_samples=5).fit(X))
                on_both(lambda X=X: clmst.minimum_spanning_forest(points_by(X, metric)))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("ties", ["sequential", "simultaneous"])
def test_distances_whose_densities_are_infinite(on_both: Any, ties: str) -> None:
    """Distances below 2**-1024 give the clusters that distances of 0 give, without a warning."""
    near = np.repeat([0.0, 1.0, 5.0], 20)[:, None] * np.ones(2)
    tiny = near + np.arange(60)[:, None] % 20 * (near == 0) * 1e-310
    how: dict[str, Any] = {"metric": "manhattan", "ties": ties}

    def found(X: Array) -> list[Any]:
        model = HDBSCAN(**how).fit(X)
        assert np.isinf(model.condensed_tree_["value"]).any()
        measures = [model.probabilities_, model.outlier_scores_, model.cluster_persistence_]
        return [model.labels_, *measures, *approximate_predict(model, X[::7])]

    for X in (near, tiny):
        on_both(lambda X=X: found(X))
    with resolving_anew(None):
        assert bits(found(tiny)) == bits(found(near))


def test_everything_made_of_clusters(on_both: Any) -> None:
    X, new = drawn(3, 400, 3), drawn(3, 60, 3)
    model = HDBSCAN(min_samples=4).fit(X)

    def predictions() -> list[Any]:
        fitted = HDBSCAN(min_samples=4).fit(X)
        scores = approximate_predict_scores(fitted, new)
        return [*approximate_predict(fitted, new, True), scores]

    on_both(predictions)
    on_both(lambda: validity_index(X, model.labels_, per_cluster_scores=True))
    on_both(lambda: single_linkage(X))
    on_both(lambda: single_linkage(X[:80], metric="sqeuclidean"))
    on_both(lambda: SingleLinkage(n_clusters=5).fit(X).labels_)
    near = np.argsort(((X[:, None] - X) ** 2).sum(axis=2))[:, 1:4]
    for metric in METRICS:
        on_both(lambda metric=metric: neighbour_forest(X, near, metric=metric))


def rounds(solver: RepeatedSolver) -> Iterator[Forest]:
    rng, m = np.random.default_rng(5), solver.n_edges
    yield solver.solve(rng.random(m))
    yield solver.update([3, 1, 3], [0.5, -1.0, 0.25])
    yield solver.solve(rng.integers(0, 5, m).astype(np.int16))
    yield from solver.solve_many([rng.random(m).astype("f4"), rng.integers(-9, 9, m)])
    yield solver.update([0], [7])


@pytest.mark.parametrize("maximum", [False, True])
def test_repeated_solves(on_both: Any, maximum: bool) -> None:
    rng = np.random.default_rng(6)
    u, v = rng.integers(0, 70, (2, 500))  # with loops and parallel edges
    graph = Graph.from_edges(u, v, n_vertices=75)
    cells = rng.random((60, 60))
    matrix = sparse.csr_array(np.where(cells < 0.1, cells, 0))
    for given in (graph, matrix, Points(rng.random((12, 2))).to_graph()):

        def solved(given: Any = given) -> list[Forest]:
            with RepeatedSolver(given, maximum=maximum) as solver:
                return list(rounds(solver))

        on_both(solved)
    points = Points(rng.random((100, 3)), "manhattan")

    def moved() -> list[Forest]:
        with RepeatedSolver(points, maximum=maximum) as solver:
            return [solver.solve(points.coordinates * k) for k in (1, 2)]

    on_both(moved)


def test_a_solver_on_the_host_refuses_what_needs_a_device() -> None:
    graph = Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
    with resolving_anew(None), RepeatedSolver(graph) as solver:
        assert repr(solver).endswith("on the host)")
        assert solver.solve([1, 2, 3], verify=True).stats["proof"]["where"] == "host"
        for option in ("keep_on_device", "profile"):
            with pytest.raises(clmst.UnsupportedDeviceError, match=f"{option} is True, and the ho"):
                solver.solve([1, 2, 3], **dict[str, Any]({option: True}))
        with pytest.raises(clmst.UnsupportedDeviceError, match="the host solves"):
            _ = solver.device
        with pytest.raises(clmst.InvalidGraphError, match="edge 1"):
            solver.solve(np.array([1, np.nan, 2], np.float32))
        with pytest.raises(clmst.InvalidArgumentError, match="there are no weights to change"):
            solver.update([0], [1])
        solver.close()
        with pytest.raises(clmst.InvalidArgumentError, match="closed"):
            solver.solve([1, 2, 3])


def test_dynamic_forests(on_both: Any) -> None:
    def history() -> list[Any]:
        rng = np.random.default_rng(7)
        forest, ends = DynamicForest(60), rng.integers(0, 60, (2, 300))
        changes = [
            forest.insert(np.arange(300) % 60, ends[0], rng.integers(0, 9, 300) * 1.0),
            forest.delete(np.arange(0, 90)),
            forest.update(np.arange(100, 120), rng.random(20)),
            forest.insert(np.arange(20), ends[1, :20], rng.random(20), one_by_one=True),
            forest.expire(before=150),
        ]
        parts = [getattr(one, field.name) for one in changes for field in fields(one)]
        whole = [forest.snapshot(), forest.linkage(join_components=True), forest.cut(height=0.5)]
        return [one for one in parts if one is not None] + whole

    on_both(history)


def test_the_route_says_that_the_host_computed() -> None:
    X = drawn(0, 100, 2)
    with resolving_anew(None):
        for forest in (clmst.minimum_spanning_forest(Points(X)), HDBSCAN().fit(X).forest_):
            assert forest.stats["device"] == "host"
            assert forest.stats["route"]["record"] == "host"
            assert forest.stats["route"]["because"] == "there is no device"
