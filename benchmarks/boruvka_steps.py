"""Time the steps of recursive Borůvka: finding minimum edges beside all other steps.

    python -m benchmarks boruvka_steps [--plot FILE.png]

This repeats Figures 10 to 14 of Sun and Skadron (2013). A dense and a sparse graph have the same
number of edges. The time of finding minimum edges by segmented scan is compared with the time of
all other steps, and with NumPy's sequential minimum of each row. ``--sequential`` also times a
whole solve by Kruskal's algorithm, by SciPy on one core. ``--paper`` also times the two programs
that the paper compares: its Algorithm 4 with find-min-edge on the device and the rest in one thread
of the host, and with all steps in one thread (benchmarks/host_boruvka.py). The paper goes up to 128
M edges (``--largest 134217728``). Before anything is timed, the edges of the forest are compared
with the forest of the algorithm `ecl`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

import clmst
from benchmarks import host_boruvka, stated
from benchmarks.agreement import Agreement
from benchmarks.runner import Row, Rows, Run, case, sizes_up_to, solving
from benchmarks.strategies import KRUSKAL, kruskal_ms
from clmst.bench.canvas import GRID, legend_below, panels, plain_ticks, style
from clmst.bench.harness import WrongResultError, median_seconds
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import KernelTime

KINDS = ("dense", "sparse")
FINDING = ("append", "mark segments", "segmented minimum scan")
SPARSE_DEGREE = 8
FIRST_MINIMA = "NumPy, first minima"
ALGORITHM_4, SEQUENTIAL = "Algorithm 4", "Algorithm 4, sequential"
FINDING_OF, TOTAL_OF = "{}: finding", "{}: total"
FEW = 3  # how often the programs of the paper are timed, which take long
# For the picture: the line style (_LINES) and the label (_LABELS) of each column of the table, and
# the pairs of columns whose ratio is drawn.
_LINES = {KRUSKAL: ":", FIRST_MINIMA: ":", "solve": "-", "other steps": "-", "finding minima": "-"}
_LABELS = {
    KRUSKAL: "the tree, Kruskal", FIRST_MINIMA: "first minima, NumPy", "solve": "the tree, wall",
    "other steps": "all other steps", "finding minima": "minimum edges, all levels",
}  # fmt: skip
_SPEEDUPS = {
    "finding minima": ("finding minima", FIRST_MINIMA), "all of the tree": ("solve", KRUSKAL),
}  # fmt: skip
# The same for rows with times of the paper's two programs.
_PAPER_LINES = {
    TOTAL_OF.format(SEQUENTIAL): ":", TOTAL_OF.format(ALGORITHM_4): "-", "solve": "-",
    FINDING_OF.format(SEQUENTIAL): ":", FINDING_OF.format(ALGORITHM_4): "-", "finding minima": "-",
}  # fmt: skip
_PAPER_LABELS = {
    TOTAL_OF.format(SEQUENTIAL): "the tree, Algorithm 4 on the host",
    TOTAL_OF.format(ALGORITHM_4): "the tree, Algorithm 4, minimum edges on the device",
    "solve": "the tree, boruvka",
    FINDING_OF.format(SEQUENTIAL): "minimum edges, Algorithm 4 on the host",
    FINDING_OF.format(ALGORITHM_4): "minimum edges, Algorithm 4, on the device",
    "finding minima": "minimum edges, boruvka",
}
_PAPER_SPEEDUPS = {
    "finding minima": (FINDING_OF.format(ALGORITHM_4), FINDING_OF.format(SEQUENTIAL)),
    "all of the tree": (TOTAL_OF.format(ALGORITHM_4), TOTAL_OF.format(SEQUENTIAL)),
}


def profiled(graph: DeviceGraph, repetitions: int) -> dict[str, KernelTime]:
    """Return the median time of the kernels in each phase of a solve by `boruvka`.

    The result maps the names of the phases, which are the steps of the algorithm, to their times.
    The graph is solved once to warm up and then `repetitions` times.
    """
    runs = []
    for _ in range(repetitions + 1):
        forest = clmst.minimum_spanning_forest(
            graph, algorithm="boruvka", profile=True, keep_on_device=True
        )
        runs.append(forest.stats["phases"])
    return {
        name: KernelTime(
            launches=runs[0][name].launches,
            milliseconds=median(run[name].milliseconds for run in runs[1:]),
        )
        for name in runs[0]
    }


def check(graph: DeviceGraph) -> clmst.Forest:
    """Raise unless `boruvka` finds exactly the edges that `ecl` finds.

    Returns the forest of `ecl`.
    """
    ours, theirs = (
        clmst.minimum_spanning_forest(graph, algorithm=name) for name in ("boruvka", "ecl")
    )
    if difference := Agreement("ecl", theirs).difference(ours):
        raise WrongResultError(f"boruvka: {difference}")
    return theirs


# ---------------------------------------------------------------------------- graphs


def dense(n_edges: int, rng: np.random.Generator) -> clmst.Graph:
    """Return the complete graph with about `n_edges` edges, as its upper triangle."""
    n = int((1 + np.sqrt(1 + 8 * n_edges)) // 2)
    graph = clmst.generate("complete", n=n)
    weights = rng.integers(0, 1 << 30, graph.n_slots, dtype=np.uint32)
    return graph.replace(weights=weights)


def sparse(n_edges: int, rng: np.random.Generator) -> clmst.Graph:
    """Return a connected random graph with about `n_edges` edges, as its upper triangle.

    The average degree is 16. The edges of a path through all vertices make the graph connected.
    """
    n = n_edges // SPARSE_DEGREE
    rows = np.arange(n - 1, dtype=np.int64)[:, None]
    columns = rng.integers(rows + 1, n, (n - 1, SPARSE_DEGREE))
    columns[:, :1] = rows + 1
    columns.sort(axis=1)
    indptr = np.minimum(np.arange(n + 1, dtype=np.int64), n - 1) * SPARSE_DEGREE
    weights = rng.integers(0, 1 << 30, columns.size, dtype=np.uint32)
    return clmst.Graph(
        indptr=indptr.astype(np.uint32), indices=columns.ravel().astype(np.uint32),
        weights=weights, is_symmetric=False, edge_ids=None, n_input=columns.size,
    )  # fmt: skip


def sequential_finding(graph: clmst.Graph, repetitions: int) -> float:
    """Return the milliseconds that NumPy needs for the minimum of every row of a graph's CSR.

    The benchmark compares this time with finding the lightest edge of each vertex on a device. The
    rows have both directions of each edge. The time is the median of `repetitions` runs.
    """
    full = graph.symmetrised()
    keys = full.weights.astype(np.uint64) << np.uint64(32) | full.indices
    starts = full.indptr[:-1].astype(np.intp)
    return 1e3 * median_seconds(lambda: np.minimum.reduceat(keys, starts), repetitions)


def as_in_paper(
    graph: clmst.Graph, forest: clmst.Forest, device: clmst.Device, repetitions: int
) -> Row:
    """Time Algorithm 4 of Sun and Skadron, with minimum edges found on a device or on the host.

    Returns four cells: the milliseconds of finding minimum edges, and of the whole solve, of both
    programs. `forest` is the right forest, with which all forests are compared.
    """
    first = host_boruvka.first_level(graph)
    cells: Row = {}
    finders: dict[str, host_boruvka.Finder] = {
        ALGORITHM_4: host_boruvka.OnDevice(device), SEQUENTIAL: host_boruvka.Sequential(),
    }  # fmt: skip
    for name, finder in finders.items():
        solves = [host_boruvka.Solve(graph, first, finder).run() for _ in range(repetitions)]
        for one in solves:
            if not np.array_equal(np.flatnonzero(one.in_forest), np.sort(forest.edge_ids)):
                raise WrongResultError(f"{name} finds another forest than ecl")
        cells[FINDING_OF.format(name)] = [one.finding for one in solves]
        cells[TOTAL_OF.format(name)] = [one.total for one in solves]
    return cells


def draw(rows: Sequence[Row], file: Path, device: str) -> None:
    """Draw times by number of edges for dense and sparse graphs, and speedups beside the paper's.

    `rows` are the rows of the table that this benchmark prints, and `device` is a name for the
    title. If the rows have times of the paper's two programs, Algorithm 4 with minimum edges found
    on the device and on the host, the speedups are of these two programs.
    """
    title = f"boruvka: finding minimum edges, and all of the tree, {device}"
    lines, labels, speedups = _LINES, _LABELS, _SPEEDUPS
    if all(TOTAL_OF.format(ALGORITHM_4) in row for row in rows):
        lines, labels, speedups = _PAPER_LINES, _PAPER_LABELS, _PAPER_SPEEDUPS
    with panels(file, 4, (16, 4.8), title=title) as axes:
        for axis, kind in zip(axes, KINDS, strict=False):
            chosen = [row for row in rows if row["graph"] == kind]
            for number, (heading, line) in enumerate(lines.items()):
                here = [row for row in chosen if heading in row]
                times, look = [_one(row[heading]) for row in here], style(number)
                axis.loglog(
                    [row["edges"] for row in here], times, line, label=labels[heading], **look
                )
            axis.set(title=f"{kind} graphs", xlabel="edges", ylabel="milliseconds")
        for axis, (what, (own, slow)) in zip(axes[2:], speedups.items(), strict=True):
            for number, kind in enumerate(KINDS, 6):
                here = [row for row in rows if row["graph"] == kind and slow in row]
                ratios, look = [_one(row[slow]) / _one(row[own]) for row in here], style(number)
                axis.loglog([row["edges"] for row in here], ratios, label=f"{kind} graphs", **look)
                said, color = stated.STEPS[what][kind], str(look["color"])
                stated.mark(axis, stated.STEPS_EDGES, said, f"paper, {kind}", color)
            axis.set(title=f"times as fast as sequential:\n{what}", xlabel="edges")
            axis.axhline(1, color="#999999", linewidth=0.8)
        for axis in axes:
            axis.grid(**GRID)
            axis.xaxis.set_minor_formatter("")
            low, high = axis.get_ylim()
            plain_ticks(axis.yaxis, (1, 3) if high > 10 * low else (1, 1.2, 1.5, 2, 3, 5, 7, 8))
        legend_below(axes[0], columns=4)


def _one(times: Any) -> float:
    return float(median(times)) if isinstance(times, list) else float(times)


@case(
    click.option("--largest", default=1 << 26, show_default=True, help="Edges of the last graph."),
    click.option("--smallest", default=1 << 20, show_default=True, help="Edges of the first."),
    click.option("--sequential", is_flag=True, help="Time Kruskal's algorithm, too."),
    click.option("--paper", is_flag=True, help="Time the two programs of the paper, too."),
    repetitions=7,
    draw=draw,
)
def main(run: Run, largest: int, smallest: int, *, sequential: bool, paper: bool) -> Rows:
    """Time finding minima beside all other steps, for numbers of edges that double."""
    for kind, make in (("dense", dense), ("sparse", sparse)):
        for n_edges in sizes_up_to(largest, min(largest, smallest)):
            host = make(n_edges, np.random.default_rng(n_edges))
            graph = clmst.to_device(host, run.device)
            forest = check(graph)
            phases = profiled(graph, run.repetitions)
            finding = sum(phases[name].milliseconds for name in FINDING)
            everything = sum(time.milliseconds for time in phases.values())
            more = {KRUSKAL: [kruskal_ms(host, forest)]} if sequential else {}
            if paper:
                few = min(run.repetitions, FEW)
                more |= as_in_paper(host, forest, run.device, few)
            row: Row = {"graph": kind, "vertices": host.n_vertices, "edges": host.n_slots}
            row |= {"finding minima": finding, "other steps": everything - finding}
            row[FIRST_MINIMA] = sequential_finding(host, 3)
            yield row | run.turns({"solve": solving(graph, "boruvka")}) | more
            del graph
            run.device.release_memory()
