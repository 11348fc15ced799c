"""The union-finds of `edge-parallel` by compute units, and what their steps take.

How much of its time goes to synchronising can be found without a profiler of the host: the step
that finds lightest edges is done a second time when it is done. Then paths are short, and every
edge meets at its supervertices what is as light or lighter: the step reads the same, and exchanges
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from statistics import median
from typing import get_args

import pyopencl as cl
from rich.table import Table

import clmst
from benchmarks.dense import Contestants, by_edges, take_turns
from benchmarks.dense_graphs import edges_once, random_rows
from clmst.algorithms.edge_parallel.options import UnionFind
from clmst.algorithms.edge_parallel.solve import EdgeParallelRun
from clmst.bench.tables import median_and_range
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher
from clmst.runtime.profile import Profile

UNION_FINDS = get_args(UnionFind)
STEPS = ("reset", "find", "contract")
AGAIN = "find again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """What one graph took on so many compute units.

    Attributes
    ----------
    name : str
        The graph's.
    n_vertices, n_edges, units : int
    milliseconds : mapping
        Of every repetition, by contestant.
    steps : mapping
        Milliseconds of each step of MP, and of the second once more, by contestant, by the device's
        own clock; the least of all repetitions, since what is wanted is a difference.
    """

    name: str
    n_vertices: int
    n_edges: int
    units: int
    milliseconds: Mapping[str, list[float]]
    steps: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def median(self, name: str) -> float:
        """Return the median of a contestant."""
        return median(self.milliseconds[name])


def by_sets(graph: DeviceGraph, *union_finds: UnionFind) -> Contestants:
    """Return MP with some of its union-finds."""
    return {
        name: by_edges(graph, "edge-parallel", clmst.EdgeParallelOptions(union_find=name))
        for name in union_finds
    }


def divisions(device: clmst.Device) -> Iterator[clmst.Device]:
    """Yield a device of 1, 2, 4, ... compute units of a device, and the whole; or that alone."""
    whole, by_counts = device.cl_device, cl.device_partition_property.BY_COUNTS
    units = 1
    if by_counts in whole.partition_properties:
        while units < whole.max_compute_units:
            counts = [by_counts, units, cl.device_partition_property.BY_COUNTS_LIST_END]
            yield clmst.Device(whole.create_sub_devices(counts)[0], without=device.without)
            units *= 2
    yield device


def step_milliseconds(
    graph: DeviceGraph, union_find: UnionFind, repetitions: int
) -> dict[str, float]:
    """Return what each step of MP takes, and the second once more when it is done.

    Then paths are short and every edge finds at its supervertices what is as light or lighter: it
    reads the same, and has nothing to exchange.
    """
    device, options = graph.device, clmst.EdgeParallelOptions(union_find=union_find)
    taken = []
    for _ in range(repetitions):
        profile = Profile()
        launch = Launcher(device, device.profiling_queue, profile)
        run = EdgeParallelRun(graph, launch, maximum=False, options=options)
        run.begin()
        for number in count():
            steps: list[Callable[[], object]]
            steps = [run.reset, run.find, run.find, partial(run.contract, number)]
            for step, enqueue in zip((*STEPS[:2], AGAIN, STEPS[2]), steps, strict=True):
                with launch.phase(step):
                    enqueue()
            if not run.read_merged(number):
                break
        taken.append(profile.phases())
    return {step: min(one[step].milliseconds for one in taken) for step in (*STEPS, AGAIN)}


def sets_timings(
    device: clmst.Device, n: int, union_finds: tuple[UnionFind, ...], repetitions: int
) -> Iterator[Timing]:
    """Yield what a complete graph takes, by compute units."""
    graph = edges_once(random_rows(n, 1.0, seed=n))
    for part in divisions(device):
        resident = clmst.to_device(graph, part)
        contestants = by_sets(resident, *union_finds)
        times, _ = take_turns(contestants, repetitions)
        yield Timing(
            name="complete",
            n_vertices=n,
            n_edges=graph.n_slots,
            units=part.capabilities.compute_units,
            milliseconds=times,
            steps={name: step_milliseconds(resident, name, repetitions) for name in union_finds},
        )


def sets_table(timings: list[Timing]) -> Table:
    """Return totals and shares, as the paper's Table 2.

    Synchronising is the third step, and of the second what is saved when all is exchanged already.
    """
    table = Table("union-find", "units", "total ms", *(f"{step} %" for step in STEPS), "sync %")
    for name in timings[0].milliseconds:
        for timing in timings:
            steps = timing.steps[name]
            total = sum(steps[step] for step in STEPS)
            shares = [f"{100 * steps[step] / total:.1f}" for step in STEPS]
            sync = steps["contract"] + max(steps["find"] - steps[AGAIN], 0)
            shares.append("" if name == "locked" else f"{100 * sync / total:.1f}")
            table.add_row(
                name, str(timing.units), median_and_range(timing.milliseconds[name]), *shares
            )
    return table
