"""Change the records of registered algorithms for a test: other facts, or another solve."""

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
    """Change the records of some algorithms for the body: other facts, and a wrapped solve."""
    own: Any = vars(AlgorithmRecord)["solve"].fget
    solve = property(lambda one: wrap(own(one)) if one.name in names else own(one))
    records = {name: replace(ALGORITHMS[name], **changes) for name in names}
    with patch.dict(ALGORITHMS, records), patch.object(AlgorithmRecord, "solve", solve):
        yield


def changed(change: Change) -> AbstractContextManager[Any]:
    """Let a function change the solution of each graph in the body.

    The function gets the solution, the graph, and the number of the solve, from 1 on.
    """
    numbers = count(1)

    def wrap(solve: Callable[..., Solution]) -> Callable[..., Solution]:
        def wrapped(graph: DeviceGraph, *given: Any, **named: Any) -> Solution:
            solution = solve(graph, *given, **named)
            change(solution, graph, next(numbers))
            return solution

        return wrapped

    return registered("ecl", "filter-boruvka", wrap=wrap)


def emptied(solution: Solution, graph: DeviceGraph, _: int = 0) -> None:
    """Remove all edges from a solution."""
    flags = solution.in_forest
    Launcher(graph.device, graph.device.queue).fill(flags.memory, 0, flags.size, flags.dtype)
