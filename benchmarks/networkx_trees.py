"""NetworkX's own functions beside those of backend="clmst": a first call, and one more.

    python -m benchmarks.networkx_trees [--function core_number] [--edges 100000] [--rounds 7]

Each row is a random graph with weights that are random floats. The first call converts the graph;
the next one finds it in NetworkX's cache. All three take turns, and results are compared before
anything is timed. A time is the least of all rounds; garbage is collected before each.
"""

from __future__ import annotations

import gc
import operator
import random
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import click
import networkx as nx
from rich.console import Console
from rich.table import Table

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


def least_times(G: Any, calls: Sequence[Callable[[Any], Any]], rounds: int) -> list[float]:
    """Return the least milliseconds of each call; they take turns.

    Before the last call the cache stays as the one before has left it; before others it is empty.
    """
    least = [float("inf")] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            if k < len(calls) - 1:
                G.__networkx_cache__.clear()
            gc.collect()
            start = perf_counter()
            result = call(G)
            least[k] = min(least[k], 1e3 * (perf_counter() - start))
            del result
    return least


@click.command(help=__doc__)
@click.option("--function", type=click.Choice(list(FUNCTIONS)), default=next(iter(FUNCTIONS)))
@click.option("--edges", default=100_000, show_default=True)
@click.option("--rounds", default=7, show_default=True)
def main(function: str, edges: int, rounds: int) -> None:
    """Time both, and print a table."""
    warnings.filterwarnings("ignore", message="Note: conversions to backend graphs")
    run, same = getattr(nx, function), FUNCTIONS[function]
    table = Table("nodes", "edges", "NetworkX, ms", "first call", "times", "again", "times")
    for density in EDGES_PER_NODE:
        G = random_graph(edges // density, edges)

        if not same(run(G, backend="clmst"), run(G, backend="networkx")):
            raise SystemExit("the results differ")
        calls = [partial(run, backend=name) for name in ("networkx", "clmst", "clmst")]
        slow, converted, cached = least_times(G, calls, rounds)
        table.add_row(
            f"{len(G):,}", f"{edges:,}", f"{slow:.0f}", f"{converted:.1f}",
            f"{slow / converted:.1f}", f"{cached:.1f}", f"{slow / cached:.1f}",
        )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    main()
