"""filter-boruvka on GPUs: many work-items share arrays that become smaller in each round.

In this module every step of the algorithm is one launch of a kernel. After each round the host
reads how many components and edges remain. The variants in which one launch does several steps,
because its work-groups wait for one another, are in ``gpu_launches.py``.

Source: see ``cl/algorithms/filter_boruvka/filter_boruvka.cl``.
"""

from __future__ import annotations

from typing import Any

from clmst.algorithms.filter_boruvka.rounds import Change, FilterBoruvkaRun
from clmst.algorithms.filter_boruvka.workspace import Candidates, Workspace
from clmst.algorithms.shared.progress import no_progress
from clmst.algorithms.shared.solution import flag_words
from clmst.algorithms.shared.windows import contracts_slowly, last_window_too_large
from clmst.core.weight_keys import Array
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program

# Maximum number of work-groups for each compute unit in steps whose number of items is small and
# known only on the device.
_FEW_GROUPS = 8
# Maximum number of work-groups for each compute unit in steps over a worklist, whose capacity is
# usually several times its length. On an H200, solves with the limits 16 and 32 take 0.96 of the
# time without a limit. With the limit 8 they take longer than with 16 (benchmarks/log.md).
_WORKLIST_GROUPS = 16
# Minimum number of work-items that find the ranks of the keys in a sample.
_SAMPLE_ITEMS = 1 << 15
# Maximum number of passes that follow parent pointers. Each pass at least halves the lengths of the
# paths.
MOST_FOLLOWINGS = 33
# Number of solves with a workspace before kernel objects are created whose arguments stay set. To
# create such objects takes as long as to set the arguments thirty times.
_SOLVES_BEFORE_PRESET = 2


class GpuRun(FilterBoruvkaRun):
    """One solve that launches one kernel for each step of the algorithm.

    After each round the host reads how many components and edges remain, and decides whether
    another round is needed.
    """

    launches = "separate"

    def __init__(self, graph: DeviceGraph, workspace: Workspace, launch: Launcher) -> None:
        self.graph, self.workspace, self.launch = graph, workspace, launch
        self.device, self.options, self.in_forest = (
            workspace.device,
            workspace.options,
            workspace.in_forest,
        )
        self.n, self.n_phases = workspace.n_vertices, workspace.n_phases
        self.full_capacity, self.finer = workspace.full_capacity, workspace.finer
        self.tuning = workspace.device.policy
        workspace.solves += 1

    @property
    def tile(self) -> int:
        """Number of slots (CSR entries) that a work-group of this program takes at a time."""
        return self.workspace.program.work_group_size * self.workspace.slots_per_item

    def solve(self) -> bool:
        """Enqueue the solve, and wait until the device has finished.

        Returns False if the solve has to be done again, for example because a worklist was too
        small. The attributes of the run then say what the next attempt needs.
        """
        self.enqueue()
        is_done = not self.given_up and self.is_done()
        self.full_capacity |= is_done and self.workspace.overflowed
        return is_done and not self.workspace.overflowed

    def take(self, words: Array) -> dict[str, Any] | None:
        """Return the statistics of the solve, given the state that the host has read already.

        `words` are the words of the state, STATE_WORDS in number. Returns None if the device has
        found a fault in the graph, or if the solve has to be done again.
        """
        self.workspace.host_state[:] = words
        ended = self.workspace.has_ended(self.launch) and not (
            self.workspace.refused or self.workspace.overflowed
        )
        return self.stats() if ended else None

    def is_done(self) -> bool:
        """Return whether all work-groups have finished their work.

        The call waits for the device. The result is False if a work-group has waited too long for
        another one and given up.
        """
        self.workspace.read_state(self.launch)
        return self.workspace.has_ended(self.launch)

    def stats(self) -> dict[str, Any]:
        """Return the statistics of the solve."""
        workspace = self.workspace
        sizes = workspace.worklist_sizes(self.n_phases)
        return {
            "shape": "gpu",
            "rounds": sum(map(len, sizes)) + (workspace.symmetric and not workspace.ranks),
            "worklist_sizes": sizes,
            "launches_as": self.launches,
            "device_bytes": workspace.device_bytes,
        }

    # ------------------------------------------------------------ the algorithm's steps

    def _prepare(self) -> None:
        workspace, n = self.workspace, self.n
        if workspace.candidates is not None:
            words = max(n, workspace.n_slots // 32)
            self._step("candidates_prepare", words, workspace.candidates.kept)
            return
        if workspace.tile_slots != self.tile:
            workspace.have_tiles(self.tile)
            self._step("find_rows", -(-workspace.n_slots // self.tile) + 1, self.tile)
            workspace.tile_slots = self.tile
        n_items = (
            workspace.n_slots // 32 if workspace.symmetric else max(n, workspace.n_slots // 32)
        )
        if workspace.ranks:
            self._step("set_windows", max(n_items, _SAMPLE_ITEMS), *workspace.window_arguments)
        else:
            self._step("prepare", n_items)

    def _filter(self, phase: int) -> None:
        """Write the edges of the window of this phase to the worklist.

        In the first window, if both directions of every edge are stored, each vertex first chooses
        the lightest edge of its CSR row, and the components that this makes are contracted.
        """
        workspace = self.workspace
        if phase == 0 and workspace.candidates is not None:
            self._enter_candidates(workspace.candidates)
        elif phase > 0 or not workspace.symmetric:
            self._tile_step("admit_edges", phase, self.n_phases, int(phase > 0))
        else:
            self._tile_step("take_minima_and_list" if workspace.ranks else "take_minima")
            self._step("join_rows", -(-workspace.n_slots // self.tile))
            self._step("choose_edges", self.n)
            self._step("follow_choices", self.n)
            self._follow_again(0, 0, self.n)
            if workspace.ranks:
                self._contract(0, 0)
            else:
                self._tile_step("admit_edges", 0, 1, 1)

    def _first_depth(self, phase: int) -> int:
        return 0 if phase == 0 and not self.workspace.symmetric else 1

    def _choose(self, phase: int, depth: int) -> bool:
        """Link every supervertex to another one along its lightest edge, and wait for the device.

        Returns whether any supervertex still has an edge to another one.
        """
        self._hook(phase, depth)
        first, counts = self._first_depth(phase), self.workspace.counts(phase)
        before, after = int(counts[depth, 1]) if depth else self.n, int(counts[depth + 1, 1])
        edges = int(counts[max(depth - 1, first), 0]), int(counts[depth, 0])
        self._check_round(phase, depth, (before, after), edges)
        return after > 0 and not self.given_up

    def _contract(self, phase: int, depth: int) -> None:
        self._edge_step("contract", phase, depth)

    def _wants_finer(self, rounds: int, vertices: Change, edges: Change) -> bool:
        if rounds == 0:
            n_edges = (
                self.workspace.n_slots // 2 if self.workspace.symmetric else self.workspace.n_slots
            )
            return last_window_too_large(edges[1], vertices[0], n_edges)
        return rounds == 1 and contracts_slowly(edges, vertices[0])

    def _settle(self, phase: int) -> None:
        self._step("number_components", self.n, phase, self._first_depth(phase), most=_FEW_GROUPS)
        self._step("find_components", self.n, phase)
        self._step("begin_components", self.n, phase + 1, most=_FEW_GROUPS)

    def _finish(self) -> None:
        self._step("expand", flag_words(self.workspace.n_slots), self.in_forest.memory)

    # ------------------------------------------------------------------ parts of steps

    def _enter_candidates(self, candidates: Candidates) -> None:
        starts = None if candidates.starts is None else candidates.starts.memory
        k, ends = candidates.n_edges, candidates.ends.memory
        if k:
            self._step("candidates_enter", k, ends, candidates.slots.memory, starts, k)

    def _hook(self, phase: int, depth: int) -> None:
        """Link the supervertices of a depth along their lightest edges, and find their roots.

        The depth is the number of contractions since the beginning of the phase. The lightest edge
        of each supervertex is found by a minimum over packed weights. If these need more than one
        word, the passes over the later words come first. The chosen edges join the forest.
        """
        bound, tile = max(self.n >> depth, 1), self.workspace.program.grid_tile
        for later in range(1, self.workspace.passes):
            self._step(
                "refine", self.workspace.capacities[depth % 2], phase, depth, later, tile=tile
            )
        self._edge_step("hook", phase, depth)
        self._step("follow", bound, phase, depth, 0)
        self._follow_again(phase, depth, bound)

    def _follow_again(self, phase: int, depth: int, bound: int) -> None:
        """Continue to follow parent pointers until every path has reached its root.

        The call waits for the device. One launch follows at most POINTER_STEPS pointers of a path.
        Raises DeviceError if paths do not end.
        """
        before = 0
        for _ in range(MOST_FOLLOWINGS):
            self.workspace.read_state(self.launch)
            pending = int(self.workspace.counts(phase)[depth, 2])
            if pending == before:
                return
            before = pending
            self._step("follow", bound, phase, depth, 1)
        rule = "each time paths become at most half as long, so they are followed 33 times at most"
        raise no_progress(
            "filter-boruvka", self.device, rule, phase=phase, depth=depth, vertices=bound,
            pending=before,
        )  # fmt: skip

    # ------------------------------------------------------------------------ launches

    def _step(
        self, name: str, n_items: int, *arguments: Any, tile: int | None = None, most: int = 0
    ) -> None:
        """Enqueue the kernel of one step of the algorithm, which goes over `n_items` items.

        A work-group takes `tile` items at a time. If `most` is not 0, there are at most `most`
        work-groups for each compute unit.
        """
        program = self.workspace.program
        groups = self.launch.groups_for(-(-n_items // (tile or program.grid_tile)))
        if most:
            groups = min(groups, most * self.device.capabilities.compute_units)
        self._enqueue(program, f"filter_boruvka_{name}", groups, *arguments)

    def _edge_step(self, name: str, phase: int, depth: int) -> None:
        bound = self.workspace.capacities[depth % 2]
        tile = self.workspace.program.work_group_size * self.tuning.worklist_edges_per_item
        self._step(name, bound, phase, depth, tile=tile, most=_WORKLIST_GROUPS)

    def _tile_step(self, name: str, *arguments: int) -> None:
        self._step(name, self.workspace.n_slots, *arguments, tile=self.tile)

    def _enqueue(self, program: Program, name: str, groups: int, *arguments: Any) -> None:
        """Enqueue a kernel of `groups` work-groups.

        Its arguments begin with the arguments that all kernels of a solve share, and `arguments`
        follow. If a solve has only a few launches, setting arguments takes a notable part of its
        time. From the third such solve on, kernels are reused whose arguments are still set.
        """
        workspace = self.workspace
        few_launches = self.launches == "resident" or workspace.candidates is not None
        if few_launches and workspace.solves > _SOLVES_BEFORE_PRESET:
            kernel = workspace.preset(program, name, arguments)
            self.launch.preset(kernel, name, groups, program.work_group_size)
        else:
            self.launch(program, name, groups, *workspace.arguments, *arguments)

    def _enqueue_resident(self, program: Program, name: str, most: int, *arguments: Any) -> None:
        """Enqueue a resident kernel: all its work-groups run on the device at the same time.

        There are up to `most` work-groups for each compute unit. If `most` is 0, because work-
        groups of this device may not wait for one another, there is a single work-group.
        """
        device = self.device.capabilities
        if most:
            most = device.groups_at_once(most, program.local_memory(name))
        self._enqueue(program, name, max(most * device.compute_units, 1), *arguments)
