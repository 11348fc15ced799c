"""A solve on a device from the choice of the algorithm to the forest and what it tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clmst.algorithms.choosing import choose
from clmst.algorithms.memory_needs import with_needs
from clmst.algorithms.shared.solution import DeviceForest, Solution, gather
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher


def solve_resident(
    graph: DeviceGraph,
    launch: Launcher,
    *,
    algorithm: str,
    options: Any,
    maximum: bool,
) -> DeviceForest:
    """Solve a graph that is on a device, whose lock the caller has; waits for it.

    Parameters
    ----------
    graph : DeviceGraph
    launch : Launcher
        Its profile, if it has one, goes into the forest's ``stats``.
    algorithm, options, maximum
        As of :func:`clmst.minimum_spanning_forest`.
    """
    name, solve = choose(algorithm, graph.device, graph, options=options, maximum=maximum)
    try:
        solution = solve(graph, launch, maximum=maximum, options=options)
        return forest_of(solution, launch, algorithm=name, maximum=maximum)
    except OutOfDeviceMemoryError as error:
        raise with_needs(error, graph, name) from error.__cause__ or error


def forest_of(
    solution: Solution,
    launch: Launcher,
    *,
    algorithm: str,
    maximum: bool,
    own_weights: bool = False,
) -> DeviceForest:
    """Return the forest of a solution; waits for it.

    Parameters
    ----------
    solution : Solution
    launch : Launcher
        Its profile, if it has one, goes into the forest's ``stats``.
    algorithm : str
        The name of what solved it.
    maximum : bool
    own_weights : bool
        Give the forest weights of its own, since the graph will get others.
    """
    forest = gather(solution, launch, maximum=maximum, own_weights=own_weights)
    return with_stats(forest, launch, algorithm)


def with_stats(forest: DeviceForest, launch: Launcher, algorithm: str) -> DeviceForest:
    """Return a forest that tells how it was come by."""
    stats: Mapping[str, Any] = {
        "algorithm": algorithm,
        "device": launch.device.description,
        "launches": launch.launches,
        **forest.stats,
    }
    if launch.profile is not None:
        stats = {**stats, "profile": launch.profile.summary()}
        if phases := launch.profile.phases():
            stats = {**stats, "phases": phases}
    return forest.with_stats(stats)
