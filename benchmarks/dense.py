"""`dense` beside `filter-boruvka` and SciPy: complete graphs, and the density at which they cross.

    python -m benchmarks.dense complete [--device NAME] [--largest N] [--json FILE]
    python -m benchmarks.dense density [--device NAME] [--vertices N] [--json FILE] [--plot FILE]

``complete`` does Table 4 of Ma and Wan: complete graphs of n vertices, n doubling from 512 on.
``density`` does their Table 5 and Figure 8: n vertices, each pair an edge with probability p.
Graphs are random, weights random integers of 30 bits. Everything is on the device before a solve
begins, which is timed until the endpoints of the forest are there; `dense` with its matrix kept
from the solve before, and with the matrix built from the rows of the graph. Forests are compared,
edge by edge, before anything is timed; contestants take turns. SciPy's minimum_spanning_tree of
the upper triangle is timed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

import clmst
from benchmarks.dense_graphs import OfDensity, complete_graphs, density_graphs, matrix_of
from benchmarks.options import (
    Experiments,
    complete_sizes,
    device_option,
    json_option,
    largest_option,
    repetitions_option,
    vertices_option,
)
from clmst.bench.agreement import Agreement
from clmst.bench.canvas import GRID, legend_below, panels, style
from clmst.bench.harness import Contestant, Harness, WrongResultError, by_name, seconds_of
from clmst.bench.record import recorded, write_record
from clmst.bench.tables import digits, median_and_range
from clmst.runtime.device_graph import DeviceGraph

MATRIX, BUILT, EDGES = "dense", "dense, matrix built", "filter-boruvka"
SCIPY = "SciPy"
_WIDTH = 150  # letters of a line
PROBABILITIES = (0.01, 0.02, 0.05, *(k / 10 for k in range(1, 11)))

Solve = Callable[[], clmst.DeviceForest]
Contestants = Mapping[str, Solve]
Solvers = Callable[[clmst.Graph, clmst.Device], Contestants]
# A function of a graph and its forest that solves, checks, and returns milliseconds.
Once = Callable[[clmst.Graph, clmst.Forest], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The times of one graph: milliseconds of every repetition, by contestant."""

    n_vertices: int
    probability: float
    n_edges: int
    milliseconds: Mapping[str, list[float]]

    def median(self, name: str) -> float:
        """Return the median of a contestant."""
        return median(self.milliseconds[name])

    def show(self) -> None:
        """Print the times."""
        medians = ", ".join(f"{name} {digits(self.median(name))}" for name in self.milliseconds)
        sizes = f"n {self.n_vertices:,}, p {self.probability:g}"
        click.echo(f"{sizes}, ms: {medians}", err=True)


# ----------------------------------------------------------------------- measurement


def by_edges(graph: DeviceGraph, algorithm: str, options: object = None) -> Solve:
    """Return the solve of a graph on the device."""
    return lambda: clmst.minimum_spanning_forest(
        graph, algorithm=algorithm, options=options, keep_on_device=True
    )


def by_fresh_matrix(graph: DeviceGraph) -> Solve:
    """Return the solve that builds its matrix each time."""

    def solve() -> clmst.DeviceForest:
        for key in [("dense", maximum) for maximum in (False, True)]:
            graph.derived.pop(key, None)
        return clmst.minimum_spanning_forest(graph, algorithm="dense", keep_on_device=True)

    return solve


def take_turns(
    contestants: Contestants, repetitions: int
) -> tuple[dict[str, list[float]], clmst.Forest]:
    """Return milliseconds of each contestant, and the forest that all of them give."""
    agreement = Agreement(next(iter(contestants)), by="edges")
    every = [
        Contestant(name=name, call=solve, difference=agreement.difference)
        for name, solve in contestants.items()
    ]
    times = by_name(Harness(repetitions=repetitions, warm_ups=1).run(every))
    assert agreement.forest is not None
    return times, agreement.forest


def measure(
    device: clmst.Device,
    graphs: Iterable[OfDensity],
    solvers: Solvers,
    repetitions: int,
    once: Mapping[str, Once] | None = None,
) -> Iterator[Point]:
    """Yield the times of graphs: of solvers in turns, and of some that are timed once."""
    for probability, graph in graphs:
        contestants = solvers(graph, device)
        times, forest = take_turns(contestants, repetitions)
        times |= {name: [run(graph, forest)] for name, run in (once or {}).items()}
        yield Point(
            n_vertices=graph.n_vertices,
            probability=probability,
            n_edges=graph.n_slots // 2,
            milliseconds=times,
        )
        del contestants, forest
        device.release_memory()


def scipy_milliseconds(graph: clmst.Graph, forest: clmst.Forest) -> float:
    """Return how long SciPy takes for the upper triangle; raise if its tree weighs less or more."""
    upper = sparse.triu(
        sparse.csr_array(
            (graph.weights + 1, graph.indices.view(np.int32), graph.indptr.view(np.int32))
        ),
        format="csr",
    )  # SciPy takes zeros for no edge
    trees: list[sparse.csr_array] = []
    seconds = seconds_of(lambda: trees.append(minimum_spanning_tree(upper)))
    if int((trees[0].data.astype(np.int64) - 1).sum()) != forest.total_weight:
        raise WrongResultError("SciPy's tree has another weight: a bug in clmst")
    return 1e3 * seconds


def stored_or_listed(graph: clmst.Graph, device: clmst.Device) -> Contestants:
    """Return the solvers of a complete graph."""
    rows = clmst.to_device(graph, device)
    stored = clmst.to_device(clmst.DenseGraph(matrix_of(graph)), device)
    return {
        EDGES: by_edges(rows, EDGES),
        MATRIX: lambda: clmst.minimum_spanning_forest(stored, keep_on_device=True),
    }


def kept_or_built(graph: clmst.Graph, device: clmst.Device) -> Contestants:
    """Return the solvers of a graph of any density."""
    rows, other = clmst.to_device(graph, device), clmst.to_device(graph, device)
    return {
        MATRIX: by_edges(rows, "dense"),
        BUILT: by_fresh_matrix(other),
        EDGES: by_edges(rows, EDGES),
    }


def crossover(points: list[Point], name: str, beside: str = EDGES) -> float | None:
    """Return the density from which on a contestant is faster than another.

    None if it is not, at the greatest density. Between two measured densities, the logarithm of the
    ratio is taken to be linear; where it is faster at the least already, that one.
    """
    gains = [np.log(point.median(beside) / point.median(name)) for point in points]
    slower = [k for k, gain in enumerate(gains) if gain <= 0]
    if not slower:
        return points[0].probability
    last = slower[-1]
    if last + 1 == len(points):
        return None
    share = gains[last] / (gains[last] - gains[last + 1])
    low, high = points[last].probability, points[last + 1].probability
    return float(low + share * (high - low))


# --------------------------------------------------------------------------- telling


def table_of(points: list[Point], slower: str = EDGES, faster: str = MATRIX) -> Table:
    """Return medians and spreads, and how much faster one contestant is than another."""
    names = [*points[0].milliseconds]
    table = Table("n", "p", "edges", *names, f"{slower} / {faster}")
    for point in points:
        cells = map(median_and_range, point.milliseconds.values())
        ratio = point.median(slower) / point.median(faster)
        sizes = f"{point.n_vertices:,}", f"{point.probability:g}", f"{point.n_edges:,}"
        table.add_row(*sizes, *cells, f"{ratio:.2f}")
    return table


def draw(points: list[Point], file: Path, device: str) -> None:
    """Draw times over densities, as the paper's Figure 8."""
    title = f"Random graphs of {points[0].n_vertices:,} vertices as matrices, {device}"
    with panels(file, 1, (7, 4.2), title=title) as (panel,):
        for number, name in enumerate(points[0].milliseconds):
            panel.plot(
                [point.probability for point in points],
                [point.median(name) for point in points],
                label=name,
                **style(number),
            )
        panel.set_xlabel("probability that a pair is an edge")
        panel.set_ylabel("milliseconds")
        panel.set_ylim(bottom=0)
        panel.grid(**GRID)
        legend_below(panel)


# --------------------------------------------------------------------------- commands


@click.group(cls=Experiments)
def main() -> None:
    """Time `dense` beside other algorithms."""


@main.command()
@device_option
@largest_option
@repetitions_option
@json_option
def complete(device: str | None, largest: int, repetitions: int, json_file: Path | None) -> None:
    """Time complete graphs of 512 vertices and more (Table 4)."""
    on = clmst.get_device(device)
    graphs = complete_graphs(complete_sizes(largest))
    once = {SCIPY: scipy_milliseconds}
    measured = measure(on, graphs, stored_or_listed, repetitions, once)
    points = recorded(on, measured, json_file, on_point=Point.show)
    Console(width=_WIDTH).print(table_of(points))


@main.command()
@device_option
@vertices_option
@repetitions_option
@json_option
@click.option("--plot", type=click.Path(path_type=Path), help="Draw them here.")
def density(
    device: str | None, vertices: int, repetitions: int, json_file: Path | None, plot: Path | None
) -> None:
    """Time graphs of rising density, and find where they cross (Table 5 and Figure 8)."""
    on = clmst.get_device(device)
    graphs = density_graphs(vertices, PROBABILITIES)
    measured = measure(on, graphs, kept_or_built, repetitions)
    points = recorded(on, measured, json_file, on_point=Point.show)
    console = Console(width=_WIDTH)
    console.print(table_of(points))
    found = {name: crossover(points, name) for name in (MATRIX, BUILT)}
    for name, at in found.items():
        said = "nowhere" if at is None else f"from p = {at:.2g} on"
        console.print(f"{name} is faster than {EDGES} {said}")
    write_record(on, points, json_file, crossover=found)
    if plot is not None:
        draw(points, plot, on.name)


if __name__ == "__main__":
    main()
