"""How a forest is known to be right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device, kruskal, to_device
from clmst.algorithms.boruvka.solve import solve as solve_boruvka
from clmst.bench.agreement import establish
from clmst.core.errors import InvalidForestError
from tests.bench.samples import graph_of


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
