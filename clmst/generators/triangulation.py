"""The Delaunay triangulation of random points."""

from __future__ import annotations

import numpy as np

from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.generators.checks import check_integer, check_sizes
from clmst.generators.edges import endpoints, graph_of_pairs, simple_pairs
from clmst.generators.hashing import Stream


def delaunay(*, n: int, seed: int = 0) -> Graph:
    """Delaunay triangulation of random points in the unit square.

    Coordinates are set; weights are the Euclidean lengths, float64. Connected and planar; its
    minimum spanning tree is the Euclidean one of the points.

    Parameters
    ----------
    n : int
        Number of points.
    seed : int
        What the points follow from.

    Notes
    -----
    Source: Delaunay, "Sur la sphère vide" (1934); the "delaunay_n" graphs of the 10th DIMACS
    Implementation Challenge (Bader et al., 2012). Qhull's O(n log n), some 10 s a million points.
    """
    n = check_integer("n", n, low=0)
    check_sizes(vertices=n, edges=3 * n)
    points = Stream.named(seed, "delaunay").uniform(2 * n).reshape(n, 2)
    corners = _triangles(points)
    pairs = simple_pairs(corners.ravel(), np.roll(corners, -1, axis=1).ravel())
    low, high = endpoints(pairs)
    span = points[low] - points[high]
    lengths = np.sqrt(span[:, 0] * span[:, 0] + span[:, 1] * span[:, 1])
    return graph_of_pairs(n, pairs, lengths, coordinates=points)


def _triangles(points: Array) -> Array:
    """Return the vertices of the triangles, shape (k, 3); below three points, all that is there."""
    if len(points) < 3:
        return np.arange(len(points))[None, :]
    from scipy.spatial import Delaunay

    return np.asarray(Delaunay(points).simplices, dtype=np.int64)
