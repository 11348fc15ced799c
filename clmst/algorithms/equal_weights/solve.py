"""The forest of a SciPy matrix of equal weights by one work-item; host side of the kernel.

Where all weights are equal, no sort and no round is needed: one thread that goes through the
entries once is quicker than all cores that first bring them into canonical order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.algorithms.families import EQUAL_WEIGHTS
from clmst.core.arguments import unchecked
from clmst.core.errors import logger
from clmst.core.forest import Forest
from clmst.core.kruskal import CSR_CLASSES, is_plain
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_memory import in_place, result_in_place
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/equal_weights/equal_weights.cl"

# Entries beyond which all cores are quicker, with an order to be made.
MOST_SLOTS = 1 << 24

_PROBES = 64  # of the weights, before a conversion

# Of the kernel.
_SOLVED = 1
_RESULT_WORDS = 2
_WORDS_A_SLOT, _WORDS_A_VERTEX = 2, 2


def most_slots(weights: Any, device: Device) -> int:
    """Return the most entries that a device takes of these weights: 0 unless they seem equal."""
    if not EQUAL_WEIGHTS.suits(device) or np.ndim(weights) != 1 or not np.size(weights):
        return 0
    probed = np.asarray(weights)[:: np.size(weights) // _PROBES + 1]
    return MOST_SLOTS if is_equal(probed) else 0


def solve(matrix: Any, device: Device, *, maximum: bool) -> Forest | None:
    """Return the forest of a matrix of equal weights, or None if it is to go the usual way.

    It goes that way unless it is a SciPy matrix or array in CSR form, and the device works in the
    host's memory by single work-items. `maximum` only names the forest: both kinds are the same
    here. O((n + n_slots) log n) by one work-item; 8 bytes a slot and 8 a vertex.
    """
    found = _solved_if_equal(matrix, device, by_entry=False)
    if found is None:
        return None
    slots, ends = found
    return unchecked(
        Forest, n_vertices=matrix.shape[0], _edges=ends, weights=matrix.data.take(slots),
        _edge_ids=slots, maximum=maximum, vertex_labels=None,
        stats={"algorithm": "kruskal", "device": device.description, "launches": 1},
    )  # fmt: skip


def entries(matrix: Any, device: Device) -> Array | None:
    """Return the first entries of a matrix that are a forest, rising; or None, as of `solve`."""
    found = _solved_if_equal(matrix, device, by_entry=True)
    return None if found is None else found[0]


def _solved_if_equal(matrix: Any, device: Device, *, by_entry: bool) -> tuple[Array, Array] | None:
    if type(matrix) not in CSR_CLASSES or not _seem_equal(matrix.data):
        return None
    if not is_plain(matrix) or max(matrix.data.size, matrix.shape[0]) > MOST_SLOTS:
        return None
    if not (is_equal(matrix.data) and EQUAL_WEIGHTS.suits(device)):
        return None
    if device.trust.refusal(EQUAL_WEIGHTS) is not None:
        return None
    return solved(matrix.indptr, matrix.indices, device, by_entry=by_entry)


def solved(
    indptr: Array, indices: Array, device: Device, *, by_entry: bool = False
) -> tuple[Array, Array] | None:
    """Return slots and ends of the forest's edges; None for a matrix that has a fault."""
    n, m = indptr.size - 1, indices.size
    result = np.empty(_RESULT_WORDS + 3 * (n - 1), np.uint32)
    with device.lock, Guard(device):
        scratch = device.allocate(4 * (_WORDS_A_SLOT * m + _WORDS_A_VERTEX * n))
        launch = Launcher(device, device.queue)
        launch(
            device.program(SOURCE), "equal_weights_solve", 1, in_place(device, indptr),
            in_place(device, indices), result_in_place(device, result), scratch, np.uint32(n),
            np.uint32(m), np.uint32(indices.itemsize == 8), np.uint32(by_entry),
        ).wait()  # fmt: skip
    status, k = result[:_RESULT_WORDS].tolist()
    if status != _SOLVED:
        return None
    logger.debug("algorithm kruskal, for equal weights, on %s", device.description)
    slots = result[_RESULT_WORDS : _RESULT_WORDS + k].view(np.int32)
    ends = result[_RESULT_WORDS + n - 1 : _RESULT_WORDS + n - 1 + 2 * k].view(np.int32)
    return slots, ends.reshape(k, 2)


def _seem_equal(weights: Any) -> bool:
    """Return whether both ends of an array of numbers are equal, which most are not."""
    is_row = type(weights) is np.ndarray and weights.ndim == 1 and weights.size > 0
    return is_row and weights.dtype.kind in "biuf" and bool(weights[0] == weights[-1])


def is_equal(weights: Array) -> bool:
    """Return whether all weights are equal; there are some. NaN is not equal to itself."""
    return bool(weights[0] == weights[-1]) and bool((weights == weights[0]).all())
