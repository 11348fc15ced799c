"""Compute core numbers by parallel peeling. The kernels are in ``cl/algorithms/k_core``.

Source: H. Kabir, K. Madduri, "Parallel k-Core Decomposition on Multicore Platforms", IPDPSW '17.
``cl/algorithms/k_core/k_core.cl`` lists the differences from the paper.
"""

from __future__ import annotations

import numpy as np

from clmst.algorithms.shared.progress import no_progress
from clmst.core.graph_checks import check_size
from clmst.primitives.scan import exclusive_scan, inclusive_scan
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/k_core/k_core.cl"
MIRROR_SOURCE = "algorithms/k_core/mirror.cl"
PEEL_SOURCE = "algorithms/k_core/peel.cl"
SERIAL_SOURCE = "algorithms/k_core/serial.cl"

# Maximum number of vertices in the queue of a work-item that is alone in its work-group
# (SERIAL_QUEUE of the kernel). If a work-group has several work-items, its queue has space for the
# number of vertices that it takes at a time.
SERIAL_CAPACITY = 4096
# A launch stops after a limited amount of work, so that the next launch can divide the remaining
# work among all work-items again. SERIAL_BUDGET is the number of slots (CSR entries) that a
# work-item goes through if it is alone in its work-group; this takes some tenths of a millisecond.
# GROUP_BUDGET is how many times a larger work-group takes vertices from its queue; this takes some
# milliseconds.
SERIAL_BUDGET = 1 << 16
GROUP_BUDGET = 1 << 10
# Maximum number of work-groups for each compute unit. It is small because late rounds have little
# work.
_GROUPS = 16
# Number of rounds that are enqueued before the host reads how many vertices remain. _FIRST_BATCH is
# the number before the first read, and _MOST_BATCH the maximum number before a later read. A round
# that is not needed takes two launches that find nothing to do.
_FIRST_BATCH, _MOST_BATCH = 4, 32

# The layout of the array state[] of k_core/state.cl. It keeps _ROUND_WORDS words for each of the
# last _ROUNDS_KEPT rounds. In the words of a round, _LEFT is the index of the number of vertices
# that remained when the round began, and _BOUND that of a lower bound of their degrees.
_LEFT, _BOUND = 3, 4
_ROUND_WORDS, _ROUNDS_KEPT = 5, 4
_BUSY_ROUNDS = _ROUND_WORDS * _ROUNDS_KEPT


def core_numbers(graph: DeviceGraph, launch: Launcher) -> tuple[DeviceArray, int]:
    """Compute the core number of every vertex by parallel peeling.

    The call waits for the device.

    Returns
    -------
    cores : DeviceArray of uint32, shape (n,)
        The core number of each vertex.
    rounds : int
        Number of rounds that had anything to do.

    Notes
    -----
    Vertices are removed level by level. Let k be the least number of remaining neighbours of any
    remaining vertex. Level k has the vertices with k remaining neighbours, and the vertices that
    then fall to k or fewer. The work is at most O(n_slots + n * levels), where n_slots is the
    number of CSR entries, since the lists of remaining vertices shrink from level to level. A level
    takes a round or two, and one more each time that a cascade of removals is divided anew among
    the work-groups. A round has two launches, and the host reads a count after several rounds. If
    all vertices have the same degree, the rows of the graph are not read. Otherwise, if the graph
    stores each edge once, both directions are made first, without weights.

    The device memory is 16 bytes for each vertex. If edges are stored once, 8 bytes for each vertex
    and 8 bytes for each edge are added.
    """
    if graph.n_vertices == 0:
        return DeviceArray.empty(0, np.uint32, graph.device), 0
    peeling = _Peeling(graph, launch)
    with launch.phase("count degrees"):
        peeling.count_degrees()
        peeling.take_level(0)
        remaining = peeling.read_remaining(0)
    if remaining:
        with launch.phase("mirror rows"):
            indptr, indices = peeling.rows()
        with launch.phase("peel"):
            peeling.peel(indptr, indices)
    return peeling.degree[: graph.n_vertices], int(peeling.words[_BUSY_ROUNDS])


class _Peeling:
    """One computation of core numbers: the arrays and arguments that its steps share."""

    def __init__(self, graph: DeviceGraph, launch: Launcher) -> None:
        self.graph, self.launch, self.n = graph, launch, graph.n_vertices
        device = graph.device
        self.program = device.program(SOURCE)
        self.width = self.program.work_group_size
        most = device.capabilities.compute_units * _GROUPS
        self.lists = min(most, launch.groups_for(-(-self.n // self.program.grid_tile)))
        self.shares = min(most, self.n)
        self.degree = self._new(self.n + 1)  # one more element, so that a scan ends with the sum
        self.list = self._new(self.n)
        self.lengths, self.frontier = self._new(self.lists), self._new(2 * self.n)
        self.words = np.zeros(_BUSY_ROUNDS + 1, np.uint32)
        self.words[:_BUSY_ROUNDS].reshape(_ROUNDS_KEPT, _ROUND_WORDS)[:, _BOUND] = 2**32 - 1
        self.state = self._new(self.words.size)
        launch.write(self.state.memory, self.words)

    def _new(self, size: int) -> DeviceArray:
        return DeviceArray.empty(size, np.uint32, self.graph.device)

    def count_degrees(self) -> None:
        """Enqueue the count of the edges of every vertex, and the search for the smallest count."""
        graph, one_sided = self.graph, not self.graph.graph.is_symmetric
        runs = self.degree  # a placeholder, which is not read
        if one_sided:
            runs = self._count_columns()
        self.launch.for_each(
            self.program, "k_core_count_rows", self.n, graph.indptr, graph.indices,
            runs, self.degree, self.state, self.n, int(one_sided),
        )  # fmt: skip

    def _count_columns(self) -> DeviceArray:
        """Enqueue the count of how often each vertex occurs as a column of the CSR.

        The columns of a long range of consecutive numbers are not counted one by one. The count has
        two parts. ``self.degree`` gets, for each vertex, the number of occurrences outside long
        ranges. The returned array has the number of long ranges that contain the vertex.
        """
        graph, runs = self.graph, self.list  # reuses the memory of the list, which is still empty
        for array in (self.degree, runs):
            self.launch.fill(array.memory, 0, array.size)
        self.launch.for_each(
            self.program, "k_core_count_columns", graph.n_slots, graph.indices,
            self.degree, runs, self.n, graph.n_slots,
        )  # fmt: skip
        return inclusive_scan(runs, out=runs, launch=self.launch)

    def rows(self) -> tuple[Memory, Memory]:
        """Return row offsets and columns that have both directions of all edges.

        If the graph stores each edge once, kernels that make them are enqueued, without waiting.
        """
        graph, device = self.graph, self.graph.device
        if graph.graph.is_symmetric:
            return graph.indptr, graph.indices
        check_size(self.n, 2 * graph.n_slots)
        rows, cursor = (exclusive_scan(self.degree, launch=self.launch) for _ in range(2))
        both = self._new(2 * graph.n_slots)
        self.launch.for_each(
            device.program(MIRROR_SOURCE), "k_core_mirror_put", graph.n_slots,
            graph.indptr, graph.indices, rows, cursor, both, self.n, graph.n_slots,
        )  # fmt: skip
        return rows.memory, both.memory

    def take_level(self, number: int) -> None:
        """Enqueue the beginning of round `number`, which finds the vertices to be removed next."""
        self.launch.enqueue(
            self.program, "k_core_take_level", self.lists, self.degree, self.list,
            self.lengths, self.frontier, self.state, self.n, number,
        )  # fmt: skip

    def peel(self, indptr: Memory, indices: Memory) -> None:
        """Remove vertices, in the order of their core numbers, until no vertex remains.

        The first round must have been begun. `indptr` and `indices` are the arrays of the graph on
        the device. The call waits for the device. Raises DeviceError if the counts of the device
        are impossible.
        """
        serial = self.width == 1
        program = self.graph.device.program(SERIAL_SOURCE if serial else PEEL_SOURCE)
        kernel = f"k_core_{'serial_' if serial else ''}peel_neighbours"
        width = program.work_group_size
        capacity = SERIAL_CAPACITY if serial else width
        budget = SERIAL_BUDGET if serial else GROUP_BUDGET * width
        number, batch, remaining = 0, _FIRST_BATCH, self.n + 1
        while True:
            for _ in range(batch):
                self.launch.enqueue(
                    program, kernel, self.shares, indptr, indices, self.degree,
                    self.frontier, self.state, self.n, number, capacity, budget,
                )  # fmt: skip
                number += 1
                self.take_level(number)
            before, remaining = remaining, self.read_remaining(number)
            if not remaining:
                return
            # A round either removes (peels) at least one vertex, or finds the least remaining
            # degree, and then the next round removes a vertex.
            if remaining > before or number > 2 * self.n + batch:
                rule = "every second round peels a vertex at least, and none comes back"
                raise no_progress(
                    "core numbers", self.graph.device, rule, round=number, remaining_before=before,
                    remaining=remaining,
                )  # fmt: skip
            batch = min(2 * batch, _MOST_BATCH)

    def read_remaining(self, number: int) -> int:
        """Read how many vertices have a greater degree than those that round `number` removes.

        Each round removes the vertices of the least degree. The device counts the others at the
        beginning of the round. The call waits for the device.
        """
        self.launch.read(self.state.memory, self.words)
        return int(self.words[_ROUND_WORDS * (number % _ROUNDS_KEPT) + _LEFT])
