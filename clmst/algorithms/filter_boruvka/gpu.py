"""filter-boruvka on GPUs: many work-items share arrays that become smaller in each round.

There are three kinds of launches. In `GpuRun` ("separate") every step of the algorithm is one
launch of a kernel, and after each round the host reads how many components and edges remain. In the
other two, work-groups wait for one another between steps, so one launch can do many steps. It does
all remaining rounds of a window of weights in `MixedRun` ("mixed"), and the whole solve in
`ResidentRun` ("resident").

Source: see ``cl/algorithms/filter_boruvka/filter_boruvka.cl``.
"""

from __future__ import annotations

from typing import Any

from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions, launches_on
from clmst.algorithms.filter_boruvka.rounds import Change, FilterBoruvkaRun
from clmst.algorithms.filter_boruvka.workspace import (
    RESIDENT_SLOTS_PER_ITEM,
    STATE_WORDS,
    Candidates,
    Workspace,
)
from clmst.algorithms.shared.progress import no_progress
from clmst.algorithms.shared.solution import Solution, SolveReport, flag_words
from clmst.algorithms.shared.windows import contracts_slowly, last_window_too_large
from clmst.core.errors import UnsupportedDeviceError
from clmst.core.weight_keys import Array
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Constant
from clmst.runtime.program import Program

# Maximum number of work-groups for each compute unit in steps for which only the device knows the
# number of items, which is small.
_FEW_GROUPS = 8
# Maximum number of work-groups for each compute unit in steps over a worklist. The host only knows
# the capacity of the worklist, which is usually several times its length. On an H200, solves with
# the limits 16 and 32 take 0.96 times as long as without a limit. With the limit 8 they take longer
# than with 16 (benchmarks/log.md).
_WORKLIST_GROUPS = 16
# Minimum number of work-items that find the ranks of the keys in a sample of weights. The rank of a
# key is its position in the sorted sample.
_SAMPLE_ITEMS = 1 << 15
# Maximum number of passes that follow parent pointers. Each pass at least halves the lengths of the
# paths.
MOST_FOLLOWINGS = 33
# Number of solves with the same buffers before kernel objects with fixed arguments are created.
# Later solves use these objects and need not set the arguments. Creating the objects takes as long
# as setting the arguments thirty times.
_SOLVES_BEFORE_PRESET = 2
# In graphs of at least this number of vertices, paths to roots may be too long to be followed in
# one launch, so a second launch follows them.
_MANY_VERTICES = 1 << 18
# For "mixed" launches: the number of rounds of the first phase that have launches of their own. A
# phase solves one window of weights in rounds of choosing edges and joining components. All further
# rounds of a phase run in one launch, whose work-groups wait for one another. If each edge is
# stored once, at least one round has launches of its own. On an H200, solves of six graphs take
# 1.06 times as long with 1, and 1.07 times with 2.
SEPARATE_ROUNDS = Constant("filter_boruvka.SEPARATE_ROUNDS", 0)
# For "resident" launches: a graph with at most this number of slots (CSR entries) is solved with
# half of the usual work-groups, because a barrier of fewer work-groups takes less time. On an H200,
# the graph internet takes 0.081 ms with half of the work-groups and 0.090 ms with all. The graph
# grid20, which has more slots, takes 0.407 ms with half and 0.318 ms with all.
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
    """Create the object that solves a graph once, with the buffers of an earlier solve if possible.

    `maximum` asks for the maximum spanning forest. `full_capacity` asks for worklists that can hold
    all edges, and `finer` for more windows of weights than usual. New buffers are allocated if no
    earlier solve has left any, or if they do not satisfy these requests. Raises
    UnsupportedDeviceError if the options ask for launches that the device's compiler cannot build.
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
    """Enqueue a solve that consists of one launch, without waiting for the device.

    `maximum` asks for the maximum forest, and `options` are the options of the solve. `verdict` is
    the buffer to which an enqueued check of the graph writes the faults that it finds, or None if
    the graph is known to be valid. If there are faults, the launch does nothing. Returns None,
    without enqueuing anything, if the solve needs more than one launch.
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
    """Enqueue a solve of only some edges of a graph, the candidates in `workspace`.

    Earlier solves have shown of all other edges whether they are in the forest. The weights come
    from `graph`. The call blocks only where the host has to read how many edges remain.
    """
    assert workspace.candidates is not None, "the workspace is for candidates"
    workspace.set_weights(graph.weights)
    run = _run_of(graph, workspace, launch)
    run.enqueue()
    return run


def _run_of(graph: DeviceGraph, workspace: Workspace, launch: Launcher) -> GpuRun:
    """Create the object for one solve, of the class for the kind of launches.

    The kind follows from the options and the device. `workspace` has the options and the buffers.
    """
    wanted = workspace.options.launches
    launches = launches_on(workspace.device, workspace.n_slots, wanted)
    if launches == "resident" and workspace.candidates is not None and wanted == "auto":
        launches = "mixed"
    kind = {"separate": GpuRun, "mixed": MixedRun, "resident": ResidentRun}[launches]
    return kind(graph, workspace, launch)


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
        """Number of CSR entries that a work-group takes at a time, in launches of single steps."""
        return self.workspace.program.work_group_size * self.workspace.slots_per_item

    def solve(self) -> bool:
        """Enqueue the solve, and wait until the device has finished.

        Returns False if the solve has to be done again, for example because a worklist, an array of
        undecided edges, has overflowed. The attributes of the run then say what the next attempt
        needs.
        """
        self.enqueue()
        is_done = not self.given_up and self.is_done()
        self.full_capacity |= is_done and self.workspace.overflowed
        return is_done and not self.workspace.overflowed

    def take(self, words: Array) -> dict[str, Any] | None:
        """Return the statistics of the solve, given the counts that the host has read already.

        `words` are the STATE_WORDS words that the kernels have written: the counts of each round,
        and flags for errors. Returns None if the device has found a fault in the graph, or if the
        solve has to be done again.
        """
        self.workspace.host_state[:] = words
        ended = self.workspace.has_ended(self.launch) and not (
            self.workspace.refused or self.workspace.overflowed
        )
        return self.stats() if ended else None

    def is_done(self) -> bool:
        """Return whether all work-groups have done all of their work.

        The call waits for the device. The result is False if a work-group has given up because it
        waited too long for another one.
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
        """Enqueue kernels that write the edges of a phase's window of weights to the worklist.

        A window is a range, and the worklist is an array of the undecided edges.

        If this is the first window, and both directions of every edge are stored, the rows of the
        CSR are used first: each vertex chooses the lightest edge of its row, and the chosen edges
        are contracted.
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

        A phase solves one window, which is a range of weights. `depth` is the number of
        contractions so far in the phase. Returns whether any supervertex still has an edge to
        another one.
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
        """Link each supervertex along its lightest edge, and follow the links to their roots.

        A supervertex is a set of vertices that have been joined.

        `depth` is the number of contractions since the beginning of the phase. The lightest edges
        are known so far only by the first word by which edges are compared. If there are more
        words, passes over these words decide first. The chosen edges join the forest.
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
        """Continue to follow parent pointers until every path has reached a root.

        `bound` is the maximum number of supervertices at this depth of the phase, which are sets of
        joined vertices. Each has a path. One launch follows at most POINTER_STEPS pointers of a
        path. The call waits for the device. Raises DeviceError if paths do not end.
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

        The kernel is called ``filter_boruvka_`` and `name`. `arguments` follow those that all
        kernels take. A work-group takes `tile` items at a time; None means the usual number of the
        program. If `most` is not 0, there are at most `most` work-groups for each compute unit.
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
        """Enqueue the kernel `name` of a program with `groups` work-groups.

        The kernel gets the arguments that all kernels of a solve share, followed by `arguments`. If
        a solve has only a few launches, setting arguments takes a notable part of its time. From
        the third of these solves of a graph on, kernel objects whose arguments are still set are
        reused.
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

        `name`, `program` and `arguments` are as in :meth:`_enqueue`. There are up to `most`
        work-groups for each compute unit. If `most` is 0, because work-groups of this device may
        not wait for one another, there is a single work-group.
        """
        device = self.device.capabilities
        if most:
            most = device.groups_at_once(most, program.local_memory(name))
        self._enqueue(program, name, max(most * device.compute_units, 1), *arguments)


class MixedRun(GpuRun):
    """One solve in which a single launch does all rounds of a window (a range of weights).

    The first rounds of the first window may have launches of their own. The work-groups of the
    single launch wait for one another between the rounds.
    """

    launches = "mixed"

    def _choose(self, phase: int, depth: int) -> bool:
        """Enqueue the kernels of one round, or a launch that does all remaining rounds of a phase.

        A phase solves one window, which is a range of weights. `depth` is the number of
        contractions so far in the phase. Returns True after a single round, and False after the
        launch of all remaining rounds.
        """
        first, separate = self._first_depth(phase), 0
        if phase == 0:
            # If each edge is stored once (first == 0), the first round joins the graph's own
            # vertices, and their paths of parent pointers may be longer than in later rounds. So
            # the first round has launches of its own, of which two can follow these paths.
            separate = max(SEPARATE_ROUNDS.under(self.tuning), int(first == 0))
        if depth < first + separate:
            self._hook(phase, depth)
            return True
        program, most = self.workspace.finish_program, self.workspace.finish_groups
        words = (phase, depth, first, int(phase + 1 < self.n_phases))
        self._enqueue_resident(program, "filter_boruvka_finish_phase", most, *words)
        return False

    def _settle(self, phase: int) -> None:
        """Do nothing: the launch of all remaining rounds has found the vertices' components."""

    def _follow_again(self, phase: int, depth: int, bound: int) -> None:
        """Follow parent pointers in a second launch if there are _MANY_VERTICES or more.

        With so many vertices, paths of pointers may be too long for one launch. `bound` is the
        maximum number of supervertices at this depth of the phase.
        """
        if bound >= _MANY_VERTICES:
            self._step("follow", bound, phase, depth, 1)


class ResidentRun(GpuRun):
    """One solve in a single launch. The work-groups wait for one another between the steps."""

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
