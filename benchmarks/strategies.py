"""Time the algorithms MP and CU of Ma and Wan beside other algorithms of clmst.

    python -m benchmarks strategies sets [--vertices N] [--union-find NAME]...
    python -m benchmarks strategies families [--scale K]...
    python -m benchmarks strategies schedules [--scale K]...
    python -m benchmarks strategies complete [--largest N]
    python -m benchmarks strategies density [--vertices N]

MP goes over a list of edges. In clmst it is the algorithm `edge-parallel`. CU goes over an
adjacency matrix. In clmst it is `dense` with ``DenseOptions(reread="all")``. Tables and figures are
as in Ma and Wan's paper (docs/papers/hybrid.md).

``sets`` repeats Table 2. It times MP with each of its union-finds on a complete graph, and prints
the share of each step and of synchronising. If the device can be divided, it does so for the whole
device, and then for 1/2, 1/4, ... of its compute units. ``families`` repeats Figure 6, with
circulant graphs with 8 offsets, grids, and R-MAT graphs with 8 edges per vertex. They are also
solved by `clmst.kruskal`, once. ``schedules`` repeats Table 3 with the same graphs: MP divides the
edges by each of its schedules. ``complete`` repeats Table 4 and ``density`` Table 5, on the graphs
of benchmarks/dense.py. If two devices are named, MP runs on the last one, and all other algorithms
on the first. Graphs and matrices are on the device before a solve begins, and MP gets each edge
once. A time ends when the endpoints of the forest are on the device.

The time of synchronising is found without a profiler of the host. The step that finds the lightest
edges is repeated immediately after it is done. Then all paths of the union-find are short, and the
lightest edge of each supervertex is already stored. So the repeated step reads the same data, but
its work-items exchange nothing, and the time that it saves is the time for synchronising.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import get_args

import click
import pyopencl as cl

import clmst
from benchmarks import stated
from benchmarks.agreement import Agreement
from benchmarks.dense import (
    LARGEST,
    MATRIX,
    PROBABILITY,
    VERTICES,
    edges_once,
    over_densities,
    random_rows,
    solved,
)
from benchmarks.plots import lines, medians
from benchmarks.runner import Cases, Row, Rows, Run, Way, case, sizes_up_to, solving
from benchmarks.timing import seconds_of
from clmst.algorithms.edge_parallel import Schedule, UnionFind
from clmst.algorithms.edge_parallel.solve import EdgeParallelRun
from clmst.algorithms.solving import choose
from clmst.bench.canvas import GRID, legend_below, panels
from clmst.bench.harness import WrongResultError
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher, Profile

MP, CU, KRUSKAL = "MP", "CU", "Kruskal"
UNION_FINDS = get_args(UnionFind)
SCHEDULES: tuple[Schedule, ...] = get_args(Schedule)
STEPS = ("reset", "find", "contract")
AGAIN = "find again"


def strategies(graph: clmst.Graph, devices: Sequence[clmst.Device]) -> Mapping[str, Way]:
    """Return, by name, functions that solve a graph by MP, by CU, and by two algorithms of clmst.

    MP goes over a list of edges, on the last of `devices`. CU goes over an adjacency matrix. The
    other two are `dense` with its default options and the algorithm that clmst chooses for the
    device. These three are on the first device.
    """
    device, last = devices[0], devices[-1]
    rows, once = clmst.to_device(graph, device), clmst.to_device(edges_once(graph), last)
    own, _ = choose("auto", device)
    return {
        MP: solving(once, "edge-parallel"),
        CU: solving(rows, "dense", clmst.DenseOptions(reread="all")),
        MATRIX: solving(rows, "dense"),
        own: solving(rows, own),
    }


def kruskal_ms(graph: clmst.Graph, forest: clmst.Forest) -> float:
    """Time Kruskal's algorithm on the host once, and return the milliseconds.

    Raises WrongResultError if it finds another forest than `forest`.
    """
    found: list[clmst.Forest] = []
    seconds = seconds_of(lambda: found.append(clmst.kruskal(graph)))
    if difference := Agreement("all others", forest, by="edges").difference(found[0]):
        raise WrongResultError(f"{KRUSKAL}: {difference}")
    return 1e3 * seconds


def by_sets(graph: DeviceGraph, *union_finds: UnionFind) -> dict[str, Way]:
    """Return functions that solve a graph by MP, by the names of the union-finds that they use.

    MP is the algorithm `edge-parallel`, which goes over a list of edges. It has several variants of
    a union-find, the data structure that keeps the components.
    """
    return {
        name: solving(graph, "edge-parallel", clmst.EdgeParallelOptions(union_find=name))
        for name in union_finds
    }


def divisions(device: clmst.Device) -> Iterator[clmst.Device]:
    """Yield the whole device, then sub-devices with ever fewer compute units: ..., 4, 2, 1.

    So the quickest solves come first. If the device cannot be divided, only the whole device is
    yielded.
    """
    yield device
    whole, by_counts = device.cl_device, cl.device_partition_property.BY_COUNTS
    if by_counts not in whole.partition_properties:
        return
    for power in reversed(range((whole.max_compute_units - 1).bit_length())):
        counts = [by_counts, 1 << power, cl.device_partition_property.BY_COUNTS_LIST_END]
        yield clmst.Device(whole.create_sub_devices(counts)[0], without=device.without)


def step_ms(graph: DeviceGraph, union_find: UnionFind, repetitions: int) -> dict[str, float]:
    """Return the milliseconds of each step of the algorithm MP, which is `edge-parallel` in clmst.

    The step "find" is also run a second time. The keys of the result are the names in STEPS, and
    AGAIN for the second run. The times are measured by the clock of the device. Each is the minimum
    of all repetitions, because differences of the times are used, and minima vary less than
    medians.
    """
    device, options = graph.device, clmst.EdgeParallelOptions(union_find=union_find)
    taken = []
    for _ in range(repetitions):
        profile = Profile()
        launch = Launcher(device, device.profiling_queue, profile)
        run = EdgeParallelRun(graph, launch, maximum=False, options=options)
        run.begin()
        for number in count():
            steps: list[Way] = [run.reset, run.find, run.find, partial(run.contract, number)]
            for step, enqueue in zip((*STEPS[:2], AGAIN, STEPS[2]), steps, strict=True):
                with launch.phase(step):
                    enqueue()
            if not run.read_merged(number):
                break
        taken.append(profile.phases())
    return {step: min(one[step].milliseconds for one in taken) for step in (*STEPS, AGAIN)}


def draw_density(rows: Sequence[Row], file: Path, device: str) -> None:
    """Draw times of MP and CU by density, and their ratio here and in the paper.

    MP goes over a list of edges, and CU over an adjacency matrix. The pictures are Table 5 and
    Figure 8 of the paper.
    """
    title = f"MP and CU on random graphs of {rows[0]['n']:,} vertices, {device}"
    with panels(file, 2, (10, 4.4), title=title) as (times, ratios):
        lines(times, rows, "p")
        times.set(ylabel="milliseconds", ylim=(0, None))
        over = [a / b for a, b in zip(medians(rows, MP), medians(rows, CU), strict=True)]
        ratios.plot([row["p"] for row in rows], over, "D-", color="#555555", label="MP / CU, here")
        paper, values = stated.DENSITIES.keys(), stated.DENSITIES.values()
        label = "MP / CU, paper, n = 16384, MP on 8 cores, CU on a GPU"
        ratios.plot(paper, values, "*--", color="#000000", label=label)
        ratios.axhline(1, color="#999999", linewidth=0.8)
        ratios.set(ylabel="time of MP / time of CU", ylim=(0, None))
        ratios.grid(**GRID)
        for panel in (times, ratios):
            panel.set_xlabel("probability that a pair is an edge")
        legend_below(times, columns=2)


@click.group(cls=Cases)
def main() -> None:
    """Time the strategies MP and CU of Ma and Wan beside clmst's own algorithms.

    MP goes over a list of edges, and CU goes over an adjacency matrix.
    """


@main.add_command
@case(
    VERTICES,
    click.option(
        "--union-find", "union_finds", type=click.Choice(UNION_FINDS), multiple=True,
        default=UNION_FINDS, help="Of all; several times for more. One with a lock takes long.",
    ),
)  # fmt: skip
def sets(run: Run, vertices: int, union_finds: tuple[UnionFind, ...]) -> Rows:
    """Time MP with each union-find on a complete graph, by number of compute units (Table 2).

    MP is the algorithm `edge-parallel`. A union-find is the data structure that keeps the
    components. The time of synchronising is the time of the step "contract", plus the time that the
    step "find" saves when it is run again.
    """
    graph = edges_once(random_rows(vertices))
    for part in divisions(run.device):
        resident = clmst.to_device(graph, part)
        agreement = Agreement("the first", by="edges")
        # No warm-up calls are needed after the first call of each contestant, which is verified,
        # since it builds the kernels. Further calls would take long on a device of one core.
        times = run.turns(by_sets(resident, *union_finds), agreement.difference, warm_ups=0)
        for name in union_finds:
            steps = step_ms(resident, name, run.repetitions)
            total = sum(steps[step] for step in STEPS)
            sync = steps["contract"] + max(steps["find"] - steps[AGAIN], 0)
            row: Row = {"union-find": name, "units": part.capabilities.compute_units}
            row |= {"total ms": times[name]}
            row |= {f"{step} %": 100 * steps[step] / total for step in STEPS}
            row["sync %"] = "" if name == "locked" else f"{100 * sync / total:.1f}"
            yield row | {"_steps": steps}


SCALES = click.option(
    "--scale", "scales", type=click.IntRange(4, 24), multiple=True, default=(18,),
    show_default=True, help="Base-2 logarithm of the number of vertices; again for more.",
)  # fmt: skip


def beside_kruskal(
    run: Run, scales: Sequence[int], ways_of: Callable[[DeviceGraph], dict[str, Way]]
) -> Iterator[Row]:
    """Time solves of sparse graphs beside Kruskal's algorithm, and yield a row for each graph.

    `scales` are the base-2 logarithms of the numbers of vertices. `ways_of` returns the functions
    that solve a graph, by name.
    """
    for scale in scales:
        n, rows = 1 << scale, 1 << scale // 2
        graphs = {
            "circulant (k=8)": clmst.generate("circulant", n=n, offsets=range(1, 9)),
            "grid": clmst.generate("grid", rows=rows, columns=n // rows),
            "RMAT (8x edges)": clmst.generate("rmat", scale=scale, edge_factor=8),
        }
        for name, graph in graphs.items():
            resident = clmst.to_device(graph, run.device)
            agreement = Agreement("the first", by="edges")
            times = run.turns(ways_of(resident), agreement.difference)
            assert agreement.forest is not None
            row = {"graph": name, "n": graph.n_vertices, "edges": graph.n_slots}
            row |= {KRUSKAL: [kruskal_ms(graph, agreement.forest)], **times}
            yield row | {f"{KRUSKAL} / {one}": run.ratio(row, KRUSKAL, one) for one in times}
            del resident
            run.device.release_memory()


@main.add_command
@case(SCALES)
def families(run: Run, scales: tuple[int, ...]) -> Rows:
    """Time MP on sparse graphs beside Kruskal's algorithm (Ma and Wan, Figures 3 and 6).

    MP is the algorithm `edge-parallel`, which goes over a list of edges.
    """
    own, _ = choose("auto", run.device)

    def ways(resident: DeviceGraph) -> dict[str, Way]:
        return by_sets(resident, "atomic-half", "atomic-full") | {own: solving(resident, own)}

    return beside_kruskal(run, scales, ways)


@main.add_command
@case(SCALES)
def schedules(run: Run, scales: tuple[int, ...]) -> Rows:
    """Time MP on sparse graphs by schedule, beside Kruskal's algorithm (Ma and Wan, Table 3).

    A schedule divides the edges of a round among work-groups. "tiles" is clmst's own. The other
    schedules are from OpenMP.
    """

    def ways(resident: DeviceGraph) -> dict[str, Way]:
        return {
            name: solving(resident, "edge-parallel", clmst.EdgeParallelOptions(schedule=name))
            for name in SCHEDULES
        }

    return beside_kruskal(run, scales, ways)


@main.add_command
@case(LARGEST, devices=(1, 2))
def complete(run: Run, largest: int) -> Rows:
    """Time MP and CU on complete graphs of 512 vertices and more (Ma and Wan, Table 4).

    MP goes over a list of edges, and CU over an adjacency matrix.
    """
    return solved(run, sizes_up_to(largest), [1.0], strategies, {KRUSKAL: kruskal_ms})


@main.add_command
@case(VERTICES, PROBABILITY, devices=(1, 2), draw=draw_density)
def density(run: Run, vertices: int, probabilities: tuple[float, ...]) -> Rows:
    """Time MP and CU by density, and find from which density on CU is faster (Table 5).

    MP goes over a list of edges, and CU over an adjacency matrix.
    """
    return over_densities(run, (vertices, probabilities), strategies, (CU, MATRIX), MP)
