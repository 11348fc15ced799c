"""Both directions of edges, made on the device; host side of ``cl/algorithms/prim/mirror.cl``."""

from __future__ import annotations

import numpy as np

from clmst.algorithms.prim.trees import SortedRows
from clmst.core.graph_checks import check_size
from clmst.primitives.sort import bits_of, sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/prim/mirror.cl"

# What goes along with weights of 64 bits: image_t of the kernels.
_PAIR = np.dtype([("target", np.uint64), ("weight", np.uint64)])
_KEPT = "mirrored rows"  # with a graph, for the next solve


def rows_of(graph: DeviceGraph, launch: Launcher, *, maximum: bool) -> SortedRows:
    """Return the rows of a graph, with both directions of every edge.

    A graph that has both is taken as it is. One that stores its edges once is mirrored by a stable
    sort of its slots, O(n_slots log n), and the result kept with it for the next solve: 10 to 24
    bytes a slot, by the width of weights, and 24 or 40 more while it is made.
    """
    if graph.graph.is_symmetric:
        arrays = (graph.indptr, graph.indices, graph.weights)
    else:
        if _KEPT not in graph.derived:
            with launch.phase("mirror rows"):
                graph.derived[_KEPT] = _mirror(graph, launch)
        arrays = tuple(array.memory for array in graph.derived[_KEPT])
    indptr, indices, weights = arrays
    return SortedRows(
        n=graph.n_vertices,
        n_slots=graph.n_slots if graph.graph.is_symmetric else 2 * graph.n_slots,
        indptr=indptr,
        indices=indices,
        weights=weights,
        defines=graph.weight_defines(maximum=maximum),
    )


def defines(bits: int) -> dict[str, int]:
    """Return the macros of SOURCE: only the width of weights matters, which are copied."""
    return {"WEIGHT_BITS": bits}


def _mirror(graph: DeviceGraph, launch: Launcher) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    n, n_slots, device = graph.n_vertices, graph.n_slots, graph.device
    check_size(n, 2 * n_slots)
    word = graph.encoded.encoding.word
    program = device.program(SOURCE, **defines(8 * word.itemsize))
    sources = DeviceArray.empty(n_slots, np.uint32, device)
    images = DeviceArray.empty(n_slots, _PAIR if word.itemsize == 8 else np.uint64, device)
    arrays = (graph.indptr, graph.indices, graph.weights)
    launch.for_each(program, "prim_mirror_list", n_slots, *arrays, sources, images, n, n_slots)
    sources, images = sort_by_key(sources, images, key_bits=bits_of(n), launch=launch)
    rows = DeviceArray.empty(n + 1, np.uint32, device)
    launch.for_each(
        program, "prim_mirror_find_rows", n + 1, graph.indptr, sources, rows, n, n_slots
    )
    both = DeviceArray.empty(2 * n_slots, np.uint32, device)
    weights = DeviceArray.empty(2 * n_slots, word, device)
    launch.for_each(
        program, "prim_mirror_put_images", n_slots, graph.indptr, sources, images, both,
        weights, n_slots,
    )  # fmt: skip
    launch.for_each(
        program, "prim_mirror_put_slots", n_slots, *arrays, rows, both, weights, n, n_slots
    )
    return rows, both, weights
