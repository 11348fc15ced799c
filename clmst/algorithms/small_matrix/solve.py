"""Find the forest of a small matrix or list, by one launch of one work-item.

A usual solve, with a kernel for each step, has ten launches and some forty arrays. For a hundred
vertices, the host spends ten times as long on the launches and arrays as the device spends on the
edges. Here one kernel checks the arrays, solves by Borůvka's algorithm and lists the edges. It
executes a third of the operations of a usual solve. It finds the same forest, because the order of
edges is total. ``clmst/route`` decides which graphs are small. The kernels are in
``cl/algorithms/small_matrix``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from clmst.algorithms.families import SMALL_MATRIX
from clmst.core.arguments import unchecked
from clmst.core.deferred_graph import EdgeList
from clmst.core.errors import logger
from clmst.core.forest import Forest
from clmst.core.graph import DeferredGraph, Graph
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.device_memory import in_place, result_in_place
from clmst.runtime.failures import Guard
from clmst.runtime.kernel_family import Case
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/small_matrix/small_matrix.cl"

# Constants of the result of the kernel (macros of cl/algorithms/small_matrix/small_matrix.cl): the
# status of a solved matrix, and the number of words before the edges.
_SOLVED = 1
_RESULT_WORDS = 3
# Sizes of parts of the scratch memory. _CHOICE_BYTES is the number of bytes for the edge that a
# component chooses, if weights have up to 32 bits and if they have 64 bits. The other two are the
# numbers of 32-bit words for each slot (CSR entry) and for each vertex.
_CHOICE_BYTES = 8, 16
_WORDS_A_SLOT, _WORDS_A_VERTEX = 9, 5


def works_on(device: Device) -> bool:
    """Return whether a device can solve small matrices in one launch, directly in host memory."""
    return SMALL_MATRIX.suits(device)


def solve_matrix(
    matrix: Any,
    device: Device,
    case: Case,
    *,
    by_slot: bool = False,
    graph: Graph | None = None,
) -> Forest | None:
    """Solve a matrix in one launch.

    The call waits for the device.

    Parameters
    ----------
    matrix : object with the arrays `indptr`, `indices` and `data`
        Arrays whose sizes fit one another (:func:`clmst.core.from_scipy.is_plain`). For the maximum
        forest it must be in canonical order.
    device : Device
        A device on which :func:`works_on` is true.
    case : Case
        The dtype of the weights, and minimum or maximum.
    by_slot : bool
        Whether, among equal weights, the entry that is stored first is preferred, instead of the
        first edge in canonical order.
    graph : Graph, optional
        The graph to which the arrays belong, if its edges have ids or its vertices have labels.

    Returns
    -------
    Forest or None
        None if the kernel finds that the values do not form a graph, or if the device cannot
        solve a matrix in the host's memory.

    Notes
    -----
    For n vertices and k stored entries, it takes O(k log n) time by one work-item, and at most 52
    bytes for each entry and 36 for each vertex.
    """
    if not works_on(device):
        return None  # kernels of this device would get copies of arrays, and null pointers here
    data, n = matrix.data, matrix.indptr.size - 1
    launched = _launched(
        "small_matrix_solve", (matrix.indptr, matrix.indices, data), n, device, case,
        int(matrix.indices.itemsize == 8), int(by_slot),
    )  # fmt: skip
    if launched is None:
        return None
    slots, ends, stats = launched
    ids, labels = slots, None
    if graph is not None:
        ids = slots if graph.edge_ids is None else graph.edge_ids.take(slots)
        labels = graph.vertex_labels
    return unchecked(
        Forest, n_vertices=n, _edges=ends, weights=data.take(slots), _edge_ids=ids,
        maximum=bool(case.maximum), stats=stats, vertex_labels=labels,
    )  # fmt: skip


def solve_list(graph: DeferredGraph, device: Device, case: Case) -> Forest | None:
    """Solve a graph that is still a list of edges in one launch.

    The CSR of `graph` has not been made yet; the list is ``graph.edge_list``. `case` has the dtype
    of the weights, and says whether the maximum forest is wanted. The call waits for the device.
    Returns None if an end is not a vertex.
    """
    edges = graph.edge_list
    assert edges is not None, "the graph is not a list of edges"
    found = solved_list(edges, device, case)
    if found is None:
        return None
    places, ends, stats = found
    return unchecked(
        Forest, n_vertices=edges.n_vertices, _edges=ends, weights=edges.weights.take(places),
        _edge_ids=places, maximum=bool(case.maximum), stats=stats,
        vertex_labels=graph.vertex_labels,
    )  # fmt: skip


def solved_list(
    edges: EdgeList, device: Device, case: Case
) -> tuple[Array, Array, dict[str, Any]] | None:
    """Compute the forest of a list of edges in one launch, and wait for the device.

    `case` has the dtype of the weights, and says whether the maximum forest is wanted. Returns the
    positions of the forest's edges in the list, their ends of shape (k, 2), and the statistics.
    Returns None if an end of an edge is not a vertex.
    """
    u, v = edges.u, edges.v
    if not (u.dtype == v.dtype and u.dtype.isnative and u.itemsize in (4, 8)):
        u, v = u.astype(np.int64), v.astype(np.int64)
    arrays = tuple(map(np.ascontiguousarray, (u, v, edges.weights)))
    wide = int(u.itemsize == 8)
    return _launched("small_matrix_solve_list", arrays, edges.n_vertices, device, case, wide)


def _launched(
    kernel: str, arrays: tuple[Array, ...], n: int, device: Device, case: Case, *how: int
) -> tuple[Array, Array, dict[str, Any]] | None:
    """Run a kernel that solves a graph of n vertices, and wait for the result.

    `arrays` are the arrays of the graph, with the weights last. `case` has the dtype of the
    weights, and says whether the maximum forest is wanted. `how` are further arguments of the
    kernel. Returns the positions of the forest's edges among the weights, the vertices that they
    join, and the statistics of the forest. Returns None if the kernel refuses the graph because it
    is invalid or not sorted.
    """
    m = arrays[-1].size
    result = np.empty(_RESULT_WORDS + 3 * (n - 1), np.int32)
    n_bytes = case.bits // 8 * 2 * m + _CHOICE_BYTES[case.bits == 64] * n
    n_bytes += 4 * (_WORDS_A_SLOT * m + _WORDS_A_VERTEX * n + 2)
    with device.lock, Guard(device):
        written = result_in_place(device, result)
        found = device.allocate(result.nbytes) if written is None else written
        scratch = device.allocate(n_bytes)
        launch = Launcher(device, device.queue)
        event = launch(
            device.program(SOURCE, **_defines(case)), kernel, 1,
            *[in_place(device, array) for array in arrays], found, scratch, n, m, *how,
        )  # fmt: skip
        if written is None:
            launch.read(found, result)
        else:
            event.wait()
    status, k, rounds = result[:_RESULT_WORDS].tolist()
    if status != _SOLVED:
        return None
    logger.debug("algorithm boruvka, in one launch, on %s", device.description)
    slots = result[_RESULT_WORDS : _RESULT_WORDS + k]
    ends = result[_RESULT_WORDS + n - 1 : _RESULT_WORDS + n - 1 + 2 * k]
    stats = {
        "algorithm": "boruvka",
        "device": device.description,
        "launches": 1,
        "shape": "serial",
        "rounds": rounds,
    }
    return slots, ends.reshape(k, 2), stats


@cache
def _defines(case: Case) -> dict[str, int]:
    assert case.kind is not None
    return weight_defines(case.bits, case.kind, maximum=bool(case.maximum))
