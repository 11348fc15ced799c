"""NetworkX's own functions beside those of backend="clmst": a first call, and one more.

    python -m benchmarks.networkx_trees [--function core_number] [--edges 100000] [--rounds 7]
                                        [--clock cpu] [--least]

Each row is a random graph with weights that are random floats. The first call converts the graph;
the next one finds it in NetworkX's cache. All three take turns, and results are compared before
anything is timed. A time is the median of all rounds; garbage is collected before each. `--clock
cpu` takes the processor time of all threads, and `--least` the least time instead of the median:
for a machine that others use.
"""

from __future__ import annotations

import gc
import operator
import random
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import click
import networkx as nx
from rich.console import Console
from rich.table import Table

from clmst.bench.harness import CLOCKS, Contestant, Harness

EDGES_PER_NODE = (50, 10, 2)
# What is timed, and what tells whether two results are the same.
FUNCTIONS: dict[str, Callable[[Any, Any], bool]] = {
    "minimum_spanning_tree": nx.utils.graphs_equal,
    "core_number": operator.eq,
}


def random_graph(n: int, m: int) -> Any:
    """Return a random graph with random weights."""
    G = nx.gnm_random_graph(n, m, seed=1)
    rng = random.Random(1)
    for _, _, data in G.edges(data=True):
        data["weight"] = rng.random()
    return G


def contestants(G: Any, run: Any, same: Callable[[Any, Any], bool]) -> list[Contestant[Any]]:
    """Return NetworkX's function, clmst's with an empty cache, and clmst's with a full one."""
    expected = run(G, backend="networkx")

    def difference(result: Any) -> str:
        return "" if same(result, expected) else "the result is not NetworkX's"

    def empty() -> None:
        G.__networkx_cache__.clear()
        gc.collect()

    def fill() -> None:
        run(G, backend="clmst")
        gc.collect()

    ways = (("NetworkX", "networkx", empty), ("first", "clmst", empty), ("again", "clmst", fill))
    return [
        Contestant(
            name=name, call=partial(run, G, backend=backend), difference=difference, before=before
        )
        for name, backend, before in ways
    ]


@click.command(help=__doc__)
@click.option("--function", type=click.Choice(list(FUNCTIONS)), default=next(iter(FUNCTIONS)))
@click.option("--edges", default=100_000, show_default=True)
@click.option("--rounds", default=7, show_default=True)
@click.option("--clock", type=click.Choice(sorted(CLOCKS)), default="wall", show_default=True)
@click.option("--least", is_flag=True)
def main(function: str, edges: int, rounds: int, clock: str, least: bool) -> None:
    """Time both, and print a table."""
    warnings.filterwarnings("ignore", message="Note: conversions to backend graphs")
    run, same = getattr(nx, function), FUNCTIONS[function]
    table = Table("nodes", "edges", "NetworkX, ms", "first call", "times", "again", "times")
    for density in EDGES_PER_NODE:
        G = random_graph(edges // density, edges)
        harness = Harness(repetitions=rounds, clock=CLOCKS[clock])
        every = harness.run(contestants(G, run, same))
        slow, converted, cached = (
            1e3 * (min(times.seconds) if least else times.median) for times in every
        )
        table.add_row(
            f"{len(G):,}", f"{edges:,}", f"{slow:.0f}", f"{converted:.1f}",
            f"{slow / converted:.1f}", f"{cached:.1f}", f"{slow / cached:.1f}",
        )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    main()
