"""One solve by filter-boruvka: its launches, their order, and when counts are read.

Source: see ``cl/algorithms/filter_boruvka/filter_boruvka.cl``;
``docs/inside_algorithms.md`` tells the steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.algorithms.filter_boruvka.launches import usual_launches
from clmst.algorithms.filter_boruvka.plan import PROBES, Plan
from clmst.algorithms.shared.candidates import Candidates
from clmst.algorithms.shared.progress import check_halved, no_progress
from clmst.algorithms.shared.solution import flag_words
from clmst.algorithms.shared.windows import contracts_slowly, last_range_too_large, skips_second
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program

# From so many vertices on, ways may be too long to follow at once: it is done twice then.
_MANY_VERTICES = 1 << 18
# Work-groups a compute unit for steps whose number of items is known on the device only, and small.
_FEW_GROUPS = 8
# The same for steps over a worklist, whose capacity is several times its length as a rule. On an
# H200: 16 and 32 take 0.96 of the time without a limit, 8 more than 16 (docs/performance_log.md).
_WORKLIST_GROUPS = 16
# Work-items that rank a sample, at least.
_SAMPLE_ITEMS = 1 << 15
# Each pass halves the path lengths.
_MOST_FOLLOWINGS = 33
# Bind arguments from the third solve on: that takes as long as setting them thirty times.
_SOLVES_BEFORE_PRESET = 2


class GpuRun:
    """One solve: which launches, in which order."""

    def __init__(self, plan: Plan, launch: Launcher) -> None:
        self.plan, self.launch = plan, launch
        self.n, self.n_phases = plan.n_vertices, plan.n_phases
        tuning = plan.device.policy
        self.tuning = tuning
        self.launches = self._launches()
        self.contracts_slowly = False  # set where the solve was given up for want of windows

    def _launches(self) -> str:
        """Return how the solve is launched."""
        plan = self.plan
        if not plan.device.groups_may_wait:
            return "separate"
        if plan.options.launches != "auto":
            return plan.options.launches
        usual = usual_launches(plan.device, plan.n_slots)
        return "mixed" if usual == "resident" and plan.candidates is not None else usual

    def solve(self) -> None:
        """Enqueue everything, and wait for the counts."""
        self.enqueue()
        self.plan.read_state(self.launch)

    def enqueue(self) -> None:
        """Enqueue everything; separate launches wait for counts in between."""
        self.plan.solves += 1
        if self.launches == "resident":
            self._solve_at_once()
        else:
            self._first_worklist()
            phase = 0
            while phase < self.n_phases:
                first = 0 if phase == 0 and not self.plan.symmetric else 1
                if phase > 0:
                    self._tile_step("admit_edges", phase, self.n_phases, 1)
                settles = phase + 1 < self.n_phases
                if self.launches == "mixed":
                    self._rounds_without_reading(phase, first, settles=settles)
                else:
                    self._rounds(phase, first)
                    if self.contracts_slowly:
                        return
                    if settles:
                        self._settle(phase, first)
                if phase == 0 and self.plan.may_skip_second:
                    self._choose_phases()
                phase += 1
            self._step("expand", flag_words(self.plan.n_slots), self.plan.in_forest.memory)

    def stats(self) -> dict[str, Any]:
        """Return what the solve tells about its work."""
        plan = self.plan
        sizes = plan.worklist_sizes(self.n_phases)
        return {
            "shape": "gpu",
            "rounds": sum(map(len, sizes)) + (plan.symmetric and not plan.ranks),
            "worklist_sizes": sizes,
            "launches_as": self.launches,
            "device_bytes": plan.device_bytes,
        }

    # --------------------------------------------------------------------- steps

    def _step(
        self, name: str, n_items: int, *arguments: Any, tile: int | None = None, most: int = 0
    ) -> None:
        """Enqueue a step over so many items, by `most` work-groups a compute unit if it is not 0.

        Arguments that are Python's integers are words.
        """
        program = self.plan.program
        groups = self.launch.groups_for(-(-n_items // (tile or program.grid_tile)))
        if most:
            groups = min(groups, most * self.plan.device.capabilities.compute_units)
        words = (np.uint32(one) if isinstance(one, int) else one for one in arguments)
        self._enqueue(program, f"filter_boruvka_{name}", groups, *words)

    def _enqueue(self, program: Program, name: str, groups: int, *arguments: Any) -> None:
        """Enqueue a kernel; where launches are what solves wait for, one with its arguments set."""
        plan = self.plan
        few_launches = self.launches == "resident" or plan.candidates is not None
        if few_launches and plan.solves > _SOLVES_BEFORE_PRESET:
            kernel = plan.preset(program, name, arguments)
            self.launch.preset(kernel, name, groups, program.work_group_size)
        else:
            self.launch(program, name, groups, *plan.arguments, *arguments)

    def _solve_at_once(self) -> None:
        """Enqueue the one launch."""
        plan, tuning = self.plan, self.tuning
        tile = plan.resident_program.work_group_size * tuning.resident_slots_per_item
        plan.have_tiles(tile)
        words = np.uint32(plan.tile_slots != tile), np.uint32(plan.n_phases)
        most = plan.resident_groups
        if plan.n_slots <= tuning.half_resident_slots:
            most -= most // 2
        self._enqueue_resident(
            plan.resident_program, "filter_boruvka_resident_solve", most,
            plan.in_forest.memory, *words, *plan.window_arguments,
        )  # fmt: skip
        plan.tile_slots = tile

    def _finish_phase(self, *numbers: int) -> None:
        """Enqueue resident work-groups that end a phase."""
        words = (np.uint32(number) for number in numbers)
        program, most = self.plan.finish_program, self.plan.finish_groups
        self._enqueue_resident(program, "filter_boruvka_finish_phase", most, *words)

    def _enqueue_resident(self, program: Program, name: str, most: int, *arguments: Any) -> None:
        """Enqueue a kernel on up to `most` work-groups a compute unit, all on the device at once.

        Where work-groups may not wait for one another, there is one, which has no other.
        """
        device = self.plan.device.capabilities
        if most:
            most = device.groups_at_once(most, program.local_memory(name))
        self._enqueue(program, name, max(most * device.compute_units, 1), *arguments)

    def _edge_step(self, name: str, phase: int, depth: int) -> None:
        bound = self.plan.capacities[depth % 2]
        tile = self.plan.program.work_group_size * self.tuning.worklist_edges_per_item
        self._step(name, bound, phase, depth, tile=tile, most=_WORKLIST_GROUPS)

    def _tile_step(self, name: str, *arguments: int) -> None:
        tile = self.plan.program.work_group_size * self.tuning.slots_per_item
        self._step(name, self.plan.n_slots, *arguments, tile=tile)

    def _find_rows(self) -> None:
        """Let tiles know the rows that they begin in, unless a solve before this one did."""
        tile = self.plan.program.work_group_size * self.tuning.slots_per_item
        if self.plan.tile_slots != tile:
            self.plan.have_tiles(tile)
            self._step("find_rows", -(-self.plan.n_slots // tile) + 1, tile)
            self.plan.tile_slots = tile

    def _enter_candidates(self, candidates: Candidates) -> None:
        k = candidates.n_edges
        self._step("candidates_prepare", max(self.n, self.plan.n_slots // 32), candidates.kept)
        ends, slots, starts = candidates.ends.memory, candidates.slots.memory, candidates.starts
        if k and starts is None:
            self._step("candidates_enter", k, ends, slots, k)
        elif k and starts is not None:
            self._step("candidates_enter_chains", k, ends, slots, starts.memory, k)

    def _first_worklist(self) -> None:
        plan, n = self.plan, self.n
        if plan.candidates is not None:
            self._enter_candidates(plan.candidates)
            return
        self._find_rows()
        n_items = plan.n_slots // 32 if plan.symmetric else max(n, plan.n_slots // 32)
        if plan.ranks:
            self._step("set_windows", max(n_items, _SAMPLE_ITEMS), *plan.window_arguments)
        else:
            self._step("prepare", n_items)
        if not plan.symmetric:
            self._tile_step("admit_edges", 0, plan.n_phases, 0)
            return
        self._tile_step("take_minima_and_list" if plan.ranks else "take_minima")
        tile = plan.program.work_group_size * self.tuning.slots_per_item
        self._step("join_rows", -(-plan.n_slots // tile))
        self._step("choose_edges", n)
        self._step("follow_choices", n)
        self._follow_again(0, 0, n)
        if plan.ranks:
            self._edge_step("contract", 0, 0)
        else:
            self._tile_step("admit_edges", 0, 1, 1)

    def _follow_again(self, phase: int, depth: int, bound: int) -> None:
        """Follow on where ways were too long: by what the device says, or to be sure."""
        if self.launches == "mixed":
            if bound >= _MANY_VERTICES:
                self._step("follow", bound, phase, depth, 1)
            return
        before = 0
        for _ in range(_MOST_FOLLOWINGS):
            self.plan.read_state(self.launch)
            pending = int(self.plan.counts(phase)[depth, 2])
            if pending == before:
                return
            before = pending
            self._step("follow", bound, phase, depth, 1)
        rule = "each time ways get at least half as long, so they are followed 33 times at most"
        raise no_progress(
            "filter-boruvka", self.plan.device, rule, phase=phase, depth=depth, vertices=bound,
            pending=before,
        )  # fmt: skip

    def _round(self, phase: int, depth: int) -> None:
        """Enqueue a round up to its contraction."""
        bound = max(self.n >> depth, 1)
        for later in range(1, self.plan.passes):
            tile = self.plan.program.grid_tile
            self._step("refine", self.plan.capacities[depth % 2], phase, depth, later, tile=tile)
        self._edge_step("hook", phase, depth)
        self._step("follow", bound, phase, depth, 0)
        self._follow_again(phase, depth, bound)

    def _rounds(self, phase: int, depth: int) -> None:
        """Run rounds until one finds no edge, with a read-back each."""
        begin, before = depth, self.n
        while True:
            self._round(phase, depth)
            vertices = int(self.plan.counts(phase)[depth + 1, 1])
            if not vertices:  # none was hooked to another
                return
            last, edges = (
                int(self.plan.counts(phase)[k, 0]) for k in (max(depth - 1, begin), depth)
            )
            check_halved(
                "filter-boruvka", self.plan.device, depth + 1, vertices=(before, vertices),
                edges=(last, edges),
            )  # fmt: skip
            if depth <= begin + 1 and self._wants_more_windows(phase, depth, depth == begin):
                self.contracts_slowly = True
                return
            self._edge_step("contract", phase, depth)
            before = vertices
            depth += 1

    def _wants_more_windows(self, phase: int, depth: int, is_first: bool) -> bool:
        """Return whether the last window has so many edges, or its first round took out so few.

        The solve can begin anew with more windows unless the options say what they are to be.
        """
        plan = self.plan
        if not plan.ranks or plan.finer or plan.options.targets is not None:
            return False
        if phase + 1 < self.n_phases:
            return False
        counts = plan.counts(phase)
        edges, vertices = int(counts[depth, 0]), int(counts[depth, 1])
        if is_first:
            listed = plan.n_slots // 2 if plan.symmetric else plan.n_slots
            return last_range_too_large(edges, vertices, listed)
        return contracts_slowly((int(counts[depth - 1, 0]), edges), vertices)

    def _rounds_without_reading(self, phase: int, first: int, *, settles: bool) -> None:
        """Run some rounds, whatever they find; resident work-groups run the rest."""
        depth = first
        if phase == 0:
            # Where edges are stored once, it is the graph's own vertices that hook. Their ways may
            # be the longest, and launches follow ways twice.
            for _ in range(max(self.tuning.separate_rounds, int(first == 0))):
                self._round(phase, depth)
                self._edge_step("contract", phase, depth)
                depth += 1
        self._finish_phase(phase, depth, first, settles)

    def _choose_phases(self) -> None:
        """Skip the second window unless its edges would let many fewer into the last; waits."""
        plan = self.plan
        self._step("probe", PROBES, plan.options.seed)
        plan.read_state(self.launch)
        if skips_second(plan.joining_share, symmetric=plan.symmetric):
            self.n_phases -= 1

    def _settle(self, phase: int, first: int) -> None:
        """Let every vertex know the component that the phase left it in."""
        self._step("number_components", self.n, phase, first, most=_FEW_GROUPS)
        self._step("find_components", self.n, phase)
        self._step("begin_components", self.n, phase + 1, most=_FEW_GROUPS)
