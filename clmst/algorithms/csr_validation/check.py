"""Put a caller's CSR on a device, which itself finds out whether it can be used as it is.

On the host the same is a matter of seconds for a large symmetric matrix: most of it is the
transpose that the matrix is compared to. The device takes a fingerprint instead, by secret keys of
this process: that of a symmetric matrix is 0, that of any other one with a probability of 2**-64.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from clmst import route
from clmst.algorithms.canonical_csr.arrange import Arrangement, paired_slots, put_slots
from clmst.algorithms.families import CSR_VALIDATION
from clmst.core.csr import as_uint32, narrowed
from clmst.core.forest import Forest
from clmst.core.from_scipy import csr_parts
from clmst.core.graph import Graph
from clmst.core.kruskal import seems_canonical
from clmst.core.weight_keys import Array, EncodedWeights, Encoding, as_weights
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.failures import Guard
from clmst.runtime.handles import Memory
from clmst.runtime.kernel_family import case_of
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/csr_validation/csr_validation.cl"

FORMATS = ("csr", "csc", "coo")  # SciPy makes the first of the others, in C

# The most work-groups a compute unit: each adds what it found to the same words.
_MOST_GROUPS = 32

# Of verdict.cl.
_VERDICT_WORDS = 3
_FAULTY = 7  # no matrix of numbers: the bits before FAULT_BELOW
_BELOW = 8
_ORDER = 16
# Of csr_validation.cl: the slots of a tile for each work-item, and for one that is alone.
_SLOTS_OF_MANY = 16
_SLOTS_OF_ONE = 4096


# Solves a graph that the device may not find sound, behind its check: given a buffer, the words of
# its verdict. None if it is no such graph, or has to be known to be one before.
SolveUnread: TypeAlias = Callable[[DeviceGraph, Memory], Forest | None]


def put_matrix(
    matrix: Any, device: Device, *, by_entry: bool = False, arrange: bool = True
) -> DeviceGraph | None:
    """Put a matrix on a device as the graph that :meth:`clmst.Graph.from_scipy` makes of it.

    It is a SciPy matrix or array with many entries in CSR, CSC or COO form; for all else this
    returns None, as for what is faulty, which the host then names, and for what the host has to
    rearrange. `by_entry` is as of :func:`paired_slots`. O(n + n_slots) on the device; waits for it.
    """
    found = forest_or_graph(matrix, device, None, by_entry=by_entry, arrange=arrange)
    assert not isinstance(found, Forest), "nothing solves"
    return found


def forest_or_graph(
    matrix: Any,
    device: Device,
    solve: SolveUnread | None,
    *,
    by_entry: bool = False,
    arrange: bool = True,
) -> Forest | DeviceGraph | None:
    """Return the forest of a matrix that `solve` finds behind the check, else as `put_matrix`.

    Then nothing waits for the verdict. It is tried where kernels get copies of the matrix, which
    stay as they were checked, and where a few entries do not show that the check will fail.
    """
    graph = _as_it_is(matrix)
    if graph is None:
        return None
    if solve is not None and not _is_likely(graph, device):
        solve = None
    with device.lock, Guard(device):
        found = _checked(graph, device, solve, by_entry=by_entry, arrange=arrange)
        del graph  # which may be a copy of the matrix: the arrangement has what it needs of it
        return put_slots(found) if isinstance(found, Arrangement) else found


def _is_likely(graph: Graph, device: Device) -> bool:
    """Return whether a solve behind the check is possible, and likely to be of use."""
    given = SimpleNamespace(indptr=graph.indptr, indices=graph.indices, data=graph.weights)
    return device.capabilities.host_arrays == "copied" and seems_canonical(given)


def _checked(
    graph: Graph, device: Device, solve: SolveUnread | None, *, by_entry: bool, arrange: bool
) -> Forest | DeviceGraph | Arrangement | None:
    """Return a graph that its device finds sound, its slots where they need an order, or None.

    Its forest instead, if `solve` finds that.
    """
    resident = _uploaded(graph, device)
    if resident is None:
        return None
    verdict = _verdict(resident)
    if solve is not None and (forest := solve(resident, verdict)) is not None:
        return forest
    faults, *fingerprint = _read(verdict, device)
    sound = _sound(resident, faults, *fingerprint)
    if sound is not None or faults & _FAULTY or not arrange:
        return sound
    if not faults & _ORDER and not (faults & _BELOW and any(fingerprint)):
        return None  # the host may keep entries that are there twice, as parallel edges
    return paired_slots(resident, by_entry=by_entry)


def _uploaded(graph: Graph, device: Device) -> DeviceGraph | None:
    """Return a graph that may not be one on a device; None if that is not trusted."""
    encoding = Encoding(dtype=graph.weights.dtype, stored=graph.weights.dtype)
    if not is_trusted(device, encoding):
        return None
    words = EncodedWeights(source=graph.weights.view(encoding.word), encoding=encoding)
    return DeviceGraph.of_keys(graph, words, device, wait=False)


def check(resident: DeviceGraph) -> DeviceGraph | None:
    """Return a graph that may not be one, if its device finds it sound, else None; waits.

    Its `is_symmetric` says nothing before.
    """
    return _sound(resident, *_read(_verdict(resident), resident.device))


def _sound(resident: DeviceGraph, faults: int, *fingerprint: int) -> DeviceGraph | None:
    """Return a graph if the words of a verdict say that it is sound, else None."""
    if faults & ~_BELOW or (faults and any(fingerprint)):
        return None
    return with_symmetry(resident, symmetric=bool(faults & _BELOW))


def with_symmetry(resident: DeviceGraph, *, symmetric: bool) -> DeviceGraph:
    """Return a graph of which it is known whether both directions of edges are stored."""
    if resident.graph.is_symmetric == symmetric:
        return resident
    graph = resident.graph.replace_unchecked(is_symmetric=symmetric)
    return resident.replace_unchecked(graph=graph)


def is_trusted(device: Device, encoding: Encoding) -> bool:
    """Return whether the device has shown that it finds faults; else the host looks for them."""
    return device.trust.refusal(CSR_VALIDATION, case_of(encoding.stored)) is None


def _as_it_is(matrix: Any) -> Graph | None:
    """Return a graph of a matrix's arrays, of which little is checked, or None."""
    is_sparse: bool = sparse.issparse(matrix)
    if not is_sparse or matrix.format not in FORMATS:
        return None
    if not route.device_checks(np.size(matrix.data)):
        return None
    indptr, indices, data, shape = csr_parts(matrix)
    if data.shape != indices.shape or indptr.size != shape[0] + 1:
        return None
    starts, columns = _words(indptr), _words(indices)
    if starts is None or columns is None or (starts[0], starts[-1]) != (0, columns.size):
        return None
    row = bisect_right(starts.data, columns.size - 1) - 1
    return Graph.unchecked(
        indptr=starts,
        indices=columns,
        weights=np.ascontiguousarray(as_weights(data)),
        is_symmetric=int(columns[-1]) < row,  # of the last slot: so it is, if it is canonical
        edge_ids=None,
        n_input=indices.size,
    )


def _words(numbers: Array) -> Array | None:
    """Return integers as words of 32 bits, or None; negative ones of 32 bits become large ones."""
    if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "iu":
        return None
    return narrowed(numbers) if numbers.dtype.itemsize == 8 else as_uint32(numbers)


def _verdict(graph: DeviceGraph) -> Memory:
    """Enqueue the check of a graph, and return the buffer of its verdict."""
    device = graph.device
    launch = Launcher(device, device.queue)
    program = device.program(SOURCE, **graph.weight_defines(maximum=False))
    verdict = device.allocate(4 * _VERDICT_WORDS)
    launch.fill(verdict, 0, _VERDICT_WORDS)
    size = program.work_group_size
    tile = _SLOTS_OF_ONE if size == 1 else _SLOTS_OF_MANY * size
    most = _MOST_GROUPS * device.capabilities.compute_units
    groups = min(launch.groups_for(-(-graph.n_slots // tile)), most)
    launch(
        program, "csr_validation_check", groups, graph.indptr, graph.indices, graph.weights,
        verdict, graph.n_vertices, graph.n_slots, *_secret_keys(),
    )  # fmt: skip
    return verdict


def _read(verdict: Memory, device: Device) -> list[int]:
    """Return the words of a verdict; waits."""
    return Launcher(device, device.queue).read_words(verdict, _VERDICT_WORDS)


@cache
def _secret_keys() -> tuple[np.uint64, np.uint64]:
    """Return two random words, the same ones throughout the process."""
    ends, weights = np.frombuffer(os.urandom(16), np.uint64)
    return ends, weights
