"""Trees, core distances and clusters of random sets of points beside all pairs on the host.

    python -m tests.prove.brute_force [--sets 10000] [--first 0] [--device NAME]

Set number i follows from i alone. It has 2 to 60 points of 1 to 8 dimensions, and every tenth set
12 to 400: uniform, on a lattice, drawn again and again from a few, in clusters of very different
size, or different in the last bits of their coordinates alone; float32 or float64; with core
distances or without; of any metric. Its trees by `bvh-boruvka`, where that takes the metric, and by
`dense` must have the edges of Kruskal's algorithm over all pairs. Its linkage must have SciPy's
heights bit for bit, of the distances of ``pdist`` where there are no core distances, and SciPy's
merges too where no two heights are equal. Its core distances must be those of all pairs, and its
labels and strengths by HDBSCAN those that follow from Kruskal's tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, get_args

import click
import numpy as np

import clmst
from benchmarks.timing import wall_and_processor_seconds
from clmst import Device, Points
from clmst.bench.harness import WrongResultError
from clmst.core.point_checks import BOXED, UNROUNDED
from clmst.core.points import Metric
from clmst.core.weight_keys import Array
from tests.helpers.metrics import points_by
from tests.prove.all_pairs import cluster_difference, tree_difference

_ROUNDED = ("rounded-euclidean", "great-circle", "haversine")
_ON_A_SPHERE = _ROUNDED[1:]
# The last two take points of two coordinates.
_METRICS = (*(one for one in get_args(Metric) if one not in _ON_A_SPHERE), *_ON_A_SPHERE)
_MOST_USUAL = 8  # dimensions of sets that do not have many


def coordinates_of(rng: np.random.Generator, n: int, d: int, dtype: Any) -> tuple[str, Array]:
    """Return a kind of points, and such points."""
    kind = str(rng.choice(["uniform", "lattice", "duplicates", "clusters", "last bits"]))
    coordinates: Array = rng.random((n, d))
    if kind == "lattice":
        coordinates = rng.integers(0, rng.integers(2, 8), (n, d)).astype(np.float64)
    if kind == "duplicates":
        coordinates = coordinates[rng.integers(0, rng.integers(1, n + 1), n)]
    if kind == "clusters":
        coordinates = coordinates[rng.integers(0, 4, n) % n]
        coordinates += rng.normal(size=(n, d)) * 10.0 ** -rng.integers(0, 9, (n, 1))
    if kind == "last bits":
        coordinates = 1 + rng.integers(0, 4, (n, d)) * np.finfo(dtype).eps
    return kind, coordinates.astype(dtype)


def draw(number: int) -> tuple[str, Points]:
    """Return the kind and the points of a set."""
    rng = np.random.default_rng([number, 8])
    n, d = int(rng.integers(2, 61)), int(rng.integers(1, 9))
    if number % 10 == 9:
        d = int(rng.integers(12, 401))
    dtype = (np.float32, np.float64)[int(rng.integers(2))]
    metric: Any = str(rng.choice(_METRICS[: None if d == 2 else -2]))
    kind, coordinates = coordinates_of(rng, n, d, dtype)
    if metric == "cosine":
        coordinates = np.abs(coordinates) + (0 if kind == "last bits" else 1)
    if metric in _ROUNDED:  # distances of some dozens, halves among them
        coordinates = coordinates * dtype(12)
    core = None
    if metric in UNROUNDED and rng.random() < 0.3:  # few different ones, so that weights tie
        core = rng.integers(0, 5, n) * float(np.abs(coordinates).max()) / 4
    return kind, points_by(coordinates, metric, core)


def wrong_of(number: int, points: Points, device: Device) -> str:
    """Return the errors in the results for a set of points. The list is empty if there are none."""
    graph = points.to_graph()
    tree = clmst.minimum_spanning_forest(points, algorithm="dense", device=device)
    if not np.array_equal(tree.edge_ids, clmst.kruskal(graph).edge_ids):
        return "the tree by dense has other edges than Kruskal's"
    if points.metric in BOXED and (wrong := tree_difference(points, device)):
        return wrong
    plain, n = points.with_core_distances(None), points.n_vertices
    rng, everyone = np.random.default_rng([number, 9]), np.arange(n)
    distances = plain.weights_of(everyone[:, None], everyone).astype(np.float64)
    np.fill_diagonal(distances, 0)  # whatever the rounding of a cosine makes of a point itself
    return cluster_difference(
        plain,
        device,
        distances,
        min_samples=int(rng.integers(1, min(n, 9) + 1)),
        min_cluster_size=int(rng.integers(2, 8)),
        cluster_selection_method=str(rng.choice(["eom", "leaf"])),
        allow_single_cluster=bool(rng.integers(2)),
    )


def compare(numbers: Iterable[int], device: Device) -> Counter[str]:
    """Return the number of sets of each kind that were compared. Raises if a set is wrong.

    Raises
    ------
    WrongResultError
        One is not; its number is named.
    """
    kinds: Counter[str] = Counter()
    for number in numbers:
        kind, points = draw(number)
        if wrong := wrong_of(number, points, device):
            raise WrongResultError(
                f"set {number}, {kind}, {points.metric}, {points.coordinates.shape}: {wrong}"
            )
        heights = np.unique(points.to_graph().weights)
        kinds[kind] += 1
        kinds[points.metric] += 1
        kinds["with equal distances"] += heights.size < points.n_edges
        kinds["with core distances"] += points.core_distances is not None
        kinds["of 12 to 400 dimensions"] += points.dimensions > _MOST_USUAL
    return kinds


@click.command()
@click.option("--sets", default=10000, show_default=True, help="How many.")
@click.option("--first", default=0, show_default=True, help="The number of the first one.")
@click.option("--device", help="As of clmst.get_device.")
def main(sets: int, first: int, device: str | None) -> None:
    """Compare trees and clusters of random sets of points with all pairs."""
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
