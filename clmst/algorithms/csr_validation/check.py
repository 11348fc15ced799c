"""Put a caller's CSR on a device, and check there whether it can be used unchanged.

On the host, this check takes seconds for a large symmetric matrix, mainly for the transpose to
which the matrix is compared. The device computes a fingerprint instead, with secret keys of this
process. The fingerprint of a symmetric matrix is 0. The fingerprint of any other matrix is 0 with a
probability of 2**-64.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from clmst import route
from clmst.algorithms.canonical_csr.arrange import Arrangement, paired_slots, put_slots
from clmst.algorithms.families import CSR_VALIDATION
from clmst.core.arguments import is_sparse
from clmst.core.csr import as_uint32, narrowed
from clmst.core.forest import Forest
from clmst.core.from_scipy import csr_parts, seems_canonical
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array, EncodedWeights, Encoding, as_weights
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.failures import Guard
from clmst.runtime.handles import Memory
from clmst.runtime.kernel_family import case_of
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/csr_validation/csr_validation.cl"

FORMATS = ("csr", "csc", "coo")  # SciPy converts "csc" and "coo" to "csr" in compiled code

# Maximum number of work-groups for each compute unit in the check of a CSR. It is limited because
# all work-groups update the same few words.
_MOST_GROUPS = 32

# Maximum number of slots (CSR entries) that are read to guess whether a matrix is symmetric. Slots
# are read from the last one backwards, until one is not on the diagonal.
_SLOTS_OF_GUESS = 64

# The kernels write the faults that they find to a few words, called the verdict
# (cl/device/verdict.cl). _VERDICT_WORDS is the number of these words. The other constants are bits
# of the first word, each of which stands for a fault.
_VERDICT_WORDS = 3
_FAULTY = 7  # three bits: the row starts descend, a column is not a vertex, a weight is NaN
_BELOW = 8  # an entry is below the diagonal
_ORDER = 16
# Macros of csr_validation.cl: the number of slots (CSR entries) that a work-item takes at a time,
# in work-groups of many work-items (_SLOTS_OF_MANY) and in work-groups of one (_SLOTS_OF_ONE).
_SLOTS_OF_MANY = 16
_SLOTS_OF_ONE = 4096


# A function that solves a graph while the device may still find faults in it. It is called with the
# graph and with the buffer to which the check writes its verdict. The function returns None if the
# graph is faulty, or if the solve needs to know the verdict before the check has ended.
SolveUnread: TypeAlias = Callable[[DeviceGraph, Memory], Forest | None]


def put_matrix(
    matrix: Any, device: Device, *, by_entry: bool = False, arrange: bool = True
) -> DeviceGraph | None:
    """Put a matrix on a device as the graph that :meth:`clmst.Graph.from_scipy` makes.

    The call waits for the device.

    Parameters
    ----------
    matrix : SciPy sparse matrix or array
        A matrix with many entries in CSR, CSC or COO form. Other objects give None.
    device : Device
    by_entry : bool
        As in :func:`paired_slots`.
    arrange : bool
        Whether the device may bring the matrix into canonical order.

    Returns
    -------
    DeviceGraph or None
        None if the matrix is not of this kind, if it is faulty, or if only the host can rearrange
        it. For a faulty matrix, the host then finds the fault and names it.

    Notes
    -----
    The check takes O(n + n_slots) on the device.
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
    """Put a matrix on a device, check it, and solve it before the result of the check is read.

    `solve` is called right after the check has been enqueued, and returns the forest, or None if
    the matrix turns out to be faulty. It is not called if the kernels would read the caller's
    arrays themselves, which could change after the check, nor if a few entries already show that
    the check will fail. If `solve` is None, is not tried or returns None, the result is what
    :func:`put_matrix` returns, where the other arguments are explained.
    """
    graph = _as_it_is(matrix)
    if graph is None:
        return None
    if solve is not None and not _is_likely(graph, device):
        solve = None
    with device.lock, Guard(device):
        found = _checked(graph, device, solve, by_entry=by_entry, arrange=arrange)
        del graph  # perhaps a copy of the matrix, which the arrangement does not need
        return put_slots(found) if isinstance(found, Arrangement) else found


def _is_likely(graph: Graph, device: Device) -> bool:
    """Return whether a solve right after the check is possible and likely to succeed.

    The solve is possible if kernels get copies of the arrays. It is likely to succeed if a look at
    a few entries of `graph` does not show that the check will fail.
    """
    given = SimpleNamespace(indptr=graph.indptr, indices=graph.indices, data=graph.weights)
    return device.capabilities.host_arrays == "copied" and seems_canonical(given)


def _checked(
    graph: Graph, device: Device, solve: SolveUnread | None, *, by_entry: bool, arrange: bool
) -> Forest | DeviceGraph | Arrangement | None:
    """Check a graph on the device, and solve it meanwhile unless `solve` is None.

    The call waits for the device. `by_entry` and `arrange` are as in :func:`put_matrix`.

    Returns
    -------
    Forest, DeviceGraph, Arrangement or None
        The forest if `solve` finds it; the graph if it is valid; an Arrangement, which is bringing
        the slots into canonical order, if the order is wrong; None if the graph is faulty or the
        host has to rearrange it.
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
        return None  # the host may keep repeated entries as parallel edges
    return paired_slots(resident, by_entry=by_entry)


def _uploaded(graph: Graph, device: Device) -> DeviceGraph | None:
    """Start the upload of a graph, whose arrays have not been checked, to a device.

    Returns None if the device has failed the self-test of the kernels that check a matrix.
    """
    encoding = Encoding(dtype=graph.weights.dtype, stored=graph.weights.dtype)
    if not is_trusted(device, encoding):
        return None
    words = EncodedWeights(source=graph.weights.view(encoding.word), encoding=encoding)
    return DeviceGraph.of_keys(graph, words, device, wait=False)


def check(resident: DeviceGraph) -> DeviceGraph | None:
    """Check the graph `resident`, whose arrays may be faulty, on its device.

    The call waits for the device. Returns the graph, with the right `is_symmetric`, or None if it
    is faulty. The `is_symmetric` of the argument is ignored.
    """
    return _sound(resident, *_read(_verdict(resident), resident.device))


def _sound(resident: DeviceGraph, faults: int, *fingerprint: int) -> DeviceGraph | None:
    """Return the graph `resident` if the check on the device has found it valid, else None.

    `faults` and `fingerprint` are the words that the check has written. `faults` has a bit for each
    kind of fault. The words of `fingerprint` are all 0 if the matrix is symmetric.
    """
    if faults & ~_BELOW or (faults and any(fingerprint)):
        return None
    return with_symmetry(resident, symmetric=bool(faults & _BELOW))


def with_symmetry(resident: DeviceGraph, *, symmetric: bool) -> DeviceGraph:
    """Return a copy of the graph `resident`, on the same memory, with another `is_symmetric`.

    `is_symmetric` says whether both directions of each edge are stored.
    """
    if resident.graph.is_symmetric == symmetric:
        return resident
    graph = resident.graph.replace_unchecked(is_symmetric=symmetric)
    return resident.replace_unchecked(graph=graph)


def is_trusted(device: Device, encoding: Encoding) -> bool:
    """Return whether the device has passed the self-test of the kernels that check a matrix.

    `encoding` says how the weights are stored. If the device has not passed, the host checks.
    """
    return device.trust.refusal(CSR_VALIDATION, case_of(encoding.stored)) is None


def _as_it_is(matrix: Any) -> Graph | None:
    """Make a graph of the arrays of a SciPy matrix, with few checks.

    Three things are checked: the sizes of the arrays, their dtypes, and the first and the last
    element of the array of row starts. Returns None if one of these checks fails, or if `matrix` is
    not a sparse matrix in one of FORMATS. Returns None for a small matrix, too, because the host
    checks it in less time than a device.
    """
    if not is_sparse(matrix) or matrix.format not in FORMATS:
        return None
    if not route.device_checks(np.size(matrix.data)):
        return None
    indptr, indices, data, shape = csr_parts(matrix)
    if data.shape != indices.shape or indptr.size != shape[0] + 1:
        return None
    starts, columns = _words(indptr), _words(indices)
    if starts is None or columns is None or (starts[0], starts[-1]) != (0, columns.size):
        return None
    return Graph.unchecked(
        indptr=starts,
        indices=columns,
        weights=np.ascontiguousarray(as_weights(data)),
        is_symmetric=_seems_symmetric(starts, columns),
        edge_ids=None,
        n_input=indices.size,
    )


def _seems_symmetric(starts: Array, columns: Array) -> bool:
    """Guess from the last entries of a CSR whether it stores both directions of each edge.

    `starts` has the start of each row, and `columns` the column of each entry. The last entry off
    the diagonal is below the diagonal if the matrix is symmetric, and above it if the matrix is
    upper triangular.
    """
    for slot in range(columns.size - 1, max(columns.size - _SLOTS_OF_GUESS, 0) - 1, -1):
        row, column = bisect_right(starts.data, slot) - 1, int(columns[slot])
        if column != row:
            return column < row
    return False


def _words(numbers: Array) -> Array | None:
    """Convert an array of integers to unsigned 32-bit integers.

    Negative integers of 32 bits or fewer become large ones, which the check on the device refuses.
    Returns None if `numbers` is not a non-empty array of integers of one dimension, or if it has 64
    bits and an integer does not fit into 32.
    """
    if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "iu":
        return None
    return narrowed(numbers) if numbers.dtype.itemsize == 8 else as_uint32(numbers)


def _verdict(graph: DeviceGraph) -> Memory:
    """Enqueue the check of a graph, and return the buffer to which its result is written."""
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
    """Read the result of a check, which is a few words, from the device, and wait for it."""
    return Launcher(device, device.queue).read_words(verdict, _VERDICT_WORDS)


@cache
def _secret_keys() -> tuple[np.uint64, np.uint64]:
    """Return the two secret keys for fingerprints of matrices, drawn at random once a process."""
    ends, weights = np.frombuffer(os.urandom(16), np.uint64)
    return ends, weights
