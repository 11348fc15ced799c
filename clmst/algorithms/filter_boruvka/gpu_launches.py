"""Begin solves by filter-boruvka on GPUs, and do them in few launches of kernels.

In ``gpu.py`` a solve has one launch for each step. In the variants of this module, work-groups wait
for one another between steps, so one launch does all remaining rounds of a window of weights
("mixed"), or the whole solve ("resident").
"""

from __future__ import annotations

from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions, launches_on
from clmst.algorithms.filter_boruvka.gpu import GpuRun
from clmst.algorithms.filter_boruvka.workspace import (
    RESIDENT_SLOTS_PER_ITEM,
    STATE_WORDS,
    Workspace,
)
from clmst.algorithms.shared.solution import Solution, SolveReport
from clmst.core.errors import UnsupportedDeviceError
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Constant

# Number of vertices from which on paths to the roots may be too long to be followed in one launch.
# From this number on, there are two launches that follow paths.
_MANY_VERTICES = 1 << 18
# Number of rounds of a phase that have launches of their own. All further rounds of the phase run
# in one launch, whose work-groups wait for one another. If each edge is stored once, the number is
# at least one. On an H200, solves of six graphs take 1.06 times as long with 1, and 1.07 times with
# 2.
SEPARATE_ROUNDS = Constant("filter_boruvka.SEPARATE_ROUNDS", 0)
# Maximum number of slots of a graph for which the single launch has half as many work-groups as
# usual. With fewer work-groups, a barrier takes less time. On an H200, the graph internet takes
# 0.081 ms with half of the work-groups and 0.090 ms with all. grid20, which has more slots, takes
# 0.407 ms with half and 0.318 ms with all.
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
    """Create the run that solves a graph, with buffers that an earlier solve has left if possible.

    The buffers are new if an earlier solve has not left any, or if the run needs larger ones.
    Raises UnsupportedDeviceError if the options ask for launches that the device's compiler cannot
    build.
    """
    if options.launches in ("resident", "mixed") and not graph.device.capabilities.grid_barriers:
        raise UnsupportedDeviceError(
            f"launches is {options.launches!r}, which needs work-groups that wait for one "
            f"another; the compiler of {graph.device.description} fails on such kernels, so "
            "launches must be 'auto' or 'separate' on this device"
        )
    key = ("filter-boruvka", maximum, options)
    workspace = graph.plans.get(key)
    if workspace is not None:  # the last solve may have reported that a worklist was too small
        full_capacity |= workspace.overflowed
    if workspace is not None and (
        workspace.full_capacity < full_capacity or workspace.finer < finer
    ):
        del graph.plans[key]
        workspace = None  # the next workspace may need its memory
    if workspace is None:
        workspace = graph.plans[key] = Workspace(
            graph, launch, maximum=maximum, options=options, full_capacity=full_capacity,
            finer=finer,
        )  # fmt: skip
    workspace.set_weights(graph.weights)
    return _run_of(graph, workspace, launch)


def begin(
    graph: DeviceGraph,
    launch: Launcher,
    *,
    maximum: bool,
    options: FilterBoruvkaOptions,
    verdict: Memory | None,
) -> Solution | None:
    """Enqueue a solve that consists of one launch, without waiting for it.

    Returns None, without enqueuing anything, if the solve needs more launches. `verdict` is the
    buffer to which the check of the graph on the device writes its result, or None. If that says
    that the graph is faulty, the launch does nothing.
    """
    if launches_on(graph.device, graph.n_slots, options.launches) != "resident":
        return None
    run = new_run(graph, launch, maximum=maximum, options=options, full_capacity=False, finer=False)
    assert isinstance(run, ResidentRun)
    run.verdict = verdict
    run.enqueue()
    report = SolveReport(words=run.workspace.state, count=STATE_WORDS, take=run.take)
    return run.solution(report=report)


def begin_candidates(graph: DeviceGraph, workspace: Workspace, launch: Launcher) -> GpuRun:
    """Enqueue a solve of the candidate edges of a workspace, with the weights of a graph.

    The candidates are the edges of which it is not known yet whether they are in the forest. The
    call blocks only where the host has to read how many edges remain.
    """
    assert workspace.candidates is not None, "the workspace is for candidates"
    workspace.set_weights(graph.weights)
    run = _run_of(graph, workspace, launch)
    run.enqueue()
    return run


def _run_of(graph: DeviceGraph, workspace: Workspace, launch: Launcher) -> GpuRun:
    """Create a run with the kind of launches that the options and the device ask for."""
    wanted = workspace.options.launches
    launches = launches_on(workspace.device, workspace.n_slots, wanted)
    if launches == "resident" and workspace.candidates is not None and wanted == "auto":
        launches = "mixed"
    kind = {"separate": GpuRun, "mixed": MixedRun, "resident": ResidentRun}[launches]
    return kind(graph, workspace, launch)


class MixedRun(GpuRun):
    """One solve in which one launch does all rounds of a window of weights except the first rounds.

    Its work-groups wait for one another between the rounds.
    """

    launches = "mixed"

    def _choose(self, phase: int, depth: int) -> bool:
        """Enqueue the kernels of a first round, or the launch that does all remaining rounds.

        Returns True after a first round, and False after the launch of all remaining rounds.
        """
        first, separate = self._first_depth(phase), 0
        if phase == 0:
            # If edges are stored once, the graph's own vertices are linked in the first round.
            # Their paths may be the longest, and separate launches follow paths twice.
            separate = max(SEPARATE_ROUNDS.under(self.tuning), int(first == 0))
        if depth < first + separate:
            self._hook(phase, depth)
            return True
        program, most = self.workspace.finish_program, self.workspace.finish_groups
        words = (phase, depth, first, int(phase + 1 < self.n_phases))
        self._enqueue_resident(program, "filter_boruvka_finish_phase", most, *words)
        return False

    def _settle(self, phase: int) -> None:
        """Do nothing, because the launch that ends a phase has found the components already."""

    def _follow_again(self, phase: int, depth: int, bound: int) -> None:
        """Follow parent pointers in a second launch if the paths may be too long for one launch."""
        if bound >= _MANY_VERTICES:
            self._step("follow", bound, phase, depth, 1)


class ResidentRun(GpuRun):
    """One solve in one launch, whose work-groups wait for one another."""

    launches = "resident"
    verdict: Memory | None = None  # the result of the check of the graph, if that is enqueued

    def enqueue(self) -> None:
        """Enqueue the one launch of the solve, without waiting."""
        workspace, tuning = self.workspace, self.tuning
        tile = workspace.resident_program.work_group_size * RESIDENT_SLOTS_PER_ITEM.under(tuning)
        workspace.have_tiles(tile)
        most = workspace.resident_groups
        if workspace.n_slots <= HALF_RESIDENT_SLOTS.under(tuning):
            most -= most // 2
        self._enqueue_resident(
            workspace.resident_program, "filter_boruvka_resident_solve", most,
            workspace.in_forest.memory, int(workspace.tile_slots != tile), workspace.n_phases,
            *workspace.window_arguments, self.verdict,
        )  # fmt: skip
        workspace.tile_slots = tile
