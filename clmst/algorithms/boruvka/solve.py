"""Borůvka's algorithm by segmented scans, splits, scans and compactions, without atomics.

Source: V. Vineet, P. Harish, S. Patidar, P. J. Narayanan, "Fast Minimum Spanning Tree for Large
Graphs on the GPU", HPG '09, Algorithm 1. A level is one round: each vertex chooses its lightest
edge, and the chosen edges are contracted. This module finds the lightest edge of each vertex. All
other steps of a level are in :mod:`clmst.algorithms.shared.contraction`.
"""

from __future__ import annotations

import numpy as np

from clmst.algorithms.boruvka import BoruvkaOptions
from clmst.algorithms.shared.algorithm_record import options_for
from clmst.algorithms.shared.contraction import PAIR, Contraction, Level
from clmst.algorithms.shared.solution import Solution
from clmst.primitives.monoid import Monoid
from clmst.primitives.scan import inclusive_scan, segmented_scan
from clmst.primitives.sort import bits_of
from clmst.primitives.split import split
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/boruvka/boruvka.cl"
SPLIT_SOURCE = "algorithms/boruvka/split.cl"

_NO_CHOICE = 2**64 - 1
# Parallel edges are removed if their expected share of all entries is at least this number. To
# remove them, entries must be sorted by both endpoints, which takes twice as many passes as a sort
# by one endpoint. For a smaller share this would not save time.
_WORTHWHILE_SHARE = 0.15

_MINIMUM_PAIR = Monoid.minimum(PAIR)


def solve(
    graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object = None
) -> Solution:
    """Solve by recursive Borůvka; see :class:`BoruvkaOptions` for `options`.

    `maximum` asks for the maximum spanning forest. None as `options` means the defaults. The solve
    takes O((n + m) log n) work in O(log n) levels. A level is a fixed sequence of primitives, and
    the host reads three counts in it. In addition to the graph, the solve takes device memory:
    about 85 bytes for each edge while edge lists are sorted, or 20 bytes for each vertex, whichever
    is more.
    """
    options = options_for("boruvka", BoruvkaOptions, options)
    run = BoruvkaRun(Contraction(graph, launch, maximum=maximum), options)
    levels, _ = run.steps.contract_all("boruvka", run.steps.first_level(), run.next_level)
    stats = {
        "rounds": len(levels),
        "vertices": [n for n, _ in levels],
        "entries": [entries for _, entries in levels],
    }
    return Solution(graph=graph, in_forest=run.steps.in_forest, stats=stats)


class BoruvkaRun:
    """One solve by `boruvka`: the compiled program, and what each round leaves for the next one."""

    def __init__(self, steps: Contraction, options: BoruvkaOptions) -> None:
        self.steps, self.launch, self.options = steps, steps.launch, options
        self.program = steps.device.program(SOURCE)
        self.duplicate_share = 1.0  # share of the entries that the last removal took away

    def next_level(self, level: Level) -> Level | None:
        """Contract the lightest edge of every vertex of a level, and return the remaining graph.

        A level is the graph that the rounds so far have left. Each component that the chosen edges
        join becomes a vertex of the next level. Returns None if no edge remains.
        """
        number = self._number_by_split if self.options.numbering == "split" else None
        following = self.steps.contract(level, self._find_minimum_edges(level), number)
        return None if following is None else self._remove_duplicates(following)

    def _find_minimum_edges(self, level: Level) -> DeviceArray:
        """Find the lightest edge of each vertex of a level (lines 1 to 3 of Algorithm 1).

        Returns ``rank << 32 | target`` for each vertex, where `rank` is the position of the edge in
        the order of weights and `target` is the other end. Ranks are distinct, so a cycle of
        choices consists of two vertices that have chosen the same edge. Along a longer cycle the
        ranks would have to fall all the way round.
        """
        launch, entries, bits = self.launch, level.entries, level.bits
        appended = self.steps.new(entries, PAIR)
        with launch.phase("append"):
            launch.for_each(
                self.program, "boruvka_append", entries, level.pairs, level.ranks,
                appended, entries, bits,
            )  # fmt: skip
        with launch.phase("mark segments"):
            heads = self.steps.mark_segments(level, shift=level.bits)
        with launch.phase("segmented minimum scan"):
            segmented_scan(appended, heads, monoid=_MINIMUM_PAIR, out=appended, launch=launch)
            chosen = self.steps.new(level.n, PAIR)
            launch.fill(chosen.memory, _NO_CHOICE, level.n, np.uint64)
            launch.for_each(
                self.program, "boruvka_choose_edges", entries, level.pairs, appended,
                chosen, entries, bits,
            )  # fmt: skip
        return chosen

    def _number_by_split(
        self, chosen: DeviceArray, representatives: DeviceArray
    ) -> tuple[DeviceArray, int]:
        """Give numbers to the new components by a split (a radix sort), as the paper does.

        `chosen` has the lightest edge of each vertex, and `representatives` the vertex that
        represents each vertex's new component. Each component becomes a supervertex, which is a
        vertex of the next level.

        Returns
        -------
        supervertices : DeviceArray of uint32, shape (n,)
            The supervertex of each vertex.
        count : int
            Number of supervertices. Reading it blocks.
        """
        n, launch, new = chosen.size, self.launch, self.steps.new
        program = self.steps.device.program(SPLIT_SOURCE)
        pairs, counts = new(n, PAIR), new(n, np.uint32)
        launch.for_each(program, "boruvka_split_append", n, representatives, pairs, n)
        split(pairs, key_bits=bits_of(n), start_bit=32, out=pairs, launch=launch)
        launch.for_each(program, "boruvka_split_mark", n, pairs, chosen, counts, n)
        total, supervertices = new(1, np.uint32), new(n, np.uint32)
        inclusive_scan(counts, out=counts, total=total, launch=launch)
        launch.for_each(program, "boruvka_split_number", n, pairs, counts, supervertices, n)
        return supervertices, launch.read_count(total.memory, n)

    def _remove_duplicates(self, level: Level) -> Level:
        """Sort the edges of a level by source, and remove parallel edges if that saves time.

        A level is the graph that the rounds so far have left. The option `duplicates` decides
        whether parallel edges are removed. With "auto" they are removed if that is expected to save
        time. These are lines 12 and 13 of Algorithm 1 of Vineet et al. (HPG '09).
        """
        method = self.options.duplicates
        if method == "keep" or (method == "auto" and not self._expects_duplicates(level)):
            return self.steps.sort_rows(level)
        lighter = self.steps.remove_duplicates(
            level, by="split" if method == "split" else "minimum"
        )
        self.duplicate_share = 1 - lighter.entries / level.entries
        return lighter

    def _expects_duplicates(self, level: Level) -> bool:
        """Return whether the removal of parallel edges is expected to save time on this level.

        There are two cases. In the first case, the last removal took away many entries, as in
        clustered graphs. On the first level this is assumed. In the second case, the level is so
        dense that many edges would be parallel even in a random graph: of E random pairs among N
        possible ones, about the share E / (2 N) repeats another pair.
        """
        return (
            self.duplicate_share >= _WORTHWHILE_SHARE
            or level.entries >= 2 * _WORTHWHILE_SHARE * level.n**2
        )
