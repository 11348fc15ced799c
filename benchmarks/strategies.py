"""The one-shot strategies of Ma and Wan as they are, MP and CU, beside clmst's own algorithms.

    python -m benchmarks.strategies sets [--vertices N] [--union-find NAME]...
    python -m benchmarks.strategies families [--scale K]...
    python -m benchmarks.strategies complete [--largest N]
    python -m benchmarks.strategies density [--vertices N]

MP is `edge-parallel`, CU is `dense` with ``DenseOptions(reread="all")``. ``sets`` does the paper's
Table 2: the union-finds of MP on a complete graph, by compute units where the device can be
divided, and the share of each step and of synchronising (benchmarks/union_finds.py). ``families``
does Table 3 and Figure 6: circulant graphs of 8 offsets, grids, and R-MAT graphs of 8 edges a
vertex, beside the oracle, `clmst.kruskal`. ``complete`` does Table 4 and ``density`` Table 5, on
the graphs of benchmarks.dense. All of them take ``--device NAME``, ``--repetitions K`` and ``--json
FILE``. Everything is on the device before a solve begins, matrices too, each edge once for MP; a
solve is timed until the endpoints of the forest are there. Forests are compared before anything is
timed; contestants take turns; Kruskal is timed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

import clmst
from benchmarks.dense import (
    MATRIX,
    PROBABILITIES,
    Contestants,
    Point,
    by_edges,
    crossover,
    measure,
    table_of,
    take_turns,
)
from benchmarks.dense_graphs import complete_graphs, density_graphs, edges_once
from benchmarks.options import (
    Experiments,
    complete_sizes,
    device_option,
    json_option,
    largest_option,
    repetitions_option,
    vertices_option,
)
from benchmarks.union_finds import UNION_FINDS, Timing, by_sets, sets_table, sets_timings
from clmst.algorithms import choose
from clmst.algorithms.edge_parallel.options import UnionFind
from clmst.bench.agreement import Agreement
from clmst.bench.harness import WrongResultError, seconds_of
from clmst.bench.record import recorded
from clmst.bench.tables import digits, median_and_range

MP, CU, KRUSKAL = "MP", "CU", "Kruskal"
_WIDTH = 150  # letters of a line


# ----------------------------------------------------------------------- contestants


def strategies(graph: clmst.Graph, device: clmst.Device) -> Contestants:
    """Return who solves a graph of any density."""
    rows, once = clmst.to_device(graph, device), clmst.to_device(edges_once(graph), device)
    own, _ = choose("auto", device)
    return {
        MP: by_edges(once, "edge-parallel"),
        CU: by_edges(rows, "dense", clmst.DenseOptions(reread="all")),
        MATRIX: by_edges(rows, "dense"),
        own: by_edges(rows, own),
    }


def kruskal_milliseconds(graph: clmst.Graph, forest: clmst.Forest) -> float:
    """Return how long Kruskal's algorithm takes; raise if it finds another forest."""
    found: list[clmst.Forest] = []
    seconds = seconds_of(lambda: found.append(clmst.kruskal(graph)))
    if difference := Agreement("all others", forest, by="edges").difference(found[0]):
        raise WrongResultError(f"{KRUSKAL}: {difference}")
    return 1e3 * seconds


# ----------------------------------------------------------------------- measurement


def families(scale: int) -> Iterator[tuple[str, clmst.Graph]]:
    """Yield the paper's sparse graphs, of 2**scale vertices."""
    n, rows = 1 << scale, 1 << scale // 2
    yield "circulant (k=8)", clmst.generate("circulant", n=n, offsets=range(1, 9))
    yield "grid", clmst.generate("grid", rows=rows, columns=n // rows)
    yield "RMAT (8x edges)", clmst.generate("rmat", scale=scale, edge_factor=8)


def family_timings(
    device: clmst.Device, scales: tuple[int, ...], repetitions: int
) -> Iterator[Timing]:
    """Yield what sparse graphs take, and Kruskal's algorithm."""
    own, _ = choose("auto", device)
    for scale in scales:
        for name, graph in families(scale):
            resident = clmst.to_device(graph, device)
            contestants = {**by_sets(resident, "atomic-half", "atomic-full")}
            contestants[own] = by_edges(resident, own)
            times, forest = take_turns(contestants, repetitions)
            yield Timing(
                name=name,
                n_vertices=graph.n_vertices,
                n_edges=graph.n_slots,
                units=device.capabilities.compute_units,
                milliseconds=times | {KRUSKAL: [kruskal_milliseconds(graph, forest)]},
            )
            del resident, contestants
            device.release_memory()


# --------------------------------------------------------------------------- telling


def show(timing: Timing) -> None:
    """Say that a graph is done."""
    click.echo(f"{timing.name}, {timing.n_vertices:,}, {timing.units} units", err=True)


def family_table(timings: list[Timing]) -> Table:
    """Return times, and in how many of them Kruskal's algorithm is done once, as Table 3."""
    names = [name for name in timings[0].milliseconds if name != KRUSKAL]
    table = Table("graph", "n", "edges", "Kruskal ms", *(f"{name} ms" for name in names))
    for name in names:
        table.add_column(f"Kruskal / {name}")
    for timing in timings:
        sizes = f"{timing.n_vertices:,}", f"{timing.n_edges:,}", digits(timing.median(KRUSKAL))
        cells = (median_and_range(timing.milliseconds[name]) for name in names)
        ratios = (f"{timing.median(KRUSKAL) / timing.median(name):.2f}" for name in names)
        table.add_row(timing.name, *sizes, *cells, *ratios)
    return table


# --------------------------------------------------------------------------- commands


@click.group(cls=Experiments)
def main() -> None:
    """Time MP and CU beside clmst's own algorithms."""


@main.command()
@device_option
@vertices_option
@click.option(
    "--union-find", "union_finds", type=click.Choice(UNION_FINDS), multiple=True,
    default=UNION_FINDS, help="Of all; several times for more. One with a lock takes long.",
)  # fmt: skip
@repetitions_option
@json_option
def sets(
    device: str | None, vertices: int, union_finds: tuple[UnionFind, ...], repetitions: int,
    json_file: Path | None,
) -> None:  # fmt: skip
    """Time MP's union-finds on a complete graph, by compute units (Table 2)."""
    on = clmst.get_device(device)
    measured = sets_timings(on, vertices, union_finds, repetitions)
    timings = recorded(on, measured, json_file, on_point=show)
    Console(width=_WIDTH).print(sets_table(timings))


@main.command("families")
@device_option
@click.option(
    "--scale", "scales", type=click.IntRange(4, 24), multiple=True, default=(18,),
    show_default=True, help="Base-2 logarithm of the number of vertices; several times for more.",
)  # fmt: skip
@repetitions_option
@json_option
def time_families(
    device: str | None, scales: tuple[int, ...], repetitions: int, json_file: Path | None
) -> None:
    """Time MP on sparse graphs beside Kruskal's algorithm (Table 3 and Figure 6)."""
    on = clmst.get_device(device)
    measured = family_timings(on, scales, repetitions)
    timings = recorded(on, measured, json_file, on_point=show)
    Console(width=_WIDTH).print(family_table(timings))


@main.command()
@device_option
@largest_option
@repetitions_option
@json_option
def complete(device: str | None, largest: int, repetitions: int, json_file: Path | None) -> None:
    """Time complete graphs of 512 vertices and more (Table 4)."""
    on = clmst.get_device(device)
    graphs, once = complete_graphs(complete_sizes(largest)), {KRUSKAL: kruskal_milliseconds}
    points = recorded(
        on, measure(on, graphs, strategies, repetitions, once), json_file, on_point=Point.show
    )
    Console(width=_WIDTH).print(table_of(points, MP, CU))


@main.command()
@device_option
@vertices_option
@repetitions_option
@json_option
def density(device: str | None, vertices: int, repetitions: int, json_file: Path | None) -> None:
    """Time graphs of rising density, and find where CU overtakes MP (Table 5)."""
    on = clmst.get_device(device)
    graphs = density_graphs(vertices, PROBABILITIES)
    points = recorded(
        on, measure(on, graphs, strategies, repetitions), json_file, on_point=Point.show
    )
    Console(width=_WIDTH).print(table_of(points, MP, CU))
    for name in (CU, MATRIX):
        at = crossover(points, name, beside=MP)
        said = "nowhere" if at is None else f"from p = {at:.2g} on"
        click.echo(f"{name} is faster than {MP} {said}")


if __name__ == "__main__":
    main()
