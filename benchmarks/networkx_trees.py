"""Time NetworkX's functions with and without backend="clmst", in a first and in a repeated call.

    python -m benchmarks networkx_trees [--function core_number] [--edges 100000]

Each row is a random graph whose weights are random floats. The first call converts the graph. The
repeated call finds the converted graph in NetworkX's cache. All three contestants take turns.
Results are compared before anything is timed, and garbage is collected before each call.
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

from benchmarks.runner import Rows, Run, case
from benchmarks.timing import by_name
from clmst.bench.harness import Contestant

EDGES_PER_NODE = (50, 10, 2)
# The functions of NetworkX to time, each with a function that says whether two results are equal.
FUNCTIONS: dict[str, Callable[[Any, Any], bool]] = {
    "minimum_spanning_tree": nx.utils.graphs_equal,
    "core_number": operator.eq,
}


def random_graph(n: int, m: int) -> Any:
    """Return a random NetworkX graph of `n` nodes and `m` edges, with random floats as weights."""
    G = nx.gnm_random_graph(n, m, seed=1)
    rng = random.Random(1)
    for _, _, data in G.edges(data=True):
        data["weight"] = rng.random()
    return G


def contestants(G: Any, run: Any, same: Callable[[Any, Any], bool]) -> list[Contestant[Any]]:
    """Return three contestants: a NetworkX function by NetworkX itself, and twice by clmst.

    In "first", clmst has to convert the graph `G`. In "again", NetworkX's cache has the converted
    graph. `run` is the function, and `same` says whether two of its results are equal.
    """
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


@case(
    click.option("--function", type=click.Choice(list(FUNCTIONS)), default=next(iter(FUNCTIONS))),
    click.option("--edges", default=100_000, show_default=True),
    repetitions=7,
)
def main(run: Run, function: str, edges: int) -> Rows:
    """Time NetworkX's own functions, and clmst as their backend."""
    warnings.filterwarnings("ignore", message="Note: conversions to backend graphs")
    solve, same = getattr(nx, function), FUNCTIONS[function]
    for density in EDGES_PER_NODE:
        G = random_graph(edges // density, edges)
        times = by_name(run.harness().run(contestants(G, solve, same)))
        ratios = {
            f"NetworkX / {way}": run.ratio(times, "NetworkX", way) for way in ("first", "again")
        }
        yield {"nodes": len(G), "edges": edges, **times, **ratios}
