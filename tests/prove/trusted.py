"""Random graphs on a device that may be wrong: how many answers are right, refused, or wrong.

    RUSTICL_ENABLE=llvmpipe python -m tests.prove.trusted --device llvmpipe --graphs 1000

A graph counts as refused if clmst raises :class:`clmst.UnsupportedDeviceError`; its reasons are
listed. A wrong answer is one whose edges are not the oracle's. Exits with 1 if there is any.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import click
import numpy as np

import clmst
from clmst import Graph
from clmst.algorithms import ALGORITHMS

_DTYPES = tuple(map(np.dtype, ("u1", "i2", "u4", "i8", "f4", "f8")))
_LEAST, _MOST = 10, 100_000
_DEGREE = 10


def random_graphs(count: int, seed: int) -> Iterator[Graph]:
    """Yield graphs of 10 to 100,000 vertices, of average degree 10; each dtype has its turn."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        n = int(np.exp(rng.uniform(np.log(_LEAST), np.log(_MOST + 1))))
        dtype = _DTYPES[number % len(_DTYPES)]
        u, v = rng.integers(0, n, (2, n * _DEGREE // 2))
        weights = rng.integers(0, 250 if dtype.itemsize > 1 else 100, u.size).astype(dtype)
        graph = Graph.from_edges(u, v, weights, n_vertices=n)
        yield graph.symmetrised() if number % 2 else graph


def outcome(graph: Graph, algorithm: str, device: str) -> tuple[str, str]:
    """Return "right", "wrong" or "refused", and why."""
    try:
        forest = clmst.minimum_spanning_forest(graph, algorithm=algorithm, device=device)
    except clmst.UnsupportedDeviceError as error:
        return "refused", str(error)
    except clmst.OutOfDeviceMemoryError as error:  # a matrix of too many vertices
        return "refused", type(error).__name__
    is_right = np.array_equal(forest.edge_ids, clmst.kruskal(graph).edge_ids)
    return ("right", "") if is_right else ("wrong", f"{graph} by {algorithm}")


def run(device: str, algorithms: tuple[str, ...], graphs: int, seed: int) -> dict[str, Any]:
    """Return how many answers of each kind there were, by algorithm, and all reasons."""
    found: dict[str, Counter[str]] = {name: Counter() for name in algorithms}
    reasons: Counter[str] = Counter()
    for graph in random_graphs(graphs, seed):
        for name in algorithms:
            kind, reason = outcome(graph, name, device)
            found[name][kind] += 1
            if reason:
                reasons[reason] += 1
    return {
        "device": device,
        "graphs": graphs,
        "seed": seed,
        "outcomes": {name: dict(counts) for name, counts in found.items()},
        "reasons": dict(reasons),
    }


@click.command()
@click.option("--device", required=True, help="As of clmst.get_device.")
@click.option("--algorithm", "names", multiple=True, default=("auto",), show_default=True)
@click.option("--every-algorithm", is_flag=True, help='"auto", and each algorithm by its name.')
@click.option("--graphs", default=1000, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(
    device: str, names: tuple[str, ...], every_algorithm: bool, graphs: int, seed: int
) -> None:
    """Solve random graphs on a device, and compare every answer with the oracle."""
    chosen = ("auto", *sorted(ALGORITHMS)) if every_algorithm else names
    found = run(device, chosen, graphs, seed)
    print(json.dumps(found, indent=2))
    sys.exit(any(counts.get("wrong") for counts in found["outcomes"].values()))


if __name__ == "__main__":
    main()
