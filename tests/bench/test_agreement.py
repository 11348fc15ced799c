"""Contestants must give one forest, wherever it lies; and how that is known to be right."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

import clmst
from benchmarks.agreement import Agreement
from clmst import Device, Forest, kruskal, to_device
from clmst.bench.agreement import establish
from clmst.core.errors import InvalidForestError
from tests.bench.samples import graph_of
from tests.helpers.records import registered


def test_first_forest_is_the_right_one(any_device: Device) -> None:
    graph = clmst.to_device(clmst.generate("grid", rows=4, columns=5), any_device)
    agreement = Agreement("the first")
    least = clmst.minimum_spanning_forest(graph, keep_on_device=True)
    assert agreement.difference(least) == ""
    assert agreement.difference(least.to_host()) == ""
    other = agreement.difference(clmst.maximum_spanning_forest(graph, keep_on_device=True))
    assert other.startswith("a forest other than that of the first: edge ")


PARALLEL = kruskal(clmst.Graph.from_edges([0, 0, 1], [1, 1, 2], [1, 1, 5]))
OTHER = replace(PARALLEL, edge_ids=np.array([1, 2]))


@pytest.mark.parametrize(
    ("found", "by", "difference"),
    [
        (PARALLEL, "edge_ids", ""),
        (OTHER, "edge_ids", "edge 0 is 1, not 0"),
        (OTHER, "edges", ""),  # contestants that get the graph in other forms have other ids
        (kruskal(clmst.generate("path", n=2)), "edge_ids", "1 edges, not 2"),
    ],
)
def test_known_forest(found: Forest, by: Literal["edge_ids", "edges"], difference: str) -> None:
    told = Agreement("the oracle", PARALLEL, by=by).difference(found)
    assert told == (difference and f"a forest other than that of the oracle: {difference}")


def broken(solve: Callable[..., Any]) -> Callable[..., Any]:
    """Return a solve that loses an edge."""

    def losing(*args: Any, **kwargs: Any) -> Any:
        solution = solve(*args, **kwargs)
        flags = solution.in_forest.to_host()
        flags[np.flatnonzero(flags)[0]] = 0
        args[1].write(solution.in_forest.memory, flags)
        return solution

    return losing


@pytest.mark.parametrize(
    ("wrong_by", "largest", "is_broken", "how"),
    [
        (0, None, False, "the recorded weight"),
        # So that the others are timed, and the broken one is found wrong.
        (0, None, True, "the recorded weight"),
        (1, None, False, r"total weight {0} by ecl, {0} by boruvka; the recorded weight is {1}"),
        # Without the algorithms that are to be timed.
        (None, None, True, "Kruskal's algorithm on the host"),
        (None, 10, False, "ecl and boruvka agree on every edge"),
        (None, 10, True, r"boruvka and ecl disagree \(\d+ edges, not"),
    ],
)
def test_right_forest_is_established(
    any_device: Device, wrong_by: int | None, largest: int | None, is_broken: bool, how: str
) -> None:
    graph = graph_of()
    right, resident = kruskal(graph), to_device(graph, any_device)
    recorded = None if wrong_by is None else right.total_weight + wrong_by
    with registered("ecl", wrap=broken) if is_broken else nullcontext():
        if "ecl," in how or "disagree" in how:
            with pytest.raises(InvalidForestError, match=how.format(right.total_weight, recorded)):
                establish(graph, resident, recorded, largest=largest)
            return
        reference = establish(graph, resident, recorded, largest=largest)
    assert reference.how == how
    assert reference.difference(right.edge_ids) == ""
    assert reference.total_weight == right.total_weight
