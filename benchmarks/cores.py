"""`core_numbers` of complete graphs, of random ones, and of files beside NetworkX.

    python -m benchmarks.cores complete [--device NAME] [--largest N] [--json FILE]
    python -m benchmarks.cores random [--device NAME] [--vertices N] [--degree D] [--json FILE]
    python -m benchmarks.cores files FILE... [--device NAME] [--json FILE]

``complete`` does Table 6 of Ma and Wan. A graph is on the device before anything is timed, with
both directions of its edges or with one, and times end with the numbers on the host. They are
checked first: n - 1 everywhere for complete graphs; for random ones, those of the graph stored in
the other way; for files, those of NetworkX, which is timed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.table import Table

import clmst
from benchmarks.options import (
    Experiments,
    complete_sizes,
    device_option,
    json_option,
    largest_option,
    repetitions_option,
)
from clmst.bench.harness import Contestant, Harness, seconds_of
from clmst.bench.record import write_record
from clmst.bench.tables import median_and_range
from clmst.core import pairs

BOTH, ONCE, NETWORKX = "both directions", "one direction", "NetworkX"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The times of one graph: milliseconds of every repetition, by contestant."""

    name: str
    n_vertices: int
    n_edges: int
    greatest: int
    milliseconds: Mapping[str, list[float]]


def complete_graph(n: int, *, both: bool) -> clmst.Graph:
    """Return a complete graph as rows; its weights take little memory."""
    indptr, indices = pairs.rows(n), pairs.columns(n)
    if both:
        indptr = np.arange(n + 1, dtype=np.uint32) * np.uint32(n - 1)
        rows = np.tile(np.arange(n - 1, dtype=np.uint32), (n, 1))
        for u in range(n):
            rows[u, u:] += 1
        indices = rows.ravel()
    return clmst.Graph(
        indptr=indptr,
        indices=indices,
        weights=np.ones(indices.size, np.uint8),
        is_symmetric=both,
        edge_ids=None,
        n_input=indices.size,
    )


def time_cores(
    graph: clmst.Graph, device: clmst.Device, expected: np.ndarray, repetitions: int
) -> list[float]:
    """Return milliseconds of each repetition, after one whose result is checked."""
    resident = clmst.to_device(graph, device)

    def difference(cores: np.ndarray) -> str:
        return "" if np.array_equal(cores, expected) else "other core numbers than expected"

    contestant = Contestant(
        name="core_numbers", call=lambda: clmst.core_numbers(resident), difference=difference
    )
    (times,) = Harness(repetitions=repetitions).run([contestant])
    device.release_memory()
    return times.milliseconds


def by_networkx(graph: clmst.Graph) -> tuple[np.ndarray, float]:
    """Return the core numbers, and in how many milliseconds NetworkX found them."""
    import networkx as nx

    u, v, _, _ = graph.edges()
    peer = nx.empty_graph(graph.n_vertices)
    peer.add_edges_from(zip(u.tolist(), v.tolist(), strict=True))
    found: dict[int, int] = {}
    seconds = seconds_of(lambda: found.update(nx.core_number(peer)))
    return np.array([found[vertex] for vertex in range(graph.n_vertices)]), 1e3 * seconds


def complete_points(device: clmst.Device, sizes: list[int], repetitions: int) -> Iterator[Point]:
    """Yield the times of complete graphs."""
    for n in sizes:
        expected = np.full(n, n - 1)
        times = {
            name: time_cores(complete_graph(n, both=name == BOTH), device, expected, repetitions)
            for name in (BOTH, ONCE)
        }
        yield Point(
            name="complete", n_vertices=n, n_edges=pairs.count(n), greatest=n - 1,
            milliseconds=times,
        )  # fmt: skip


def graph_point(
    name: str, graph: clmst.Graph, device: clmst.Device, repetitions: int, *, beside: bool
) -> Point:
    """Return the times of a graph, beside NetworkX on request."""
    if beside:
        expected, taken = by_networkx(graph)
        others = {NETWORKX: [taken]}
    else:
        expected, others = clmst.core_numbers(graph, device=device), {}
    ways = {BOTH: graph.symmetrised()} | ({} if graph.is_symmetric else {ONCE: graph})
    times = {way: time_cores(one, device, expected, repetitions) for way, one in ways.items()}
    return Point(
        name=name,
        n_vertices=graph.n_vertices,
        n_edges=graph.n_edges,
        greatest=int(expected.max(initial=0)),
        milliseconds=times | others,
    )


def tell(device: clmst.Device, points: list[Point], file: Path | None) -> None:
    """Print medians and spreads; write everything that was measured."""
    names = list(dict.fromkeys(name for point in points for name in point.milliseconds))
    table = Table("graph", "n", "edges", "greatest", *(f"{name} ms" for name in names))
    for point in points:
        cells = (median_and_range(point.milliseconds.get(name, [])) for name in names)
        sizes = f"{point.n_vertices:,}", f"{point.n_edges:,}", f"{point.greatest:,}"
        table.add_row(point.name, *sizes, *cells)
    Console(width=150).print(table)
    write_record(device, points, file)


@click.group(cls=Experiments)
def main() -> None:
    """Time `core_numbers`."""


@main.command()
@device_option
@largest_option
@repetitions_option
@json_option
def complete(device: str | None, largest: int, repetitions: int, json_file: Path | None) -> None:
    """Time complete graphs of 512 vertices and more (Table 6)."""
    on = clmst.get_device(device)
    sizes = complete_sizes(largest)
    tell(on, list(complete_points(on, sizes, repetitions)), json_file)


@main.command()
@device_option
@click.option("--vertices", type=click.IntRange(min=16), default=3_800_000, show_default=True)
@click.option("--degree", type=click.IntRange(min=1), default=8, show_default=True)
@repetitions_option
@json_option
def random(
    device: str | None, vertices: int, degree: int, repetitions: int, json_file: Path | None
) -> None:
    """Time a random graph."""
    on = clmst.get_device(device)
    graph = clmst.generate("random", n=vertices, average_degree=degree, weights="equal")
    tell(on, [graph_point("random", graph, on, repetitions, beside=False)], json_file)


@main.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@device_option
@repetitions_option
@json_option
def files(
    files: tuple[Path, ...], device: str | None, repetitions: int, json_file: Path | None
) -> None:
    """Time simple graphs in files, beside NetworkX."""
    on = clmst.get_device(device)
    points = [
        graph_point(file.name, clmst.Graph.read(file), on, repetitions, beside=True)
        for file in files
    ]
    tell(on, points, json_file)


if __name__ == "__main__":
    main()
