"""The devices of one solve: what `devices` means on the public calls."""

from __future__ import annotations

from typing import Any

from clmst.algorithms import solving
from clmst.algorithms.ecl import check_for_edges_once
from clmst.algorithms.parts import costs
from clmst.algorithms.parts.costs import Costs
from clmst.core.arguments import has
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.device_parts import DeviceParts, check_one_of, named_devices
from clmst.runtime.discovery import devices as listings
from clmst.runtime.discovery import get_device
from clmst.scale.fallback import proved
from clmst.scale.parts import (
    Division,
    are_pinned,
    devices_of,
    divided,
    listed_graph,
)
from clmst.scale.several import SolveOfParts

_WORD_BYTES = 4  # of a weight, as far as is known before the weights are looked at


def forest_by_several(
    graph: Any, devices: Any, *, device: Any, algorithm: str, options: object,
    keep_on_device: bool, profile: bool, verify: bool, maximum: bool,
) -> Forest | Device | None:  # fmt: skip
    """Return the forest by several devices, or the one device that is to solve, or raise.

    None: the device that the graph is on, or else the one for all. `devices` may be None where the
    graph is in parts. The rest is as of :func:`clmst.minimum_spanning_forest`.
    """
    check_one_of(device, devices)
    resident = isinstance(graph, DeviceGraph | DeviceMatrix | DeviceParts)
    is_auto = isinstance(devices, str) and str.__eq__(devices, "auto")
    found = [] if is_auto or devices is None else named_devices(devices)
    if resident:
        if found or isinstance(graph, DeviceParts):
            _check_where(graph, found, device)
        if not isinstance(graph, DeviceParts):
            return None
    if is_auto and not resident:
        found = _quickest(graph, only_one=keep_on_device or profile)
    if not resident and len(found) == 1:
        return found[0]
    _refuse(algorithm, options, keep_on_device=keep_on_device, profile=profile)
    division = Division.of(graph) if resident else divided(listed_graph(graph), found)
    if verify and division.graph is None:
        raise InvalidArgumentError(
            "verify is True, and the parts were made of graphs of devices; to be proved, a forest "
            "needs the whole graph on the host"
        )
    solve = SolveOfParts(division, algorithm=algorithm, options=options, maximum=maximum)
    forest = solve.to_host(solve.run())
    if verify and division.graph is not None:
        return proved(division.graph, forest)
    return forest


def _check_where(
    graph: DeviceGraph | DeviceMatrix | DeviceParts, found: list[Device], device: Any
) -> None:
    """Raise if the caller names other devices than those of the graph."""
    own = devices_of(graph)
    wanted = [get_device(device)] if device is not None else found
    if wanted and {id(one) for one in wanted} != {id(one) for one in own}:
        raise InvalidArgumentError(
            f"the graph is on {_in_words(own)} already, not on {_in_words(wanted)}; leave the "
            "devices out, or give a graph of the host"
        )


def _in_words(devices: Any) -> str:
    return " and ".join(one.description for one in devices)


def _refuse(algorithm: str, options: object, *, keep_on_device: bool, profile: bool) -> None:
    if keep_on_device:
        raise InvalidArgumentError(
            "keep_on_device is True, and there are several devices; the forest of several is made "
            "on the host, since no device has its edge ids"
        )
    if profile:
        raise InvalidArgumentError(
            "profile is True, and there are several devices; kernels are timed on one device "
            "(stats has the times of several devices' solves and moves)"
        )
    solving.check_named(algorithm, options)
    fact = f"parts on several devices store each edge once ({algorithm})"
    check_for_edges_once(options, fact)


def _quickest(graph: Any, *, only_one: bool) -> list[Device]:
    """Return the devices that solve a graph of the host first, by the model of costs."""
    first = get_device()
    others = [] if only_one else others_like(first)
    if not others:
        return [first]
    n, m = _sizes(graph)
    every = [Costs.of(one) for one in (first, *others)]
    at_once = isinstance(graph, Graph) and are_pinned(graph)
    count = costs.best_count(every, n, m, _WORD_BYTES, at_once=at_once)
    return [first, *others][:count]


def others_like(first: Device) -> list[Device]:
    """Return the other usable devices like a GPU; CPUs compete for the same cores."""
    if first.capabilities.kind == "cpu":
        return []
    return [
        get_device(one.device)
        for one in listings()
        if one.usable
        and one.device.cl_device != first.cl_device
        and (one.device.name, one.device.platform) == (first.name, first.platform)
    ]


def _sizes(graph: Any) -> tuple[int, int]:
    """Return about how many vertices and edges a graph has; (0, 0) if that takes a conversion."""
    if isinstance(graph, Graph):
        return graph.n_vertices, graph.n_slots // (2 if graph.is_symmetric else 1)
    if has(graph, "tocsr"):
        return int(graph.shape[0]), int(graph.nnz) // 2
    return 0, 0
