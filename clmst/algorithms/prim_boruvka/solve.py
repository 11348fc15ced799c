"""Borůvka's algorithm for the first log log n rounds, then Prim's algorithm.

Source: the future work of Y. Sun, K. Skadron, "Prefix Scan and Minimum Spanning Tree with OpenCL",
2013, section 6. :mod:`clmst.algorithms.boruvka.solve` computes the rounds of Borůvka's algorithm.
Then :mod:`clmst.algorithms.prim.solve` completes the forest. It compares ranks instead of weights.
The rank of an edge is its position in the order of all edges by weight.
"""

from __future__ import annotations

from math import ceil, log2
from typing import Any

import numpy as np

from clmst.algorithms.boruvka import BoruvkaOptions
from clmst.algorithms.boruvka.solve import BoruvkaRun
from clmst.algorithms.prim.solve import SortedRows, Trees, grow
from clmst.algorithms.prim_boruvka import PrimBoruvkaOptions
from clmst.algorithms.shared.algorithm_record import options_for
from clmst.algorithms.shared.contraction import Contraction, Level
from clmst.algorithms.shared.solution import Solution
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph, weight_defines
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/prim_boruvka/prim_boruvka.cl"

# Macros of kernels that take ranks in place of weights. The rank of an edge is its position in the
# order of all edges by weight. Ranks are distinct and have 32 bits, whatever the graph's own
# weights are.
RANKS = weight_defines(32, "unsigned", maximum=False)


def solve(
    graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object = None
) -> Solution:
    """Solve by Borůvka's algorithm first, then Prim's; see :class:`PrimBoruvkaOptions`.

    `maximum` asks for the maximum spanning forest. None as `options` means the defaults. k rounds
    leave at most n / 2^k vertices. The rounds take O((n + m) k) work of the whole device. Prim's
    algorithm then takes O(m log(n / 2^k)) work of one work-item for each component. The device
    memory is the same as for ``boruvka``.
    """
    options = options_for("prim-boruvka", PrimBoruvkaOptions, options)
    rounds = rounds_for(graph.n_vertices) if options.rounds is None else options.rounds
    steps = Contraction(graph, launch, maximum=maximum)
    next_level = BoruvkaRun(steps, BoruvkaOptions()).next_level
    done, level = steps.contract_all("prim-boruvka", steps.first_level(), next_level, most=rounds)
    stats: dict[str, Any] = {"rounds": len(done), "vertices": 0, "entries": 0}
    if level is not None:
        level = steps.remove_duplicates(level)
        rows = _rows_of(level, launch)
        trees = grow(rows, launch, options.prim)
        _mark_edges(rows, trees, steps, launch)
        stats |= {"vertices": level.n, "entries": level.entries, **trees.stats}
    return Solution(graph=graph, in_forest=steps.in_forest, stats=stats)


def rounds_for(n: int) -> int:
    """Return after how many rounds of Borůvka's algorithm Prim's algorithm takes over.

    For `n` vertices the default is log2(log2 n), rounded up.
    """
    return max(ceil(log2(log2(n))), 0) if n > 1 else 0


def _rows_of(level: Level, launch: Launcher) -> SortedRows:
    """Make a CSR from the edges of a level, with their ranks as weights, without waiting.

    A level is the graph of the components that were joined so far. The rank of an edge is its
    position in the order of all edges by weight.
    """
    device, n, n_entries = launch.device, level.n, level.entries
    program = device.program(SOURCE)
    indptr, indices = (DeviceArray.empty(k, np.uint32, device) for k in (n + 1, n_entries))
    extent = (n_entries, level.bits)
    with launch.phase("make rows"):
        launch.for_each(program, "prim_boruvka_find_rows", n + 1, level.pairs, indptr, n, *extent)
        launch.for_each(
            program, "prim_boruvka_list_targets", n_entries, level.pairs, indices, *extent
        )
    return SortedRows(
        n=n, n_slots=n_entries, indptr=indptr.memory, indices=indices.memory,
        weights=level.ranks.memory, defines=RANKS,
    )  # fmt: skip


def _mark_edges(rows: SortedRows, trees: Trees, steps: Contraction, launch: Launcher) -> None:
    program = launch.device.program(SOURCE)
    with launch.phase("mark edges"):
        launch.for_each(
            program, "prim_boruvka_mark_edges", rows.n, rows.indptr, rows.indices,
            rows.weights, trees.parents, steps.slots, steps.in_forest, rows.n,
        )  # fmt: skip
