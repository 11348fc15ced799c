"""edge-parallel: Borůvka's algorithm, in which every round goes over all edges of the graph.

Disjoint sets (union-find) keep the components.

Source: L. Ma, J. Wan, "Heterogeneous CPU-GPU Orchestration for Repeated Minimum Spanning Tree
Computation", section 3.1.1, strategy MP. ``cl/algorithms/edge_parallel/edge_parallel.cl`` lists the
differences from the paper.
"""

from __future__ import annotations

import numpy as np

from clmst.algorithms.edge_parallel import EdgeParallelOptions, Schedule, UnionFind
from clmst.algorithms.shared.algorithm_record import options_for
from clmst.algorithms.shared.progress import MOST_ROUNDS, check_rounds
from clmst.algorithms.shared.solution import Solution, flag_words, new_flags, reservation_shape
from clmst.core.errors import UnsupportedDeviceError
from clmst.runtime.array import DeviceArray
from clmst.runtime.capabilities import DeviceKind
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import KernelArgument
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/edge_parallel/edge_parallel.cl"

_KEPT = "rows of edge-parallel"  # key in `graph.plans`, where the row of each CSR entry is kept


# Values of the macro SETS, which says how work-items share the union-find structure: by
# compare-and-swap with path halving, by compare-and-swap with full path compression, or by one
# lock.
_SETS: dict[UnionFind, int] = {"atomic-half": 0, "atomic-full": 1, "locked": 2}
# Values of the macro SCHEDULE, which says how the edges are divided among work-groups: in tiles, in
# one chunk for each work-group, in equal chunks from a counter, or in shrinking chunks from a
# counter.
_SCHEDULES: dict[Schedule, int] = {"tiles": 0, "static": 1, "dynamic": 2, "guided": 3}
_LOCK_LOST = 2**32 - 1  # the macro LOCK_LOST of cl/device/lock.cl
# If a lock is held by another work-item, a work-item reads it this number of times before it gives
# up. On a CPU a read takes a few nanoseconds, and the thread that holds the lock can be off its
# core for long. On other devices a read takes a microsecond, and the work-item that holds the lock
# is running.
_PATIENCE: dict[DeviceKind, int] = {"cpu": 1 << 28, "gpu": 1 << 20, "accelerator": 1 << 20}


def solve(
    graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object = None
) -> Solution:
    """Solve by rounds over all edges; see :class:`EdgeParallelOptions`.

    `maximum` asks for the maximum spanning forest. The solve takes O((n + m) log n) work, plus the
    steps of the finds, in O(log n) rounds. A round has three launches, one more without 64-bit
    atomics, and one more for 64-bit weights. The host reads from the device once a round. In
    addition to the graph the solve takes device memory: 12 bytes for each vertex (16 for 64-bit
    weights) and five for each CSR entry. Four of these five are kept with the graph for the next
    solve.

    Raises
    ------
    UnsupportedDeviceError
        The option `union_find` is "locked", and the work-item that had the lock did not keep
        running.
    """
    options = options_for("edge-parallel", EdgeParallelOptions, options)
    run = EdgeParallelRun(graph, launch, maximum=maximum, options=options)
    merged = run.rounds() if graph.n_slots else []
    stats = {"rounds": len(merged), "merged": merged}
    return Solution(graph=graph, in_forest=run.in_forest, stats=stats)


def defines(options: EdgeParallelOptions, kind: DeviceKind) -> dict[str, int]:
    """Return the macros for the kernels in SOURCE.

    The macros say how work-items find and merge sets, and how the edges are divided among
    work-groups. For the union-find "locked", they also say how long a work-item waits for the lock
    on a device of this `kind`. The macros that depend on other properties of the device and on the
    dtype of the weights are added elsewhere.
    """
    macros = {"SETS": _SETS[options.union_find], "SCHEDULE": _SCHEDULES[options.schedule]}
    locked = options.union_find == "locked"
    return macros | {"LOCK_PATIENCE": _PATIENCE[kind]} if locked else macros


class EdgeParallelRun:
    """One solve by `edge-parallel`: the program, the buffers and the rounds."""

    def __init__(
        self,
        graph: DeviceGraph,
        launch: Launcher,
        *,
        maximum: bool,
        options: EdgeParallelOptions,
    ) -> None:
        device, n = graph.device, graph.n_vertices
        weights = graph.weight_defines(maximum=maximum)
        self.graph, self.launch, self.options = graph, launch, options
        kind = device.capabilities.kind
        self.program = device.program(SOURCE, **weights, **defines(options, kind))
        words, self.passes = reservation_shape(weights["WEIGHT_BITS"], device)
        self.parent = DeviceArray.empty(n, np.uint32, device)
        self.reservations = DeviceArray.empty(words * n, np.uint32, device)
        self.state = DeviceArray.empty(1 + MOST_ROUNDS, np.uint32, device)
        self.next = DeviceArray.empty(1, np.uint32, device)
        self.in_forest = new_flags(graph.n_slots, device)

    def _for_each(self, kernel: str, n_items: int, *arguments: KernelArgument) -> None:
        self.launch.for_each(self.program, f"edge_parallel_{kernel}", n_items, *arguments)

    def _by_sets(self, kernel: str, n_items: int, *arguments: KernelArgument) -> None:
        """Enqueue a kernel that finds or merges disjoint sets.

        The kernel runs over `n_items` items. With the union-find "locked", only a few work-groups
        are started, because each work-item that tries to get the lock slows down the work-item that
        has it. With the schedules of OpenMP, there is one work-group for each compute unit.
        """
        launch, program, options = self.launch, self.program, self.options
        groups = launch.groups_for(-(-n_items // program.grid_tile))
        if options.union_find == "locked" or options.schedule != "tiles":
            groups = min(groups, self.graph.device.capabilities.compute_units)
        launch.enqueue(program, f"edge_parallel_{kernel}", groups, *arguments)

    def rounds(self) -> list[int]:
        """Do all rounds, and return how many supervertices each round has merged into others.

        A supervertex is a set of vertices that have been joined so far. The call waits for the
        device. In the last round nothing is merged, so the last number is 0.
        """
        self.begin()
        merged: list[int] = []
        while not merged or merged[-1]:
            check_rounds(
                "edge-parallel", self.graph.device, len(merged), vertices=self.graph.n_vertices,
                merged=sum(merged),
            )  # fmt: skip
            number = len(merged)
            with self.launch.phase("reset"):
                self.reset()
            with self.launch.phase("find"):
                self.find()
            with self.launch.phase("contract"):
                self.contract(number)
            merged.append(self.read_merged(number))
        return merged

    def begin(self) -> None:
        """Enqueue the initial state: every vertex is its own set, and no edge is in the forest.

        The kernels need the row of each CSR entry. If the graph does not have these rows yet, they
        are computed and kept with the graph.
        """
        graph, n = self.graph, self.graph.n_vertices
        if graph.rows is None and _KEPT not in graph.plans:
            rows = DeviceArray.empty(graph.n_slots, np.uint32, graph.device)
            with self.launch.phase("list edges"):
                self._for_each("list_edges", graph.n_slots, graph.indptr, rows, n, graph.n_slots)
            graph.plans[_KEPT] = rows
        self.rows = graph.plans[_KEPT] if graph.rows is None else graph.rows
        n_state, n_flag_words = self.state.size, flag_words(graph.n_slots)
        self._for_each(
            "begin", max(n, n_state, n_flag_words), self.parent, self.state, self.in_forest, n,
            n_state, n_flag_words,
        )  # fmt: skip

    def reset(self) -> None:
        """Enqueue the first step of a round, which forgets the lightest edge of each component."""
        n = self.graph.n_vertices
        self._for_each("reset", n, self.reservations, n)

    def find(self) -> None:
        """Enqueue the second step of a round, which finds the lightest edge of each component.

        Every edge is compared with the lightest edge so far of both components that it joins.
        """
        graph = self.graph
        for pass_ in range(self.passes):
            if self.options.schedule in ("dynamic", "guided"):
                self.launch.fill(self.next.memory, 0, 1)
            self._by_sets(
                "find_minima", graph.n_slots, self.rows, graph.indices, graph.weights, self.parent,
                self.reservations, self.state, self.next, graph.n_vertices, graph.n_slots, pass_,
            )  # fmt: skip

    def contract(self, number: int) -> None:
        """Enqueue the third step of round `number`, which merges along the lightest edges."""
        graph, n = self.graph, self.graph.n_vertices
        self._by_sets(
            "contract", n, self.rows, graph.indices, self.reservations, self.parent,
            self.in_forest, self.state, n, number,
        )  # fmt: skip

    def read_merged(self, number: int) -> int:
        """Read how many components round `number` has merged into others.

        The call waits for the device.

        Raises
        ------
        UnsupportedDeviceError
            A work-item has given up waiting for the lock.
        """
        found, device = (
            self.launch.read_words(self.state.memory, self.state.size),
            self.graph.device,
        )
        if found[0] == _LOCK_LOST:  # the word with the index STATE_LOCK in the kernels
            raise UnsupportedDeviceError(
                f"a work-item looked {_PATIENCE[device.capabilities.kind]} times at the same "
                "taken lock; union_find='locked' needs a device on which the owner of a lock "
                f"continues while others wait, which {device.description} does not do: use "
                "'atomic-half' or 'atomic-full', which take no locks"
            )
        return found[1 + number]  # the words from the index STATE_MERGED on
