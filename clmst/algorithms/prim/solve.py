"""Prim's algorithm: a tree grows by the lightest edge that leaves it, one vertex after the other.

Source: R. C. Prim, "Shortest connection networks and some generalizations", Bell System Technical
Journal 36 (1957); ``cl/algorithms/prim/prim.cl`` has the details.
"""

from __future__ import annotations

import numpy as np

from clmst.algorithms.prim.options import PrimOptions
from clmst.algorithms.prim.trees import SOURCE, SortedRows, grow
from clmst.algorithms.shared.options import options_for
from clmst.algorithms.shared.solution import Solution, flag_words, new_flags
from clmst.core.graph_checks import check_size
from clmst.primitives.sort import bits_of, sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

MIRROR_SOURCE = "algorithms/prim/mirror.cl"

# What goes along with weights of 64 bits: image_t of the kernels.
_PAIR = np.dtype([("target", np.uint64), ("weight", np.uint64)])
_KEPT = "mirrored rows"  # with a graph, for the next solve


def solve(
    graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object = None
) -> Solution:
    """Solve by Prim's algorithm; see :class:`PrimOptions`.

    O(m log n) work, of which a component's is done by one work-item (with "array" O(n^2 + m), by
    one work-group): for small graphs, dense ones, and forests of many components. Device memory as
    of :func:`clmst.algorithms.prim.trees.grow`; where edges are stored once, also as of
    :func:`rows_of`.
    """
    options = options_for("prim", PrimOptions, options)
    in_forest = new_flags(graph.n_slots, graph.device)
    launch.fill(in_forest.memory, 0, flag_words(graph.n_slots))
    if graph.n_slots == 0:
        stats = {"queue": "none", "patches": 0, "growing_launches": 0}
        return Solution(graph=graph, in_forest=in_forest, stats=stats)
    rows = rows_of(graph, launch, maximum=maximum)
    trees = grow(rows, launch, options)
    program = graph.device.program(SOURCE, **rows.defines)
    with launch.phase("mark edges"):
        launch.for_each(
            program, "prim_mark_edges", rows.n, graph.indptr, graph.indices, graph.weights,
            trees.parents, in_forest, rows.n,
        )  # fmt: skip
    return Solution(graph=graph, in_forest=in_forest, stats=trees.stats)


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


def _mirror(graph: DeviceGraph, launch: Launcher) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    n, n_slots, device = graph.n_vertices, graph.n_slots, graph.device
    check_size(n, 2 * n_slots)
    word = graph.encoded.encoding.word
    program = device.program(MIRROR_SOURCE, WEIGHT_BITS=8 * word.itemsize)
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
