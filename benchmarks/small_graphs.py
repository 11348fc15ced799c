"""Which algorithm is the quickest on small and on dense graphs: a table of all of them.

    python -m benchmarks.small_graphs [--device NAME] [--repetitions 21] [--algorithm NAME ...]
        [--rounds K ...] [--from-edges]

Random graphs of degree 8 and 64, complete graphs, and components of 64 vertices of degree 8 or so.
The graph is on the device as symmetric CSR, and the forest stays there; with --from-edges the graph
stores each edge once, and every solve takes it from the host anew. Algorithms take turns, in
another order each time; every forest is compared with the oracle's before any time is printed. The
table goes to standard output as Markdown: median milliseconds, and in brackets the least.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import median
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.options import Experiment
from clmst.bench import machine
from clmst.bench.agreement import Agreement
from clmst.bench.harness import Contestant, Harness, by_name
from clmst.runtime.device_graph import DeviceGraph

ALGORITHMS = ("prim", "prim-boruvka", "boruvka", "filter-boruvka", "ecl")
DEGREE, BLOCK = 8, 64  # BLOCK vertices a component


def weighted(u: np.ndarray, v: np.ndarray, n: int, rng: np.random.Generator) -> clmst.Graph:
    """Return the graph with random weights of 30 bits, each edge stored once."""
    weights = rng.integers(0, 1 << 30, u.size).astype(np.uint32)
    return clmst.Graph.from_edges(u, v, weights, n_vertices=n)


def graphs(seed: int = 0) -> Iterator[tuple[str, clmst.Graph]]:
    """Yield the graphs, each after its kind."""
    rng = np.random.default_rng(seed)
    for n in (16, 64, 256, 1 << 10, 1 << 12, 1 << 14, 1 << 16):
        u, v = rng.integers(0, n, (2, DEGREE * n // 2))
        yield f"random, degree {DEGREE}", weighted(u, v, n, rng)
    for n in (1 << 12, 1 << 14, 1 << 16):
        u, v = rng.integers(0, n, (2, 8 * DEGREE * n // 2))
        yield f"random, degree {8 * DEGREE}", weighted(u, v, n, rng)
    for n in (16, 64, 256, 1024, 2048, 4096):
        yield "complete", weighted(*np.triu_indices(n, 1), n, rng)
    for n in (1 << 12, 1 << 16):
        u = np.repeat(np.arange(n), DEGREE // 2)
        v = u // BLOCK * BLOCK + rng.integers(0, BLOCK, u.size)
        yield f"components of {BLOCK}", weighted(u, v, n, rng)


def contestants(algorithms: tuple[str, ...], rounds: tuple[int, ...]) -> dict[str, dict[str, Any]]:
    """Return what to solve with, after its title."""
    chosen: dict[str, dict[str, Any]] = {name: {"algorithm": name} for name in algorithms}
    for k in rounds:
        title = f"prim-boruvka, {k} round{'s' * (k != 1)}"
        chosen[title] = {"options": clmst.PrimBoruvkaOptions(rounds=k)}
    return chosen


def times(
    graph: clmst.Graph | DeviceGraph,
    ways: dict[str, dict[str, Any]],
    expected: clmst.Forest,
    repetitions: int,
) -> dict[str, list[float]]:
    """Return the milliseconds of every solve; raise if a forest is wrong."""
    solve = partial(clmst.minimum_spanning_forest, graph, keep_on_device=True)
    agreement = Agreement("the oracle", expected)
    every = [
        Contestant(name=title, call=partial(solve, **way), difference=agreement.difference)
        for title, way in ways.items()
    ]
    return by_name(Harness(repetitions=repetitions, order="random").run(every))


@click.command(cls=Experiment, help=__doc__)
@click.option("--device", metavar="NAME")
@click.option("--repetitions", type=click.IntRange(min=1), default=21, show_default=True)
@click.option("--algorithm", "algorithms", multiple=True, default=ALGORITHMS, metavar="NAME")
@click.option("--rounds", multiple=True, type=click.IntRange(min=0), help="Of prim-boruvka.")
@click.option("--from-edges", is_flag=True, help="From the host, each edge stored once.")
def main(
    *,
    device: str | None,
    repetitions: int,
    algorithms: tuple[str, ...],
    rounds: tuple[int, ...],
    from_edges: bool,
) -> None:
    chosen = clmst.get_device(device)
    ways = contestants(algorithms, rounds)
    for way in ways.values():
        way |= {"device": chosen}
    click.echo(f"{machine.facts(chosen)}\n")
    click.echo(f"| graph | n | slots | {' | '.join(ways)} | quickest |")
    click.echo(f"|{'---|' * (len(ways) + 4)}")
    for kind, graph in graphs():
        given = graph if from_edges else clmst.to_device(graph.symmetrised(), chosen)
        spent = times(given, ways, clmst.kruskal(graph), repetitions)
        cells = [f"{median(spent[name]):.3g} ({min(spent[name]):.3g})" for name in ways]
        medians = {name: median(of) for name, of in spent.items()}
        quickest = min(medians, key=medians.__getitem__)
        click.echo(
            f"| {kind} | {graph.n_vertices:,} | {2 * graph.n_edges:,} | {' | '.join(cells)} "
            f"| `{quickest}` |"
        )


if __name__ == "__main__":
    main()
