"""dense: Borůvka on an adjacency matrix, for complete and nearly complete graphs.

Source: see ``cl/algorithms/dense/dense.cl``; ``docs/inside_algorithms.md`` has the steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, log2
from typing import Any

import numpy as np

from clmst.algorithms.dense import DenseOptions, one_group
from clmst.algorithms.dense.plan import (
    BUILD_SOURCE,
    N_COUNTS,
    DensePlan,
    ends_of,
    fits_one_work_group,
    has_short_ids,
    no_edge,
    plan_of_graph,
    plan_of_matrix,
    vertex_bits,
)
from clmst.algorithms.dense.tile_pairs import LightestPairs, plan_of_tiles
from clmst.algorithms.shared.algorithm_record import options_for
from clmst.algorithms.shared.found_tree import FoundTree
from clmst.algorithms.shared.progress import MOST_ROUNDS, check_rounds, no_progress
from clmst.algorithms.shared.solution import Solution, flag_words, new_flags
from clmst.core import pairs
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.handles import KernelArgument
from clmst.runtime.launcher import Launcher

# Work-groups a compute unit for blocks whose number is known on the device only, and small.
_FEW_GROUPS = 16
# DENSE_JUMPS of steps.cl: by which a launch of jumps divides the depth of a component.
_JUMPS = 32
# By tiles so many rounds are enqueued before the host reads their counts that 7 components become
# one in each. Of 44 trees of normal, uniform, clustered and integer points, digits and a random
# walk, of 300 to 10,000 points, 38 are found by then.
_HALVINGS_A_ROUND = 2.75


def solve(
    graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object = None
) -> Solution:
    """Solve any graph by way of its adjacency matrix; see :class:`DenseOptions`.

    O(n**2 + m) work in general, O(n**2 log n) at most, in O(log n) rounds of one read-back each.
    Device memory beside the graph: n**2 cells of 4 bytes, or 8 where 64-bit weights do not narrow;
    it is kept with the graph for the next solve. The error where it does not fit says how much
    it needs and how much there is.
    """
    options = options_for("dense", DenseOptions, options)
    in_forest = new_flags(graph.n_slots, graph.device)
    if graph.n_slots == 0:
        stats = {"rounds": 0, "components": [graph.n_vertices], "blocks_again": []}
        return Solution(graph=graph, in_forest=in_forest, stats=stats)
    run = _DenseRun(plan_of_graph(graph, launch, maximum=maximum), launch, options)
    run.solve()
    launch.fill(in_forest.memory, 0, flag_words(graph.n_slots))
    plan, device = run.plan, graph.device
    program = device.program(BUILD_SOURCE, **graph.weight_defines(maximum=maximum))
    launch.for_each(
        program, "dense_build_mark", plan.n, graph.indptr, graph.indices, graph.weights,
        plan.edges, in_forest, plan.n, vertex_bits(plan.n), np.uint64(no_edge(plan.n)),
    )  # fmt: skip
    return Solution(graph=graph, in_forest=in_forest, stats=run.stats())


def solve_matrix(
    matrix: DeviceMatrix, launch: Launcher, *, maximum: bool, options: object = None,
    at_once: bool | None = None,
) -> FoundTree:  # fmt: skip
    """Solve a complete graph, and put its edges into canonical order; waits for it.

    As :func:`solve`, but the matrix is there, or never stored: points take O(n) memory, up to 1.1
    kilobytes each. One work-group takes all rounds of few vertices `at_once`; by default where
    that is quicker.
    """
    options = options_for("dense", DenseOptions, options)
    pairs.check_count(matrix.n_vertices)
    if matrix.n_vertices == 0:
        return _no_tree(matrix, maximum=maximum)
    if fits_one_work_group(matrix, options) if at_once is None else at_once:
        found = one_group.solve(
            matrix.panels[0].cells, matrix.n_vertices, matrix.dimensions,
            matrix.defines(maximum=maximum), launch,
        )  # fmt: skip
        ends, stats = found.ends, found.stats
    else:
        run = _DenseRun(plan_of_matrix(matrix, maximum=maximum), launch, options)
        run.solve()
        hooked = np.empty(run.plan.n, np.uint64)
        launch.read(run.plan.edges.memory, hooked)
        # By the host: no time beside all pairs, and no kernels to build.
        ends, stats = ends_of(np.sort(hooked)[: run.n_hooked], run.plan.n), run.stats()
    return FoundTree(matrix=matrix, algorithm="dense", ends=ends, stats=stats, maximum=maximum)


def solve_by_tiles(matrix: DeviceMatrix, launch: Launcher, *, options: object = None) -> FoundTree:
    """Find the minimum spanning tree of points by tiles of pairs; else as :func:`solve_matrix`.

    O(n**2 d) work, nearly all of it in float32 (``cl/algorithms/dense/filter.cl``). Device memory:
    16 d + 1100 bytes a point.
    """
    options = options_for("dense", DenseOptions, options)
    pairs.check_count(matrix.n_vertices)
    if matrix.n_vertices == 0:
        return _no_tree(matrix, maximum=False)
    run = _TiledRun(matrix, launch, options)
    run.solve()
    edges, weights = run.read[: run.plan.n], run.weights
    order = np.argsort(edges)[: run.n_hooked]
    return FoundTree(
        matrix=matrix, algorithm="dense", ends=ends_of(edges[order], run.plan.n),
        weights=None if weights is None else weights[order], stats=run.stats(),
    )  # fmt: skip


def _no_tree(matrix: DeviceMatrix, *, maximum: bool) -> FoundTree:
    stats = {"rounds": 0, "components": [0], "blocks_again": []}
    none = np.empty((0, 2), np.uint32)
    return FoundTree(matrix=matrix, algorithm="dense", ends=none, stats=stats, maximum=maximum)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """Where the counts of a round are."""

    listed: int | None  # of blocks that were read again; None in the first round
    hooked: int  # of components
    waiting: int  # of vertices that do not point to their root yet


class _DenseRun:
    """One solve: which launches, in which order."""

    rounds_ahead = 1  # rounds that are enqueued before the host reads the counts of the first one
    jumps = 1  # launches of jumps in a round

    def __init__(self, plan: DensePlan, launch: Launcher, options: DenseOptions) -> None:
        self.plan, self.launch, self.options = plan, launch, options
        self.short_ids = int(has_short_ids(plan.n))
        self.counts = np.zeros(N_COUNTS, np.uint32)
        self._next_count = 1  # the first one is of all components that were hooked
        self.n_hooked = 0
        self.components = [plan.n]
        self.blocks_again: list[int] = []

    def stats(self) -> dict[str, Any]:
        return {
            "rounds": len(self.components) - 1,
            "components": self.components,
            "blocks_again": self.blocks_again,
            "blocks": self.plan.n * self.plan.n_blocks,
        }

    def for_each(self, kernel: str, *arguments: KernelArgument, n_items: int | None = None) -> None:
        """Enqueue a kernel over all vertices, or `n_items`."""
        n_items = self.plan.n if n_items is None else n_items
        self.launch.for_each(self.plan.program, kernel, n_items, *arguments)

    def _enqueue(self, kernel: str, groups: int, *arguments: KernelArgument) -> None:
        self.launch.enqueue(self.plan.program, kernel, groups, *arguments)

    def new_count(self) -> int:
        """Return the index of a count that no kernel has written to."""
        self._next_count += 1
        return self._next_count - 1

    def _read(self) -> None:
        """Read the counts; waits for them."""
        self.launch.read(self.plan.counts.memory, self.counts)

    # --------------------------------------------------------------------- rounds

    def solve(self) -> None:
        """Enqueue everything, and wait for the counts."""
        plan = self.plan
        self.for_each(
            "dense_begin", plan.component, plan.winners, plan.edges, plan.counts, plan.n,
            self.short_ids, np.uint64(no_edge(plan.n)), N_COUNTS, n_items=max(plan.n, N_COUNTS),
        )  # fmt: skip
        with self.launch.phase("read all blocks"):
            self._scan()
        first, end = 0, self.rounds_ahead
        while True:
            check_rounds("dense", plan.device, first, components=self.components[-1])
            rounds = [self._enqueue_round(number) for number in range(first, end)]
            self._read()
            if any(self._is_last(one) for one in rounds):
                return
            self._jump_on(self._components(end), rounds[-1].waiting)
            first, end = end, end + 1

    def _components(self, number: int) -> DeviceArray:
        """Return the roots of vertices before a round, which are the parents of the one before."""
        return self.plan.parents if number % 2 else self.plan.component

    def _enqueue_round(self, number: int) -> _Round:
        """Enqueue a round: the lightest edge of each component, and the merge along these."""
        component, parents = self._components(number), self._components(number + 1)
        plan, hooked = self.plan, self.new_count()
        with self.launch.phase("minimum edges"):
            listed = self._find_minimum_edges(component, again=number > 0)
        with self.launch.phase("merge"):
            self.for_each(
                "dense_hook_components", plan.winners, component, parents, plan.edges, plan.counts,
                hooked, plan.n, self.short_ids, vertex_bits(plan.n),
            )  # fmt: skip
            waiting = [self._jump(parents) for _ in range(self.jumps)][-1]
        return _Round(listed=listed, hooked=hooked, waiting=waiting)

    def _is_last(self, one: _Round) -> bool:
        """Record the counts of a round; return whether it was the last one."""
        if one.listed is not None:
            self.blocks_again.append(int(self.counts[one.listed]))
        hooked = int(self.counts[one.hooked])
        if hooked == 0:
            return True
        self._add_hooked(hooked)
        self.components.append(self.plan.n - self.n_hooked)
        return self.n_hooked == self.plan.n - 1

    def _jump_on(self, parents: DeviceArray, waiting: int) -> None:
        """Jump pointers until every vertex points to its root."""
        launches = self.jumps
        while self.counts[waiting]:
            if launches >= MOST_ROUNDS:
                rule = f"jumps at least double each time, so {launches} times are enough"
                raise no_progress(
                    "dense", self.plan.device, rule, round=len(self.components),
                    pending=int(self.counts[waiting]),
                )  # fmt: skip
            waiting = self._jump(parents)
            self._read()
            launches += 1

    def _add_hooked(self, hooked: int) -> None:
        """Record how many components a round has hooked to others."""
        self.n_hooked += hooked
        if self.n_hooked >= self.plan.n:
            rule = "a forest has fewer edges than vertices"
            raise no_progress(
                "dense", self.plan.device, rule, round=len(self.components), hooked=self.n_hooked,
                vertices=self.plan.n,
            )  # fmt: skip

    def _scan(self) -> None:
        """Make the entry of every block."""
        plan = self.plan
        for panel in plan.panels:
            self._enqueue(
                "dense_scan_blocks", self._groups_for_blocks(panel.n_rows * plan.n_blocks),
                panel.cells, plan.keys, plan.columns, panel.first, panel.n_rows, plan.n,
                plan.dimensions, plan.width, plan.n_blocks,
            )  # fmt: skip

    def _groups_for_blocks(self, n_blocks: int) -> int:
        program = self.plan.program
        lanes = dict(program.specialisation.defines)["LANES"]
        alone = program.work_group_size == 1
        tile = 64 if alone else ceil(program.work_group_size / lanes)
        return self.launch.groups_for(-(-n_blocks // tile))

    def _find_minimum_edges(self, component: DeviceArray, *, again: bool) -> int | None:
        """Find the lightest edge of every component; return the index of the count of blocks read.

        Before the first round no entry is stale.
        """
        plan, listed = self.plan, None
        entries = plan.keys, plan.columns, component
        sizes = plan.n, plan.n_blocks
        # Words by which edges are ordered, and those that a pass settles.
        n_words = (2 if plan.wide else 1) + (1 if self.short_ids else 2)
        pass_words = 2 if plan.device.capabilities.int64_atomics else 1
        if not again or self.options.reread == "stale":
            self.for_each("dense_bound_rows", *entries, plan.winners, *sizes, self.short_ids)
        if again:
            listed = self._read_again(component)
        for word in range(pass_words, n_words, pass_words):
            self.for_each(
                "dense_reserve_word", *entries, plan.winners, *sizes, self.short_ids, word
            )
        return listed

    def _read_again(self, component: DeviceArray) -> int:
        """Read blocks again and reserve their lightest cells; return the index of their count."""
        plan, listed, n_blocks = self.plan, self.new_count(), self.plan.n * self.plan.n_blocks
        entries = plan.keys, plan.columns, component
        groups = self._groups_for_blocks(n_blocks)
        if self.options.reread == "all":
            self.for_each(
                "dense_list_all_blocks", plan.blocks, plan.counts, listed, n_blocks,
                n_items=n_blocks,
            )  # fmt: skip
        else:
            self.for_each(
                "dense_list_blocks", *entries, plan.winners, plan.blocks, plan.counts, listed,
                plan.n, plan.n_blocks,
            )  # fmt: skip
            groups = min(groups, plan.device.capabilities.compute_units * _FEW_GROUPS)
        for panel in plan.panels:
            self._enqueue(
                "dense_rescan_blocks", groups, panel.cells, *entries, plan.winners, plan.blocks,
                plan.counts, listed, panel.first, panel.n_rows, plan.n, plan.dimensions,
                plan.width, plan.n_blocks, self.short_ids,
            )  # fmt: skip
        return listed

    def _jump(self, parents: DeviceArray) -> int:
        """Jump pointers once; return the index of the count of vertices not at their root yet."""
        plan, waiting = self.plan, self.new_count()
        self.for_each(
            "dense_jump_pointers", parents, plan.winners, plan.counts, waiting, plan.n,
            self.short_ids,
        )  # fmt: skip
        return waiting


class _TiledRun(_DenseRun):
    """One solve of points whose blocks are read by tiles.

    The host reads edges, weights and counts together, most often once. Rounds that are enqueued
    although the tree is complete read nothing. Jumps of a round are as many as may be needed.
    """

    def __init__(self, matrix: DeviceMatrix, launch: Launcher, options: DenseOptions) -> None:
        super().__init__(plan_of_tiles(matrix), launch, options)
        n = self.plan.n
        self.rounds_ahead = max(ceil(log2(n) / _HALVINGS_A_ROUND), 1)
        self.jumps = max(ceil(log(n, _JUMPS)), 1)
        with launch.phase("pack points"):
            self.pairs = LightestPairs(matrix, self.plan, launch, options.filter)
        self.read = np.empty(n + N_COUNTS // 2 + n * self.pairs.has_weights, np.uint64)
        self.result = DeviceArray.empty(self.read.size, np.uint64, matrix.device)

    def stats(self) -> dict[str, Any]:
        return super().stats() | {"filter": self.pairs.packed.by}

    @property
    def weights(self) -> Array | None:
        """The weights of edges, unless they are rounded: those the host looks up."""
        words = self.read[self.plan.n + N_COUNTS // 2 :]
        return words.view(np.float64) if self.pairs.has_weights else None

    def _read(self) -> None:
        """Read edges and weights with the counts; waits for them."""
        self.pairs.gather(self.result)
        self.launch.read(self.result.memory, self.read)
        n = self.plan.n
        self.counts = self.read[n : n + N_COUNTS // 2].view(np.uint32)

    def _scan(self) -> None:
        self.pairs.find(self.plan.component)

    def _read_again(self, component: DeviceArray) -> int:
        """Read blocks again and reserve their lightest pairs; return the index of their count."""
        listed = self.new_count()
        self.pairs.find_again(component, listed, every=self.options.reread == "all")
        return listed
