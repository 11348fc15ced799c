"""Recursive Borůvka made of primitives: segmented scan, split, scan, compaction; no atomics.

Source: V. Vineet, P. Harish, S. Patidar, P. J. Narayanan, "Fast Minimum Spanning Tree for Large
Graphs on the GPU", HPG '09, Algorithm 1. Of the paper's limits (weights of 8 to 10 bits, vertex ids
of 22 to 24, connected graphs) none is left: edges are ranked by (weight key, edge id) once, by a
radix sort, and from there on a rank of 32 bits stands for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.algorithms.boruvka_options import BoruvkaOptions, Duplicates
from clmst.algorithms.solution import Solution, flag_words, new_flags
from clmst.core.errors import InvalidArgumentError
from clmst.primitives.compact import compact, positions
from clmst.primitives.monoid import Monoid
from clmst.primitives.predicate import Predicate
from clmst.primitives.scan import exclusive_scan, inclusive_scan, segmented_scan
from clmst.primitives.segments import end_flags
from clmst.primitives.sort import sort_by_key
from clmst.primitives.split import split
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/boruvka.cl"
SPLIT_SOURCE = "algorithms/boruvka_split.cl"

# Each launch of pointer doubling makes chains 33 times as short.
_JUMPS = 32
DEFINES = {"POINTER_JUMPS": _JUMPS}  # of SOURCE, beside those of the weights
_NO_EDGE = 2**64 - 1
# Parallel edges are removed where at least this share of the entries are expected to go: the sort
# by both endpoints has twice the passes of the sort by one.
_WORTHWHILE_SHARE = 0.15
# Every level at least halves the vertices that have an edge.
_MAX_LEVELS = 33

_PAIR, _RANK = np.dtype(np.uint64), np.dtype(np.uint32)
_MINIMUM_PAIR, _MINIMUM_RANK = Monoid.minimum(_PAIR), Monoid.minimum(_RANK)
_MAXIMUM_ROW = Monoid.maximum(_RANK)
# BORUVKA_LOOP of the kernels.
_JOINS_TWO = Predicate(dtype=_PAIR, expression="x != ULONG_MAX", name="edge between supervertices")


def solve(graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: Any = None) -> Solution:
    """Solve by recursive Borůvka; see :class:`BoruvkaOptions`.

    Notes
    -----
    O((n + m) log n) work in O(log n) levels, each a fixed sequence of primitives with three
    read-backs. Device memory beside the graph: about 60 bytes an edge and 40 a vertex.
    """
    options = BoruvkaOptions() if options is None else options
    if not isinstance(options, BoruvkaOptions):
        raise InvalidArgumentError(
            f"options is a {type(options).__name__}; 'boruvka' takes a BoruvkaOptions"
        )
    run = Contraction(graph, launch, maximum=maximum, options=options)
    levels: list[tuple[int, int]] = []
    level = run.first_level()
    while level is not None:
        if len(levels) > _MAX_LEVELS:
            raise RuntimeError(f"no end after {_MAX_LEVELS} levels: a bug in clmst")
        levels.append((level.n, level.pairs.size))
        level = run.next_level(level)
    stats = {
        "rounds": len(levels),
        "vertices": [n for n, _ in levels],
        "entries": [entries for _, entries in levels],
    }
    return Solution(graph=graph, in_forest=run.in_forest, stats=stats)


@dataclass(frozen=True, slots=True)
class Level:
    """A graph of `n` supervertices: its edges, in both directions, sorted by source."""

    n: int
    pairs: DeviceArray
    ranks: DeviceArray
    is_simple: bool = False  # sorted by target as well, and no pair twice

    @property
    def bits(self) -> int:
        """Bits of a vertex in a pair."""
        return _bits(self.n)


def _bits(n: int) -> int:
    return max((n - 1).bit_length(), 1)


class Contraction:
    """One solve: its programs, and what outlives a level."""

    def __init__(
        self, graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: BoruvkaOptions
    ) -> None:
        self.graph, self.launch, self.options = graph, launch, options
        self.device = graph.device
        weights = graph.weight_defines(maximum=maximum)
        self.weight_bits = weights["WEIGHT_BITS"]
        self.program = self.device.program(SOURCE, **DEFINES, **weights)
        self.duplicate_share = 1.0  # of entries, on the last level where duplicates were removed
        self.in_forest = new_flags(graph.n_slots, self.device)
        launch.fill(self.in_forest.memory, 0, flag_words(graph.n_slots))

    def _new(self, size: int, dtype: Any) -> DeviceArray:
        return DeviceArray.empty(size, dtype, self.device)

    def _for_each(self, kernel: str, n_items: int, *arguments: Any) -> None:
        """Enqueue a kernel that shares `n_items` out; arrays stand for their memory."""
        if n_items == 0:
            return
        groups = self.launch.groups_for(-(-n_items // self.program.grid_tile))
        memory = [a.memory if isinstance(a, DeviceArray) else a for a in arguments]
        self.launch(self.program, kernel, groups, *memory)

    def _read(self, count: DeviceArray) -> int:
        host = np.empty(1, np.uint32)
        self.launch.read(count.memory, host)
        return int(host[0])

    # --------------------------------------------------------- the first edge list

    def first_level(self) -> Level | None:
        """Rank the edges, and list each in both directions, split by source."""
        n, n_slots = self.graph.n_vertices, self.graph.n_slots
        if n_slots == 0:
            return None
        with self.launch.phase("rank edges"):
            rows = self._rows()
            self.slots = self._upper_slots(rows)
            m = self.slots.size
            if m == 0:
                return None
            self._sort_by_weight()
        level = Level(n, self._new(2 * m, _PAIR), self._new(2 * m, _RANK))
        with self.launch.phase("first edge list"):
            self._for_each(
                "boruvka_list_edges", m, rows, self.graph.indices, self.slots, level.pairs,
                level.ranks, np.uint32(m), np.uint32(level.bits),
            )  # fmt: skip
            return self._split(level, key_bits=level.bits, start_bit=level.bits)

    def _rows(self) -> DeviceArray:
        """Return the row of each slot."""
        n, n_slots = self.graph.n_vertices, self.graph.n_slots
        rows = self._new(n_slots, np.uint32)
        self.launch.fill(rows.memory, 0, n_slots)
        self._for_each("boruvka_mark_rows", n, self.graph.indptr, rows, np.uint32(n))
        return inclusive_scan(rows, monoid=_MAXIMUM_ROW, out=rows, launch=self.launch)

    def _upper_slots(self, rows: DeviceArray) -> DeviceArray:
        """Return the slots of the edges, rising."""
        n_slots = self.graph.n_slots
        flags = self._new(n_slots, np.uint8)
        self._for_each(
            "boruvka_mark_upper", n_slots, rows, self.graph.indices, flags, np.uint32(n_slots)
        )
        slots, count = positions(flags, launch=self.launch)
        return slots[: self._read(count)]

    def _sort_by_weight(self) -> None:
        """Sort the slots by weight; the sort is stable, so the ids of equals stay in order."""
        m = self.slots.size
        keys = self._new(m, np.uint64 if self.weight_bits == 64 else np.uint32)
        self._for_each("boruvka_make_keys", m, self.graph.weights, self.slots, keys, np.uint32(m))
        _, self.slots = sort_by_key(keys, self.slots, key_bits=self.weight_bits, launch=self.launch)

    def _split(self, level: Level, *, key_bits: int, start_bit: int = 0) -> Level:
        """Return the edge list of a level sorted by a field of its pairs; stable."""
        pairs, ranks = sort_by_key(
            level.pairs, level.ranks, key_bits=key_bits, start_bit=start_bit, launch=self.launch
        )
        return Level(level.n, pairs, ranks)

    # ------------------------------------------------------------------ one level

    def next_level(self, level: Level) -> Level | None:
        """Choose the lightest edge of every vertex, and contract; None if no edge is left."""
        chosen = self._find_minimum_edges(level)
        representatives = self._merge_vertices(level, chosen)
        number = self._number_by_scan if self.options.numbering == "scan" else self._number_by_split
        with self.launch.phase("number supervertices"):
            supervertices, n = number(level, chosen, representatives)
        following = self._remove_loops(level, supervertices, n)
        if following.pairs.size == 0:
            return None
        return self._remove_duplicates(following, self.options.duplicates)

    def without_duplicates(self, level: Level) -> Level:
        """Return a level with the lightest edge of each pair only, sorted by source and target."""
        return level if level.is_simple else self._remove_duplicates(level, "minimum")

    def _find_minimum_edges(self, level: Level) -> DeviceArray:
        """Lines 1 to 3. Return rank << 32 | target of every vertex's lightest edge."""
        launch, entries, bits = self.launch, level.pairs.size, np.uint32(level.bits)
        appended, heads = self._new(entries, _PAIR), self._new(entries, np.uint8)
        extent = np.uint32(entries)
        with launch.phase("append"):
            self._for_each(
                "boruvka_append", entries, level.pairs, level.ranks, appended, extent, bits
            )
        with launch.phase("mark segments"):
            self._for_each("boruvka_mark_segments", entries, level.pairs, heads, extent, bits)
        with launch.phase("segmented minimum scan"):
            segmented_scan(appended, heads, monoid=_MINIMUM_PAIR, out=appended, launch=launch)
            chosen = self._new(level.n, _PAIR)
            launch.fill(chosen.memory, _NO_EDGE, level.n, np.uint64)
            self._for_each(
                "boruvka_choose_edges", entries, level.pairs, appended, chosen, extent, bits
            )
        return chosen

    def _merge_vertices(self, level: Level, chosen: DeviceArray) -> DeviceArray:
        """Lines 4 to 7. Return every vertex's representative; the forest gets its edges."""
        launch, n, extent = self.launch, level.n, np.uint32(level.n)
        here, there = self._new(n, np.uint32), self._new(n, np.uint32)
        with launch.phase("find successors"):
            self._for_each("boruvka_find_successors", n, chosen, here, extent)
        with launch.phase("remove cycles"):
            self._for_each(
                "boruvka_break_cycles", n, chosen, here, self.slots, there, self.in_forest, extent
            )
        with launch.phase("double pointers"):
            reach = 1
            while reach < n:  # a chain has fewer than n links
                here, there = there, here
                self._for_each("boruvka_double_pointers", n, here, there, extent)
                reach *= _JUMPS + 1
        return there

    def _number_by_scan(
        self, level: Level, chosen: DeviceArray, representatives: DeviceArray
    ) -> tuple[DeviceArray, int]:
        """Lines 8 and 9. Return every vertex's supervertex, and how many of those there are."""
        n, extent = level.n, np.uint32(level.n)
        numbers, total = self._new(n, np.uint32), self._new(1, np.uint32)
        self._for_each("boruvka_mark_representatives", n, representatives, chosen, numbers, extent)
        exclusive_scan(numbers, out=numbers, total=total, launch=self.launch)
        supervertices = self._new(n, np.uint32)
        self._for_each(
            "boruvka_number_vertices", n, representatives, numbers, supervertices, extent
        )
        return supervertices, self._read(total)

    def _number_by_split(
        self, level: Level, chosen: DeviceArray, representatives: DeviceArray
    ) -> tuple[DeviceArray, int]:
        """Do as :meth:`_number_by_scan`, by the paper's way."""
        n, extent, launch = level.n, np.uint32(level.n), self.launch
        program = self.device.program(SPLIT_SOURCE)
        groups = launch.groups_for(-(-n // program.grid_tile))
        pairs, counts = self._new(n, _PAIR), self._new(n, np.uint32)
        memory = representatives.memory
        launch(program, "boruvka_split_append", groups, memory, pairs.memory, extent)
        split(pairs, key_bits=level.bits, start_bit=32, out=pairs, launch=launch)
        launch(
            program, "boruvka_split_mark", groups, pairs.memory, chosen.memory, counts.memory,
            extent,
        )  # fmt: skip
        total = self._new(1, np.uint32)
        inclusive_scan(counts, out=counts, total=total, launch=launch)
        supervertices = self._new(n, np.uint32)
        launch(
            program, "boruvka_split_number", groups, pairs.memory, counts.memory,
            supervertices.memory, extent,
        )  # fmt: skip
        return supervertices, self._read(total)

    def _remove_loops(self, level: Level, supervertices: DeviceArray, n: int) -> Level:
        """Lines 10 and 11. Return the edges between supervertices, in no order yet."""
        launch, entries = self.launch, level.pairs.size
        relabelled = self._new(entries, _PAIR)
        with launch.phase("relabel edges"):
            self._for_each(
                "boruvka_relabel_edges", entries, level.pairs, supervertices, relabelled,
                np.uint32(entries), np.uint32(level.bits), np.uint32(_bits(n)),
            )  # fmt: skip
        with launch.phase("remove self-edges"):
            pairs, ranks, count = compact(
                relabelled, predicate=_JOINS_TWO, values=level.ranks, out=level.pairs,
                launch=launch,
            )  # fmt: skip
            entries = self._read(count)
        return Level(n, pairs[:entries], ranks[:entries])

    def _remove_duplicates(self, level: Level, way: Duplicates) -> Level:
        """Lines 12 and 13. Return the lightest edge of each pair, sorted by pair.

        With "keep", all edges, sorted by source. There is no vertex list to build (line 14):
        sources stand in the pairs.
        """
        launch, bits = self.launch, level.bits
        if way == "keep" or (way == "auto" and not self._expects_duplicates(level)):
            with launch.phase("split edges"):
                return self._split(level, key_bits=bits, start_bit=bits)
        with launch.phase("split edges"):
            if way == "split":
                ranks, pairs = sort_by_key(
                    level.ranks, level.pairs, key_bits=_bits(self.slots.size), launch=launch
                )
                level = Level(level.n, pairs, ranks)
            level = self._split(level, key_bits=2 * bits)
        entries = level.pairs.size
        flags = self._new(entries, np.uint8)
        with launch.phase("remove duplicates"):
            self._for_each(
                "boruvka_mark_segments", entries, level.pairs, flags, np.uint32(entries),
                np.uint32(0),
            )  # fmt: skip
            if way != "split":
                segmented_scan(
                    level.ranks, flags, monoid=_MINIMUM_RANK, out=level.ranks, launch=launch
                )
                flags = end_flags(flags, launch=launch)
            pairs, ranks, count = compact(level.pairs, flags, values=level.ranks, launch=launch)
            kept = self._read(count)
        self.duplicate_share = 1 - kept / entries
        return Level(level.n, pairs[:kept], ranks[:kept], is_simple=True)

    def _expects_duplicates(self, level: Level) -> bool:
        """Return whether removing parallel edges is expected to pay on this level.

        It is if many went the last time (clustered graphs, and the first level as a trial), or if
        so many random pairs would repeat each other: of E among N, about E / (2 N).
        """
        return (
            self.duplicate_share >= _WORTHWHILE_SHARE
            or level.pairs.size >= 2 * _WORTHWHILE_SHARE * level.n**2
        )
