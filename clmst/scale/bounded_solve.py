"""The solve of a reduction whose edges are on a device, within a limit of memory."""

from __future__ import annotations

from clmst import algorithms
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import forest_of
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher


def solve_within(
    graph: DeviceGraph, launch: Launcher, limit: int, *, maximum: bool
) -> DeviceForest:
    """Return the forest of a graph; around it the device keeps `limit` bytes at most."""
    device = launch.device
    device.hold_at_most(limit)  # what the sort has left
    name, solve = algorithms.choose("auto", device, graph, options=None, maximum=maximum)
    solution = solve(graph, launch, maximum=maximum, options=None)
    forest = forest_of(solution, launch, algorithm=name, maximum=maximum, wait=False)
    graph.plans.clear()
    del solution
    device.hold_at_most(limit)  # what the solve has left
    return forest
