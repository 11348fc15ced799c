"""The launches of filter-boruvka in the shape of a GPU, and how a solve begins there.

A solve is a launch a step (``gpu.py``), or a variant: of work-groups that wait for one
another, one launch does the end of a phase ("mixed"), or the whole solve ("resident").
"""

from __future__ import annotations

from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions, launches_on
from clmst.algorithms.filter_boruvka.gpu import GpuRun
from clmst.algorithms.filter_boruvka.plan import RESIDENT_SLOTS_PER_ITEM, STATE_WORDS, Plan
from clmst.algorithms.shared.solution import Solution, SolveReport
from clmst.core.errors import UnsupportedDeviceError
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Constant

# From so many vertices on, ways may be too long to follow at once: it is done twice then.
_MANY_VERTICES = 1 << 18
# Rounds that are launched one by one before work-groups that wait do the rest of a phase; at least
# one where edges are stored once. On an H200, 1 takes 1.06 of the time on six graphs, 2 take 1.07.
SEPARATE_ROUNDS = Constant("filter_boruvka.SEPARATE_ROUNDS", 0)
# Slots up to which half as many work-groups have the one launch, since a barrier takes the longer,
# the more there are. On an H200, internet takes 0.081 ms with half, 0.090 with all; grid20, with
# more slots, 0.407 and 0.318.
HALF_RESIDENT_SLOTS = Constant("filter_boruvka.HALF_RESIDENT_SLOTS", 1 << 20)


def new_run(
    graph: DeviceGraph,
    launch: Launcher,
    *,
    maximum: bool,
    options: FilterBoruvkaOptions,
    full_capacity: bool,
    finer: bool,
) -> GpuRun:
    """Return a solve of a graph, with the plan that is kept with it or a new one."""
    if options.launches in ("resident", "mixed") and not graph.device.capabilities.grid_barriers:
        raise UnsupportedDeviceError(
            f"launches is {options.launches!r}, for which work-groups wait for one another; the "
            f"compiler of {graph.device.description} fails on such kernels: launches must be "
            "'auto' or 'separate' there"
        )
    key = ("filter-boruvka", maximum, options)
    plan = graph.plans.get(key)
    if plan is not None:  # a report that was read with a forest may say that it lacks edges
        full_capacity |= plan.overflowed
    if plan is not None and (plan.full_capacity < full_capacity or plan.finer < finer):
        del graph.plans[key]
        plan = None  # the next one may need its memory
    if plan is None:
        plan = graph.plans[key] = Plan(
            graph, launch, maximum=maximum, options=options, full_capacity=full_capacity,
            finer=finer,
        )  # fmt: skip
    plan.set_weights(graph.weights)
    return _run_of(graph, plan, launch)


def begin(
    graph: DeviceGraph,
    launch: Launcher,
    *,
    maximum: bool,
    options: FilterBoruvkaOptions,
    verdict: Memory | None,
) -> Solution | None:
    """Enqueue a solve of one launch, behind the check of the graph if there is a verdict of it.

    None if it takes more launches.
    """
    if launches_on(graph.device, graph.n_slots, options.launches) != "resident":
        return None
    run = new_run(graph, launch, maximum=maximum, options=options, full_capacity=False, finer=False)
    assert isinstance(run, ResidentRun)
    run.verdict = verdict
    run.enqueue()
    report = SolveReport(words=run.plan.state, count=STATE_WORDS, take=run.take)
    return run.solution(report=report)


def begin_candidates(graph: DeviceGraph, plan: Plan, launch: Launcher) -> GpuRun:
    """Enqueue a solve by a plan of candidates under the weights of a graph."""
    assert plan.candidates is not None, "the plan is for candidates"
    plan.set_weights(graph.weights)
    run = _run_of(graph, plan, launch)
    run.enqueue()
    return run


def _run_of(graph: DeviceGraph, plan: Plan, launch: Launcher) -> GpuRun:
    """Return a solve by a plan, launched as its options and the device want it."""
    wanted = plan.options.launches
    launches = launches_on(plan.device, plan.n_slots, wanted)
    if launches == "resident" and plan.candidates is not None and wanted == "auto":
        launches = "mixed"
    kind = {"separate": GpuRun, "mixed": MixedRun, "resident": ResidentRun}[launches]
    return kind(graph, plan, launch)


class MixedRun(GpuRun):
    """One solve whose windows end with one launch of work-groups that wait for one another."""

    launches = "mixed"

    def _choose(self, phase: int, depth: int) -> bool:
        """Let the first rounds hook, whatever they find; resident work-groups run the others."""
        first, separate = self._first_depth(phase), 0
        if phase == 0:
            # Where edges are stored once, it is the graph's own vertices that hook. Their ways may
            # be the longest, and launches follow ways twice.
            separate = max(SEPARATE_ROUNDS.under(self.tuning), int(first == 0))
        if depth < first + separate:
            self._hook(phase, depth)
            return True
        program, most = self.plan.finish_program, self.plan.finish_groups
        words = (phase, depth, first, int(phase + 1 < self.n_phases))
        self._enqueue_resident(program, "filter_boruvka_finish_phase", most, *words)
        return False

    def _settle(self, phase: int) -> None:
        """Do nothing: the launch that ended the phase has done it."""

    def _follow_again(self, phase: int, depth: int, bound: int) -> None:
        """Follow on to be sure, where ways may be too long to be followed at once."""
        if bound >= _MANY_VERTICES:
            self._step("follow", bound, phase, depth, 1)


class ResidentRun(GpuRun):
    """One solve in one launch of work-groups that wait for one another."""

    launches = "resident"
    verdict: Memory | None = None  # on the graph, where its check is enqueued

    def enqueue(self) -> None:
        """Enqueue the one launch."""
        plan, tuning = self.plan, self.tuning
        tile = plan.resident_program.work_group_size * RESIDENT_SLOTS_PER_ITEM.under(tuning)
        plan.have_tiles(tile)
        most = plan.resident_groups
        if plan.n_slots <= HALF_RESIDENT_SLOTS.under(tuning):
            most -= most // 2
        self._enqueue_resident(
            plan.resident_program, "filter_boruvka_resident_solve", most, plan.in_forest.memory,
            int(plan.tile_slots != tile), plan.n_phases, *plan.window_arguments, self.verdict,
        )  # fmt: skip
        plan.tile_slots = tile
