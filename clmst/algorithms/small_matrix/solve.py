"""The forest of a small SciPy matrix by one launch of one work-item; host side of the kernel.

A solve step by step has ten launches and some forty arrays; for a hundred vertices the host is busy
ten times as long with these as the device is with edges. Here the kernel checks the matrix, solves
it by Borůvka's algorithm and lists the edges. It is the same forest, as the order of edges is
total. Whatever does not fit (a matrix of another form, or one with a fault) goes the usual way.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from clmst.algorithms.small_matrix.family import SMALL_MATRIX, SmallMatrixCase
from clmst.core.arguments import unchecked
from clmst.core.forest import Forest
from clmst.core.weight_keys import weight_kind_or_none
from clmst.runtime.device import Device
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.device_memory import in_place, result_in_place
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/small_matrix/small_matrix.cl"

# Slots up to which one work-item is quicker than the steps of all compute units. On two cores, for
# symmetric matrices, in ms of both: 0.44 and 2.0 for 20,006 slots, 1.6 and 3.5 for 59,934, 3.2 and
# 4.3 for 120,338.
MOST_SLOTS = 1 << 16

# Of the kernel.
_SOLVED = 1
_RESULT_WORDS = 3
_WORDS_A_SLOT, _WORDS_A_VERTEX = 9, 5

_INDICES = (np.dtype(np.int32), np.dtype(np.int64))
_CLASSES = (sparse.csr_array, sparse.csr_matrix)
_WORDS = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def solve(matrix: Any, device: Any, *, maximum: bool) -> Forest | None:
    """Return the forest of a small matrix, or None if it is to go the usual way.

    Parameters
    ----------
    matrix : object
        A SciPy matrix or array in CSR form with `MOST_SLOTS` slots at most, and rows that rise
        strictly; equal to its transpose, or with nothing below the diagonal. None for all else.
    device : object
        As of :func:`clmst.get_device`. None for one that does not work in the host's memory, or not
        by single work-items.
    maximum : bool
        Whether the maximum spanning forest is wanted.

    Notes
    -----
    O(n_slots log n) by one work-item; at most 52 bytes a slot and 28 a vertex.
    """
    if type(matrix) not in _CLASSES or not _is_small(matrix):
        return None
    device = get_device(device)
    if not works_on(device):
        return None
    case = _case_of(matrix.data.dtype, maximum)
    if case is None or device.trust.refusal(SMALL_MATRIX, case) is not None:
        return None
    return solved(matrix, device, case)


def works_on(device: Device) -> bool:
    """Return whether a device can solve small matrices in one launch where they are."""
    return SMALL_MATRIX.suits(device)


def solved(matrix: Any, device: Device, case: SmallMatrixCase) -> Forest | None:
    """Return the forest of a matrix whose arrays fit one another; None if it is not canonical.

    None where kernels get copies of arrays, too: there the kernel would get null pointers.
    """
    if not works_on(device):
        return None
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    n, m = indptr.size - 1, indices.size
    result = np.empty(_RESULT_WORDS + 3 * (n - 1), np.uint32)
    n_bytes = case.bits // 8 * (2 * m + n) + 4 * (_WORDS_A_SLOT * m + _WORDS_A_VERTEX * n + 2)
    with device.lock, Guard(device):
        written = result_in_place(device, result)
        found = device.allocate(result.nbytes) if written is None else written
        scratch = device.allocate(n_bytes)
        launch = Launcher(device, device.queue)
        event = launch(
            device.program(SOURCE, **_defines(case)), "small_matrix_solve", 1,
            *(in_place(device, array) for array in (indptr, indices, data)), found, scratch,
            np.uint32(n), np.uint32(m), np.uint32(indices.itemsize == 8),
        )  # fmt: skip
        if written is None:
            launch.read(found, result)
        else:
            event.wait()
    status, k, rounds = result[:_RESULT_WORDS].tolist()
    if status != _SOLVED:
        return None
    slots = result[_RESULT_WORDS : _RESULT_WORDS + k].view(np.int32)
    ends = result[_RESULT_WORDS + n - 1 : _RESULT_WORDS + n - 1 + 2 * k].view(np.int32)
    stats = {
        "algorithm": "boruvka",
        "device": device.description,
        "launches": 1,
        "shape": "serial",
        "rounds": rounds,
    }
    return unchecked(
        Forest, n_vertices=n, _edges=ends.reshape(k, 2), weights=data.take(slots),
        edge_ids=slots, maximum=case.maximum, stats=stats, vertex_labels=None,
    )  # fmt: skip


def _is_small(matrix: Any) -> bool:
    """Return whether a CSR matrix has few slots, and arrays that a kernel can go through."""
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    if not type(indptr) is type(indices) is type(data) is np.ndarray:
        return False
    n, n_columns = matrix.shape
    return (
        0 < indices.size <= MOST_SLOTS
        and n == n_columns
        and n <= MOST_SLOTS
        and indptr.dtype == indices.dtype
        and indices.dtype in _INDICES
        and indptr.shape == (n + 1,)
        and indices.shape == data.shape == (indices.size,)
        and indptr.flags.c_contiguous
        and indices.flags.c_contiguous
        and data.flags.c_contiguous
    )


@cache
def _case_of(dtype: np.dtype[Any], maximum: bool) -> SmallMatrixCase | None:
    """Return what decides which kernel solves a matrix of this dtype; None if none does."""
    kind = weight_kind_or_none(dtype)
    if kind is None or not dtype.isnative:
        return None
    return SmallMatrixCase(8 * dtype.itemsize, kind, maximum)


@cache
def _defines(case: SmallMatrixCase) -> dict[str, int]:
    return weight_defines(case.bits, case.kind, maximum=case.maximum)
