"""Measure the resident memory of solves of graphs and points, and of many rounds of a solver.

    python -m benchmarks memory graphs 4e6 16e6 [--what "edge arrays"] [--copied]
    python -m benchmarks memory points 1e6 3e6 1e7 [--dimensions 2] [--what tree]
    python -m benchmarks memory mapped 1e6 [--dimensions 2] [--block-points 50000]
    python -m benchmarks memory mapped 5e6 --block-points 200000 --uniform --at-once
    python -m benchmarks memory memberships 1.5e6 --clusters 15000 [--part 1000]
    python -m benchmarks memory rounds --algorithm pma --vertices 100000 --rounds 200

``points`` measures each call with uniform points in a process of its own. The result is the peak of
resident memory, minus the memory of the process right before the call: the interpreter, the driver,
compiled kernels and the points themselves. A small call warms the process up before. On CPUs the
result includes the memory of the OpenCL device, on GPUs it does not.

``mapped`` measures a fit of HDBSCAN with `block_points` to float32 points that stay in a file. The
points lie in a plane, whatever their number of dimensions, or fill all dimensions with
``--uniform``. The result is the peak of the memory that Python and NumPy hold, without the memory
of the device and the mapped file, beside the bound that docs/scaling.md states. With ``--at-once``,
core distances, the tree and labels are computed without blocks, too. They must have the same bits,
and the seconds of both are printed.

``memberships`` fits HDBSCAN to points in clusters of equal size, and computes the ten greatest
memberships of each point. The result is the peak of the whole process. With ``--part``, memberships
are computed for some of the points only, as for new points, and the printed time is the time for
these points.

``graphs`` does the same as ``points`` for graphs with a given number of entries or edges, and also
subtracts the memory of the forest that the call returns. With ``--copied`` the device works on
copies of arrays, as GPUs do. Then the result is the peak of NumPy's arrays and of pinned memory.

``rounds`` prints the memory after 1, 2, 5, 10, ... rounds of a `RepeatedSolver`, each with other
weights, to show whether the memory keeps growing.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.runner import Cases, Row, Rows, Run, case
from benchmarks.timing import wall_and_processor_seconds
from benchmarks.usual_matrices import neighbours, radius, random
from clmst.bench.contestants import as_matrix
from clmst.cluster import (
    HDBSCAN,
    all_points_membership_vectors,
    membership_vector,
    single_linkage,
)
from clmst.core.machine import usable_cores

CALLS: dict[str, Callable[[Any], Any]] = {
    "tree": lambda X: clmst.minimum_spanning_forest(clmst.Points(X)),
    "linkage": single_linkage,
    "hdbscan": lambda X: HDBSCAN(10).fit(X),
}


# Number of entries of the graph that warms a process up. A smaller graph would be solved in a
# single launch, by other kernels than large graphs.
_WARM_UP = 2_500_000


def arrays_of(matrix: Any) -> tuple[Any, ...]:
    """Return the arrays of a COO or CSR matrix as a tuple, in which the data come last."""
    ends = matrix.coords if matrix.format == "coo" else (matrix.indptr, matrix.indices)
    return (*ends, matrix.data)


def _sorted(m: int) -> Any:
    """Return a random symmetric CSR matrix with sorted rows, int32 indices and about m entries.

    It has 16 entries per row.
    """
    return as_matrix(clmst.generate("random", n=m // 16, average_degree=16).symmetrised())


def _edges(m: int) -> tuple[Any, ...]:
    matrix = random(m // 8, m, "coo")
    return (*(ends.astype(np.int64) for ends in matrix.coords), matrix.data)


# The kinds of graphs that users pass to clmst. Each has a function that makes a graph with a given
# number of entries or edges.
GRAPHS: dict[str, Callable[[int], Any]] = {
    "symmetric, sorted, int32": _sorted,
    "symmetric, sorted, float64": lambda m: _sorted(m).astype(np.float64),
    "radius: symmetric, not sorted": lambda m: radius(m // 16, 16),
    "kNN: directed, columns of 64 bits": lambda m: neighbours(m // 10, 10, "distance"),
    "COO, directed": lambda m: random(m // 8, m, "coo"),
    "edge arrays, int64 and float64": _edges,
}


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def peak_of(call: Callable[[], Any]) -> tuple[Any, float, int, int]:
    """Call a function and measure the resident memory of the process meanwhile.

    Returns a tuple: the result of the function, the processor time in seconds, the bytes before the
    call, and the maximum number of bytes during the call.
    """
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # clears the peak so far
    before = resident_bytes()
    result, _, seconds = wall_and_processor_seconds(call)
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    most = next(line.split()[1] for line in lines if line.startswith("VmHWM"))
    return result, seconds, before, 1024 * int(most)


@click.group(cls=Cases)
def main() -> None:
    """Measure resident memory."""


@main.add_command
@case(
    click.argument("numbers", nargs=-1, required=True, type=float),
    click.option("--dimensions", default=2, show_default=True),
    click.option("--what", multiple=True, type=click.Choice(list(CALLS)), default=list(CALLS)),
    repetitions=1,
)
def points(run: Run, numbers: tuple[float, ...], dimensions: int, what: tuple[str, ...]) -> Rows:
    """Measure the memory that calls take, each in a process of its own."""
    del run
    for name in what:
        for number in numbers:
            yield _by_process("call", name, int(number), dimensions)


@main.add_command
@case(
    click.argument("numbers", nargs=-1, required=True, type=float),
    click.option("--dimensions", multiple=True, default=[2], show_default=True),
    click.option("--block-points", default=50_000, show_default=True),
    click.option("--uniform", is_flag=True, help="Points in all dimensions, not in a plane."),
    click.option("--at-once", is_flag=True, help="Compare bits and time with a fit at once."),
    repetitions=1,
)
def mapped(
    run: Run, numbers: tuple[float, ...], dimensions: tuple[int, ...], block_points: int,
    *, uniform: bool, at_once: bool,
) -> Rows:  # fmt: skip
    """Measure the memory that HDBSCAN takes for points that stay in a file."""
    del run
    flags = ["--uniform"] * uniform + ["--at-once"] * at_once
    for number in numbers:
        for dimension in dimensions:
            yield _by_process("fit", int(number), dimension, block_points, *flags)


@main.add_command
@case(
    click.argument("numbers", nargs=-1, required=True, type=float),
    click.option("--clusters", default=15_000, show_default=True),
    click.option("--part", default=0, help="For how many points; 0 means for all."),
    repetitions=1,
)
def memberships(run: Run, numbers: tuple[float, ...], clusters: int, part: int) -> Rows:
    """Measure the memory that the ten greatest memberships of points take."""
    del run
    for number in numbers:
        yield _by_process("belong", int(number), clusters, part)


def _by_process(*command: Any) -> Row:
    """Run a subcommand of this benchmark in a new process, and return the row that it prints.

    `command` is the name of the subcommand and its arguments. The help text does not list these
    subcommands, because they are only meant to be called from here. A new process has no memory
    that earlier measurements have left.
    """
    words = [sys.executable, "-m", "benchmarks", "memory", *map(str, command)]
    row: Row = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    return row


@main.add_command
@case(
    click.argument("numbers", nargs=-1, required=True, type=float),
    click.option("--what", multiple=True, type=click.Choice(list(GRAPHS)), default=list(GRAPHS)),
    click.option("--copied", is_flag=True, help="By a device that takes copies of arrays."),
    repetitions=1,
)
def graphs(run: Run, numbers: tuple[float, ...], what: tuple[str, ...], copied: bool) -> Rows:
    """Measure the memory that solves of graphs take, each in a process of its own."""
    del run
    for name in what:
        for number in numbers:
            yield _by_process("solve", name, int(number), *["--copied"] * copied)


@main.command(hidden=True)
@click.argument("what", type=click.Choice(list(GRAPHS)))
@click.argument("m", type=int)
@click.option("--copied", is_flag=True)
def solve(what: str, m: int, copied: bool) -> None:
    """Solve one graph in this process, and print the row of the table as JSON."""
    device = clmst.get_device()
    if copied:
        device.capabilities = replace(device.capabilities, host_arrays="copied")

    def forest_of(given: Any) -> clmst.Forest:
        graph = clmst.Graph.from_edges(*given) if isinstance(given, tuple) else given
        return clmst.minimum_spanning_forest(graph, device=device)

    forest_of(GRAPHS[what](_WARM_UP))
    device.release_memory()
    given = GRAPHS[what](m)
    arrays = given if isinstance(given, tuple) else arrays_of(given)
    if copied:
        tracemalloc.start()
    forest, seconds, before, most = peak_of(lambda: forest_of(given))
    taken = most - before
    if copied:
        taken = tracemalloc.get_traced_memory()[1] + device.staging.n_bytes
        tracemalloc.stop()
    taken -= sum(array.nbytes for array in (forest.edges, forest.weights, forest.edge_ids))
    of_arrays = sum(array.nbytes for array in arrays)
    click.echo(json.dumps({
        "what": what, "entries": arrays[-1].size, "bytes an entry": of_arrays / arrays[-1].size,
        "beyond": taken / arrays[-1].size, "times the arrays": taken / of_arrays,
        "processor, s": seconds,
    }))  # fmt: skip


@main.command(hidden=True)
@click.argument("what", type=click.Choice(list(CALLS)))
@click.argument("n", type=int)
@click.argument("dimensions", type=int)
def call(what: str, n: int, dimensions: int) -> None:
    """Make one call about points in this process, and print the row of the table as JSON."""
    rng = np.random.default_rng(0)
    CALLS[what](rng.random((2000, dimensions)))
    X = rng.random((n, dimensions))
    _, seconds, before, most = peak_of(lambda: CALLS[what](X))
    row = {"what": what, "points": n, "dimensions": dimensions, "MB in all": round(most / 1e6)}
    row |= {"bytes a point": round((most - before) / n), "processor, s": seconds}
    click.echo(json.dumps(row))


@main.command(hidden=True)
@click.argument("n", type=int)
@click.argument("n_clusters", type=int)
@click.argument("part", type=int)
def belong(n: int, n_clusters: int, part: int) -> None:
    """Compute memberships in this process, and print the row of the table as JSON."""
    rng = np.random.default_rng(0)
    number, side = np.arange(n) % n_clusters, ceil(sqrt(n_clusters))
    X = np.stack([number % side, number // side], axis=1) + 0.06 * rng.normal(size=(n, 2))
    model, fitting, _, of_fit = peak_of(
        lambda: HDBSCAN(max(n // n_clusters // 3, 5), min_samples=5).fit(X)
    )
    top_k = min(10, model.selected_clusters_.size)
    found, seconds, _, most = peak_of(
        lambda: membership_vector(model, X[:part], top_k=top_k) if part
        else all_points_membership_vectors(model, top_k=top_k)
    )  # fmt: skip
    click.echo(json.dumps({
        "points": n, "clusters": model.selected_clusters_.size,
        "exemplars": sum(map(len, model.exemplars_)), "memberships of": len(found[0]),
        "MB in all": round(max(of_fit, most) / 1e6), "fit, processor, s": round(fitting, 1),
        "memberships, processor, s": round(seconds, 1),
    }))  # fmt: skip


@main.command(hidden=True)
@click.argument("n", type=int)
@click.argument("dimensions", type=int)
@click.argument("block_points", type=int)
@click.option("--uniform", is_flag=True)
@click.option("--at-once", is_flag=True)
def fit(n: int, dimensions: int, block_points: int, *, uniform: bool, at_once: bool) -> None:
    """Fit HDBSCAN in this process to N points that stay in a file, and print the memory as JSON."""
    rng = np.random.default_rng(0)
    n_drawn = dimensions if uniform else 2
    drawn = np.eye(n_drawn) if dimensions == n_drawn else rng.random((n_drawn, dimensions))
    with tempfile.TemporaryDirectory() as folder:
        for size in (2 * block_points + 2, n):  # the first is for the programs to be built
            path = Path(folder, f"{size}.npy")
            np.save(path, (rng.random((size, n_drawn)) @ drawn).astype(np.float32))
            points: Any = clmst.read_points(path, mapped=True)
            tracemalloc.start()
            HDBSCAN(10, block_points=block_points).fit(points)
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        stated = 180 * n + 48 * dimensions * block_points + (16 << 20) * usable_cores()
        row: Row = {"points": n, "dimensions": dimensions, "points a block": block_points}
        row |= {"MB in all": round(most / 1e6), "MB stated": round(stated / 1e6)}
        row |= {"bytes a point": round(most / n)}
        if at_once:
            row |= _beside_at_once(points, block_points)
    click.echo(json.dumps(row))


def _beside_at_once(points: clmst.Points, block_points: int) -> Row:
    """Compute core distances and clusters by blocks and at once, and return the seconds of both.

    Raises AssertionError unless core distances, trees and labels have the same bits.
    """
    X, row = np.array(points.coordinates), dict[str, Any]()
    found: list[tuple[Any, HDBSCAN]] = []

    def compute(name: str, given: Any, blocks: int | None) -> None:
        core, seconds, _ = wall_and_processor_seconds(
            lambda: clmst.core_distances(given, 10, block_points=blocks)
        )
        row[f"core {name}, s"] = round(seconds, 2)
        model, seconds, _ = wall_and_processor_seconds(
            lambda: HDBSCAN(10, block_points=blocks).fit(given)
        )
        row[f"HDBSCAN {name}, s"] = round(seconds, 2)
        found.append((core, model))

    compute("by blocks", points, block_points)
    compute("at once", clmst.Points(X), None)
    (core, model), (core_at_once, model_at_once) = found
    assert np.array_equal(core, core_at_once)
    assert model.forest_ == model_at_once.forest_
    assert np.array_equal(model.labels_, model_at_once.labels_)
    assert np.array_equal(model.probabilities_, model_at_once.probabilities_)
    return row


@main.add_command
@case(
    click.option("--algorithm", default="auto", show_default=True),
    click.option("--vertices", default=20_000, show_default=True),
    click.option("--rounds", "n_rounds", default=2000, show_default=True),
    repetitions=1,
)
def rounds(run: Run, algorithm: str, vertices: int, n_rounds: int) -> Rows:
    """Print the memory of this process after 1, 2, 5, 10, ... solves with new weights."""
    graph = clmst.generate("random", n=vertices, average_degree=8.0, seed=1)
    solver = clmst.RepeatedSolver(graph, devices=run.device, algorithm=algorithm)
    shown = {step * 10**power for step in (1, 2, 5) for power in range(7)} | {n_rounds}
    rng = np.random.default_rng(0)
    for k in range(1, n_rounds + 1):
        forest = solver.solve(rng.random(graph.n_edges))
        if forest.edges.shape[0] and k in shown:
            yield {"rounds": k, "MiB": f"{resident_bytes() / 2**20:.1f}"}
