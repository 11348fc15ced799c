"""Taking a caller's CSR onto a device, which itself finds out whether it can be used as it is.

On the host the same is a matter of seconds for a large symmetric matrix: most of it is the
transpose that the matrix is compared to. The device takes a fingerprint instead, by secret keys of
this process: that of a symmetric matrix is 0, that of any other one with a probability of 2**-64.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from clmst.algorithms.families import CSR_VALIDATION, CsrValidationCase
from clmst.core import from_scipy
from clmst.core.csr import as_uint32
from clmst.core.graph import Graph
from clmst.core.graph_checks import check_shape
from clmst.core.weight_keys import Array, Encoding, as_weights, encode, first_nan
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/csr_validation/csr_validation.cl"

# Below so many slots the host has checked a matrix before a device has built the kernels.
FROM_SLOTS = 1 << 18

# Slots that the host looks at before it uploads a matrix, in 12 us.
_GLIMPSES = 4
# The most work-groups a compute unit: each adds what it found to the same words.
_MOST_GROUPS = 32

# Of verdict.cl.
_VERDICT_WORDS = 3
_BELOW = 8
# Of csr_validation.cl: the slots of a tile for each work-item, and for one that is alone.
_SLOTS_OF_MANY = 16
_SLOTS_OF_ONE = 4096


def upload_canonical(matrix: Any, device: Device) -> DeviceGraph | None:
    """Put a matrix on a device if it can be used as it is, else return None.

    The graph is the one that :meth:`clmst.Graph.from_scipy` makes of the matrix: rows that rise
    strictly, and equal to its transpose or with nothing below the diagonal. Of any other matrix,
    be it faulty or only in need of rearrangement, nothing is said but None.

    Parameters
    ----------
    matrix : object
        A SciPy matrix or array in CSR form with 32-bit indices and many slots; None for all else.
    device : Device

    Notes
    -----
    O(n + n_slots) on the device, which reads everything once; waits for it.
    """
    graph = _as_it_is(matrix)
    if graph is None or _shows_a_fault(graph):
        return None
    encoded = encode(graph.weights)
    with device.lock, Guard(device):
        if not is_trusted(device, encoded.encoding):
            return None
        return check(DeviceGraph.of_keys(graph, encoded, device, wait=False))


def check(resident: DeviceGraph) -> DeviceGraph | None:
    """Return a graph that may not be one, if its device finds it sound, else None; waits.

    Its `is_symmetric` says nothing before.
    """
    faults, *fingerprint = _verdict(resident)
    if faults & ~_BELOW or (faults and any(fingerprint)):
        return None
    return with_symmetry(resident, symmetric=bool(faults & _BELOW))


def with_symmetry(resident: DeviceGraph, *, symmetric: bool) -> DeviceGraph:
    """Return a graph of which it is known whether both directions of edges are stored."""
    graph = resident.graph.replace_unchecked(is_symmetric=symmetric)
    return resident.replace_unchecked(graph=graph)


def _shows_a_fault(graph: Graph) -> bool:
    """Return whether a few slots tell that the host must rearrange a matrix, or name its faults.

    Such a matrix is not uploaded in vain. In most of those that are not canonical, nearly every
    slot tells; the device finds the others.
    """
    n, starts, columns = graph.n_vertices, graph.indptr, graph.indices
    slots = (np.arange(1, 2 * _GLIMPSES, 2) * (graph.n_slots // (2 * _GLIMPSES))).astype(np.uint32)
    mirrored = set()
    for slot, row in zip(slots, starts.searchsorted(slots, side="right") - 1, strict=True):
        column = int(columns[slot])
        if column >= n or (slot > starts[row] and columns[slot - 1] >= column):
            return True
        if column == row:
            continue
        first, last = int(starts[column]), int(starts[column + 1])
        other = first + int(columns[first:last].searchsorted(np.uint32(row)))
        is_twice = other < last and columns[other] == row
        if (is_twice and graph.weights[other] != graph.weights[slot]) or (
            column < row and not is_twice
        ):
            return True
        mirrored.add(bool(is_twice))
    return len(mirrored) > 1  # some edges are stored once, others twice


def is_trusted(device: Device, encoding: Encoding) -> bool:
    """Return whether the device has shown that it finds faults; else the host looks for them."""
    case = CsrValidationCase(bits=8 * encoding.word.itemsize, kind=encoding.kind)
    return device.trust.refusal(CSR_VALIDATION, case) is None


def _as_it_is(matrix: Any) -> Graph | None:
    """Return a graph of a matrix's own arrays, of which little is checked, or None."""
    is_sparse: bool = sparse.issparse(matrix)
    if not is_sparse or matrix.format != "csr":
        return None
    if np.size(matrix.indices) < FROM_SLOTS:
        return None
    from_scipy.check_matrix(matrix)
    check_shape(matrix.shape)
    indptr, indices, data, shape = from_scipy.csr_parts(matrix)
    if not (_is_int32(indptr) and _is_int32(indices) and data.shape == indices.shape):
        return None
    if indptr.size != shape[0] + 1 or (indptr[0], indptr[-1]) != (0, indices.size):
        return None
    weights = np.ascontiguousarray(as_weights(data))
    if weights.dtype.itemsize == 8 and first_nan(weights) is not None:
        return None  # what narrows 64-bit weights for the device takes none
    return Graph.unchecked(
        indptr=as_uint32(indptr),
        indices=as_uint32(indices),
        weights=weights,
        is_symmetric=True,
        edge_ids=None,
        n_input=indices.size,
    )


def _is_int32(array: Array) -> bool:
    return array.ndim == 1 and array.dtype == np.int32


def _verdict(graph: DeviceGraph) -> list[int]:
    """Return the words of the verdict."""
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
        verdict, np.uint32(graph.n_vertices), np.uint32(graph.n_slots), *_secret_keys(),
    )  # fmt: skip
    words = np.empty(_VERDICT_WORDS, np.uint32)
    launch.read(verdict, words)
    found: list[int] = words.tolist()
    return found


@cache
def _secret_keys() -> tuple[np.uint64, np.uint64]:
    """Return two random words, the same ones throughout the process."""
    ends, weights = np.frombuffer(os.urandom(16), np.uint64)
    return ends, weights
