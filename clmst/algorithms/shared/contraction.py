"""Contract a graph level by level, by primitives such as scans and sorts, for several algorithms.

A level is a graph. In each level an algorithm chooses edges, and the components that these join
become the vertices of the next level.

Source: V. Vineet, P. Harish, S. Patidar, P. J. Narayanan, "Fast Minimum Spanning Tree for Large
Graphs on the GPU", HPG '09, Algorithm 1, whose line numbers stand at the steps. S. Nobari, T.-T.
Cao, P. Karras, S. Bressan, "Scalable Parallel Minimum Spanning Forest Computation", PPoPP '12,
Algorithm 5, takes the same steps. The papers require distinct weights of 8 to 10 bits, vertex ids
of 22 to 24 bits, and connected graphs; this module does not. A radix sort ranks the edges once by
weight and, among equal weights, by canonical order. From then on, the ranks of 32 bits are compared
in place of weights and ids.
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

# Number of parent pointers that each vertex follows in one launch. A launch makes the paths to the
# roots 33 times as short.
_JUMPS = 32
DEFINES = {"POINTER_JUMPS": _JUMPS}  # the macros of SOURCE except those for weights

PAIR, RANK = np.dtype(np.uint64), np.dtype(np.uint32)
_MINIMUM_RANK, _MAXIMUM_ROW = Monoid.minimum(RANK), Monoid.maximum(RANK)
# A predicate on packed edges, true for all edges except self-loops. The kernels replace each
# self-loop by CONTRACTION_LOOP, which is the greatest 64-bit value.
_JOINS_TWO = Predicate(dtype=PAIR, expression="x != ULONG_MAX", name="edge between supervertices")

Lightest: TypeAlias = Literal["minimum", "split"]
# A function that numbers the supervertices, the vertices that replace components. Its arguments are
# the chosen edge of each vertex, and the representative of each vertex's component. It returns the
# number of each vertex's supervertex, and how many supervertices still have edges.
Numbering: TypeAlias = Callable[[DeviceArray, DeviceArray], tuple[DeviceArray, int]]


@dataclass(frozen=True, slots=True)
class Level:
    """The graph of one level: `n` supervertices, and a list of its edges in both directions.

    A supervertex is the vertex that replaces the vertices that earlier levels have joined.
    """

    n: int
    pairs: DeviceArray  # uint64 for each entry: source << bits | target
    ranks: DeviceArray  # uint32 for each entry: its rank by (weight key, canonical order)
    is_simple: bool = False  # whether the list is known to be sorted by pair, without repeats

    @property
    def bits(self) -> int:
        """Number of bits that hold a vertex in an element of `pairs`."""
        return bits_of(self.n)

    @property
    def entries(self) -> int:
        """Length of the edge list, which is twice the number of edges."""
        return self.pairs.size


class Contraction:
    """The forest of one solve so far, and the steps from one level to the next.

    An algorithm chooses edges for the vertices of a level, in the form that
    ``cl/device/edge_list.cl`` describes. The steps add these edges to the forest `in_forest`, and
    make the next level, whose vertices are the components that the chosen edges join.
    """

    slots: DeviceArray  # by rank, the CSR entry of each edge; `first_level` makes the array
    has_parallel: bool = False  # whether `first_level` found the parallel edges it looked for

    def __init__(self, graph: DeviceGraph, launch: Launcher, *, maximum: bool) -> None:
        self.graph, self.launch, self.device = graph, launch, graph.device
        weights = graph.weight_defines(maximum=maximum)
        self._weight_bits = weights["WEIGHT_BITS"]
        self._program = self.device.program(SOURCE, **DEFINES, **weights)
        self.in_forest = new_flags(graph.n_slots, self.device)
        launch.fill(self.in_forest.memory, 0, flag_words(graph.n_slots))

    def new(self, size: int, dtype: npt.DTypeLike) -> DeviceArray:
        """Allocate an array of a size and a dtype on the device, with undefined contents."""
        return DeviceArray.empty(size, dtype, self.device)

    def _for_each(self, kernel: str, n_items: int, *arguments: KernelArgument) -> None:
        self.launch.for_each(self._program, f"contraction_{kernel}", n_items, *arguments)

    # --------------------------------------------------------- the first edge list

    def first_level(self, *, parallel: int | None = None) -> Level | None:
        """Rank the edges by weight, and list each in both directions, sorted by (source, rank).

        The call waits for the device. If `parallel` is a number, the method also finds out whether
        any two vertices are joined by so many edges, and stores the answer in `has_parallel`. That
        takes a launch and a read. Ranking is a radix sort of m keys of 32 or 64 bits. It takes 8
        bytes for each edge (12 for weights of 64 bits) and, while it works, the same number of
        bytes again. Afterwards, edges are compared by ranks of 32 bits. Returns None if the graph
        does not have edges.
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
            del rows  # frees memory for the next sort, which takes more memory than any other step
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
        return slots[: self.launch.read_count(count.memory, n_slots)]

    def _has_parallel(self, rows: DeviceArray, run: int) -> bool:
        """Return whether `run` or more edges join the same two vertices anywhere.

        `rows` has the row of each CSR entry. The call waits for the device.
        """
        found, n_slots = self.new(1, np.uint32), self.graph.n_slots
        self.launch.fill(found.memory, 0, 1)
        self._for_each("find_parallel", n_slots, rows, self.graph.indices, found, n_slots, run)
        return bool(self.launch.read_word(found.memory))

    def _sort_by_weight(self) -> None:
        """Sort the CSR entries of the edges by weight. Equal weights stay in order of edge ids."""
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
        """Flag the entries of a level's edge list at which a new segment begins.

        The source and the target of an entry are packed into one integer, with the target in the
        lower bits. Entries belong to one segment if these integers are equal apart from their
        lowest `shift` bits. If these are all bits of the target, a segment has all edges of one
        source. The flags are uint8, one for each entry. This is line 2 of Algorithm 1 of Vineet et
        al.
        """
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
        """Contract level after level until no edge is left, or at most `most` levels.

        A level is the graph after some contractions. `next_level` contracts a level and returns the
        next one, or None if no edge is left. `algorithm` is a name for error messages. The call
        waits for the device.

        Returns
        -------
        sizes : list of (int, int)
            The numbers of vertices and entries of each level that was contracted.
        level : Level or None
            The level that remains, or None if no edge is left.

        Raises
        ------
        DeviceError
            A level is larger than possible after the level before it.
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
        """Join vertices along the chosen edges, and return the graph of the next level.

        `chosen` has the chosen edge of each vertex. Each component that the chosen edges join
        becomes a supervertex, which is a vertex of the next level. `number` is the function that
        numbers the supervertices, by default :meth:`number_supervertices`. The call waits for the
        device, to read counts. Returns None if no edge is left. These are lines 4 to 11 of
        Algorithm 1 of Vineet et al. (HPG '09).
        """
        representatives = self.merge_vertices(level, chosen)
        with self.launch.phase("number supervertices"):
            supervertices, n = (number or self.number_supervertices)(chosen, representatives)
        following = self.remove_loops(level, supervertices, n)
        return following if following.entries else None

    def merge_vertices(self, level: Level, chosen: DeviceArray) -> DeviceArray:
        """Add the chosen edges of a level to the forest, and find each component's representative.

        `chosen` has the chosen edge of each vertex. Chosen edges lead from vertex to vertex, until
        a vertex without edges, or two vertices that have chosen the same edge. The vertex at the
        end represents the component. Returns the representative of every vertex, without waiting.
        These are lines 4 to 7 of Algorithm 1 of Vineet et al. (HPG '09).
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
        """Give numbers to the new components by a prefix sum.

        `chosen` has the chosen edge of each vertex, and `representatives` the vertex that
        represents its component. A component becomes a supervertex of the next level. Returns the
        supervertex of every vertex, and the number of supervertices that have edges. The
        supervertex of an isolated vertex is meaningless, which does no harm because no edge leads
        to the vertex. The call waits for the device. These are lines 8 and 9 of Algorithm 1 of
        Vineet et al. (HPG '09).
        """
        n = chosen.size
        numbers, total = self.new(n, np.uint32), self.new(1, np.uint32)
        self._for_each("mark_representatives", n, representatives, chosen, numbers, n)
        exclusive_scan(numbers, out=numbers, total=total, launch=self.launch)
        supervertices = self.new(n, np.uint32)
        self._for_each("number_vertices", n, representatives, numbers, supervertices, n)
        return supervertices, self.launch.read_count(total.memory, n)

    def remove_loops(self, level: Level, supervertices: DeviceArray, n: int) -> Level:
        """Return the edges between different supervertices, in any order.

        `supervertices` has the supervertex of each vertex of `level`, and `n` is the number of
        supervertices. These are lines 10 and 11 of Algorithm 1 of Vineet et al. (HPG '09). The call
        waits for the device. The memory of the pairs of `level` is reused, so `level` cannot be
        used afterwards.
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
            entries = self.launch.read_count(count.memory, entries)
        return Level(n, pairs[:entries], ranks[:entries])

    def sort_rows(self, level: Level, *, by_rank: bool = False) -> Level:
        """Sort a level's edges by source, or by (source, rank) if `by_rank` is true.

        A level is the graph after some contractions. The rank of an edge is its position in the
        order of all edges by weight. Parallel edges are kept. This is line 12 of Algorithm 1 of
        Vineet et al. (HPG '09).
        """
        with self.launch.phase("split edges"):
            return self._sorted_by_source(self._sorted_by_rank(level) if by_rank else level)

    def remove_duplicates(self, level: Level, *, by: Lightest = "minimum") -> Level:
        """Keep the lightest edge between any two vertices of a level, and sort the edges by ends.

        A pair is the two vertices that an edge joins. With `by` "minimum", the edges are sorted by
        pair, and the lightest edge is found by a segmented minimum over each pair. With "split",
        they are sorted by pair and rank, and the first edge of each pair is taken. These are lines
        12 and 13 of Algorithm 1 of Vineet et al. (HPG '09). Line 14, which builds a list of
        vertices, is not needed, since the pairs contain the sources. The call waits for the device.
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
            kept = self.launch.read_count(count.memory, level.entries)
        return Level(level.n, pairs[:kept], ranks[:kept], is_simple=True)
