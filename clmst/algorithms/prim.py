"""Prim's algorithm: a tree grows by the lightest edge that leaves it, one vertex after the other.

Source: R. C. Prim, "Shortest connection networks and some generalizations", Bell System Technical
Journal 36 (1957); ``cl/algorithms/prim.cl`` tells the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.algorithms.prim_options import PrimOptions
from clmst.algorithms.prim_trees import SOURCE, Rows, grow
from clmst.algorithms.solution import Solution, flag_words, new_flags
from clmst.core.errors import InvalidArgumentError
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

_BOTH_DIRECTIONS = "both directions of edges"  # what this algorithm keeps with a graph


def solve(graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: Any = None) -> Solution:
    """Solve by Prim's algorithm; see :class:`PrimOptions`.

    Notes
    -----
    O(m log n) work, of which a component's is done by one work-item (with "array" O(n^2 + m), by
    one work-group): for small graphs, dense ones, and forests of many components. Device memory as
    of :func:`clmst.algorithms.prim_trees.grow`. A graph that stores its edges once is
    mirrored on the host, and the copy kept with it for the next solve.
    """
    options = PrimOptions() if options is None else options
    if not isinstance(options, PrimOptions):
        raise InvalidArgumentError(
            f"options is a {type(options).__name__}; 'prim' takes a PrimOptions"
        )
    graph = _with_both_directions(graph)
    in_forest = new_flags(graph.n_slots, graph.device)
    launch.fill(in_forest.memory, 0, flag_words(graph.n_slots))
    if graph.n_slots == 0:
        stats = {"queue": "none", "patches": 0, "growing_launches": 0}
        return Solution(graph=graph, in_forest=in_forest, stats=stats)
    n, defines = graph.n_vertices, graph.weight_defines(maximum=maximum)
    arrays = (graph.indptr, graph.indices, graph.weights)
    rows = Rows(
        n=n, n_slots=graph.n_slots, indptr=graph.indptr, indices=graph.indices,
        weights=graph.weights, defines=defines,
    )  # fmt: skip
    trees = grow(rows, launch, options)
    program = graph.device.program(SOURCE, **defines)
    with launch.phase("mark edges"):
        launch(
            program, "prim_mark_edges", launch.groups_for(-(-n // program.grid_tile)), *arrays,
            trees.parents.memory, in_forest.memory, np.uint32(n),
        )  # fmt: skip
    return Solution(graph=graph, in_forest=in_forest, stats=trees.stats)


def _with_both_directions(graph: DeviceGraph) -> DeviceGraph:
    """Return the graph with both directions of every edge in its rows."""
    if graph.graph.is_symmetric:
        return graph
    if _BOTH_DIRECTIONS not in graph.plans:
        both = DeviceGraph.upload(graph.graph.symmetrised(), graph.device)
        graph.plans[_BOTH_DIRECTIONS] = both
    mirrored: DeviceGraph = graph.plans[_BOTH_DIRECTIONS]
    return mirrored
