"""Prim's algorithm: a tree grows by the lightest edge that leaves it, one vertex after the other.

Source: R. C. Prim, "Shortest connection networks and some generalizations", Bell System Technical
Journal 36 (1957); ``cl/algorithms/prim/prim.cl`` has the details.
"""

from __future__ import annotations

from clmst.algorithms.prim.mirror import rows_of
from clmst.algorithms.prim.options import PrimOptions
from clmst.algorithms.prim.trees import SOURCE, grow
from clmst.algorithms.shared.options import options_for
from clmst.algorithms.shared.solution import Solution, flag_words, new_flags
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher


def solve(
    graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object = None
) -> Solution:
    """Solve by Prim's algorithm; see :class:`PrimOptions`.

    O(m log n) work, of which a component's is done by one work-item (with "array" O(n^2 + m), by
    one work-group): for small graphs, dense ones, and forests of many components. Device memory as
    of :func:`clmst.algorithms.prim.trees.grow`; where edges are stored once, also as of
    :func:`clmst.algorithms.prim.mirror.rows_of`.
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
