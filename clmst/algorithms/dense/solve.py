"""dense: Borůvka on an adjacency matrix, for complete and nearly complete graphs.

``cl/algorithms/dense/dense.cl`` names the paper; ``docs/inside_algorithms.md`` explains the steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, log2
from typing import Any

import numpy as np

from clmst.algorithms.dense import DenseOptions, one_group
from clmst.algorithms.dense.tile_pairs import LightestPairs, workspace_of_tiles
from clmst.algorithms.dense.workspace import (
    BUILD_SOURCE,
    N_COUNTS,
    DenseWorkspace,
    ends_of,
    fits_one_work_group,
    has_short_ids,
    no_edge,
    vertex_bits,
    workspace_of_graph,
    workspace_of_matrix,
)
from clmst.algorithms.shared.algorithm_record import options_for
from clmst.algorithms.shared.found_tree import FoundTree
from clmst.algorithms.shared.progress import MOST_ROUNDS, check_rounds, no_progress
from clmst.algorithms.shared.solution import Solution, flag_words, new_flags
from clmst.core.graph_checks import check_complete_size
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.handles import KernelArgument
from clmst.runtime.launcher import Launcher

# Number of work-groups per compute unit in launches that find the new lightest cells of some blocks
# of the matrix. The host enqueues them before it knows how many blocks there are. Usually these are
# few, so few work-groups are started.
_FEW_GROUPS = 16
# Macro DENSE_JUMPS of steps.cl. A launch that shortens the paths of parent pointers divides their
# lengths by about this number.
_JUMPS = 32
# Base-2 logarithm of the factor, about 7, by which a round is assumed to divide the number of
# components on average. A solve of points by tiles enqueues several rounds before the host reads
# how many components remain, and their number follows from this factor. It was tried on 44 sets of
# 300 to 10,000 points: normal, uniform, clustered and integer points, digits and a random walk. For
# 38 of them, the tree is complete after these rounds.
_HALVINGS_A_ROUND = 2.75


def solve(
    graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object = None
) -> Solution:
    """Solve any graph through the adjacency matrix, which is built on the device.

    `maximum` asks for the maximum spanning forest. `options` is a :class:`DenseOptions` or None,
    which means the defaults. The work is O(n**2 + m) in general and O(n**2 log n) at most, in O(log
    n) rounds. After every round the host waits until the device has counted the remaining
    components.

    Besides the graph, the device stores n**2 cells of 4 bytes, or of 8 bytes if 64-bit weights
    cannot be narrowed. The matrix is kept with the graph for the next solve. Raises
    OutOfDeviceMemoryError, with the bytes needed and available, if the matrix does not fit.
    """
    options = options_for("dense", DenseOptions, options)
    in_forest = new_flags(graph.n_slots, graph.device)
    if graph.n_slots == 0:
        stats = {"rounds": 0, "components": [graph.n_vertices], "blocks_again": []}
        return Solution(graph=graph, in_forest=in_forest, stats=stats)
    run = _DenseRun(workspace_of_graph(graph, launch, maximum=maximum), launch, options)
    run.solve()
    launch.fill(in_forest.memory, 0, flag_words(graph.n_slots))
    work, device = run.workspace, graph.device
    program = device.program(BUILD_SOURCE, **graph.weight_defines(maximum=maximum))
    launch.for_each(
        program, "dense_build_mark", work.n, graph.indptr, graph.indices, graph.weights,
        work.edges, in_forest, work.n, vertex_bits(work.n), np.uint64(no_edge(work.n)),
    )  # fmt: skip
    return Solution(graph=graph, in_forest=in_forest, stats=run.stats())


def solve_matrix(
    matrix: DeviceMatrix, launch: Launcher, *, maximum: bool, options: object = None,
    at_once: bool | None = None,
) -> FoundTree:  # fmt: skip
    """Find the spanning tree of a complete graph, and wait for the tree.

    `maximum` asks for the maximum spanning tree. `options` is a :class:`DenseOptions`, or None for
    the defaults. The edges are in canonical order. A stored matrix is read as it is. Distances of
    points are computed and never stored, so points take O(n) device memory, up to 1.1 kilobytes
    each.

    `at_once` says whether one work-group does all rounds, without the host in between. If it is
    None, this is done for small graphs, for which it is faster.
    """
    options = options_for("dense", DenseOptions, options)
    check_complete_size(matrix.n_vertices)
    if matrix.n_vertices == 0:
        return _no_tree(matrix, maximum=maximum)
    if fits_one_work_group(matrix, options) if at_once is None else at_once:
        found = one_group.solve(
            matrix.panels[0].cells, matrix.n_vertices, matrix.dimensions,
            matrix.defines(maximum=maximum), launch,
        )  # fmt: skip
        ends, stats = found.ends, found.stats
    else:
        run = _DenseRun(workspace_of_matrix(matrix, maximum=maximum), launch, options)
        run.solve()
        hooked = np.empty(run.workspace.n, np.uint64)
        launch.read(run.workspace.edges.memory, hooked)
        # `hooked` has the edges of the tree, by each of which one component was joined (hooked) to
        # another. The host sorts them, which takes little time compared with reading all cells of
        # the matrix, and does not need kernels.
        ends, stats = ends_of(np.sort(hooked)[: run.n_hooked], run.workspace.n), run.stats()
    return FoundTree(matrix=matrix, algorithm="dense", ends=ends, stats=stats, maximum=maximum)


def solve_by_tiles(matrix: DeviceMatrix, launch: Launcher, *, options: object = None) -> FoundTree:
    """Find the minimum spanning tree of points by comparing all pairs, and wait for the tree.

    `options` is a :class:`DenseOptions`, or None for the defaults. The pairs are compared tile by
    tile. A tile is a rectangle of the matrix of distances that a work-group computes. The edges of
    the result are in canonical order. With d dimensions, the work is O(n**2 d), nearly all of it in
    float32 (``cl/algorithms/dense/filter.cl``). Device memory: 16 d + 1100 bytes per point.
    """
    options = options_for("dense", DenseOptions, options)
    check_complete_size(matrix.n_vertices)
    if matrix.n_vertices == 0:
        return _no_tree(matrix, maximum=False)
    run = _TiledRun(matrix, launch, options)
    run.solve()
    edges, weights = run.read[: run.workspace.n], run.weights
    order = np.argsort(edges)[: run.n_hooked]
    return FoundTree(
        matrix=matrix, algorithm="dense", ends=ends_of(edges[order], run.workspace.n),
        weights=None if weights is None else weights[order], stats=run.stats(),
    )  # fmt: skip


def _no_tree(matrix: DeviceMatrix, *, maximum: bool) -> FoundTree:
    stats = {"rounds": 0, "components": [0], "blocks_again": []}
    none = np.empty((0, 2), np.uint32)
    return FoundTree(matrix=matrix, algorithm="dense", ends=none, stats=stats, maximum=maximum)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """The counters of a round of Borůvka's algorithm: indices in the device's array of counters."""

    listed: int | None  # counter of blocks that were read again; None in the first round
    hooked: int  # counter of components that were hooked to others
    waiting: int  # counter of vertices that do not point to their root yet


class _DenseRun:
    """One solve by Borůvka's algorithm on a matrix or on points.

    It enqueues the kernels of all rounds, and reads how many components remain.
    """

    rounds_ahead = 1  # number of rounds that are enqueued before the host reads the counts
    jumps = 1  # number of launches of pointer jumps in a round

    def __init__(self, workspace: DenseWorkspace, launch: Launcher, options: DenseOptions) -> None:
        self.workspace, self.launch, self.options = workspace, launch, options
        self.short_ids = int(has_short_ids(workspace.n))
        self.counts = np.zeros(N_COUNTS, np.uint32)
        self._next_count = 1  # counter 0 counts the hooked components of all rounds
        self.n_hooked = 0
        self.components = [workspace.n]
        self.blocks_again: list[int] = []

    def stats(self) -> dict[str, Any]:
        return {
            "rounds": len(self.components) - 1,
            "components": self.components,
            "blocks_again": self.blocks_again,
            "blocks": self.workspace.n * self.workspace.n_blocks,
        }

    def for_each(self, kernel: str, *arguments: KernelArgument, n_items: int | None = None) -> None:
        """Enqueue a kernel over `n_items` items, or over all vertices if `n_items` is None."""
        n_items = self.workspace.n if n_items is None else n_items
        self.launch.for_each(self.workspace.program, kernel, n_items, *arguments)

    def _enqueue(self, kernel: str, groups: int, *arguments: KernelArgument) -> None:
        self.launch.enqueue(self.workspace.program, kernel, groups, *arguments)

    def new_count(self) -> int:
        """Reserve the next counter in device memory, which is still 0, and return its index."""
        self._next_count += 1
        return self._next_count - 1

    def _read(self) -> None:
        """Read all counters to the host, which blocks until the device has finished."""
        self.launch.read(self.workspace.counts.memory, self.counts)

    # --------------------------------------------------------------------- rounds

    def solve(self) -> None:
        """Enqueue rounds until the forest is complete, and wait for the device after each.

        The first :attr:`rounds_ahead` rounds are enqueued together before the host waits.
        """
        work = self.workspace
        self.for_each(
            "dense_begin", work.component, work.winners, work.edges, work.counts, work.n,
            self.short_ids, np.uint64(no_edge(work.n)), N_COUNTS, n_items=max(work.n, N_COUNTS),
        )  # fmt: skip
        with self.launch.phase("read all blocks"):
            self._scan()
        first, end = 0, self.rounds_ahead
        while True:
            check_rounds("dense", work.device, first, components=self.components[-1])
            rounds = [self._enqueue_round(number) for number in range(first, end)]
            self._read()
            if any(self._is_last(one) for one in rounds):
                return
            self._jump_on(self._components(end), rounds[-1].waiting)
            first, end = end, end + 1

    def _components(self, number: int) -> DeviceArray:
        """Return the array with the component of each vertex before the round `number`.

        A component is named by its root. Two arrays are used in turn. A round reads components from
        one of them, and writes parent pointers to the other. When these have been followed to the
        roots, they are the components of the next round.
        """
        return self.workspace.parents if number % 2 else self.workspace.component

    def _enqueue_round(self, number: int) -> _Round:
        """Enqueue round `number`: find the lightest edge of each component, and merge along it."""
        component, parents = self._components(number), self._components(number + 1)
        work, hooked = self.workspace, self.new_count()
        with self.launch.phase("minimum edges"):
            listed = self._find_minimum_edges(component, again=number > 0)
        with self.launch.phase("merge"):
            self.for_each(
                "dense_hook_components", work.winners, component, parents, work.edges, work.counts,
                hooked, work.n, self.short_ids, vertex_bits(work.n),
            )  # fmt: skip
            waiting = [self._jump(parents) for _ in range(self.jumps)][-1]
        return _Round(listed=listed, hooked=hooked, waiting=waiting)

    def _is_last(self, one: _Round) -> bool:
        """Keep the counts of the round `one` for the statistics. Return whether it is the last."""
        if one.listed is not None:
            self.blocks_again.append(int(self.counts[one.listed]))
        hooked = int(self.counts[one.hooked])
        if hooked == 0:
            return True
        self._add_hooked(hooked)
        self.components.append(self.workspace.n - self.n_hooked)
        return self.n_hooked == self.workspace.n - 1

    def _jump_on(self, parents: DeviceArray, waiting: int) -> None:
        """Shorten the paths of parent pointers until every vertex points to a root.

        A root is the vertex that names a component. The call waits for the device. `parents` has
        the pointers, and `waiting` is the index of the counter of vertices that do not point to
        their root yet. Raises DeviceError if too many launches are needed.
        """
        launches = self.jumps
        while self.counts[waiting]:
            if launches >= MOST_ROUNDS:
                rule = f"jumps at least double each time, so {launches} times are enough"
                raise no_progress(
                    "dense", self.workspace.device, rule, round=len(self.components) - 1,
                    pending=int(self.counts[waiting]),
                )  # fmt: skip
            waiting = self._jump(parents)
            self._read()
            launches += 1

    def _add_hooked(self, hooked: int) -> None:
        """Add `hooked`, the number of components that a round has joined to others, to the sum.

        Raises DeviceError if the sum is impossible.
        """
        self.n_hooked += hooked
        if self.n_hooked >= self.workspace.n:
            rule = "a forest has fewer edges than vertices"
            raise no_progress(
                "dense", self.workspace.device, rule, round=len(self.components),
                hooked=self.n_hooked, vertices=self.workspace.n,
            )  # fmt: skip

    def _scan(self) -> None:
        """Enqueue the kernel that finds the lightest cell of every block of the matrix.

        A block consists of consecutive cells of one row.
        """
        work = self.workspace
        for panel in work.panels:
            self._enqueue(
                "dense_scan_blocks", self._groups_for_blocks(panel.n_rows * work.n_blocks),
                panel.cells, work.keys, work.columns, panel.first, panel.n_rows, work.n,
                work.dimensions, work.width, work.n_blocks,
            )  # fmt: skip

    def _groups_for_blocks(self, n_blocks: int) -> int:
        program = self.workspace.program
        lanes = dict(program.specialisation.defines)["LANES"]
        alone = program.work_group_size == 1
        tile = 64 if alone else ceil(program.work_group_size / lanes)
        return self.launch.groups_for(-(-n_blocks // tile))

    def _find_minimum_edges(self, component: DeviceArray, *, again: bool) -> int | None:
        """Enqueue the search for the lightest edge that leads out of every component.

        The lightest cell of each block, which is a part of a row of the matrix, is kept from round
        to round. `again` is False in the first round, in which no block has to be read again, and
        the result is None. Otherwise :meth:`_read_again` reads some blocks again, and the result is
        the index of the counter of these blocks.
        """
        work, listed = self.workspace, None
        entries = work.keys, work.columns, component
        sizes = work.n, work.n_blocks
        # Edges are compared by several 32-bit words, which hold the sort key of the weight and the
        # ends. `n_words` is the number of these words. One pass over the edges compares
        # `pass_words` of them.
        n_words = (2 if work.wide else 1) + (1 if self.short_ids else 2)
        pass_words = 2 if work.device.capabilities.int64_atomics else 1
        if not again or self.options.reread == "stale":
            self.for_each("dense_bound_rows", *entries, work.winners, *sizes, self.short_ids)
        if again:
            listed = self._read_again(component)
        for word in range(pass_words, n_words, pass_words):
            self.for_each(
                "dense_reserve_word", *entries, work.winners, *sizes, self.short_ids, word
            )
        return listed

    def _read_again(self, component: DeviceArray) -> int:
        """Enqueue kernels that find new lightest cells in blocks whose cell has become useless.

        A block is a part of a row of the matrix, of which the lightest cell is kept. The cell
        becomes useless when it joins two vertices of one component. The block is then read again,
        unless it cannot contain the lightest edge of that component. With the option `reread` =
        "all", every block is read again. `component` has the component of each vertex. Returns the
        index of the counter with the number of blocks that are read again.
        """
        work, listed = self.workspace, self.new_count()
        n_blocks = work.n * work.n_blocks
        entries = work.keys, work.columns, component
        groups = self._groups_for_blocks(n_blocks)
        if self.options.reread == "all":
            self.for_each(
                "dense_list_all_blocks", work.blocks, work.counts, listed, n_blocks,
                n_items=n_blocks,
            )  # fmt: skip
        else:
            self.for_each(
                "dense_list_blocks", *entries, work.winners, work.blocks, work.counts, listed,
                work.n, work.n_blocks,
            )  # fmt: skip
            groups = min(groups, work.device.capabilities.compute_units * _FEW_GROUPS)
        for panel in work.panels:
            self._enqueue(
                "dense_rescan_blocks", groups, panel.cells, *entries, work.winners, work.blocks,
                work.counts, listed, panel.first, panel.n_rows, work.n, work.dimensions,
                work.width, work.n_blocks, self.short_ids,
            )  # fmt: skip
        return listed

    def _jump(self, parents: DeviceArray) -> int:
        """Enqueue a kernel that replaces each parent pointer by the pointer of the parent.

        A root is the vertex that names a component. Returns the index of the counter of vertices
        that do not point to their root yet.
        """
        work, waiting = self.workspace, self.new_count()
        self.for_each(
            "dense_jump_pointers", parents, work.winners, work.counts, waiting, work.n,
            self.short_ids,
        )  # fmt: skip
        return waiting


class _TiledRun(_DenseRun):
    """One solve of points, in which all pairs are compared tile by tile.

    A tile is a rectangle of the matrix of distances.

    As many rounds as most trees need are enqueued before the host reads edges, weights and counters
    together. If the tree is complete earlier, the remaining rounds compare no pairs. If it is not
    complete after them, further rounds follow. Each round has as many launches of pointer jumps as
    can be necessary.
    """

    def __init__(self, matrix: DeviceMatrix, launch: Launcher, options: DenseOptions) -> None:
        super().__init__(workspace_of_tiles(matrix), launch, options)
        n = self.workspace.n
        self.rounds_ahead = max(ceil(log2(n) / _HALVINGS_A_ROUND), 1)
        self.jumps = max(ceil(log(n, _JUMPS)), 1)
        with launch.phase("pack points"):
            self.pairs = LightestPairs(matrix, self.workspace, launch, options.filter)
        self.read = np.empty(n + N_COUNTS // 2 + n * self.pairs.has_weights, np.uint64)
        self.result = DeviceArray.empty(self.read.size, np.uint64, matrix.device)

    def stats(self) -> dict[str, Any]:
        return super().stats() | {"filter": self.pairs.packed.by}

    @property
    def weights(self) -> Array | None:
        """The weights of the edges, or None if the device has only compared rounded distances.

        That depends on the metric. If the result is None, the host computes the exact weights.
        """
        words = self.read[self.workspace.n + N_COUNTS // 2 :]
        return words.view(np.float64) if self.pairs.has_weights else None

    def _read(self) -> None:
        """Read edges and weights together with the counts, which blocks until they are computed."""
        self.pairs.gather(self.result)
        self.launch.read(self.result.memory, self.read)
        n = self.workspace.n
        self.counts = self.read[n : n + N_COUNTS // 2].view(np.uint32)

    def _scan(self) -> None:
        self.pairs.find(self.workspace.component)

    def _read_again(self, component: DeviceArray) -> int:
        """Enqueue kernels that find new nearest pairs in blocks whose pair has become useless.

        A block has the pairs of one point with a range of other points, and only its nearest pair
        is kept. The pair becomes useless when both of its points are in one component. The block is
        then read again, unless it cannot contain the lightest edge of that component. With the
        option `reread` = "all", every block is read again. A new pair replaces the lightest edge of
        the component so far if it is lighter. `component` has the component of each point. Returns
        the index of the counter with the number of blocks that are read again.
        """
        listed = self.new_count()
        self.pairs.find_again(component, listed, every=self.options.reread == "all")
        return listed
