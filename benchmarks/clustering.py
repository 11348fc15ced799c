"""Clusters beside scikit-learn's and SciPy's, in turns: what users wait for.

    python -m benchmarks.clustering linkage --points 20000     # beside SciPy's linkage of distances
    python -m benchmarks.clustering hdbscan --points 100000    # beside scikit-learn's HDBSCAN
    python -m benchmarks.clustering tree --points 1000000      # dendrogram, cuts, condensed tree

Times are of the processor (all threads), in seconds, and of the wall; the median of the rounds.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import click
import numpy as np
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist

import clmst
from clmst.bench.harness import wall_and_processor_seconds
from clmst.cluster import HDBSCAN
from clmst.core.weight_keys import Array
from clmst.points.condensed import ClusterChoice, condense, label_points
from clmst.points.dendrogram import dendrogram_of

Call = Callable[[], Any]


def points_with_noise(n: int, axes: int) -> Array:
    """Return groups of different density, and a tenth of noise."""
    random = np.random.default_rng(9)
    middles = random.uniform(0, 100, (20, axes))
    group = random.integers(0, 20, n)
    spread = random.uniform(0.5, 3, 20)[group, None]
    points: Array = middles[group] + random.normal(size=(n, axes)) * spread
    noise = random.random(n) < 0.1
    points[noise] = random.uniform(0, 100, (int(noise.sum()), axes))
    return points


def linkage_calls(n: int, axes: int) -> dict[str, Call]:
    """Return single linkage by SciPy, from the points and from distances, and by clmst."""
    X = points_with_noise(n, axes)
    distances = pdist(X)
    return {
        "clmst": lambda: clmst.cluster.single_linkage(X),
        "SciPy, of distances": lambda: hierarchy.linkage(distances, "single"),
        "SciPy, of points": lambda: hierarchy.linkage(X, "single"),
    }


def hdbscan_calls(n: int, axes: int) -> dict[str, Call]:
    """Return HDBSCAN by clmst and scikit-learn, and by fast_hdbscan where it is installed."""
    from sklearn.cluster import HDBSCAN as PEER

    X = points_with_noise(n, axes)
    calls: dict[str, Call] = {
        "clmst": lambda: HDBSCAN(10).fit(X),
        "scikit-learn": lambda: PEER(10, copy=True, n_jobs=-1).fit(X),
    }
    try:
        import fast_hdbscan
    except ImportError:
        return calls
    return calls | {"fast_hdbscan": lambda: fast_hdbscan.HDBSCAN(min_cluster_size=10).fit(X)}


def tree_calls(n: int, axes: int) -> dict[str, Call]:
    """Return what comes after the tree: its edges are those of a random tree of this size."""
    random = np.random.default_rng(4)
    children = np.arange(1, n)
    parents = (random.random(n - 1) ** 0.2 * children).astype(np.int64)
    forest = clmst.Forest(
        n_vertices=n,
        edges=np.stack([parents, children], axis=1),
        weights=random.random(n - 1),
        edge_ids=children - 1,
    )
    tree = dendrogram_of(forest, join_components=False, device=None)
    condensed = condense(tree, 10)
    choice = ClusterChoice(method="eom", epsilon=0.0, max_size=None, allow_single=False)
    counts = np.linspace(2, n // 2, 20).astype(int)
    return {
        "linkage": forest.linkage,
        "cut": lambda: forest.cut(k=100),
        "20 cuts": lambda: forest.cut(k=counts),
        "condense": lambda: condense(tree, 10),
        "choose and label": lambda: label_points(condensed, choice.choose(condensed), 0.0),
    }


def timed(calls: dict[str, Call], rounds: int) -> Iterator[tuple[str, float, float]]:
    """Yield the median processor and wall time of each call; the calls take turns."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for name, call in calls.items():
        if rounds > 1:
            call()  # compiled, and in the caches
        del name
    for _ in range(rounds):
        for name, call in calls.items():
            _, wall, processor = wall_and_processor_seconds(call)
            taken[name].append((processor, wall))
    for name, times in taken.items():
        own, wall = (statistics.median(column) for column in zip(*times, strict=True))
        yield name, own, wall


@click.command()
@click.argument("what", type=click.Choice(["linkage", "hdbscan", "tree"]))
@click.option("--points", "n", type=int, default=20_000, show_default=True)
@click.option("--dimensions", "axes", type=int, default=10, show_default=True)
@click.option("--rounds", type=int, default=3, show_default=True)
@click.option("--without", multiple=True, help="A contestant that takes too long.")
def main(what: str, n: int, axes: int, rounds: int, without: tuple[str, ...]) -> None:
    """Time clusters, and print a row of JSON for each contestant."""
    makers = {"linkage": linkage_calls, "hdbscan": hdbscan_calls, "tree": tree_calls}
    calls = {name: call for name, call in makers[what](n, axes).items() if name not in without}
    for name, own, wall in timed(calls, rounds):
        row = {"what": what, "n": n, "dimensions": axes, "who": name}
        print(json.dumps(row | {"processor_s": round(own, 3), "wall_s": round(wall, 3)}))


if __name__ == "__main__":
    main()
