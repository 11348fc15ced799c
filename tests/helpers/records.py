"""Algorithms that are registered for a test: other facts of one, or another solve."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import count
from typing import Any
from unittest.mock import patch

from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.shared.algorithm_record import AlgorithmRecord
from clmst.algorithms.shared.solution import Solution
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

Solve = Callable[..., Any]
Change = Callable[[Solution, DeviceGraph, int], object]


@contextmanager
def registered(
    *names: str, wrap: Callable[[Solve], Solve] = lambda solve: solve, **changes: Any
) -> Iterator[None]:
    """Let algorithms have other facts in their records, and a solve that is wrapped."""
    own: Any = vars(AlgorithmRecord)["solve"].fget
    solve = property(lambda one: wrap(own(one)) if one.name in names else own(one))
    records = {name: replace(ALGORITHMS[name], **changes) for name in names}
    with patch.dict(ALGORITHMS, records), patch.object(AlgorithmRecord, "solve", solve):
        yield


def changed(change: Change) -> AbstractContextManager[Any]:
    """Let a function change the solution of each graph; it is given the solve's number, too."""
    numbers = count(1)

    def wrap(solve: Callable[..., Solution]) -> Callable[..., Solution]:
        def wrapped(graph: DeviceGraph, *given: Any, **named: Any) -> Solution:
            solution = solve(graph, *given, **named)
            change(solution, graph, next(numbers))
            return solution

        return wrapped

    return registered("ecl", "filter-boruvka", wrap=wrap)


def emptied(solution: Solution, graph: DeviceGraph, _: int = 0) -> None:
    """Take all edges out of a solution."""
    flags = solution.in_forest
    Launcher(graph.device, graph.device.queue).fill(flags.memory, 0, flags.size, flags.dtype)
