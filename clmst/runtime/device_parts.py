"""A graph in several parts, each on a device of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.core.arguments import check_kind, errors_as, items_of, shown, unchecked
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.discovery import get_device
from clmst.runtime.launcher import Launcher


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviceParts:
    """A graph in parts on several devices, for any number of solves.

    :func:`clmst.to_devices` divides a graph of the host into parts. :meth:`of_graphs` takes parts
    that are on their devices already.

    Attributes
    ----------
    parts : tuple of DeviceGraph
        Graphs on all vertices, each with the edges of some consecutive rows. Every edge is stored
        once. The slots of all parts, concatenated, are the slots of the whole graph. Each part is
        on another device.
    first_rows : tuple of int
        The first row of each part. It is 0 for the first part.
    graph : Graph or None
        The caller's graph, if it is on the host.
    slots : ndarray of int or None
        For each slot of the parts, counted through all of them, the slot of `graph` that holds the
        edge. None if both have the same number for every edge.
    """

    parts: tuple[DeviceGraph, ...]
    first_rows: tuple[int, ...]
    graph: Graph | None = None
    slots: Array | None = None

    def __post_init__(self) -> None:
        """Check the types and shapes of the attributes, and that no device has two parts.

        Whether `first_rows` matches the rows in the parts is not checked.
        """
        _check_alike(_listed(self.parts))
        check_distinct([one.device for one in self.parts])
        rows: Any = self.first_rows
        is_rising = isinstance(rows, tuple) and all(type(row) is int for row in rows)
        if not is_rising or len(rows) != len(self.parts) or list(rows) != sorted(rows) or rows[0]:
            raise InvalidArgumentError(
                f"first_rows are {shown(rows)}; they must be a tuple of rising integers from 0 on, "
                "one for each part"
            )
        if self.graph is not None:
            check_kind("graph", self.graph, Graph)
        if self.slots is not None:
            check_kind("slots", self.slots, np.ndarray, rule="they must be an array")
            if self.slots.dtype.kind not in "iu" or self.slots.shape != (self.n_slots,):
                raise InvalidArgumentError(
                    f"slots have shape {self.slots.shape} and dtype {self.slots.dtype}; there must "
                    f"be an integer for each of the {self.n_slots} slots of the parts"
                )
        edge_ids = None if self.graph is None else self.graph.edge_ids
        own = self.n_slots if self.slots is None else int(self.slots.max(initial=-1)) + 1
        if edge_ids is not None and own > edge_ids.size:
            raise InvalidArgumentError(
                f"the graph has edge ids for {edge_ids.size} slots, and the parts have slot "
                f"{own - 1} of it; the graph must be that of the parts"
            )

    @classmethod
    def of_graphs(cls, parts: Sequence[DeviceGraph]) -> DeviceParts:
        """Create an object from parts that are on their devices already.

        Parameters
        ----------
        parts : sequence of DeviceGraph
            Graphs with the same vertices, each on a device of its own, whose weights have one
            dtype. Each stores its edges once (``graph.is_symmetric`` is False). Its rows come after
            the rows of the part before.

        Returns
        -------
        DeviceParts
            The id of an edge is its slot, counted through all parts. It may need more than 32 bits.

        Raises
        ------
        InvalidArgumentError
            The list of parts is empty, or two of them are on one device.
        InvalidGraphError
            The parts do not belong to one graph.
        """
        listed = _listed(parts)
        check_distinct([one.device for one in listed])
        _check_alike(listed)
        first_rows, end = list[int](), 0
        for number, one in enumerate(listed):
            begin, own_end = _row_range(one) or (end, end)
            if begin < end:
                raise InvalidGraphError(
                    f"part {number} begins in row {begin}, and the parts before have rows up to "
                    f"{end - 1}; the rows of a part must follow the rows of the part before it"
                )
            first_rows.append(begin if number else 0)
            end = own_end
        return unchecked(
            cls, parts=tuple(listed), first_rows=tuple(first_rows), graph=None, slots=None
        )

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices of the parts, in order."""
        return tuple(one.device for one in self.parts)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.parts[0].n_vertices

    @property
    def n_slots(self) -> int:
        """Number of slots (CSR entries) of all parts together."""
        return sum(one.n_slots for one in self.parts)

    def __repr__(self) -> str:
        on = ", ".join(device.description for device in self.devices)
        return f"DeviceParts(n_vertices={self.n_vertices}, n_slots={self.n_slots}, on {on})"


def check_one_of(device: Any, devices: Any) -> None:
    """Raise InvalidArgumentError if a caller gives both `device` and `devices`."""
    if device is not None and devices is not None:
        raise InvalidArgumentError(
            f"device is {shown(device)} and devices are {shown(devices)}; give one of the two"
        )


def named_devices(devices: Any) -> list[Device]:
    """Return the devices that a caller names, as one name or a sequence of names or devices.

    Raises InvalidArgumentError if none is named, or if one is named twice.
    """
    with errors_as(lambda _: InvalidArgumentError(
        f"devices are {shown(devices)}; they must be a sequence of devices"
    )):  # fmt: skip
        names = [devices] if isinstance(devices, str | Device) else items_of(devices)
    if not names:
        raise InvalidArgumentError("devices is empty; name one at least, or leave it out")
    found = [get_device(one) for one in names]
    check_distinct(found)
    return found


def check_distinct(devices: Sequence[Device]) -> None:
    """Raise InvalidArgumentError if a device is listed twice with equal settings."""
    settings = [(one.cl_device, one.without, one.capabilities, one.policy) for one in devices]
    for k, one in enumerate(settings):
        if one in settings[:k]:
            raise InvalidArgumentError(
                f"{devices[k].description} is among the devices twice; each may be named once "
                '("nvidia:0" and "nvidia:1" name the first two of a platform)'
            )


def _listed(parts: Any) -> list[DeviceGraph]:
    with errors_as(lambda _: InvalidArgumentError(
        f"parts are {shown(parts)}; they must be a sequence of DeviceGraph"
    )):  # fmt: skip
        listed = items_of(parts)
    if not listed:
        raise InvalidArgumentError("there are no parts; there must be one at least")
    for number, one in enumerate(listed):
        check_kind(f"part {number}", one, DeviceGraph)
    return listed


def _check_alike(parts: Sequence[DeviceGraph]) -> None:
    """Raise InvalidGraphError unless the parts can belong to one graph.

    They must have the same number of vertices and the same encoding of weights, and each must store
    its edges in one direction only.
    """
    first = parts[0]
    for number, one in enumerate(parts):
        if one.graph.is_symmetric:
            raise InvalidGraphError(
                f"part {number} stores edges in both directions; parts store each edge once"
            )
        if one.n_vertices != first.n_vertices:
            raise InvalidGraphError(
                f"part {number} has {one.n_vertices} vertices and part 0 has {first.n_vertices}; "
                "all must have those of the graph"
            )
        if one.encoded.encoding != first.encoded.encoding:
            raise InvalidGraphError(
                f"the weights of part {number} are {one.encoded.encoding}, and those of part 0 "
                f"{first.encoded.encoding}; all must be stored alike"
            )


def _row_range(part: DeviceGraph) -> tuple[int, int] | None:
    """Return the first row of a part that has an entry, and the row after the last that has one.

    Returns None for a part without entries. Unless the host has the row pointers, the call blocks
    while it reads O(log n) of them from the device.
    """
    if part.n_slots == 0:
        return None
    starts: Array | None = vars(part.graph).get("indptr")
    if starts is not None:
        first, last = np.searchsorted(starts, (0, part.n_slots - 1), side="right").tolist()
        return first - 1, last
    with part.device.lock:
        launch = Launcher(part.device, part.device.queue)
        return _last_row(part, launch, 0), _last_row(part, launch, part.n_slots - 1) + 1


def _last_row(part: DeviceGraph, launch: Launcher, slot: int) -> int:
    """Find the row of a part that contains the CSR entry `slot`, and block until it is found.

    It is a binary search over the row pointers, which are read from the device one at a time.
    """
    low, high = 0, part.n_vertices
    while high - low > 1:
        middle = (low + high) // 2
        (start,) = launch.read_words(part.indptr, 1, first=middle)
        low, high = (middle, high) if start <= slot else (low, middle)
    return low
