"""Graphs that tests solve, assertions about forests, and the forest by definition."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import clmst
from clmst import Device, Forest, Graph
from clmst.core.weight_keys import Array


def assert_same_forest(actual: Forest, expected: Forest) -> None:
    """Assert that two forests have equal edges in the same order, and equal attributes."""
    np.testing.assert_array_equal(actual.edge_ids, expected.edge_ids)
    np.testing.assert_array_equal(actual.edges, expected.edges)
    np.testing.assert_array_equal(actual.weights, expected.weights)
    assert actual.weights.dtype == expected.weights.dtype
    assert actual.n_components == expected.n_components
    assert actual.maximum == expected.maximum


def solve(graph: Any, device: Device | None, *, maximum: bool = False, **more: Any) -> Forest:
    """Return the minimum or maximum spanning forest of a graph."""
    function = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
    forest: Forest = function(graph, device=device, **more)
    return forest


def assert_solved(graph: Graph, device: Device, *, maximum: bool = False, **more: Any) -> None:
    """Assert that the forest of a graph is the oracle's, with one and both directions stored."""
    expected = clmst.kruskal(graph, maximum=maximum)
    for stored in (graph, graph.symmetrised()):
        assert_same_forest(solve(stored, device, maximum=maximum, **more), expected)


def assert_forests(given: Any, device: Device | None, graph: Any = None, **more: Any) -> None:
    """Assert that the minimum and the maximum forest of `given` are the oracle's.

    If `given` is on a device already, the oracle gets `graph` instead.
    """
    for maximum in (False, True):
        expected = clmst.kruskal(given if graph is None else graph, maximum=maximum)
        assert_same_forest(solve(given, device, maximum=maximum, **more), expected)


def assert_same_arrays(resident: Any, expected: Graph) -> None:
    """Assert that a device has made the same arrays of a graph as the host, of equal dtypes."""
    assert resident is not None
    assert (resident.n_slots, resident.graph.n_input) == (expected.n_slots, expected.n_input)
    for name in ("indptr", "indices", "weights", "edge_ids"):
        found, right = getattr(resident.graph, name), getattr(expected, name)
        np.testing.assert_array_equal(found, right)
        assert right is None or found.dtype == right.dtype


def random_graph(n: int, m: int, weights: Any = 99, *, seed: int = 0, apart: int = 0) -> Graph:
    """Return a random graph with loops, parallel edges and ties.

    `weights` is an upper bound of integers, or an array to choose from. The last `apart` vertices
    are isolated.
    """
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n, (2, m))
    return Graph.from_edges(u, v, rng.choice(weights, m), n_vertices=n + apart)


def tied_weights(dtype: str, m: int, seed: int) -> Array:
    """Return weights with many ties. 64-bit weights have values that do not fit into 32 bits."""
    rng = np.random.default_rng(seed)
    if dtype == "f8":
        # There are few leading words, so that often the trailing words decide the order. There are
        # few trailing words, so that often the edge ids decide.
        leading = rng.choice([-3.5, 0.0, 1.0, 1e300], m)
        return np.asarray(leading + np.spacing(leading) * rng.integers(0, 40, m))
    if dtype == "i8":
        return np.asarray(rng.integers(-4, 4, m) * (1 << 32) + rng.integers(-9, 9, m))
    return rng.integers(0, 120, m).astype(dtype)


@cache
def crowd(n: int = 900, degree: int = 10, dtype: str = "i4") -> Graph:
    """Return a random graph with ties, loops, parallel edges and isolated vertices."""
    rng = np.random.default_rng(n)
    u, v = rng.integers(0, n, (2, n * degree // 2))
    v[-20:] = u[-20:]
    u[:20], v[:20] = u[20:40], v[20:40]
    return Graph.from_edges(u, v, tied_weights(dtype, u.size, n), n_vertices=n + 5)


def parallel_edges(n: int = 300, m: int = 6000) -> Graph:
    """Return a graph with ties, loops, isolated vertices and many parallel edges."""
    return random_graph(n, m, 40, seed=4, apart=2)


def by_definition(n: int, u: Array, v: Array, w: Array, *, maximum: bool = False) -> list[int]:
    """Return the sorted edges of a forest, by a literal Kruskal's algorithm.

    Weights are Python numbers, which compare exactly. Of equal weights the first edge is chosen.
    """
    weights, sign = w.tolist(), -1 if maximum else 1
    above, chosen = list(range(n)), list[int]()
    for k in sorted(range(len(weights)), key=lambda k: (sign * weights[k], k)):
        one, other = root(above, int(u[k])), root(above, int(v[k]))
        if one != other:
            above[one] = other
            chosen.append(k)
    return sorted(chosen)


def root(above: list[int], x: int) -> int:
    """Return the root of a vertex in a forest of parent pointers, and shorten the paths to it."""
    while above[x] != x:
        above[x] = x = above[above[x]]
    return x
