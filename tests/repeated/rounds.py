"""What the tests of repeated solves have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, Forest, InvalidArgumentError, InvalidGraphError, RepeatedSolver
from clmst.core.graph import Graph
from tests.helpers.capabilities import with_capabilities
from tests.helpers.forests import assert_same_forest
from tests.helpers.variants import variants_elsewhere

Array = Any


def copying(device: Device) -> Device:
    """Return a device that takes host arrays as GPUs do, whatever it could do in place."""
    return with_capabilities(device, host_arrays="copied")


def every_device() -> list[Any]:
    """Return all variants of all devices, and one that copies host arrays, as parameters."""
    named = [(one.name, one.device) for one in variants_elsewhere()]
    named += [(f"{name}-copying", copying(device)) for name, device in named[:1]]
    return [pytest.param(device, id=name) for name, device in named]


def expected(solver: RepeatedSolver, weights: Array) -> Forest:
    """Return the oracle's forest of a solver's edges with other weights.

    Weights that belong to no edge are given to loops, which the oracle leaves out.
    """
    u, v = np.where(solver.edges < 0, 0, solver.edges).T
    graph = Graph.from_edges(u, v, weights, n_vertices=max(solver.n_vertices, 1))
    forest = clmst.kruskal(graph, maximum=solver.maximum)
    return forest if solver.n_vertices else replace(forest, n_vertices=0)


def check(solver: RepeatedSolver, weights: Array, forest: Forest | None = None) -> Forest:
    """Solve, unless it has been done, and compare with the oracle."""
    forest = solver.solve(weights) if forest is None else forest
    assert_same_forest(forest, expected(solver, np.asarray(weights)))
    return forest


def random_graph(n: int = 300, m: int = 1500, seed: int = 0) -> Graph:
    """Return a graph with loops, parallel edges and isolated vertices, in a caller's order."""
    u, v = np.random.default_rng(seed).integers(0, n, (2, m))
    return Graph.from_edges(u, v, n_vertices=n + 5)


def sorted_graph(n: int = 300, m: int = 1500, seed: int = 0) -> Graph:
    """Return a random graph in canonical order."""
    return in_canonical_order(random_graph(n, m, seed))


def in_canonical_order(graph: Graph) -> Graph:
    """Return a graph whose caller's order is the canonical one."""
    return Graph.from_edges(graph.rows, graph.indices, n_vertices=graph.n_vertices)


def refused(function: Any, *arguments: Any, **options: Any) -> str:
    """Return the message of the error that a call must raise."""
    with pytest.raises((InvalidArgumentError, InvalidGraphError)) as caught:
        function(*arguments, **options)
    return str(caught.value)


def assert_closed(solver: RepeatedSolver, many: Iterator[Any], n_edges: int) -> None:
    """Whatever a closed solver is asked for, `many` of before included, it says that it is."""
    assert "closed" in repr(solver)
    for call in (
        lambda: solver.solve(np.ones(n_edges)),
        lambda: solver.update([0], [1]),
        lambda: solver.solve_many([]),
        lambda: next(many),
        solver.__enter__,
    ):
        assert "the solver is closed" in refused(call)
