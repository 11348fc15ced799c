"""Find the forest of new weights on a device from the last forest, if few weights have changed.

The edges of the graph stay. So new weights are a change of a kept forest
(:mod:`clmst.algorithms.changes.kept`) in which no edge comes or goes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst import route
from clmst.algorithms.changes.kept import PRESENT, WEIGHTS_SOURCE, KeptForest
from clmst.algorithms.shared.read_back import words_at
from clmst.algorithms.shared.solution import FLAG, Solution, new_flags
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.core.weight_keys import Array, Encoding, order_keys
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph, weight_defines
from clmst.runtime.handles import KernelArgument
from clmst.runtime.launcher import Launcher

_WORD = np.dtype(np.uint32)
_COUNTS = 3  # words of counts[] in cl/algorithms/changes/weights.cl
_SAMPLES = 1 << 16  # weights from which the limits of passes are taken


class LastForest:
    """The weights and the forest of the last solve of a graph, from which the next one may start.

    The graph must store each edge once, with the row of each CSR entry. A thread that calls a
    method must have the device's lock. If a method raises, call :meth:`forget` before the next one.

    The device's memory is 2 bytes and the weight for each edge. From the first solve on that starts
    from the last forest, it is 36 more for each vertex, and up to 40 for each edge of the forest.

    `maximum` asks for maximum forests. A solve starts from the last forest if at most `most`
    weights differ. If solves that follow each other differ in more, their forests are kept only now
    and then (:func:`clmst.route.rounds_without_keeping`).
    """

    def __init__(self, *, maximum: bool, most: int) -> None:
        self.maximum, self._most = maximum, most
        self._n_misses = 0  # solves in a row whose weights differed too much from the kept ones
        self._n_unkept = 0  # how many of the next forests are not kept
        self._encoding: Encoding | None = None  # of the kept weights; None without kept weights
        self._memory: tuple[DeviceArray, ...] = ()  # weights, flags, changed rows, forest, counts
        self._stored: np.dtype[Any] | None = None  # the dtype of stored weights, for `_kept`
        self._kept: KeptForest | None = None
        self._lacks_memory = False
        self._is_contracted = False  # whether `_kept` has the clusters of the present forest
        self._keys: Array = np.zeros(0, np.uint64)  # sampled keys of edges outside, ascending
        self._why = ""  # why the last call of `solve` has returned None

    @property
    def why_anew(self) -> str:
        """Why the last call of :meth:`solve` has returned None, in words."""
        return self._why

    def forget(self) -> None:
        """Forget the weights and the forest, because they may be half changed or of no solve."""
        self._encoding, self._is_contracted = None, False

    def keep(self, graph: DeviceGraph, solution: Solution, launch: Launcher) -> None:
        """Enqueue a copy of a graph's weights, and of the forest that a solve has found. O(m)."""
        if self._lacks_memory:
            return
        if self._n_unkept:
            self._n_unkept -= 1
            self._encoding = None
            return
        try:
            self._allocate(graph)
        except OutOfDeviceMemoryError:
            self._give_up()
            return
        m, (weights, flags, *_) = graph.n_slots, self._memory
        given = graph.weights, solution.in_forest
        self._each("keep", m, graph, launch, *given, weights, flags, m)
        self._encoding, self._is_contracted = graph.encoded.encoding, False

    def _allocate(self, graph: DeviceGraph) -> None:
        """Allocate memory for the weights and the forest of a graph.

        Any weights and forest that were kept before are forgotten. Their memory is used again if
        the new weights are stored in words of the same size.
        """
        m, device = graph.n_slots, graph.device
        encoding, word = graph.encoded.encoding, graph.encoded.encoding.word
        self._encoding = None
        if encoding.stored != self._stored:
            self._kept, self._stored = None, encoding.stored
        if not self._memory or self._memory[0].dtype != word:
            self._memory = ()  # frees memory
            self._memory = (
                DeviceArray.empty(m, word, device), new_flags(m, device),
                DeviceArray.empty(self._most, _WORD, device),
                new_flags(m, device), DeviceArray.empty(_COUNTS, _WORD, device),
            )  # fmt: skip

    def _give_up(self) -> None:
        """Free all memory, because the memory of the device does not hold what is kept.

        All later solves are made anew.
        """
        self._lacks_memory, self._memory, self._kept = True, (), None
        self.forget()

    def solve(self, graph: DeviceGraph, launch: Launcher) -> Solution | None:
        """Solve a graph with new weights, if few of them differ from the kept ones.

        The result becomes the kept forest. The call waits for the device. It returns None if no
        forest is kept, if too many weights differ, or if memory is lacking. Takes O(n + m), and the
        contraction of the edges that the changes leave open.
        """
        encoding, m = graph.encoded.encoding, graph.n_slots
        if self._lacks_memory:
            self._why = "the memory of the device does not hold the forest of the round before"
            return None
        if self._encoding is None and self._n_misses > 1:
            self._why = (
                f"each of {self._n_misses} rounds before had more than {self._most:,} new weights"
            )
            return None
        if self._encoding != encoding:
            known = "" if self._encoding is None else " with weights of this kind"
            self._why = f"no round before{known} is kept"
            return None
        weights, flags, differing, in_forest, counts = self._memory
        launch.fill(counts.memory, 0, _COUNTS)
        arrays = graph.weights, weights, flags, differing, counts
        self._each("compare", m, graph, launch, *arrays, differing.size, m)
        n_differing, n_lost, n_fresh = launch.read_words(counts.memory, _COUNTS)
        if n_differing > differing.size:
            self._why = f"more than {differing.size:,} of {m:,} weights differ"
            self._n_misses += 1
            self._n_unkept = route.rounds_without_keeping(self._n_misses)
            return None
        self._n_misses = 0
        stats = {"changes": n_lost + n_fresh}
        if n_differing:
            found = (n_differing, n_lost, n_fresh)
            try:
                stats |= self._changed(graph, found, launch)
            except OutOfDeviceMemoryError:
                self._give_up()
                return self.solve(graph, launch)
        self._each("flag", m, graph, launch, flags, in_forest, m)
        way = route.way_of_kept_round(n_differing, m)
        return Solution(graph=graph, in_forest=in_forest, stats={**stats, "route": way.as_stats()})

    def _changed(
        self, graph: DeviceGraph, found: tuple[int, int, int], launch: Launcher
    ) -> dict[str, Any]:
        """Update the kept forest, and return statistics. The call waits for the device.

        `graph` has the new weights. `found` are the counts of the kernel that has compared them.
        """
        kept, encoding = self._contracted(graph, launch), self._encoding
        self._encoding = None  # in case the change breaks off
        limits = self._limits(found[1], graph.n_slots)
        stats = kept.reweigh(self._memory[2], graph.weights, found, limits, launch)
        self._encoding = encoding
        return stats

    def _contracted(self, graph: DeviceGraph, launch: Launcher) -> KeptForest:
        """Return the kept forest with its clusters, which are made if they are of another one."""
        weights, flags, *_ = self._memory
        m, device, encoding = graph.n_slots, graph.device, graph.encoded.encoding
        if self._kept is None:
            ends = (
                DeviceArray.unchecked(m, _WORD, device, memory)
                for memory in (graph.rows, graph.indices)
            )
            columns = (*ends, weights, flags)
            self._kept = KeptForest(
                graph.n_vertices, columns, device, launch, stored=encoding.stored,
                maximum=self.maximum,
            )  # fmt: skip
        elif not self._is_contracted:
            self._kept.contract(launch)
        if not self._is_contracted:
            rows = np.random.default_rng(0).integers(0, m, min(m, _SAMPLES))
            is_outside = words_at(flags.memory, FLAG, rows, launch) == PRESENT
            words = words_at(weights.memory, weights.dtype, rows[is_outside], launch)
            keys = order_keys(words.view(encoding.stored), descending=self.maximum)
            self._keys = np.sort(keys)
        self._is_contracted = True
        return self._kept

    def _limits(self, n_lost: int, m: int) -> list[int]:
        """Return the keys up to which weights are looked at first, to replace lost edges."""
        keys, shares = self._keys, route.shares_of_passes(n_lost, m)
        return [int(keys[int(share * keys.size)]) for share in shares] if keys.size else []

    def _each(
        self, kernel: str, n_items: int, graph: DeviceGraph, launch: Launcher,
        *arguments: KernelArgument,
    ) -> None:  # fmt: skip
        word, kind = graph.encoded.encoding.word, graph.encoded.encoding.kind
        defines = weight_defines(8 * word.itemsize, kind, maximum=self.maximum)
        program = graph.device.program(WEIGHTS_SOURCE, **defines)
        launch.for_each(program, f"changes_weights_{kernel}", n_items, *arguments)
