"""Contestants must give one forest, wherever it lies; and how that is known to be right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, kruskal, to_device
from clmst.algorithms.boruvka.solve import solve as solve_boruvka
from clmst.bench.agreement import Agreement, establish
from clmst.core.errors import InvalidForestError
from tests.bench.samples import graph_of


def test_first_forest_is_the_right_one(any_device: Device) -> None:
    graph = clmst.to_device(clmst.generate("grid", rows=4, columns=5), any_device)
    agreement = Agreement("the first")
    least = clmst.minimum_spanning_forest(graph, keep_on_device=True)
    assert agreement.difference(least) == ""
    assert agreement.difference(least.to_host()) == ""
    other = agreement.difference(clmst.maximum_spanning_forest(graph, keep_on_device=True))
    assert other.startswith("a forest other than that of the first: edge ")


def test_parallel_edges_are_distinguished() -> None:
    """By their ids; not by their endpoints, for contestants that get the graph in other forms."""
    graph = clmst.Graph.from_edges([0, 0, 1], [1, 1, 2], [1, 1, 5])
    forest = clmst.kruskal(graph)
    other = replace(forest, edge_ids=np.array([1, 2]))
    assert Agreement("the oracle", forest, by="edges").difference(other) == ""
    assert Agreement("the oracle", forest).difference(other) == (
        "a forest other than that of the oracle: edge 0 is 1, not 0"
    )


def test_known_forest() -> None:
    path, edge = (clmst.kruskal(clmst.generate("path", n=n)) for n in (3, 2))
    assert Agreement("the oracle", path).difference(path) == ""
    assert Agreement("the oracle", path).difference(edge) == (
        "a forest other than that of the oracle: 1 edges, not 2"
    )


@pytest.fixture
def right() -> int:
    weight = kruskal(graph_of()).total_weight
    assert isinstance(weight, int)
    return weight


def broken(*args: Any, **kwargs: Any) -> object:
    """Solve, and lose an edge."""
    solution = solve_boruvka(*args, **kwargs)
    flags = solution.in_forest.to_host()
    flags[np.flatnonzero(flags)[0]] = 0
    launch = args[1]
    launch.write(solution.in_forest.memory, flags)
    return solution


def test_recorded_weight(any_device: Device, right: int) -> None:
    graph = graph_of()
    reference = establish(graph, to_device(graph, any_device), right)
    assert reference.how == "the recorded weight"
    assert reference.difference(kruskal(graph).edge_ids) == ""
    assert reference.total_weight == right


def test_recorded_weight_that_no_algorithm_finds(any_device: Device, right: int) -> None:
    graph = graph_of()
    complaint = f"weighs {right} by ecl, {right} by boruvka; recorded is {right + 1}"
    with pytest.raises(InvalidForestError, match=complaint):
        establish(graph, to_device(graph, any_device), right + 1)


def test_one_broken_algorithm_leaves_a_reference(
    any_device: Device, right: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the others are timed, and the broken one is found wrong."""
    monkeypatch.setattr("clmst.algorithms.ecl.solve.solve", broken)
    graph = graph_of()
    reference = establish(graph, to_device(graph, any_device), right)
    assert reference.difference(kruskal(graph).edge_ids) == ""


def test_small_graph_by_kruskal(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the algorithms that are to be timed."""
    monkeypatch.setattr("clmst.algorithms.ecl.solve.solve", broken)
    graph = graph_of()
    reference = establish(graph, to_device(graph, any_device), None)
    assert reference.how == "Kruskal's algorithm on the host"
    assert np.array_equal(reference.slots, kruskal(graph).edge_ids)


def test_large_graph_by_agreement(any_device: Device, right: int) -> None:
    graph = graph_of()
    reference = establish(graph, to_device(graph, any_device), None, largest=10)
    assert reference.how == "ecl and boruvka agree on every edge"
    assert reference.total_weight == right


def test_disagreement_is_an_error(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clmst.algorithms.ecl.solve.solve", broken)
    graph = graph_of()
    with pytest.raises(InvalidForestError, match=r"boruvka and ecl disagree \(\d+ edges, not"):
        establish(graph, to_device(graph, any_device), None, largest=10)
