"""The forest of a small matrix or list by one launch of one work-item; host side of the kernels.

A solve step by step has ten launches and some forty arrays; for a hundred vertices the host is busy
ten times as long with these as the device is with edges. Here the kernel checks the arrays, solves
them by Borůvka's algorithm and lists the edges, with a third of the operations of all steps. It is
the same forest, as the order of edges is total. A device that takes copies of arrays leaves the
smallest ones to the host (``core/kruskal.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse

from clmst.algorithms.families import SMALL_MATRIX
from clmst.core.arguments import unchecked
from clmst.core.deferred_graph import DeferredGraph, EdgeList
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import logger
from clmst.core.forest import Forest
from clmst.core.from_scipy import as_csr
from clmst.core.graph import Graph
from clmst.core.kruskal import forest_of_matrix, is_plain, kruskal, seems_canonical
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.device_memory import in_place, result_in_place
from clmst.runtime.failures import Guard
from clmst.runtime.kernel_family import Case, case_of
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/small_matrix/small_matrix.cl"

# Up to how many slots or edges one work-item is quicker than two compute units: of a matrix whose
# rows rise and that is symmetric or a triangle, of any other one, of a list. Processor time on two
# cores, in ms, of one work-item and of the steps: symmetric, 1.2 and 2.9 for 119,938 slots of a
# triangulation, 7.1 and 14 for 599,932; a road network, 8.4 and 27 for 365,050; directed, 3.7 and
# 11 for 200,000 slots of nearest neighbours, 35 and 66 for 1,500,000; random, not sorted, 23 and 89
# for 2,000,000; lists of random edges, 0.9 and 7.9 for 100,000, 20 and 60 for 1,000,000, 105 and
# 258 for 4,000,000.
MOST_SLOTS = 1 << 19
MOST_SLOTS_IN_ANY_ORDER = 1 << 21
MOST_EDGES = 1 << 21
# Cells of a complete graph, whose edges are listed first: 0.15 and 1.5 for 20 vertices, 0.84 and
# 1.9 for 200, 2.3 and 3.9 for 400.
MOST_CELLS = 1 << 17
_MOST_UNITS = 16  # more compute units do not make the steps quicker at these sizes
_MOST_CONVERTED = 1 << 17  # entries that the host converts for devices that take copies
# Slots up to which the host is quicker than a GPU. One of those cores takes 0.15 ms for 3,994 slots
# of a symmetric matrix and 0.41 for 15,848; an H100 takes 0.56 ms for 100 and 1.03 for 16,000.
MOST_SLOTS_ON_HOST = 1 << 14

# Of the kernel.
_SOLVED = 1
_RESULT_WORDS = 3
_WORDS_A_SLOT, _WORDS_A_VERTEX = 9, 5


def solve(
    graph: Any, device: Device, *, maximum: bool, or_host: bool, by_entry: bool = False
) -> Forest | None:
    """Return the forest of a small graph, or None if it is to go the usual way.

    A small graph is a :class:`clmst.Graph` or a :class:`clmst.DenseGraph`, or a SciPy matrix or
    array in CSR form, which must be canonical for its maximum forest. A device that works in the
    host's memory, by single work-items, solves it if it has no more slots, edges or cells than the
    constants above say. With `or_host` the host solves up to `MOST_SLOTS_ON_HOST` where the device
    does not. With `by_entry` ties go to the first entry, whatever its ends, as in SciPy's function.
    O(n_slots log n) by one work-item; at most 52 bytes a slot and 28 a vertex.
    """
    if isinstance(graph, DenseGraph) and works_on(device):
        graph = graph.to_graph() if graph.weights.size <= _most(device, MOST_CELLS) else graph
    if isinstance(graph, DeferredGraph) and graph.edge_list is not None and works_on(device):
        found = _of_list(graph, graph.edge_list, device, maximum=maximum)
        if found is not None:
            return found
    most = _most(device, MOST_SLOTS) if works_on(device) else or_host * MOST_SLOTS_ON_HOST
    given = _arrays_of(graph, device, most)
    if given is None:
        return None
    if works_on(device):
        case = case_of(given.data.dtype, maximum=maximum)
        if device.trust.refusal(SMALL_MATRIX, case) is None:
            # Slots of a graph are in canonical order, and parallel ones are edges by themselves.
            by_slot = by_entry or isinstance(graph, Graph)
            return solved(given, device, case, by_slot=by_slot, graph=graph)
    if not or_host or given.data.size > MOST_SLOTS_ON_HOST:
        return None
    if isinstance(graph, Graph):
        return kruskal(graph, maximum=maximum)
    return forest_of_matrix(graph, maximum=maximum)


def in_csr_form(graph: Any, device: Device, most: Callable[[Any], int]) -> Any:
    """Return a COO or CSC matrix in CSR form, if it is small; all else as it is.

    `most` tells how many entries of such weights are few, too.
    """
    is_sparse: bool = sparse.issparse(graph)
    if not is_sparse or graph.format not in {"coo", "csc"}:
        return graph
    size = np.size(graph.data)
    if works_on(device):
        few = _most(device, MOST_SLOTS_IN_ANY_ORDER)
    else:
        few = min(_MOST_CONVERTED, MOST_SLOTS)
    return as_csr(graph) if size <= few or size <= most(graph.data) else graph


def _arrays_of(graph: Any, device: Device, most: int) -> Any:
    """Return the arrays of a small matrix or graph that fit one another; None for all else.

    They have the names that SciPy gives them. A list of at most `most` edges gets them now.
    """
    if is_plain(graph):
        given: Any = graph
    elif isinstance(graph, Graph) and 0 < graph.n_input <= most:
        given = SimpleNamespace(indptr=graph.indptr, indices=graph.indices, data=graph.weights)
    else:
        return None
    if given.indices.size > most and not works_on(device):
        return None
    size = max(given.indices.size, given.indptr.size - 1)
    if size > _most(device, MOST_SLOTS) and (
        size > _most(device, MOST_SLOTS_IN_ANY_ORDER)
        or isinstance(graph, Graph)
        or seems_canonical(graph)
    ):
        return None
    return given if given.indices.size else None


def _most(device: Device, of_two: int) -> int:
    """Return up to how many slots one work-item is quicker than all compute units of a device.

    `of_two` is that number for two of them.
    """
    return 2 * of_two // min(max(device.capabilities.compute_units, 2), _MOST_UNITS)


def works_on(device: Device) -> bool:
    """Return whether a device can solve small matrices in one launch where they are."""
    return SMALL_MATRIX.suits(device)


def solved(
    matrix: Any,
    device: Device,
    case: Case,
    *,
    by_slot: bool = False,
    graph: Any = None,
) -> Forest | None:
    """Return the forest of a matrix whose arrays fit one another; None if they are no graph's.

    None where kernels get copies of arrays, too: there the kernel would get null pointers. With
    `by_slot` ties go to the first slot, and not to the first edge in canonical order. A `graph` has
    edge ids and labels of its own for these arrays.
    """
    if not works_on(device):
        return None
    data, n = matrix.data, matrix.indptr.size - 1
    launched = _launched(
        "small_matrix_solve", (matrix.indptr, matrix.indices, data), n, device, case,
        np.uint32(matrix.indices.itemsize == 8), np.uint32(by_slot),
    )  # fmt: skip
    if launched is None:
        return None
    slots, ends, stats = launched
    ids, labels = slots, None
    if isinstance(graph, Graph):
        ids = slots if graph.edge_ids is None else graph.edge_ids.take(slots)
        labels = graph.vertex_labels
    return unchecked(
        Forest, n_vertices=n, _edges=ends, weights=data.take(slots), _edge_ids=ids,
        maximum=bool(case.maximum), stats=stats, vertex_labels=labels,
    )  # fmt: skip


def _of_list(graph: Graph, edges: EdgeList, device: Device, *, maximum: bool) -> Forest | None:
    """Return the forest of a small list of edges; None if it is to go the usual way."""
    case = case_of(edges.weights.dtype, maximum=maximum)
    if not edges.size or max(edges.size, edges.n_vertices) > _most(device, MOST_EDGES):
        return None
    # The lightest of parallel edges are no edges of their own in a maximum forest.
    if (maximum and edges.merge_parallel) or device.trust.refusal(SMALL_MATRIX, case) is not None:
        return None
    found = solved_list(edges, device, case)
    if found is None:
        return None
    places, ends, stats = found
    return unchecked(
        Forest, n_vertices=edges.n_vertices, _edges=ends, weights=edges.weights.take(places),
        _edge_ids=places, maximum=maximum, stats=stats, vertex_labels=graph.vertex_labels,
    )  # fmt: skip


def solved_list(
    edges: EdgeList, device: Device, case: Case
) -> tuple[Array, Array, dict[str, Any]] | None:
    """Return places, ends and counters of the forest's edges; None if an end is no vertex."""
    u, v = edges.u, edges.v
    if not (u.dtype == v.dtype and u.itemsize in (4, 8)):
        u, v = u.astype(np.int64), v.astype(np.int64)
    arrays = tuple(map(np.ascontiguousarray, (u, v, edges.weights)))
    wide = np.uint32(u.itemsize == 8)
    return _launched("small_matrix_solve_list", arrays, edges.n_vertices, device, case, wide)


def _launched(
    kernel: str, arrays: tuple[Array, ...], n: int, device: Device, case: Case, *how: np.uint32
) -> tuple[Array, Array, dict[str, Any]] | None:
    """Return slots, ends and counters of a forest of n vertices; None where a kernel sees faults.

    The last one of the arrays has the weights.
    """
    m = arrays[-1].size
    result = np.empty(_RESULT_WORDS + 3 * (n - 1), np.uint32)
    n_bytes = case.bits // 8 * (2 * m + n) + 4 * (_WORDS_A_SLOT * m + _WORDS_A_VERTEX * n + 2)
    with device.lock, Guard(device):
        written = result_in_place(device, result)
        found = device.allocate(result.nbytes) if written is None else written
        scratch = device.allocate(n_bytes)
        launch = Launcher(device, device.queue)
        event = launch(
            device.program(SOURCE, **_defines(case)), kernel, 1,
            *(in_place(device, array) for array in arrays), found, scratch, np.uint32(n),
            np.uint32(m), *how,
        )  # fmt: skip
        if written is None:
            launch.read(found, result)
        else:
            event.wait()
    status, k, rounds = result[:_RESULT_WORDS].tolist()
    if status != _SOLVED:
        return None
    logger.debug("algorithm boruvka, in one launch, on %s", device.description)
    slots = result[_RESULT_WORDS : _RESULT_WORDS + k].view(np.int32)
    ends = result[_RESULT_WORDS + n - 1 : _RESULT_WORDS + n - 1 + 2 * k].view(np.int32)
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
