"""Explain how a graph would be solved: the chosen way of solving, and why others were rejected.

The router (``clmst.route``) decides by the same facts as in a solve, but nothing is solved. So the
weights may be read, for example to find out whether they are all equal, and the device may have to
pass a self-test first.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from clmst import route
from clmst.algorithms import direct, solving
from clmst.algorithms.complete import decide_tree, facts_of_complete
from clmst.core.coercion import as_graph
from clmst.core.graph import Graph
from clmst.route import Way
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.discovery import default_device, get_device, is_named


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How a graph would be solved, and the reasons.

    Attributes
    ----------
    way : Way
        The chosen way of solving. It has a sentence with the facts that decided.
    facts : dict
        The facts about the graph from which the way was chosen, by name.
    passed : list of tuple
        The ways that were considered earlier and rejected: the name of each, and the reason in
        words.
    device : Device or None
        The device that would solve the graph, or None if no device is usable.
    """

    way: Way
    facts: dict[str, Any]
    passed: list[tuple[str, str]]
    device: Device | None


def explain(graph: Any, *, device: Any = None, maximum: bool = False) -> Explanation:
    """Explain how :func:`clmst.minimum_spanning_forest` would solve a graph, without solving it.

    Parameters
    ----------
    graph : Graph, Points, scipy.sparse array or matrix, networkx.Graph, ...
        A graph in the host's memory, as :func:`clmst.minimum_spanning_forest` accepts it. Points
        and complete matrices are uploaded to the device.
    device : None, str, Device or pyopencl.CommandQueue
        The device that would solve; see :func:`clmst.get_device`. With None the host may solve a
        small graph.
    maximum : bool
        Whether the maximum spanning forest is wanted.

    Returns
    -------
    Explanation
        The way of solving, the facts that decided, and the ways that were rejected.

    Raises
    ------
    InvalidGraphError
        The graph is malformed.
    UnsupportedDeviceError
        The device that `device` names is not usable.

    Examples
    --------
    >>> import clmst
    >>> from clmst.explanation import explain
    >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [2, 3, 4])
    >>> explain(graph).facts["n_vertices"]
    3
    """
    host_allowed = device is None and not is_named()
    found = default_device() if device is None else get_device(device)
    decided = direct.decided(graph, found, maximum=maximum, host_allowed=host_allowed)
    given: dict[str, Any] = {}
    passed: list[tuple[str, str]] = []
    if decided is not None:
        way, facts = decided
        given, passed = _given(facts), route.passed_over(facts)
        if way.record != route.STEPS or found is None:
            return Explanation(way=way, facts=given, passed=passed, device=found)
    if found is None:
        way = Way(route.HOST, "there is no device")
        return Explanation(way=way, facts=given, passed=passed, device=None)
    own = as_graph(graph)
    if isinstance(own, Graph):
        way, why = _steps(own, found)
        return Explanation(way=way, facts=given, passed=passed + why, device=found)
    matrix = DeviceMatrix.upload(own, found)
    way, of_points = decide_tree(matrix, facts_of_complete(matrix, maximum=maximum), None)
    passed += route.passed_over_complete(of_points)
    return Explanation(way=way, facts=given | _given(of_points), passed=passed, device=found)


def _steps(graph: Graph, device: Device) -> tuple[Way, list[tuple[str, str]]]:
    """Return the way of solving a graph that is uploaded to a device first.

    Returns with it the ways that were rejected: an empty list if the algorithm is "prim", and
    otherwise a list with "prim" and the reason.
    """
    of_graph: dict[str, Any] = {
        "n_vertices": graph.n_vertices, "n_slots": graph.indices.size,
        "symmetric": graph.is_symmetric, "alone": device.facts.alone,
    }  # fmt: skip
    passed = route.passed_over_steps(**of_graph)
    name = next(solving.in_order(device, None, n_vertices=graph.n_vertices)) if passed else "prim"
    return route.way_of_steps(name, None, **of_graph), passed


def _given(facts: route.SparseFacts | route.PointFacts) -> dict[str, Any]:
    """Return the facts about a graph as a dict, without the device and facts that are unknown.

    `refused`, the ways whose self-test the device has failed, is left out if it is empty.
    """
    every = {one.name: getattr(facts, one.name) for one in fields(facts)}
    refused = sorted(every.pop("refused"))
    known = {name: value for name, value in every.items() if value is not None}
    known.pop("device", None)
    return known | ({"refused": refused} if refused else {})
