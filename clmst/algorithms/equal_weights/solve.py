"""Find the forest of a SciPy matrix of equal weights, by one work-item.

If all weights are equal, neither a sort nor rounds are needed. One thread that goes through the
entries once is quicker than all cores together, because these would first have to bring the entries
into canonical order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.core.arguments import unchecked
from clmst.core.errors import logger
from clmst.core.forest import Forest
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_memory import in_place, result_in_place
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/equal_weights/equal_weights.cl"

# Constants of the result of the kernel (macros of cl/algorithms/equal_weights/equal_weights.cl):
# the status of a solved matrix, and the number of words before the edges.
_SOLVED = 1
_RESULT_WORDS = 2
_WORDS_A_SLOT, _WORDS_A_VERTEX = 2, 2


def solve(matrix: Any, device: Device, *, maximum: bool) -> Forest | None:
    """Solve a SciPy CSR matrix whose weights are all equal, by one work-item.

    The call waits for the device, which must be a CPU that reads the host's arrays in place.
    `maximum` only sets a field of the forest, since the minimum and the maximum forest are the same
    here. Returns None if the matrix is faulty, or if the entries of a row are far from sorted. With
    n vertices and k entries, the call takes O((n + k) log n) time and 8 (n + k) bytes.
    """
    found = solved(matrix.indptr, matrix.indices, device, by_entry=False)
    if found is None:
        return None
    slots, ends = found
    return unchecked(
        Forest, n_vertices=matrix.shape[0], _edges=ends, weights=matrix.data.take(slots),
        _edge_ids=slots, maximum=maximum, vertex_labels=None,
        stats={"algorithm": "kruskal", "device": device.description, "launches": 1},
    )  # fmt: skip


def entries(matrix: Any, device: Device) -> Array | None:
    """Find the spanning forest that prefers entries stored first, as ascending indices of entries.

    The call waits for the device. `matrix` and `device` are as in :func:`solve`. Returns None for a
    faulty matrix.
    """
    found = solved(matrix.indptr, matrix.indices, device, by_entry=True)
    return None if found is None else found[0]


def solved(
    indptr: Array, indices: Array, device: Device, *, by_entry: bool = False
) -> tuple[Array, Array] | None:
    """Compute the forest of a CSR matrix of equal weights, and wait for it.

    `indptr` and `indices` are the arrays of the matrix. With `by_entry`, entries are preferred in
    the order in which they are stored, otherwise in canonical order. Returns the index of the CSR
    entry of each edge of the forest, and the ends of the edges, shape (k, 2). Returns None for a
    faulty matrix.
    """
    n, m = indptr.size - 1, indices.size
    result = np.empty(_RESULT_WORDS + 3 * (n - 1), np.int32)
    with device.lock, Guard(device):
        scratch = device.allocate(4 * (_WORDS_A_SLOT * m + _WORDS_A_VERTEX * n))
        launch = Launcher(device, device.queue)
        launch(
            device.program(SOURCE), "equal_weights_solve", 1, in_place(device, indptr),
            in_place(device, indices), result_in_place(device, result), scratch, n, m,
            int(indices.itemsize == 8), int(by_entry),
        ).wait()  # fmt: skip
    status, k = result[:_RESULT_WORDS].tolist()
    if status != _SOLVED:
        return None
    logger.debug("algorithm kruskal, for equal weights, on %s", device.description)
    slots = result[_RESULT_WORDS : _RESULT_WORDS + k]
    ends = result[_RESULT_WORDS + n - 1 : _RESULT_WORDS + n - 1 + 2 * k]
    return slots, ends.reshape(k, 2)
