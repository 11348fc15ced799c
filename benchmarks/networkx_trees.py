"""NetworkX's spanning trees beside those of backend="clmst": a first call, and one more.

    python -m benchmarks.networkx_trees [--edges 100000] [--rounds 7]

Each row is a random graph with weights that are random floats. The first call converts the graph;
the next one finds it in NetworkX's cache. All three take turns, and their trees are compared before
anything is timed. A time is the least of all rounds; garbage is collected before each.
"""

from __future__ import annotations

import gc
import random
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import click
import networkx as nx
from rich.console import Console
from rich.table import Table

EDGES_PER_NODE = (50, 10, 2)


def random_graph(n: int, m: int) -> Any:
    """Return a random graph with random weights."""
    G = nx.gnm_random_graph(n, m, seed=1)
    rng = random.Random(1)
    for _, _, data in G.edges(data=True):
        data["weight"] = rng.random()
    return G


def least_times(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Return the least milliseconds of each call; they take turns."""
    least = [float("inf")] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            gc.collect()
            start = perf_counter()
            result = call()
            least[k] = min(least[k], 1e3 * (perf_counter() - start))
            del result
    return least


@click.command(help=__doc__)
@click.option("--edges", default=100_000, show_default=True)
@click.option("--rounds", default=7, show_default=True)
def main(edges: int, rounds: int) -> None:
    """Time both, and print a table."""
    warnings.filterwarnings("ignore", message="Note: conversions to backend graphs")
    table = Table("nodes", "edges", "NetworkX, ms", "first call", "times", "again", "times")
    for density in EDGES_PER_NODE:
        G = random_graph(edges // density, edges)

        def first(G: Any = G) -> Any:
            G.__networkx_cache__.clear()
            return nx.minimum_spanning_tree(G, backend="clmst")

        def again(G: Any = G) -> Any:
            return nx.minimum_spanning_tree(G, backend="clmst")

        def by_networkx(G: Any = G) -> Any:
            return nx.minimum_spanning_tree(G, backend="networkx")

        if not nx.utils.graphs_equal(first(), by_networkx()):
            raise SystemExit("the trees differ")
        slow, converted, cached = least_times([by_networkx, first, again], rounds)
        table.add_row(
            f"{len(G):,}", f"{edges:,}", f"{slow:.0f}", f"{converted:.1f}",
            f"{slow / converted:.1f}", f"{cached:.1f}", f"{slow / cached:.1f}",
        )  # fmt: skip
    Console().print(table)


if __name__ == "__main__":
    main()
