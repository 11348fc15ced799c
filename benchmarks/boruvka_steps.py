"""The time of recursive Borůvka by step, and of finding minima beside the rest.

    python -m benchmarks.boruvka_steps phases GRAPH ... [--device NAME]
    python -m benchmarks.boruvka_steps sweep [--device NAME] [--plot FILE.png] [--json FILE]

``phases`` prints the device time of every named step of Algorithm 1 of Vineet et al. (HPG '09).
``sweep`` does Figures 10 to 14 of Sun and Skadron (2013): the same number of edges as a dense and
as a sparse graph; finding minimum edges by segmented scan against all other steps, and against
NumPy's sequential minimum of each row. Totals are checked against `ecl`'s before anything is timed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click
import numpy as np
from rich.console import Console
from rich.table import Table

import clmst
from benchmarks.options import Experiments
from clmst.bench.agreement import Agreement
from clmst.bench.canvas import GRID, panels
from clmst.bench.harness import WrongResultError, median_seconds
from clmst.bench.record import write_record
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.profile import KernelTime

FINDING = ("append", "mark segments", "segmented minimum scan")
SPARSE_DEGREE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Device milliseconds of one graph's solve."""

    kind: str
    n_vertices: int
    n_edges: int
    finding: float
    rest: float
    numpy_finding: float
    total_wall: float


def profiled(graph: DeviceGraph, repetitions: int) -> dict[str, KernelTime]:
    """Return the median time of every phase."""
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


def check(graph: DeviceGraph) -> None:
    """Raise unless `boruvka` finds the very edges that `ecl` finds."""
    ours, theirs = (
        clmst.minimum_spanning_forest(graph, algorithm=name) for name in ("boruvka", "ecl")
    )
    if difference := Agreement("ecl", theirs).difference(ours):
        raise WrongResultError(f"boruvka: {difference}")


def solve_ms(graph: DeviceGraph, repetitions: int) -> float:
    """Return the median milliseconds of a solve, after a warm-up."""

    def solve() -> object:
        return clmst.minimum_spanning_forest(graph, algorithm="boruvka", keep_on_device=True)

    return 1e3 * median_seconds(solve, repetitions)


# ---------------------------------------------------------------------------- graphs


def dense(n_edges: int, rng: np.random.Generator) -> clmst.Graph:
    """Return the complete graph of about so many edges, as its upper triangle."""
    n = int((1 + np.sqrt(1 + 8 * n_edges)) // 2)
    rows = np.arange(n, dtype=np.int64)
    indptr = np.concatenate([[0], np.cumsum(n - 1 - rows)])
    indices = np.arange(indptr[-1]) - np.repeat(indptr[:-1], n - 1 - rows)
    indices += np.repeat(rows + 1, n - 1 - rows)
    return _graph(indptr, indices, rng)


def sparse(n_edges: int, rng: np.random.Generator) -> clmst.Graph:
    """Return a random graph of average degree 16, as its upper triangle, connected by a path."""
    n = n_edges // SPARSE_DEGREE
    rows = np.arange(n - 1, dtype=np.int64)[:, None]
    columns = rng.integers(rows + 1, n, (n - 1, SPARSE_DEGREE))
    columns[:, :1] = rows + 1
    columns.sort(axis=1)
    indptr = np.minimum(np.arange(n + 1, dtype=np.int64), n - 1) * SPARSE_DEGREE
    return _graph(indptr, columns.ravel(), rng)


def _graph(indptr: np.ndarray, indices: np.ndarray, rng: np.random.Generator) -> clmst.Graph:
    weights = rng.integers(0, 1 << 30, indices.size, dtype=np.uint32)
    return clmst.Graph(
        indptr=indptr.astype(np.uint32),
        indices=indices.astype(np.uint32),
        weights=weights,
        is_symmetric=False,
        edge_ids=None,
        n_input=indices.size,
    )


def sequential_finding(graph: clmst.Graph, repetitions: int) -> float:
    """Return the milliseconds of NumPy's sequential minimum of every row of the symmetric graph."""
    full = graph.symmetrised()
    keys = full.weights.astype(np.uint64) << np.uint64(32) | full.indices
    starts = full.indptr[:-1].astype(np.intp)
    return 1e3 * median_seconds(lambda: np.minimum.reduceat(keys, starts), repetitions)


def points(device: clmst.Device, largest: int, repetitions: int) -> Iterator[Point]:
    """Yield the measurements of both kinds, from 1 M edges to `largest`, doubling."""
    for kind, make in (("dense", dense), ("sparse", sparse)):
        n_edges = 1 << 20
        while n_edges <= largest:
            host = make(n_edges, np.random.default_rng(n_edges))
            graph = clmst.to_device(host, device)
            check(graph)
            phases = profiled(graph, repetitions)
            finding = sum(phases[name].milliseconds for name in FINDING)
            everything = sum(time.milliseconds for time in phases.values())
            yield Point(
                kind=kind,
                n_vertices=host.n_vertices,
                n_edges=host.n_slots,
                finding=finding,
                rest=everything - finding,
                numpy_finding=sequential_finding(host, 3),
                total_wall=solve_ms(graph, repetitions),
            )
            del graph
            device.release_memory()
            n_edges *= 2


# --------------------------------------------------------------------------- commands


@click.group(cls=Experiments)
def main() -> None:
    """Time the steps of recursive Borůvka."""


@main.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--device", default=None, help="As of clmst solve.")
@click.option("--repetitions", default=7, show_default=True)
def phases(files: tuple[Path, ...], device: str | None, repetitions: int) -> None:
    """Print the device time of every step."""
    console = Console()
    for file in files:
        graph = clmst.to_device(clmst.read_graph(file), device)
        check(graph)
        times = profiled(graph, repetitions)
        total = sum(time.milliseconds for time in times.values())
        wall = solve_ms(graph, repetitions)
        table = Table("step", "launches", "ms", "share", title=f"{file.name}: {wall:.3f} ms in all")
        for name, time in times.items():
            share = f"{time.milliseconds / total:.1%}"
            table.add_row(name, str(time.launches), f"{time.milliseconds:.3f}", share)
        table.add_row("all", "", f"{total:.3f}", "")
        console.print(table)


@main.command()
@click.option("--device", default=None, help="As of clmst solve.")
@click.option("--largest", default=1 << 26, show_default=True, help="Edges of the last graph.")
@click.option("--repetitions", default=7, show_default=True)
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Write the figures here."
)
@click.option("--plot", type=click.Path(path_type=Path), help="Draw them here.")
def sweep(
    device: str | None, largest: int, repetitions: int, json_file: Path | None, plot: Path | None
) -> None:
    """Time finding minimum edges against the other steps, dense and sparse."""
    on = clmst.get_device(device)
    table = Table("graph", "vertices", "edges", "finding ms", "rest ms", "NumPy ms", "wall ms")
    measured = []
    for point in points(on, largest, repetitions):
        measured.append(point)
        table.add_row(
            point.kind, f"{point.n_vertices:,}", f"{point.n_edges:,}", f"{point.finding:.3f}",
            f"{point.rest:.3f}", f"{point.numpy_finding:.1f}", f"{point.total_wall:.3f}",
        )  # fmt: skip
    Console().print(table)
    write_record(on, measured, json_file)
    if plot is not None:
        draw(measured, plot, on.name)


def draw(measured: list[Point], file: Path, device: str) -> None:
    """Draw time against edges: finding minima, all other steps, and NumPy's finding."""
    title = f"boruvka: finding minimum edges beside all other steps, {device}"
    with panels(file, 2, (9, 3.8), title=title, share_y=True) as axes:
        for axis, kind in zip(axes, ("dense", "sparse"), strict=True):
            chosen = [point for point in measured if point.kind == kind]
            edges = [point.n_edges for point in chosen]
            axis.loglog(edges, [p.numpy_finding for p in chosen], "^:", label="first minima, NumPy")
            axis.loglog(edges, [p.rest for p in chosen], "s-", label="all other steps")
            axis.loglog(edges, [p.finding for p in chosen], "o-", label="minimum edges, all levels")
            axis.set(title=f"{kind} graphs", xlabel="edges")
            axis.grid(**GRID)
        axes[0].set_ylabel("milliseconds")
        axes[0].legend(frameon=False)


if __name__ == "__main__":
    main()
