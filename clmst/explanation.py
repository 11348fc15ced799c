"""Which way a graph would go, with the facts that decide and the ways that were passed over.

Nothing is solved. The router is asked as a solve asks it, so it may have the weights looked at, and
the device may have to pass a self-test first.
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
    """The answer of the router for a graph, and how it came to it."""

    way: Way
    facts: dict[str, Any]  # the facts that the router was given or has asked for, by name
    passed: list[tuple[str, str]]  # ways that were looked at before, and why each was passed over
    device: Device | None


def explain(graph: Any, *, device: Any = None, maximum: bool = False) -> Explanation:
    """Return which way :func:`clmst.minimum_spanning_forest` would take.

    Parameters
    ----------
    graph : Graph, Points or any other graph that lies on the host
        As of :func:`clmst.minimum_spanning_forest`.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`.
    maximum : bool
        Whether the maximum spanning forest is wanted.

    Returns
    -------
    Explanation
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
    """Return the way of a graph that is put on a device, and why prim is not first if it is not."""
    alone, n, symmetric = device.facts.alone, graph.n_vertices, graph.is_symmetric
    n_slots = graph.indices.size
    first = route.prim_first(alone, n, n_slots, symmetric)
    passed = [] if type(first) is Way else [("prim", first[0].format(*first[1:]))]
    name = "prim" if not passed else next(solving.in_order(device, None, n_vertices=n))
    way = route.way_of_steps(
        name, None, n_vertices=n, n_slots=n_slots, symmetric=symmetric, alone=alone
    )
    return way, passed


def _given(facts: route.SparseFacts | route.PointFacts) -> dict[str, Any]:
    """Return facts by name: neither the device, nor what was not asked for, nor what is empty."""
    every = {one.name: getattr(facts, one.name) for one in fields(facts)}
    refused = sorted(every.pop("refused"))
    known = {name: value for name, value in every.items() if value is not None}
    known.pop("device", None)
    return known | ({"refused": refused} if refused else {})
