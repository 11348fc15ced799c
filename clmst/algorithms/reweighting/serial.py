"""Solve a graph with changing weights on a CPU, in one launch of one work-item for each round.

The kernels are in ``cl/algorithms/small_matrix/again.cl``. For a small graph, one work-item is
faster than all work-items together, which need many launches. If few weights have changed, one
work-item that starts from the forest of the round before is faster for graphs of any size.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from clmst.algorithms.reweighting.repeated import DeviceWeights, ReweightedGraph
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.read_back import forest_of_arrays, signed
from clmst.algorithms.shared.solution import FLAG, flag_words
from clmst.core.forest import Forest
from clmst.core.weight_keys import Array, Encoding
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.device_memory import result_in_place
from clmst.runtime.handles import Buffer, Kernel
from clmst.runtime.launcher import Launcher, check_count
from clmst.runtime.program import Program

SOURCE = "algorithms/small_matrix/again.cl"

# Constants of the kernels (macros of again.cl and of the files that it includes): the status of a
# solved graph, and the value for "no slot".
_SOLVED = 1
_NONE = 0xFFFFFFFF
_KNOWN, _ANEW = 1, 2
_FACTS, _RESULT_WORDS = 6, 8
# The first _STAYING arguments of a kernel are the same in all solves of a graph, so they are set
# only once.
_STAYING = 10
# Sizes of parts of the scratch memory. _CHOICE_BYTES is the number of bytes for the edge that a
# component chooses, if weights have up to 32 bits and if they have 64 bits. The other two are the
# numbers of 32-bit words for each slot (CSR entry) and for each vertex.
_CHOICE_BYTES = 8, 16
_WORDS_A_SLOT, _WORDS_A_VERTEX = 9, 14
# A null pointer, for an array that a kernel does without. `set_arg` of older versions of PyOpenCL
# does not take None.
_NULL = np.uintp(0)


class SerialRounds:
    """Solves of one graph with changing weights, each by a single work-item.

    The object keeps the forest of the last solve, from which the next one starts.

    The graph must store each edge once and have at least one edge. It must be on a device that
    works in the host's memory. A solve takes 54 bytes for each edge and 76 for each vertex. This
    memory is kept for the next solve.
    """

    def __init__(self, graph: ReweightedGraph, *, maximum: bool) -> None:
        self.maximum = maximum
        self._graph, self._device = graph, graph.device
        self._n, self._m = graph.edges.n_vertices, graph.edges.n_slots
        # The weights for which the forest of the last solve is kept, or None if no forest is kept.
        # The forest is valid only while these are the graph's present weights, in the graph's own
        # buffer.
        self._known: DeviceWeights | None = None
        # Flags of the forest's edges, a list of these edges, and scratch memory.
        self._memory: tuple[Buffer, Buffer, Buffer] | None = None
        self._kernels: dict[Hashable, tuple[tuple[Any, ...], Kernel]] = {}
        self.n_open = 0  # number of weights that could change the forest in the last round
        self.faults: tuple[int | None, int | None] = (None, None)

    @property
    def marks(self) -> DeviceArray:
        """A flag for each CSR entry: 1 if its edge is in the forest of the last solve, else 0."""
        assert self._memory is not None
        return DeviceArray.unchecked(self._m, FLAG, self._device, self._memory[0])

    def forget(self) -> None:
        """Forget the forest, because the weights, or the flags of its edges, may have changed."""
        self._known = None

    def knows(self, encoding: Encoding) -> bool:
        """Return whether the forest of the present weights is kept, and they have this encoding."""
        known = self._known
        return known is not None and known is self._graph.present and known.encoding == encoding

    def solve(
        self, given: DeviceWeights, launch: Launcher, *, most: int, anew: bool
    ) -> Forest | None:
        """Solve with new weights of all edges, `given` by edge id, and keep the new weights.

        The call waits for the device. A solve starts from the forest of the last solve, unless more
        than `most` of the new weights may change that forest. Then the graph is solved from scratch
        if `anew` is true, and the result is None if it is false.

        If a weight is NaN, :attr:`faults` names its edge, the result is None, and the graph does
        not have weights any more.
        """
        graph, encoding = self._graph, given.encoding
        how = self._how(encoding, anew=anew)
        own = graph.own_buffer(encoding)
        graph.forget()
        found = self._launched(
            "small_matrix_again_solve", encoding, launch, (graph.order, own), (given.memory,),
            most=most, how=how,
        )  # fmt: skip
        if self.faults[0] is None:
            graph.present = DeviceWeights(memory=own, encoding=encoding, is_checked=True)
        self._known = None if found is None else graph.present
        return found

    def update(
        self, edges: DeviceArray, words: DeviceArray, launch: Launcher, *, most: int, anew: bool
    ) -> Forest | None:
        """Solve with new weights of some edges.

        Edge ``edges[i]`` gets the weight that the word ``words[i]`` stands for. The call waits for
        the device. A solve starts from the forest of the last solve, unless more than `most` of the
        changes may change that forest. Then the graph is solved from scratch if `anew` is true, and
        the result is None if it is false.

        If a new weight is NaN or an edge does not exist, :attr:`faults` names the change, the
        result is None, and all weights stay as they were.
        """
        graph, present = self._graph, self._graph.present
        assert present is not None
        how = self._how(present.encoding, anew=anew)
        arrays = graph.slots_of_edges(), graph.own_weights(launch)
        changes = words.memory, edges.memory, np.uint32(edges.size), np.uint32(graph.edges.n_input)
        found = self._launched(
            "small_matrix_again_update", present.encoding, launch, arrays, changes,
            most=most, how=how,
        )  # fmt: skip
        self._known = None if found is None else graph.present
        return found

    def adopt(self, forest: DeviceForest, launch: Launcher) -> None:
        """Keep the forest of the present weights, which other kernels found, for the next solve.

        The forest is not kept if the weights are in a buffer of the caller, who may change them.
        """
        present = self._graph.present
        self._known = None
        if present is None or not self._graph.owns_weights:
            return
        marks, kept, _ = self._allocated(present.encoding)
        program, n_edges = self._program(present.encoding), forest.n_edges
        launch(
            program, "small_matrix_again_adopt", 1, forest.slots, marks, kept, np.uint32(n_edges),
            np.uint32(self._m),
        )  # fmt: skip
        self._known = present

    def _how(self, encoding: Encoding, *, anew: bool) -> int:
        return _KNOWN * self.knows(encoding) + _ANEW * anew

    def _launched(
        self, name: str, encoding: Encoding, launch: Launcher, arrays: tuple[Any, Any],
        given: tuple[Any, ...], *, most: int, how: int,
    ) -> Forest | None:  # fmt: skip
        """Run a round by the kernel `name`, wait for it, and return the forest, or None.

        `encoding` says how weights are stored. `arrays` are the order of the weights and the
        weights by CSR entry, and `given` are the kernel's arguments with the new weights. `how` is
        a sum of flags: _KNOWN if the forest of the round before is kept, and _ANEW if the graph may
        be solved from scratch. The result is None if the kernel reports that it has not solved the
        graph, because more than `most` weights may change the forest or because of a fault.
        """
        self._known, device, n = None, self._device, self._n
        behind = _RESULT_WORDS + -(-(n - 1) * encoding.word.itemsize // 4)
        result = np.empty(behind + n - 1, np.uint32)
        target = result_in_place(device, result)
        place = device.allocate(result.nbytes) if target is None else target
        kernel = self._kernel(name, encoding, arrays, most)
        for index, argument in enumerate((np.uint32(how), place, *given), _STAYING):
            kernel.set_arg(index, _NULL if argument is None else argument)
        event = launch.preset(kernel, name, 1, 1)
        if target is None:
            launch.read(place, result)
        else:
            event.wait()
        status, k, rounds, nan, unknown, self.n_open = result[:_FACTS].tolist()
        self.faults = (None if nan == _NONE else nan), (None if unknown == _NONE else unknown)
        if status != _SOLVED:
            return None
        check_count(device, k, n - 1)
        words = np.frombuffer(result, encoding.stored, k, 4 * _RESULT_WORDS)
        from_before = bool(how & _KNOWN) and self.n_open <= most
        slots = result[behind : behind + k]
        return self._forest(slots, words, encoding, rounds, from_before=from_before)

    def _forest(
        self, slots: Array, words: Array, encoding: Encoding, rounds: int, *, from_before: bool
    ) -> Forest:
        """Return the forest with the edges at the given CSR entries, `slots`.

        Ends and ids of the edges are looked up when they are first read. `words` are the weights as
        words in this `encoding`. `rounds` is for the statistics, as is `from_before`, which says
        whether the solve started from an earlier forest.
        """
        edges, n = self._graph.edges, self._n
        order = edges.edge_ids
        ids = signed(slots, edges.n_slots) if order is None else lambda: order[slots]
        stats: dict[str, Any] = {
            "algorithm": "boruvka",
            "device": self._device.description,
            "launches": 1,
            "shape": "serial",
            "rounds": rounds,
        }
        if from_before:
            stats["changes"] = self.n_open
        return forest_of_arrays(
            edges, lambda: signed(np.column_stack((edges.rows[slots], edges.indices[slots])), n),
            encoding.decode(words), ids, maximum=self.maximum, stats=stats,
        )  # fmt: skip

    def _kernel(self, name: str, encoding: Encoding, arrays: tuple[Any, Any], most: int) -> Kernel:
        """Return the kernel `name` with all arguments set that do not change from round to round.

        A round is one solve with new weights. The arguments that stay are the arrays of the graph,
        `arrays`, the memory for weights in this `encoding`, the numbers of vertices and edges, and
        `most`, the maximum number of weights that may change the forest.
        """
        memory = (*arrays, *self._allocated(encoding))
        key = name, encoding.stored, most
        known = self._kernels.get(key)
        if known is None or known[0] != memory:
            graph, kernel = self._graph, self._program(encoding).new_kernel(name)
            sizes = map(np.uint32, (self._n, self._m, most))
            for index, argument in enumerate((graph.rows, graph.indices, *memory, *sizes)):
                kernel.set_arg(index, _NULL if argument is None else argument)
            known = self._kernels[key] = memory, kernel
        return known[1]

    def _allocated(self, encoding: Encoding) -> tuple[Buffer, Buffer, Buffer]:
        n, m = self._n, self._m
        bits = 8 * encoding.word.itemsize
        n_bytes = bits // 8 * (2 * m + n) + _CHOICE_BYTES[bits == 64] * n
        n_bytes += 4 * (_WORDS_A_SLOT * m + _WORDS_A_VERTEX * n + 2)
        if self._memory is None or self._memory[2].size < n_bytes:
            self._memory = None
            sizes = 4 * flag_words(m), 4 * (n + 1), n_bytes
            marks, kept, scratch = self._device.allocate_all(*sizes)
            self._memory = marks, kept, scratch
        return self._memory

    def _program(self, encoding: Encoding) -> Program:
        defines = weight_defines(8 * encoding.word.itemsize, encoding.kind, maximum=self.maximum)
        return self._device.program(SOURCE, **defines)
