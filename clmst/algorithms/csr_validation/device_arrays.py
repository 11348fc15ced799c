"""Make a graph from arrays that are already on a device, after checking them."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst import route
from clmst.algorithms.csr_validation import check as validation
from clmst.core.arguments import shown
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.graph_checks import check_size
from clmst.core.weight_keys import check_dtype
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph, graph_on_device
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher

_INTEGERS = (np.dtype(np.int32), np.dtype(np.uint32))


def graph_of(indptr: Any, indices: Any, weights: Any, device: Any) -> DeviceGraph:
    """Check the three arrays of a CSR that are on a device, and make a graph from them.

    The arguments are explained in :meth:`clmst.DeviceGraph.from_arrays`.

    Raises
    ------
    InvalidArgumentError
        An argument is not an array on the device.
    InvalidGraphError
        The arrays are not a graph that can be used without rearrangement.
    """
    own = _device_of(indptr) if device is None else get_device(device)
    starts = _integers("indptr", indptr, own)
    columns = _integers("indices", indices, own)
    words = _as_array("weights", weights, own)
    check_dtype(words.dtype)
    if words.size != columns.size:
        raise InvalidGraphError(
            f"indices has {columns.size} entries but weights has {words.size}; they must be equal"
        )
    if starts.size == 0:
        raise InvalidGraphError("indptr is empty; it must have one entry more than there are rows")
    check_size(starts.size - 1, columns.size)
    # It is not known yet whether the matrix is symmetric. Until the check finds out, it is declared
    # symmetric.
    resident = graph_on_device(starts, columns, words, is_symmetric=True, device=own)
    with own.lock, Guard(own):
        found = _checked_by_device(resident) if route.device_checks(columns.size) else None
    return found or _checked_by_host(resident)


def _device_of(array: Any) -> Device:
    if isinstance(array, DeviceArray):
        return array.device
    queue = getattr(array, "queue", None)
    if queue is None:
        raise InvalidArgumentError(
            f"indptr is {shown(array)}; it must be a DeviceArray, or a pyopencl.array.Array with "
            "a queue (to_device takes host arrays)"
        )
    return get_device(queue)


def _as_array(name: str, values: Any, device: Device) -> DeviceArray:
    array = DeviceArray.in_context(values, device)
    if array is None:
        raise InvalidArgumentError(
            f"{name} is {shown(values)}; it must be a DeviceArray or a pyopencl.array.Array "
            "(to_device takes host arrays)"
        )
    return array


def _integers(name: str, values: Any, device: Device) -> DeviceArray:
    array = _as_array(name, values, device)
    if array.dtype not in _INTEGERS:
        raise InvalidGraphError(f"{name} is {array.dtype}; on a device it must be int32 or uint32")
    return array


def _checked_by_device(resident: DeviceGraph) -> DeviceGraph | None:
    """Let the device check the graph `resident`, and return the graph if it is valid.

    The call waits for the device. Returns None if the host has to check the graph, either to find
    the fault or because the device has failed the self-test of the check.
    """
    device = resident.device
    if not validation.is_trusted(device, resident.encoded.encoding):
        return None
    launch = Launcher(device, device.queue)
    (last,) = launch.read_words(resident.indptr, 1, first=resident.n_vertices)
    if launch.read_word(resident.indptr) or last != resident.n_slots:
        return None
    return validation.check(resident)


def _checked_by_host(resident: DeviceGraph) -> DeviceGraph:
    """Let the host check the graph `resident`, and return the graph if it is valid.

    Raises InvalidGraphError, which names the fault, if it is not.
    """
    host = resident.graph
    found = Graph.from_csr(host.indptr, host.indices, host.weights)
    if found.edge_ids is not None:
        raise InvalidGraphError(
            "the columns of a row do not rise, or the matrix is neither symmetric nor upper "
            "triangular; device arrays are used as they are, so they must satisfy both "
            "(Graph.from_csr sorts host arrays)"
        )
    return validation.with_symmetry(resident, symmetric=found.is_symmetric)
