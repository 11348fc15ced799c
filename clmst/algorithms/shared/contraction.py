"""A graph contracted level by level: what the algorithms made of primitives have in common.

Source: V. Vineet, P. Harish, S. Patidar, P. J. Narayanan, "Fast Minimum Spanning Tree for Large
Graphs on the GPU", HPG '09, Algorithm 1, whose line numbers stand at the steps; S. Nobari, T.-T.
Cao, P. Karras, S. Bressan, "Scalable Parallel Minimum Spanning Forest Computation", PPoPP '12,
Algorithm 5, takes the same ones. Of the papers' limits (distinct weights, of 8 to 10 bits, vertex
ids of 22 to 24, connected graphs) none remains: edges are ranked by (weight key, edge id) once, by
a radix sort, and from there on a rank of 32 bits stands for both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from clmst.algorithms.shared.progress import check_halved
from clmst.algorithms.shared.solution import flag_words, new_flags
from clmst.primitives.compact import compact, positions
from clmst.primitives.function import Predicate
from clmst.primitives.monoid import Monoid
from clmst.primitives.scan import exclusive_scan, inclusive_scan, segmented_scan
from clmst.primitives.segments import end_flags
from clmst.primitives.sort import bits_of, sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import KernelArgument
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/shared/contraction.cl"

# Each launch of pointer doubling makes paths 33 times as short.
_JUMPS = 32
DEFINES = {"POINTER_JUMPS": _JUMPS}  # of SOURCE, beside those of the weights

PAIR, RANK = np.dtype(np.uint64), np.dtype(np.uint32)
_MINIMUM_RANK, _MAXIMUM_ROW = Monoid.minimum(RANK), Monoid.maximum(RANK)
# CONTRACTION_LOOP of the kernels.
_JOINS_TWO = Predicate(dtype=PAIR, expression="x != ULONG_MAX", name="edge between supervertices")

Lightest: TypeAlias = Literal["minimum", "split"]
# Of choices and representatives, every vertex's supervertex, and how many of those have edges.
Numbering: TypeAlias = Callable[[DeviceArray, DeviceArray], tuple[DeviceArray, int]]


@dataclass(frozen=True, slots=True)
class Level:
    """A graph of `n` supervertices: its edges, in both directions."""

    n: int
    pairs: DeviceArray  # of uint64, an entry each: source << bits | target
    ranks: DeviceArray  # of uint32: places of edges in the order by (weight key, edge id)
    is_simple: bool = False  # whether they are known to be sorted by pair, with no pair twice

    @property
    def bits(self) -> int:
        """Bits of a vertex in a pair."""
        return bits_of(self.n)

    @property
    def entries(self) -> int:
        """Length of the edge list: twice the number of edges."""
        return self.pairs.size


class Contraction:
    """One solve's forest so far, and the steps from level to level.

    An algorithm chooses edges for the vertices of a level, as ``cl/device/edge_list.cl`` has
    choices; the steps put them into the forest `in_forest`, and make the next level of what they
    join.
    """

    slots: DeviceArray  # of each edge, by rank; made by `first_level`
    has_parallel: bool = False  # whether `first_level` found the parallel edges it looked for

    def __init__(self, graph: DeviceGraph, launch: Launcher, *, maximum: bool) -> None:
        self.graph, self.launch, self.device = graph, launch, graph.device
        weights = graph.weight_defines(maximum=maximum)
        self._weight_bits = weights["WEIGHT_BITS"]
        self._program = self.device.program(SOURCE, **DEFINES, **weights)
        self.in_forest = new_flags(graph.n_slots, self.device)
        launch.fill(self.in_forest.memory, 0, flag_words(graph.n_slots))

    def new(self, size: int, dtype: npt.DTypeLike) -> DeviceArray:
        """Return a new array; contents undefined."""
        return DeviceArray.empty(size, dtype, self.device)

    def _for_each(self, kernel: str, n_items: int, *arguments: KernelArgument) -> None:
        self.launch.for_each(self._program, f"contraction_{kernel}", n_items, *arguments)

    # --------------------------------------------------------- the first edge list

    def first_level(self, *, parallel: int | None = None) -> Level | None:
        """Rank the edges, and list each in both directions by (source, rank); None without edges.

        `parallel` asks whether there are so many edges between the same two vertices anywhere: a
        launch and a read-back. Ranking is one radix sort of m keys of 32 or 64 bits with
        their slots: 8 (12 for weights of 64 bits) bytes an edge, and as much again while it works.
        It makes every later comparison one of 32 bits.
        """
        n, n_slots = self.graph.n_vertices, self.graph.n_slots
        if n_slots == 0:
            return None
        with self.launch.phase("rank edges"):
            rows = self._rows()
            self.slots = self._upper_slots(rows)
            if parallel is not None:
                self.has_parallel = self._has_parallel(rows, parallel)
            m = self.slots.size
            if m == 0:
                return None
            self._sort_by_weight()
        level = Level(n, self.new(2 * m, PAIR), self.new(2 * m, RANK))
        with self.launch.phase("first edge list"):
            self._for_each(
                "list_edges", m, rows, self.graph.indices, self.slots, level.pairs, level.ranks,
                m, level.bits,
            )  # fmt: skip
            del rows  # frees memory: nothing takes as much memory as this sort
            return self._sorted_by_source(level)

    def _rows(self) -> DeviceArray:
        n, n_slots = self.graph.n_vertices, self.graph.n_slots
        rows = self.new(n_slots, np.uint32)
        self.launch.fill(rows.memory, 0, n_slots)
        self._for_each("mark_rows", n, self.graph.indptr, rows, n)
        return inclusive_scan(rows, monoid=_MAXIMUM_ROW, out=rows, launch=self.launch)

    def _upper_slots(self, rows: DeviceArray) -> DeviceArray:
        n_slots = self.graph.n_slots
        flags = self.new(n_slots, np.uint8)
        self._for_each("mark_upper", n_slots, rows, self.graph.indices, flags, n_slots)
        slots, count = positions(flags, launch=self.launch)
        return slots[: self.launch.read_word(count.memory)]

    def _has_parallel(self, rows: DeviceArray, run: int) -> bool:
        """Return whether there are so many edges between the same two vertices anywhere."""
        found, n_slots = self.new(1, np.uint32), self.graph.n_slots
        self.launch.fill(found.memory, 0, 1)
        self._for_each("find_parallel", n_slots, rows, self.graph.indices, found, n_slots, run)
        return bool(self.launch.read_word(found.memory))

    def _sort_by_weight(self) -> None:
        """Sort the slots by weight; the sort is stable, so the ids of equals stay in order."""
        m = self.slots.size
        keys = self.new(m, np.uint64 if self._weight_bits == 64 else np.uint32)
        self._for_each("make_keys", m, self.graph.weights, self.slots, keys, m)
        _, self.slots = sort_by_key(
            keys, self.slots, key_bits=self._weight_bits, launch=self.launch
        )

    # ------------------------------------------------------------ sorting a list; stable

    def _sorted_by_pair(self, level: Level, *, key_bits: int, start_bit: int = 0) -> Level:
        pairs, ranks = sort_by_key(
            level.pairs, level.ranks, key_bits=key_bits, start_bit=start_bit, launch=self.launch
        )
        return Level(level.n, pairs, ranks)

    def _sorted_by_source(self, level: Level) -> Level:
        return self._sorted_by_pair(level, key_bits=level.bits, start_bit=level.bits)

    def _sorted_by_rank(self, level: Level) -> Level:
        ranks, pairs = sort_by_key(
            level.ranks, level.pairs, key_bits=bits_of(self.slots.size), launch=self.launch
        )
        return Level(level.n, pairs, ranks)

    def mark_segments(self, level: Level, *, shift: int) -> DeviceArray:
        """Line 2. Return the flags of entries where the pairs' bits from `shift` up change."""
        heads = self.new(level.entries, np.uint8)
        self._for_each("mark_segments", level.entries, level.pairs, heads, level.entries, shift)
        return heads

    # --------------------------------------------------------------------- levels

    def contract_all(
        self,
        algorithm: str,
        level: Level | None,
        next_level: Callable[[Level], Level | None],
        *,
        most: int | None = None,
    ) -> tuple[list[tuple[int, int]], Level | None]:
        """Go from level to level until no edge is left, or `most` times.

        Returns the vertices and entries of the levels that were contracted, and the one that is
        left. Raises :class:`DeviceError` if a level cannot follow another.
        """
        sizes: list[tuple[int, int]] = []
        while level is not None and (most is None or len(sizes) < most):
            (n, entries), level = (level.n, level.entries), next_level(level)
            sizes.append((n, entries))
            if level is not None:
                check_halved(
                    algorithm, self.device, len(sizes), vertices=(n, level.n),
                    edges=(entries, level.entries),
                )  # fmt: skip
        return sizes, level

    def contract(
        self, level: Level, chosen: DeviceArray, number: Numbering | None = None
    ) -> Level | None:
        """Lines 4 to 11. Return the graph of what the chosen edges join; None without edges."""
        representatives = self.merge_vertices(level, chosen)
        with self.launch.phase("number supervertices"):
            supervertices, n = (number or self.number_supervertices)(chosen, representatives)
        following = self.remove_loops(level, supervertices, n)
        return following if following.entries else None

    def merge_vertices(self, level: Level, chosen: DeviceArray) -> DeviceArray:
        """Lines 4 to 7. Return every vertex's representative; the forest gets the edges chosen.

        Following choices leads to a vertex that is joined to none, or to two that have chosen each
        other by the same edge.
        """
        launch, n = self.launch, level.n
        here, there = self.new(n, np.uint32), self.new(n, np.uint32)
        with launch.phase("find successors"):
            self._for_each("find_successors", n, chosen, here, n)
        with launch.phase("remove cycles"):
            self._for_each("break_cycles", n, chosen, here, self.slots, there, self.in_forest, n)
        with launch.phase("double pointers"):
            reach = 1
            while reach < n:  # a chain has fewer than n links
                here, there = there, here
                self._for_each("double_pointers", n, here, there, n)
                reach *= _JUMPS + 1
        return there

    def number_supervertices(
        self, chosen: DeviceArray, representatives: DeviceArray
    ) -> tuple[DeviceArray, int]:
        """Lines 8 and 9. Return every vertex's supervertex, and how many of those have edges.

        Vertices that are joined to none and chose nothing get numbers too, of no meaning: no edge
        leads to them.
        """
        n = chosen.size
        numbers, total = self.new(n, np.uint32), self.new(1, np.uint32)
        self._for_each("mark_representatives", n, representatives, chosen, numbers, n)
        exclusive_scan(numbers, out=numbers, total=total, launch=self.launch)
        supervertices = self.new(n, np.uint32)
        self._for_each("number_vertices", n, representatives, numbers, supervertices, n)
        return supervertices, self.launch.read_word(total.memory)

    def remove_loops(self, level: Level, supervertices: DeviceArray, n: int) -> Level:
        """Lines 10 and 11. Return the edges between supervertices, in no order yet.

        Reuses the list of pairs of `level`, which is gone then.
        """
        launch, entries = self.launch, level.entries
        relabelled = self.new(entries, PAIR)
        with launch.phase("relabel edges"):
            self._for_each(
                "relabel_edges", entries, level.pairs, supervertices, relabelled, entries,
                level.bits, bits_of(n),
            )  # fmt: skip
        with launch.phase("remove self-edges"):
            pairs, ranks, count = compact(
                relabelled, predicate=_JOINS_TWO, values=level.ranks, out=level.pairs,
                launch=launch,
            )  # fmt: skip
            entries = self.launch.read_word(count.memory)
        return Level(n, pairs[:entries], ranks[:entries])

    def sort_rows(self, level: Level, *, by_rank: bool = False) -> Level:
        """Line 12 without the removal. Return the list sorted by source, or by (source, rank)."""
        with self.launch.phase("split edges"):
            return self._sorted_by_source(self._sorted_by_rank(level) if by_rank else level)

    def remove_duplicates(self, level: Level, *, by: Lightest = "minimum") -> Level:
        """Lines 12 and 13. Return the lightest edge of each pair, sorted by pair.

        There is no vertex list to build (line 14): sources stand in the pairs.

        The lightest is the segmented minimum of each pair, or its first after a split by rank too.
        """
        if level.is_simple:
            return level
        launch = self.launch
        with launch.phase("split edges"):
            ordered = self._sorted_by_rank(level) if by == "split" else level
            level = self._sorted_by_pair(ordered, key_bits=2 * level.bits)
        with launch.phase("remove duplicates"):
            flags = self.mark_segments(level, shift=0)
            if by == "minimum":
                segmented_scan(
                    level.ranks, flags, monoid=_MINIMUM_RANK, out=level.ranks, launch=launch
                )
                flags = end_flags(flags, launch=launch)
            pairs, ranks, count = compact(level.pairs, flags, values=level.ranks, launch=launch)
            kept = self.launch.read_word(count.memory)
        return Level(level.n, pairs[:kept], ranks[:kept], is_simple=True)
