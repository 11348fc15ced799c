"""The solve of a reduction whose edges are on a device, within a limit of memory."""

from __future__ import annotations

from functools import partial

from clmst import algorithms
from clmst.algorithms.edge_stream.reducer import Solve
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import forest_of
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher


def solver_within(limit: int, launch: Launcher, *, maximum: bool) -> Solve:
    """Return what a stream solves its reductions by; around a solve the device keeps `limit` bytes.

    It is no method of who has the stream: the two would keep each other, and the stream's memory,
    until Python looks for cycles.
    """
    return partial(_solve_within, limit=limit, launch=launch, maximum=maximum)


def _solve_within(
    graph: DeviceGraph, *, limit: int, launch: Launcher, maximum: bool
) -> DeviceForest:
    device = launch.device
    device.hold_at_most(limit)  # what the sort has left
    name, solve = algorithms.choose("auto", device, graph, options=None, maximum=maximum)
    solution = solve(graph, launch, maximum=maximum, options=None)
    forest = forest_of(solution, launch, algorithm=name, maximum=maximum, wait=False)
    graph.plans.clear()
    del solution
    device.hold_at_most(limit)  # what the solve has left
    return forest
