"""Clusters of points without a given number of clusters, and clusters at several heights at once.

Prints::

    3 clusters of [106, 105, 101] points, 18 of noise
    joined up to 0.2: 49 clusters
    joined up to 0.5: 26 clusters
    joined up to 1.0: 16 clusters
"""

from __future__ import annotations

import numpy as np

import clmst
from clmst.cluster import HDBSCAN


def main() -> None:
    """Cluster three groups and some noise, then cut the same tree at other heights."""
    random = np.random.default_rng(0)
    groups = [random.normal(at, 0.3, (100, 2)) for at in ((0, 0), (4, 0), (2, 5))]
    points = np.concatenate([*groups, random.uniform(-3, 8, (30, 2))])

    model = HDBSCAN(min_cluster_size=20).fit(points)
    sizes = np.bincount(model.labels_ + 1)
    print(f"{sizes.size - 1} clusters of {sizes[1:].tolist()} points, {sizes[0]} of noise")

    forest = clmst.minimum_spanning_forest(clmst.Points(points))
    heights = [0.2, 0.5, 1.0]
    for height, labels in zip(heights, forest.cut(height=heights), strict=True):
        print(f"joined up to {height}: {labels.max() + 1} clusters")


if __name__ == "__main__":
    main()
