"""What is broken off by faults: one call of each kind that uses a device, and its right result."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import sparse

import clmst
from clmst import primitives
from clmst.algorithms.edge_stream.passes import bytes_of_row, bytes_of_vertex
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.route import LIMITS
from clmst.runtime.device import Device
from clmst.runtime.discovery import get_device
from tests.helpers.capabilities import with_capabilities
from tests.helpers.forests import assert_same_forest
from tests.helpers.settings import SETTINGS
from tests.helpers.variants import GPU_SHAPE

Check = Callable[[], None]
SOLVES = tuple(SETTINGS)


def bytes_in_use(device: Device) -> int:
    """Return the number of bytes of the pool that have an owner."""
    gc.collect()
    used: int = device._pool.active_bytes
    return used


@cache
def graph() -> Graph:
    """Return a graph with ties, parallel edges and several components."""
    return reweighted(weights(3))


@cache
def forest(seed: int = 3) -> Forest:
    """Return its forest, under other weights if another seed is given."""
    return clmst.kruskal(reweighted(weights(seed)))


def weights(seed: int) -> Any:
    """Return other weights of its edges."""
    return np.random.default_rng(seed).integers(0, 99, 1500).astype("f4")


def reweighted(values: Any) -> Graph:
    """Return the graph of the same edges with these weights."""
    u, v = np.random.default_rng(3).integers(0, 400, (2, 1500))
    return Graph.from_edges(u, v, values, n_vertices=420)


def subject(name: str, device: Device) -> Check:
    """Return a function by its name, which can be called again and again.

    It raises if a result is wrong.
    """
    if name in SOLVES:
        return lambda: assert_same_forest(solve(graph(), name, device), forest())
    return _OTHERS[name](device)


SHAPES = ("native", "gpu-shape")


@cache
def device_of(shape: str, name: str | None = None) -> Device:
    """Return a device for these tests alone.

    In the shape of a GPU, it copies the arrays that it is given.
    """
    device = get_device(name).forcing_off()
    if shape == "gpu-shape":
        device = with_capabilities(device.with_policy(GPU_SHAPE), host_arrays="copied")
    return device


def solve(what: Any, setting: str, device: Device | None) -> Forest:
    """Return a minimum spanning forest by "auto" or one of `SETTINGS`."""
    how = {} if setting == "auto" else SETTINGS[setting]
    forest: Forest = clmst.minimum_spanning_forest(what, device=device, **how)
    return forest


def _resident(device: Device) -> Check:
    """Return solves of one graph that stays on the device with what algorithms keep there."""
    stored = clmst.to_device(graph(), device)

    def run() -> None:
        for setting in ("filter-boruvka-cpu", "filter-boruvka-gpu", "prim"):
            assert_same_forest(solve(stored, setting, None), forest())

    return run


def _points(device: Device) -> Check:
    points = clmst.Points(np.random.default_rng(1).random((150, 2)))
    expected = clmst.kruskal(points.to_graph())
    return lambda: assert_same_forest(solve(points, "auto", device), expected)


def _canonical_csr(device: Device) -> Check:
    """Return solves of a SciPy matrix that the device checks itself."""
    n, rng = 9000, np.random.default_rng(4)
    values = rng.integers(1, 99, LIMITS.device_check + 5000).astype("f4")
    upper = sparse.coo_array(
        (values, np.sort(rng.integers(0, n, (2, values.size)), axis=0)), shape=(n, n)
    )
    matrix = upper.tocsr()
    expected = clmst.kruskal(Graph.from_scipy(matrix))
    return lambda: assert_same_forest(solve(matrix, "filter-boruvka-cpu", device), expected)


def _core_numbers(device: Device) -> Check:
    expected = clmst.core_numbers(graph(), device=device)
    found = partial(clmst.core_numbers, graph(), device=device)
    return lambda: np.testing.assert_array_equal(found(), expected)


def _solver(device: Device) -> Check:
    solver = clmst.RepeatedSolver(graph(), devices=device)

    def run() -> None:
        for seed in (1, 2):
            assert_same_forest(solver.solve(weights(seed)), forest(seed))

    return run


def _update(device: Device) -> Check:
    solver = clmst.RepeatedSolver(graph(), devices=device)
    changed = weights(1)
    changed[[5, 900]] = 0, 70
    expected = clmst.kruskal(reweighted(changed))

    def run() -> None:
        assert_same_forest(solver.solve(weights(1)), forest(1))
        assert_same_forest(solver.update([5, 900, 5], [3, 70, 0]), expected)

    return run


def _many(device: Device) -> Check:
    solver = clmst.RepeatedSolver(graph(), devices=device)

    def run() -> None:
        found: Iterator[Forest] = solver.solve_many(weights(seed) for seed in (1, 2, 3))
        for seed, one in zip((1, 2, 3), found, strict=True):
            assert_same_forest(one, forest(seed))

    return run


def _sort(device: Device) -> Check:
    values = np.random.default_rng(5).integers(0, 999, 5000).astype("u4")

    def run() -> None:
        array = clmst.DeviceArray.from_host(values, device)
        keys = primitives.sort(array)
        total = primitives.reduce(keys)
        kept, _ = primitives.compact(
            keys, clmst.DeviceArray.from_host(np.ones(5000, np.uint8), device)
        )
        np.testing.assert_array_equal(kept.to_host(), np.sort(values))
        assert total.to_host()[0] == values.sum(dtype="u4")

    return run


def _streams(device: Device) -> Check:
    """Return streams of generated edges, by reductions and by passes.

    A stream of chunks goes on by halves where memory is short, so nobody is told of that.
    """
    n, m = 40, 900
    edges = clmst.GeneratedEdges(
        n_vertices=n, n_edges=m, u="id * 7 % 40", v="id * id % 37", weight="id * 31 % 97",
        weight_dtype=np.dtype("u4"),
    )  # fmt: skip
    u, v, w = edges.edges(device=device)
    expected = clmst.kruskal(Graph.from_edges(u, v, w, n))
    least = n * bytes_of_vertex(w.dtype) + 130 * bytes_of_row(w.dtype)
    stream = clmst.stream_minimum_spanning_forest

    def run() -> None:
        assert_same_forest(stream(edges, device=device), expected)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", clmst.StreamedWarning)
            assert_same_forest(stream(edges, device=device, memory_limit=least), expected)

    return run


_OTHERS: dict[str, Callable[[Device], Check]] = {
    "resident": _resident,
    "points": _points,
    "canonical-csr": _canonical_csr,
    "core-numbers": _core_numbers,
    "solver": _solver,
    "update": _update,
    "many": _many,
    "sort": _sort,
    "streams": _streams,
}
SUBJECTS = (*SOLVES, *_OTHERS)
