"""filter-boruvka in the shape of a GPU: Borůvka's rounds on ever smaller arrays, light edges first.

Source: see ``cl/algorithms/filter_boruvka/filter_boruvka.cl``;
``docs/inside_algorithms.md`` tells the steps.
"""

from __future__ import annotations

from typing import Any

from clmst.algorithms.filter_boruvka.options import FilterBoruvkaOptions
from clmst.algorithms.filter_boruvka.plan import Plan
from clmst.algorithms.filter_boruvka.run import GpuRun
from clmst.algorithms.shared.candidates import Candidates
from clmst.algorithms.shared.solution import Solution
from clmst.core.errors import UnsupportedDeviceError
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher


def solve(
    graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: FilterBoruvkaOptions
) -> Solution:
    """Solve a graph that has slots."""
    _check_launches(options, graph.device)
    key = ("filter-boruvka", maximum, options)
    plan = graph.plans.get(key)
    full_capacity = finer = False
    while True:  # three times at most: then it is full_capacity and its windows fine
        if plan is None:
            plan = graph.plans[key] = Plan(
                graph, maximum=maximum, options=options, full_capacity=full_capacity, finer=finer
            )
            plan.clear_state(launch)
        plan.set_weights(graph.weights)
        run = _run(plan, launch)
        if not (plan.overflowed or run.contracts_slowly):
            return Solution(graph=graph, in_forest=plan.in_forest, stats=run.stats())
        finer = plan.finer or run.contracts_slowly
        full_capacity = plan.full_capacity or plan.overflowed
        del graph.plans[key], run  # the next plan may need the memory of this one
        plan = None


def _check_launches(options: FilterBoruvkaOptions, device: Device) -> None:
    """Raise if what is asked for by name cannot be built for the device."""
    if options.launches in ("resident", "mixed") and not device.capabilities.grid_barriers:
        raise UnsupportedDeviceError(
            f"launches is {options.launches!r}, for which work-groups wait for one another; the "
            f"compiler of {device.description} fails on such kernels: launches must be 'auto' or "
            "'separate' there"
        )


def plan_candidates(
    graph: DeviceGraph, candidates: Candidates, launch: Launcher, *, maximum: bool
) -> Plan:
    """Prepare solves of the candidates of a graph that stores each edge once."""
    options = FilterBoruvkaOptions()
    plan = Plan(graph, maximum=maximum, options=options, full_capacity=True, candidates=candidates)
    plan.clear_state(launch)
    return plan


class CandidateRun:
    """A solve of a graph by its candidates, under way until its result is asked for.

    Parameters
    ----------
    graph : DeviceGraph
        With the weights to solve under.
    plan : Plan
        By :func:`plan_candidates`.
    launch : Launcher

    Attributes
    ----------
    candidates : Candidates
        The remaining graph.
    solution : Solution
        Not waited for.
    """

    def __init__(self, graph: DeviceGraph, plan: Plan, launch: Launcher) -> None:
        assert plan.candidates is not None, "the plan is for candidates"
        plan.set_weights(graph.weights)
        self.candidates = plan.candidates
        self._run = GpuRun(plan, launch)
        self._run.enqueue()
        self.solution = Solution(graph=graph, in_forest=plan.in_forest, stats={})

    def is_done(self) -> bool:
        """Return whether it was solved, which it is not if work-groups gave up; waits."""
        plan = self._run.plan
        plan.read_state(self._run.launch)
        if plan.gave_up:
            plan.disable_resident(self._run.launch)
        return not plan.gave_up

    def stats(self) -> dict[str, Any]:
        """Return what it tells about its work, once it is done."""
        return self._run.stats()


def _run(plan: Plan, launch: Launcher) -> GpuRun:
    """Solve; again without waiting for others if that was given up."""
    run = GpuRun(plan, launch)
    run.solve()
    if plan.gave_up:
        plan.disable_resident(launch)
        run = GpuRun(plan, launch)
        run.solve()
    return run
