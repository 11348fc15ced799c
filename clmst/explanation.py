"""Explain how a graph would be solved: the chosen way of solving, and why others were rejected.

The router (``clmst.route``) decides by the same facts as in a solve, but nothing is solved. So the
weights may be read, for example to find out whether they are all equal, and the device may have to
pass a self-test first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clmst import route
from clmst.algorithms import direct, solving
from clmst.algorithms.complete import decide_tree, facts_of_complete
from clmst.core.arguments import check_integer
from clmst.core.coercion import as_graph
from clmst.core.errors import InvalidGraphError
from clmst.core.graph import Graph
from clmst.route import StreamFacts, Way
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.discovery import default_device, get_device, is_named
from clmst.scale.capacity import default_limit
from clmst.scale.sinks import ReductionSink
from clmst.scale.source import EdgeSource


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


def explain_stream(
    graph: Any, *, device: Any = None, memory_limit: int | None = None, maximum: bool = False
) -> Explanation:
    """Explain how :func:`clmst.stream_minimum_spanning_forest` would solve the edges of a graph.

    Nothing is solved. The answer says where the edges of the stream are kept when all of them have
    been read. It assumes the largest forest that is possible with these numbers of vertices and
    edges. If the graph has many components, its forest is smaller. A real solve may then read the
    stream only once, although the answer says that it is read in several passes.

    Parameters
    ----------
    graph : Graph, scipy.sparse array or matrix, networkx.Graph, ...
        A graph in the host's memory that lists its edges.
    device : None, str, Device or pyopencl.CommandQueue
        The device that would solve; see :func:`clmst.get_device`.
    memory_limit : int, optional
        The number of bytes that the stream may use on the device. The default is the same as in
        :func:`clmst.stream_minimum_spanning_forest`.
    maximum : bool
        Whether the maximum spanning forest is wanted.

    Returns
    -------
    Explanation
        The way of solving, and the facts that decided. `passed` is empty.

    Raises
    ------
    InvalidGraphError
        The graph is malformed, or it is complete and does not list its edges.
    UnsupportedDeviceError
        No device is usable, or the one that `device` names is not.

    Examples
    --------
    >>> import clmst
    >>> from clmst.explanation import explain_stream
    >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [2, 3, 4])
    >>> explain_stream(graph).way.record
    'stream-on-host'
    """
    own = as_graph(graph)
    if not isinstance(own, Graph):
        raise InvalidGraphError("the graph is complete; a stream has edges, which to_graph() lists")
    found = get_device(device)
    limit = default_limit(found)
    if memory_limit is not None:
        limit = check_integer("memory_limit", memory_limit, low=1)
    source = EdgeSource.checked(own, n_vertices=None)
    sink = ReductionSink(
        n_vertices=own.n_vertices, device=found, limit=limit, maximum=maximum, n_edges=own.n_slots
    )
    facts = StreamFacts(n_vertices=own.n_vertices, n_new=0, n_forest=0)
    for piece in source.pieces():
        facts = sink.facts_at_end(piece)
        break
    given: dict[str, Any] = {
        "n_vertices": facts.n_vertices, "n_new": facts.n_new, "has_space": facts.has_space,
        "memory_limit": limit,
    }  # fmt: skip
    return Explanation(way=route.way_of_stream(facts), facts=given, passed=[], device=found)


def _steps(graph: Graph, device: Device) -> tuple[Way, list[tuple[str, str]]]:
    """Choose the algorithm for a graph that is uploaded to a device first.

    Returns the chosen way of solving, and a list of rejected ways with the reasons. "prim" is tried
    first, so the list is empty if it is chosen, and otherwise contains only "prim".
    """
    of_graph: dict[str, Any] = {
        "n_vertices": graph.n_vertices, "n_slots": graph.indices.size,
        "symmetric": graph.is_symmetric, "alone": device.facts.alone,
    }  # fmt: skip
    passed = route.passed_over_steps(**of_graph)
    name = next(solving.in_order(device, None, n_vertices=graph.n_vertices)) if passed else "prim"
    return route.way_of_steps(name, None, **of_graph), passed


def _given(facts: route.SparseFacts | route.PointFacts) -> dict[str, Any]:
    """Return the facts that are known about a graph as a dict, without the device.

    A field is left out if its value is None. The field `refused` has the ways of solving that the
    device's failed self-tests exclude. It is left out if it is empty.
    """
    every = facts._asdict()
    refused = sorted(every.pop("refused"))
    known = {name: value for name, value in every.items() if value is not None}
    known.pop("device", None)
    return known | ({"refused": refused} if refused else {})
