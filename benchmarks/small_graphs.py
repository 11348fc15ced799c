"""Which algorithm is the quickest on small and on dense graphs: a table of all of them.

    python -m benchmarks small_graphs [--algorithm NAME ...] [--rounds K ...] [--from-edges]

Random graphs of degree 8 and 64, complete graphs, and components of 64 vertices of degree 8 or so.
The graph is on the device as symmetric CSR, and the forest stays there; with --from-edges the graph
stores each edge once, and every solve takes it from the host anew. Algorithms take turns, in
another order each time; every forest is compared with the oracle's before any time is printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.agreement import Agreement
from benchmarks.runner import Rows, Run, case

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


@case(
    click.option("--algorithm", "algorithms", multiple=True, default=ALGORITHMS, metavar="NAME"),
    click.option("--rounds", multiple=True, type=click.IntRange(min=0), help="Of prim-boruvka."),
    click.option("--from-edges", is_flag=True, help="From the host, each edge stored once."),
    repetitions=21,
)
def main(run: Run, algorithms: tuple[str, ...], rounds: tuple[int, ...], from_edges: bool) -> Rows:
    """Time all algorithms on small and on dense graphs."""
    for kind, graph in graphs():
        given = graph if from_edges else clmst.to_device(graph.symmetrised(), run.device)
        solve = partial(
            clmst.minimum_spanning_forest, given, device=run.device, keep_on_device=True
        )
        ways = {
            name: partial(solve, **how) for name, how in contestants(algorithms, rounds).items()
        }
        agreement = Agreement("the oracle", clmst.kruskal(graph))
        times = run.turns(ways, agreement.difference, order="random", warm_ups=0)
        quickest = min(times, key=lambda name: run.of(times[name]))
        sizes = {"n": graph.n_vertices, "slots": 2 * graph.n_edges}
        yield {"graph": kind, **sizes, **times, "quickest": f"`{quickest}`"}
