"""The solve of a graph on a device, whose forest comes to the host by one read where it can."""

from __future__ import annotations

from clmst.algorithms import choosing
from clmst.algorithms.memory_needs import with_needs
from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import comes_at_once, forest_at_once, forest_of
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.core.forest import Forest
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher


def solve_graph(
    graph: DeviceGraph, launch: Launcher, *, algorithm: str, options: object, maximum: bool,
    wait: bool,
) -> Forest | DeviceForest:  # fmt: skip
    """Solve a graph that lists its edges; without `wait` its queue may still be busy.

    Without `wait`, the forest may be on the host already.
    """
    name, solve = choosing.choose(algorithm, graph.device, graph, options=options, maximum=maximum)
    try:
        at_once = not wait and comes_at_once(graph, launch)
        if at_once:
            found = _begun(name, graph, launch, options=options, maximum=maximum)
            if found is not None:
                return found
        solution = solve(graph, launch, maximum=maximum, options=options)
        if at_once:
            found = forest_at_once(solution, launch, algorithm=name, maximum=maximum)
            if found is not None:
                return found
        return forest_of(solution, launch, algorithm=name, maximum=maximum, wait=wait)
    except OutOfDeviceMemoryError as error:
        raise with_needs(error, graph, name) from error.__cause__


def solve_unread(
    graph: DeviceGraph,
    verdict: Memory,
    *,
    algorithm: str = "auto",
    options: object = None,
    maximum: bool = False,
) -> Forest | None:
    """Solve a graph whose check is enqueued, and read the forest with what the check found.

    None if the graph is not sound, or the host has to know that before.
    """
    launch = Launcher(graph.device, graph.device.queue)
    if not comes_at_once(graph, launch):
        return None
    name, _ = choosing.choose(algorithm, graph.device, graph, options=options, maximum=maximum)
    try:
        return _begun(name, graph, launch, options=options, maximum=maximum, verdict=verdict)
    except OutOfDeviceMemoryError as error:
        raise with_needs(error, graph, name) from error.__cause__


def _begun(
    name: str, graph: DeviceGraph, launch: Launcher, *, options: object, maximum: bool,
    verdict: Memory | None = None,
) -> Forest | None:  # fmt: skip
    """Return the forest by a solve that is read only once; None if there is none, or it failed."""
    begin = ALGORITHMS[name].begin
    if begin is None:
        return None
    solution = begin(graph, launch, maximum=maximum, options=options, verdict=verdict)
    if solution is None:
        return None
    return forest_at_once(solution, launch, algorithm=name, maximum=maximum)
