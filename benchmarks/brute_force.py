"""Trees of small random sets of points beside all pairs, and their linkage beside SciPy's.

    python -m benchmarks.brute_force [--sets 10000] [--first 0] [--device NAME]

Set number i follows from i alone. It has 2 to 60 points of 1 to 6 dimensions: uniform, on a
lattice, drawn again and again from a few, or in clusters of very different size; float32 or
float64; with core distances or without; of one of the metrics that `bvh-boruvka` takes. Its tree by
`bvh-boruvka` must have the edges of Kruskal's algorithm over all pairs. Its linkage must have
SciPy's heights bit for bit, of the distances of ``pdist`` where there are no core distances, and
SciPy's merges too where no two heights are equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.options import device_option
from benchmarks.prove.trees_of_points import difference
from clmst import Device, Points
from clmst.algorithms.bvh_boruvka import choice
from clmst.bench.harness import WrongResultError, wall_and_processor_seconds
from clmst.core.weight_keys import Array


def coordinates_of(rng: np.random.Generator, n: int, d: int) -> tuple[str, Array]:
    """Return a kind of points, and such points."""
    kind = str(rng.choice(["uniform", "lattice", "duplicates", "clusters"]))
    if kind == "lattice":
        return kind, rng.integers(0, rng.integers(2, 8), (n, d)).astype(np.float64)
    coordinates: Array = rng.random((n, d))
    if kind == "duplicates":
        coordinates = coordinates[rng.integers(0, rng.integers(1, n + 1), n)]
    if kind == "clusters":
        coordinates = coordinates[rng.integers(0, 4, n) % n]
        coordinates += rng.normal(size=(n, d)) * 10.0 ** -rng.integers(0, 9, (n, 1))
    return kind, coordinates


def draw(number: int) -> tuple[str, Points]:
    """Return the kind and the points of a set."""
    rng = np.random.default_rng([number, 7])
    n, d = int(rng.integers(2, 61)), int(rng.integers(1, 7))
    kind, coordinates = coordinates_of(rng, n, d)
    metric: Any = rng.choice(choice.METRICS)
    if metric == "cosine":
        coordinates = np.abs(coordinates) + 1
    if rng.random() < 0.5:
        coordinates = coordinates.astype(np.float32)
    core = None
    if rng.random() < 0.3:  # few different ones, so that weights tie
        core = rng.integers(0, 5, n) * float(np.abs(coordinates).max()) / 4
    return kind, Points(coordinates, str(metric), core)  # type: ignore[arg-type]  # one of them


def compare(numbers: Iterable[int], device: Device) -> Counter[str]:
    """Return how many sets of each kind were compared; all are right.

    Raises
    ------
    WrongResultError
        One is not; its number is named.
    """
    kinds: Counter[str] = Counter()
    for number in numbers:
        kind, points = draw(number)
        wrong = difference(points, device)
        if wrong:
            raise WrongResultError(
                f"set {number}, {kind}, {points.metric}, {points.coordinates.shape}: {wrong}"
            )
        heights = np.unique(points.to_graph().weights)
        kinds[kind] += 1
        kinds["with equal distances"] += heights.size < points.n_edges
        kinds["with core distances"] += points.core_distances is not None
    return kinds


@click.command()
@click.option("--sets", default=10000, show_default=True, help="How many.")
@click.option("--first", default=0, show_default=True, help="The number of the first one.")
@device_option
def main(sets: int, first: int, device: str | None) -> None:
    """Compare trees of random sets of points with all pairs."""
    found = clmst.get_device(device)
    kinds, _, seconds = wall_and_processor_seconds(
        lambda: compare(range(first, first + sets), found)
    )
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    click.echo(
        f"{found.description}: {sets} sets are right ({counts}); {seconds:.0f} s of processor"
    )


if __name__ == "__main__":
    main()
