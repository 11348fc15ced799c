"""The meaning of the arguments `device` and `devices` of a solve, and solves by several devices."""

from __future__ import annotations

from typing import Any

from clmst.algorithms import solving
from clmst.algorithms.ecl import check_for_edges_once
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.device_parts import DeviceParts, check_one_of, named_devices
from clmst.runtime.discovery import get_device
from clmst.scale.fallback import proved
from clmst.scale.parts import (
    Division,
    devices_of,
    divided,
    listed_graph,
)
from clmst.scale.several import SolveOfParts


def forest_by_several(
    graph: Any, devices: Any, *, device: Any, algorithm: str, options: object,
    keep_on_device: bool, profile: bool, verify: bool, maximum: bool,
) -> Forest | Device | None:  # fmt: skip
    """Solve a graph on several devices, or return the single device that has to solve it.

    The arguments have the meaning that they have in :func:`clmst.minimum_spanning_forest`. At least
    one of `device` and `devices` is None. Both may be None if the graph is in parts that are on
    devices already.

    Returns
    -------
    Forest, Device or None
        The forest, if several devices have solved the graph. The call blocks until the forest is
        found. A Device, if `devices` names only one and the graph is on the host. None, if the
        graph as a whole is on a device, which then solves it.

    Raises
    ------
    InvalidArgumentError
        The graph is on other devices than the arguments name, or an argument cannot be used with
        several devices, such as `keep_on_device` or `profile`.
    """
    check_one_of(device, devices)
    resident = isinstance(graph, DeviceGraph | DeviceMatrix | DeviceParts)
    found = [] if devices is None else named_devices(devices)
    if resident:
        if found or isinstance(graph, DeviceParts):
            _check_where(graph, found, device)
        if not isinstance(graph, DeviceParts):
            return None
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
    """Raise InvalidArgumentError if the caller names other devices than those that hold the graph.

    `device` is the argument of that name. `found` are the devices that the argument `devices`
    names. Nothing is raised if the caller names none.
    """
    own = devices_of(graph)
    wanted = [get_device(device)] if device is not None else found
    if wanted and {id(one) for one in wanted} != {id(one) for one in own}:
        raise InvalidArgumentError(
            f"the graph is on {_in_words(own)} already, not on {_in_words(wanted)}; leave the "
            "devices out, or give a graph of the host"
        )


def _in_words(devices: Any) -> str:
    """Return the descriptions of devices as a text."""
    return " and ".join(one.description for one in devices)


def _refuse(algorithm: str, options: object, *, keep_on_device: bool, profile: bool) -> None:
    """Raise InvalidArgumentError if a solve on several devices does not support an argument.

    `algorithm`, `options`, `keep_on_device` and `profile` are as in :func:`forest_by_several`.
    """
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
