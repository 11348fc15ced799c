"""Find out which edges stay in the forest, or out of it, while weights change only a little.

The kernels are in ``cl/algorithms/reweighting/sensitivity.cl`` and ``sensitivity_classify.cl``.

Most edges of a graph are much lighter or much heavier than all edges that they compete with, so
small changes of weights do not affect whether they are in the forest. All edges are classified
once, by reference weights, which are the weights of an earlier round. The other edges, which small
changes may affect, are the candidates. They form a small graph, which is quicker to solve.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clmst.algorithms.filter_boruvka.workspace import Candidates
from clmst.core.weight_keys import Array
from clmst.primitives.compact import compact, positions
from clmst.primitives.sort import sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import KernelArgument, Memory
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/reweighting/sensitivity.cl"
CLASSIFY_SOURCE = "algorithms/reweighting/sensitivity_classify.cl"

# The kernels place weights on a nearly logarithmic scale of integers. From a weight to twice the
# weight there are 2**k steps on the scale, where k depends on the number of bits of the weights.
# These are the values of k (OCTAVE_BITS of sensitivity.cl) for floats. Integers count as floats of
# 32 bits.
_OCTAVE_BITS = {16: 24, 32: 21, 64: 18}
VECTOR = 16  # number of weights that kernels take at a time on CPUs; a graph needs as many edges
_NONE = 0xFFFFFFFF  # NO_WINNER of the kernels; above all positions
# Edges outside the forest are ruled out by bins. _CUTS positions, the cuts, divide the scale of
# weights into bins. They are chosen from _SAMPLES sampled edges. An edge is ruled out if a path of
# forest edges joins its ends, and all of these are below some cut that is far enough below the
# edge's weight. With more cuts, fewer edges remain candidates.
_CUTS, _SAMPLES = 96, 1 << 15
# The floor is the position on the scale below which a fraction of 1 / _LIGHTEST of the forest edges
# lies. All lower positions are raised to the floor.
_LIGHTEST = 256
_TREE = 1  # the flag EDGE_IS_TREE of the kernels: the edge is in the reference forest
# The list of candidates (edges whose place in the forest is open) is shortened in rounds, each of
# which contracts edges. _MOST_ROUNDS is the maximum number of rounds. Another round follows only if
# the last one has removed at least the share _LEAST_GAIN of the list.
_MOST_ROUNDS, _LEAST_GAIN = 12, 1 / 64
_PAIR = np.dtype(np.uint64)  # holds two words of 32 bits


class ReferenceWeights:
    """The weights and the forest of one round, with which the weights of later rounds are compared.

    Creating the object takes O(m) for m edges. A weight has a position on a logarithmic scale, on
    which a weight and its double are `octave` steps apart. Positions below `floor` are raised to
    it. `records` is an array with a word for each edge, which is filled with the position of its
    weight and whether it is in the forest. `word` has the macros with which kernels read weights of
    this kind. The graph must store each edge once, with the row of each CSR entry, and have at
    least VECTOR edges.
    """

    def __init__(
        self,
        graph: DeviceGraph,
        in_forest: DeviceArray,
        launch: Launcher,
        *,
        maximum: bool,
        records: DeviceArray,
    ) -> None:
        self.records = records
        self.word = graph.weight_defines(maximum=maximum)
        bits = self.word["WEIGHT_BITS"] if graph.encoded.kind == "float" else 32
        self.octave = 1 << _OCTAVE_BITS[bits]
        self.program = graph.device.program(SOURCE, **self.word)
        self._found = DeviceArray.empty(1, np.uint32, graph.device)
        self.floor = 0
        self._record(graph, in_forest, launch)
        positions = self.forest_positions(launch)
        if positions.size:
            self.floor = int(positions[positions.size // _LIGHTEST])
            self._record(graph, in_forest, launch)

    def _record(self, graph: DeviceGraph, in_forest: DeviceArray, launch: Launcher) -> None:
        m = graph.n_slots
        launch.for_each(
            self.program, "sensitivity_record", m, graph.weights, in_forest, self.records,
            self.floor, m,
        )  # fmt: skip

    def forest_positions(self, launch: Launcher) -> Array:
        """Sample edges of the forest, and return the positions of their weights, ascending.

        A position is a place on the logarithmic scale. The call waits for the device.
        """
        m = self.records.size
        count = min(_SAMPLES, m)
        words = np.empty(count, np.uint32)
        drawn = DeviceArray.empty(count, np.uint32, self.records.device)
        launch.for_each(self.program, "sensitivity_sample", count, self.records, drawn, m, count)
        if count:
            launch.read(drawn.memory, words)
        positions: Array = np.sort(words[(words & _TREE) != 0] >> 2)
        return positions

    def farthest(self, weights: Memory, launch: Launcher) -> int:
        """Return the greatest difference of a weight from its reference, on the logarithmic scale.

        `weights` are the present weights, by CSR entry. Only changes that could affect the forest
        count. For a minimum forest, these are increases of the weights of the forest's edges, and
        decreases of all other weights. The result is 2**32 - 1 if a weight is NaN. The call waits
        for the device. O(m) for m edges.
        """
        launch.fill(self._found.memory, 0, 1)
        launch.for_each(
            self.program, "sensitivity_find_farthest", self.records.size, weights, self.records,
            self._found, self.floor, self.records.size,
        )  # fmt: skip
        return launch.read_word(self._found.memory)

    def verify(self, weights: Memory, slack: int, violations: Memory, launch: Launcher) -> None:
        """Enqueue a check that all weights are within `slack` steps of their references.

        Steps are on the logarithmic scale. Only two kinds of changes count, because no others could
        affect the forest: an edge of the forest that gets heavier, and another edge that gets
        lighter, or the reverse for maximum forests. If one of these changes exceeds `slack`, the
        kernel sets `violations` to 1. O(m) for m edges.
        """
        launch.for_each(
            self.program, "sensitivity_verify", self.records.size, weights, self.records,
            violations, self.floor, slack, self.records.size,
        )  # fmt: skip

    def classify(self, graph: DeviceGraph, slack: int, launch: Launcher) -> Candidates:
        """Return the candidates: the edges whose place in the forest depends on small changes.

        All other edges are certainly in the forest, or certainly not in it, while all weights are
        within `slack` steps of their references on the logarithmic scale. `graph` must be the graph
        of the reference weights, with any weights. The call waits for the device. It takes O(m + (n
        + candidates) log n).
        """
        return _Classification(self, graph, slack, launch).run()


class _Classification:
    """One run of :meth:`ReferenceWeights.classify`: the data that its steps share."""

    def __init__(
        self, reference: ReferenceWeights, graph: DeviceGraph, slack: int, launch: Launcher
    ) -> None:
        self.graph, self.weights = graph, reference
        self.records, self.program = reference.records, graph.device.program(CLASSIFY_SOURCE)
        self.slack, self.launch = slack, launch
        self.m, self.n = self.graph.n_slots, self.graph.n_vertices
        self.parent = self._new(self.n)

    def _new(self, size: int, dtype: npt.DTypeLike = np.uint32) -> DeviceArray:
        return DeviceArray.empty(size, dtype, self.graph.device)

    def _each(self, kernel: str, n_items: int, *arguments: KernelArgument) -> None:
        self.launch.for_each(self.program, f"sensitivity_classify_{kernel}", n_items, *arguments)

    def run(self) -> Candidates:
        """Classify the edges, and return the candidates, which may or may not be in the forest.

        The call waits for the device.
        """
        self._rule_out()
        ends, edges = self._contract(*self._list())
        return self._candidates(ends, edges)

    def _rule_out(self) -> None:
        """Enqueue kernels that mark the candidates among the edges, and wait for the device.

        An edge is not a candidate if a path of much lighter edges joins its ends, because no small
        change of weights then brings it into the forest.
        """
        cuts = self._cuts()
        slots, starts = self._bins(cuts)
        self._each("begin_sets", self.n, self.parent, self.n)
        others = len(cuts) + 1  # the number of the first bin of edges outside the reference forest
        for w in range(others):
            for kernel, at, changed in (
                ("keep_bin", others + w, (self.parent, self.records)),
                ("join_bin", w, (self.parent,)),
            ):
                first, k = starts[at], starts[at + 1] - starts[at]
                rows, indices = self.graph.rows, self.graph.indices
                self._each(kernel, k, slots, rows, indices, *changed, first, k)

    def _bins(self, cuts: list[int]) -> tuple[DeviceArray, list[int]]:
        """Sort the edges into bins by weight, and return them with the start of each bin.

        `cuts` are ascending positions on the logarithmic scale, and a bin has the edges between two
        of them. The edges of the reference forest have one set of bins, and all other edges have
        another set. The last bin is empty. Edges are returned as CSR entries. The call waits for
        the device.
        """
        m, count = self.m, 2 * (len(cuts) + 1)
        bins, slots, found = self._new(m), self._new(m), self._new(count + 1)
        positions = DeviceArray.from_host(np.array(cuts or [0], np.uint32), self.graph.device)
        self._each(
            "find_bins", m, self.records, positions, bins, slots, len(cuts), 2 * self.slack, m
        )
        bins, slots = sort_by_key(
            bins, slots, key_bits=count.bit_length(), keys_out=bins, launch=self.launch
        )
        self._each("find_starts", count + 1, bins, found, count + 1, m)
        return slots, self.launch.read_words(found.memory, count + 1)

    def _cuts(self) -> list[int]:
        """Return the positions, ascending, that divide the forest's edges in equal parts by weight.

        They are positions of weights on the logarithmic scale.

        The call waits for the device.
        """
        positions = self.weights.forest_positions(self.launch)
        if not positions.size:
            return []
        at = np.linspace(0, positions.size - 1, _CUTS + 1).astype(int)[1:]
        return [int(cut) for cut in np.unique(positions[at])]

    def _list(self) -> tuple[DeviceArray, DeviceArray]:
        """Return the candidates in two arrays of pairs of 32-bit words.

        A candidate is an edge that small changes of weights may bring into the forest or out of it.

        The first array has the two ends of each candidate. The second has the position of its
        weight on the logarithmic scale, and its CSR entry. The call waits for the device.
        """
        flags = self._new(self.m, np.uint8)
        self._each("flag_candidates", self.m, self.records, flags, self.m)
        slots, total = positions(flags, launch=self.launch)
        k = self.launch.read_count(total.memory, self.m)
        ends, edges = self._new(k, _PAIR), self._new(k, _PAIR)
        self._each(
            "list", k, self.records, self.graph.rows, self.graph.indices, slots, ends, edges, k
        )
        return ends, edges

    def _contract(self, ends: DeviceArray, edges: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """Contract edges that are certainly in the forest, round by round, and drop self-loops.

        `ends` and `edges` are the result of :meth:`_list`. The rounds end when one removes few
        candidates. Returns the two arrays for the remaining candidates, whose ends are now
        components. The call waits for the device.
        """
        lightest, winners = self._new(self.n), self._new(self.n)
        self._each("begin_sets", self.n, self.parent, self.n)
        for _ in range(_MOST_ROUNDS):
            before = ends.size
            if not before:
                break
            self.launch.fill(lightest.memory, _NONE, self.n)
            self.launch.fill(winners.memory, _NONE, self.n)
            self._each("find_lightest", before, ends, edges, lightest, before)
            self._each("reserve", before, ends, edges, lightest, winners, 2 * self.slack, before)
            self._each(
                "join_winners", before, ends, edges, winners, self.records, self.parent, before
            )
            stays = self._new(before, np.uint8)
            self._each("contract", before, ends, edges, self.parent, self.records, stays, before)
            ends, edges, total = compact(ends, stays, values=edges, launch=self.launch)
            remaining = self.launch.read_count(total.memory, before)
            ends, edges = ends[:remaining], edges[:remaining]
            if before - remaining < _LEAST_GAIN * before:
                break
        return ends, edges

    def _candidates(self, ends: DeviceArray, edges: DeviceArray) -> Candidates:
        """Give numbers to the components of contracted edges, and return the candidates as a graph.

        The candidates are the edges that small changes of weights may affect.

        `ends` and `edges` are the result of :meth:`_contract`. The call waits for the device.
        """
        k, flags = ends.size, self._new(self.n, np.uint8)
        slots, numbers = self._new(k), self._new(self.n)
        self.launch.fill(flags.memory, 0, self.n, np.uint8)
        self._each("flag_components", k, ends, flags, k)
        components, total = positions(flags, launch=self.launch)
        count = self.launch.read_count(total.memory, self.n)
        self._each("number", count, components, numbers, count)
        own = DeviceArray.empty(k, _PAIR, self.graph.device)
        self._each("finish", k, ends, edges, numbers, own, slots, k)
        n_words = -(-self.m // 32)
        kept = self.graph.device.allocate(max(4 * n_words, 4))
        self.launch.fill(kept, 0, n_words)
        self._each("expand", self.m, self.records, kept, self.m)
        return Candidates(n_vertices=count, ends=own, slots=slots, kept=kept)
