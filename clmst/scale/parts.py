"""Divide a graph on the host into parts, and upload each part to a device of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from clmst.algorithms.families import PARTS, words_case
from clmst.algorithms.parts.shares import ends_of_parts, shares_of
from clmst.algorithms.parts.union import begin_rows
from clmst.core.arguments import unchecked
from clmst.core.coercion import as_graph
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array, EncodedWeights, encode
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph, deferred_graph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.device_memory import is_pinned
from clmst.runtime.device_parts import DeviceParts, named_devices
from clmst.runtime.device_threads import named_failures, together
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.runtime.transfer import Transfer


def to_devices(graph: Any, devices: Iterable[Any], *, symmetrize: bool = False) -> DeviceParts:
    """Upload a graph to several devices. Each device gets a part of the edges.

    The call blocks until all parts are on their devices.

    Parameters
    ----------
    graph : Graph, scipy.sparse array or matrix, networkx.Graph, or another list of edges
        A graph in the host's memory, as in :func:`clmst.minimum_spanning_forest`. A complete graph
        (:class:`DenseGraph` or :class:`Points`) cannot be divided.
    devices : sequence of str, Device or pyopencl.CommandQueue
        The devices, each named once. See :func:`clmst.get_device` for their names.
    symmetrize : bool
        Allow the cells (i, j) and (j, i) of a dense matrix with gaps to differ. The weight of the
        edge is the lesser of the two, as in :func:`clmst.minimum_spanning_forest`.

    Returns
    -------
    DeviceParts
        The graph in parts, which :func:`clmst.minimum_spanning_forest` accepts. The rows are
        divided so that all devices take about the same time to solve their parts. A device to which
        no edges fall gets no part.

    Raises
    ------
    InvalidArgumentError
        `devices` is empty, or names a device twice or an unknown one; or the graph is a complete
        graph, or on a device already.
    InvalidGraphError
        The graph is malformed.
    UnsupportedDeviceError
        A device is not usable, or has failed its self-test.
    OutOfDeviceMemoryError
        A device cannot hold its part.

    Notes
    -----
    The host takes O(n) for each part. If the graph stores both directions of its edges, the host
    first selects one direction, in O(n + n_slots).

    Examples
    --------
    >>> import clmst, scipy.sparse
    >>> A = scipy.sparse.csr_array([[0, 2, 3], [0, 0, 4], [0, 0, 0]])
    >>> parts = clmst.to_devices(A, [clmst.get_device()])
    >>> clmst.minimum_spanning_forest(parts).edge_ids
    array([0, 1], dtype=int32)
    """
    found = named_devices(devices)
    division = divided(listed_graph(graph, symmetrize=symmetrize), found, stays=True)
    with named_failures(division.devices):
        parts = together(division.devices, partial(_arrived, division))
    return unchecked(
        DeviceParts,
        parts=tuple(parts),
        first_rows=division.first_rows,
        graph=division.graph,
        slots=division.slots,
    )


def _arrived(division: Division, number: int) -> DeviceGraph:
    """Upload part `number` of a divided graph, wait until it is on its device, and return it."""
    part = division.part(number)
    with part.device.lock:
        part.device.queue.finish()
    return part


def listed_graph(graph: Any, *, symmetrize: bool = False) -> Graph:
    """Convert a caller's graph to a Graph on the host.

    `symmetrize` is as in :func:`clmst.minimum_spanning_forest`. Raise InvalidArgumentError if the
    graph is on a device, or if it is a complete graph, which does not list its edges.
    """
    if isinstance(graph, DeviceGraph | DeviceMatrix | DeviceParts):
        on = ", ".join(dict.fromkeys(one.description for one in devices_of(graph)))
        raise InvalidArgumentError(
            f"the graph is on {on} already; only a graph of the host can be divided among devices "
            "(DeviceParts.of_graphs takes parts that are on theirs)"
        )
    listed = as_graph(graph, symmetrize=symmetrize)
    if not isinstance(listed, Graph):
        raise InvalidArgumentError(
            f"the {type(graph).__name__} is a complete graph, which one device solves; to_graph() "
            "of a DenseGraph or of Points lists its edges"
        )
    return listed


def devices_of(graph: DeviceGraph | DeviceMatrix | DeviceParts) -> Sequence[Device]:
    """Return the device that holds a graph, or the devices that hold the parts of a graph."""
    return graph.devices if isinstance(graph, DeviceParts) else (graph.device,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Division:
    """A division of the edges of a graph among devices. Each edge is stored once."""

    devices: tuple[Device, ...]
    first_rows: tuple[int, ...]  # first row of each device's part
    # First slot of each part. Slots, which are CSR entries, are counted through all parts.
    first_slots: tuple[int, ...]
    n_vertices: int
    n_slots: int  # number of slots of all parts
    graph: Graph | None  # the graph on the host; None if the parts were made on devices
    # The slot in `graph` of each slot of the parts. None if both have the same number.
    slots: Array | None
    # A function that returns a part of the graph by its number. The part may still be on its way to
    # the device. Several threads may call the function at the same time.
    part: Callable[[int], DeviceGraph]

    @classmethod
    def of(cls, parts: DeviceParts) -> Division:
        """Describe, as a division, the parts of a graph that are on their devices already."""
        return cls(
            devices=parts.devices,
            first_rows=parts.first_rows,
            first_slots=(0, *accumulate(one.n_slots for one in parts.parts[:-1])),
            n_vertices=parts.n_vertices,
            n_slots=parts.n_slots,
            graph=parts.graph,
            slots=parts.slots,
            part=parts.parts.__getitem__,
        )


def divided(graph: Graph, devices: Sequence[Device], *, stays: bool = False) -> Division:
    """Divide a graph on the host among devices, without uploading it yet.

    A part is uploaded when the function `part` of the result is called for it.

    `stays` says whether the parts are used for several solves. Parts for a single solve, most of
    whose time are uploads, have sizes in proportion to the speeds of the devices. Parts for several
    solves have sizes for which all devices take about the same time to solve.

    Parts are uploaded in sequence, each by several threads, so that one device solves while the
    next part is uploaded. Two uploads at once would slow each other down
    (docs/several_devices.md). If the graph is in pinned memory, which devices read by themselves,
    the uploads run at the same time.

    Raise UnsupportedDeviceError if a device has failed the self-test of the kernels for parts.
    """
    upper, slots = _upper(graph)
    encoded = encode(upper.weights)
    for device in devices:
        device.trust.require(PARTS, words_case(encoded.encoding.word))
    ends = ends_of_parts(devices) if stays else list(accumulate(shares_of(devices)))[:-1]
    slots_before = (np.array(ends) * upper.n_slots).astype(np.uint32)
    bounds = [0, *np.searchsorted(upper.indptr, slots_before).tolist(), upper.n_vertices]
    has_slots = np.diff(upper.indptr[bounds].astype(np.int64)) > 0
    chosen = [device for device, has in zip(devices, has_slots, strict=True) if has]
    first_rows = [row for row, has in zip(bounds[:-1], has_slots, strict=True) if has]
    chosen, first_rows = chosen or [devices[0]], [0, *first_rows[1:]]
    ranges = list(pairwise([*first_rows, upper.n_vertices]))
    turn = nullcontext() if are_pinned(upper) else threading.Lock()

    def part(number: int) -> DeviceGraph:
        with turn:
            return put_part(upper, encoded, chosen[number], *ranges[number])

    return Division(
        devices=tuple(chosen),
        first_rows=tuple(first_rows),
        first_slots=tuple(upper.indptr[first_rows].tolist()),
        n_vertices=upper.n_vertices,
        n_slots=upper.n_slots,
        graph=graph,
        slots=slots,
        part=part,
    )


def are_pinned(graph: Graph) -> bool:
    """Return whether devices can copy a graph from the host's memory without the host's threads.

    For that, the arrays must be in pinned memory, each edge must be stored once, and weights must
    have at most 32 bits. Wider weights are first converted by the host, which copies them anyway.
    """
    weights = graph.weights
    is_narrow = weights.itemsize <= 4
    return not graph.is_symmetric and is_narrow and is_pinned(graph.indices) and is_pinned(weights)


def _upper(graph: Graph) -> tuple[Graph, Array | None]:
    """Return the graph with each edge stored once, and the CSR entries that were kept.

    The entries are indices into the arrays of `graph`. They are None if `graph` stores each edge
    once already.
    """
    if not graph.is_symmetric:
        return graph, None
    slots = graph.edge_slots
    starts = np.searchsorted(slots, graph.indptr).astype(np.uint32)
    upper = graph.replace_unchecked(
        indptr=starts, indices=graph.indices[slots], weights=graph.weights[slots],
        is_symmetric=False, edge_ids=None, n_input=slots.size,
    )  # fmt: skip
    return upper, slots


def put_part(
    graph: Graph, encoded: EncodedWeights, device: Device, first_row: int, end_row: int
) -> DeviceGraph:
    """Start the upload of the rows from `first_row` to below `end_row` of a graph to a device.

    Return the part as a graph on the device. Copies may still run in the queue of the device.
    `encoded` are all weights of `graph` in the form in which devices store them.
    """
    first, end = (int(graph.indptr[row]) for row in (first_row, end_row))
    indices, words = graph.indices[first:end], encoded.bits[first:end]
    own = EncodedWeights(source=words, encoding=encoded.encoding)
    with device.lock, Guard(device):
        if device.capabilities.host_arrays != "copied":
            starts = np.clip(graph.indptr, first, end) - np.uint32(first)
            part = Graph.unchecked(
                indptr=starts, indices=indices, weights=graph.weights[first:end],
                is_symmetric=False, edge_ids=None, n_input=end - first,
            )  # fmt: skip
            return DeviceGraph.of_keys(part, own, device, wait=True)
        indptr = DeviceArray.unchecked(graph.indptr.size, np.dtype(np.uint32), device)
        columns = DeviceArray.unchecked(end - first, np.dtype(np.uint32), device)
        weights = DeviceArray.unchecked(end - first, encoded.encoding.stored, device)
        arrays = (graph.indptr[first_row : end_row + 1], indices, words)
        offsets = (4 * first_row, 0, 0)
        device.staging.send(
            device.queue,
            [
                Transfer(buffer=to.memory, array=array, offset=offset)
                for to, array, offset in zip((indptr, columns, weights), arrays, offsets,
                                             strict=True)
                if array.size
            ],
        )  # fmt: skip
        begin_rows(
            indptr, Launcher(device, device.queue), first_row=first_row, end_row=end_row,
            first_slot=first, n_slots=end - first,
        )  # fmt: skip
        device.queue.flush()
        return DeviceGraph(
            graph=deferred_graph(indptr, columns, weights, is_symmetric=False),
            device=device, indptr=indptr.memory, indices=columns.memory, weights=weights.memory,
            encoded=own,
        )  # fmt: skip
