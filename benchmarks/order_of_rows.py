"""Compare the labels of HDBSCAN for the same rows in several orders, for both ways to treat ties.

    python -m benchmarks order_of_rows

Ties are merges at equal distances. Sequential ties take these merges one after the other, so that
the order of the rows can change the clusters. Simultaneous ties take them all together.

There are twenty sets of points: sets of scikit-learn, sets from its generators, and sets of rounded
numbers, counts, ratings and bits, which have many equal distances. Adjusted Rand indices compare
the labels of a set in its own order with the labels in other orders. They also compare the labels
with sequential ties and with simultaneous ties. Noise counts as a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from benchmarks.runner import Rows, Run, case
from clmst.cluster import HDBSCAN
from clmst.core.weight_keys import Array


def standard_sets() -> Iterator[tuple[str, Array, dict[str, Any]]]:
    """Yield the name and the points of each set, and the parameters of HDBSCAN that it needs."""
    from sklearn import datasets
    from sklearn.preprocessing import StandardScaler

    for name in ("iris", "wine", "breast_cancer", "digits", "diabetes"):
        X = getattr(datasets, f"load_{name}")().data
        yield name.replace("_", " "), X, {}
        if name in ("wine", "breast_cancer"):
            yield f"{name.replace('_', ' ')}, standardised", StandardScaler().fit_transform(X), {}
    n, random = 1500, np.random.default_rng(0)
    blobs = datasets.make_blobs(n, random_state=8)[0]
    moons = datasets.make_moons(n, noise=0.05, random_state=0)[0]
    spreads = [1.0, 2.5, 0.5]
    yield "blobs", blobs, {}
    yield (
        "blobs of 3 densities",
        datasets.make_blobs(n, cluster_std=spreads, random_state=170)[0],
        {},
    )
    yield "blobs, stretched", blobs @ np.array([[0.6, -0.6], [-0.4, 0.8]]), {}
    yield "moons", moons, {}
    yield "circles", datasets.make_circles(n, factor=0.5, noise=0.05, random_state=0)[0], {}
    yield "swiss roll", datasets.make_swiss_roll(n, noise=0.3, random_state=0)[0], {}
    yield "uniform, no clusters", random.random((n, 2)), {}
    yield "blobs, to 1 decimal", blobs.round(1), {}
    yield "moons, to 2 decimals", moons.round(2), {}
    yield "counts, 3 columns", random.poisson(3, (n, 3)).astype(float), {}
    yield "counts, 6 columns", random.poisson(3, (n, 6)).astype(float), {}
    ratings = np.clip(random.integers(1, 6, (6, 8))[random.integers(0, 6, n)]
                      + random.integers(-1, 2, (n, 8)), 1, 5)  # fmt: skip
    yield "ratings of 8 films, 1 to 5", ratings.astype(float), {}
    bits = random.random((n, 32)) < random.random((6, 32)).round(1)[random.integers(0, 6, n)]
    yield "32 bits, hamming", bits.astype(float), {"metric": "hamming"}


@case(
    click.option("--min-cluster-size", "smallest", type=int, default=10, show_default=True),
    click.option("--orders", type=int, default=5, show_default=True),
    click.option("--sets", "n_sets", type=int, default=20, show_default=True),
)
def main(run: Run, smallest: int, orders: int, n_sets: int) -> Rows:
    """Compare the labels of HDBSCAN for rows in several orders."""
    from sklearn import cluster
    from sklearn.metrics import adjusted_rand_score

    for name, X, own in [*standard_sets()][:n_sets]:
        given = {"min_cluster_size": smallest, **own}
        models = {
            "sequential": HDBSCAN(**given, device=run.device),
            "simultaneous": HDBSCAN(**given, ties="simultaneous", device=run.device),
            "scikit-learn": cluster.HDBSCAN(**given, copy=True),
        }
        labels = {kind: model.fit_predict(X) for kind, model in models.items()}
        heights = models["sequential"].forest_.weights
        least = dict.fromkeys(models, 1.0)
        for seed in range(orders):
            order = np.random.default_rng(seed).permutation(len(X))
            for kind, model in models.items():
                index = adjusted_rand_score(labels[kind][order], model.fit_predict(X[order]))
                least[kind] = min(least[kind], float(index))
        between = adjusted_rand_score(labels["sequential"], labels["simultaneous"])
        yield {
            "set": name,
            "size": f"{X.shape[0]:,} x {X.shape[1]}",
            "equal heights, %": round(100 * (1 - np.unique(heights).size / heights.size)),
            "clusters, sequential": int(labels["sequential"].max()) + 1,
            "clusters, simultaneous": int(labels["simultaneous"].max()) + 1,
            "index between the two": round(float(between), 3),
            **{f"least index, {kind}": round(index, 3) for kind, index in least.items()},
        }
