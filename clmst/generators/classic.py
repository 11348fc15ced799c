"""Graphs of theory: grids, paths, stars, cliques, caves, circulants and triangulations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clmst.core.arguments import as_array, check_bool, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.generators.edges import (
    WeightChoice,
    check_integer,
    check_sizes,
    endpoints,
    graph_of_pairs,
    simple_pairs,
    weighted_graph,
)
from clmst.generators.hashing import Stream


def grid(*, rows: int, columns: int, weights: WeightChoice = "int", seed: int = 0) -> Graph:
    """Rectangular grid in which every vertex is joined to its 4 nearest neighbours.

    The vertex in a row and column has the number ``row * columns + column``. Coordinates are set. m
    = 2 rows columns - rows - columns.

    Parameters
    ----------
    rows : int
        Number of rows.
    columns : int
        Number of columns.
    weights, seed
        See :func:`clmst.generate`.

    Notes
    -----
    Source: folklore. Most graph benchmarks have it as "2d-2e20" or "grid2d". O(m log m).

    Examples
    --------
    >>> from clmst.generators import grid
    >>> grid(rows=2, columns=3)
    Graph(n_vertices=6, n_edges=7, weights=int32)
    """
    rows = check_integer("rows", rows, low=0)
    columns = check_integer("columns", columns, low=0)
    n = rows * columns
    check_sizes(vertices=n, edges=2 * n)
    vertices = np.arange(n, dtype=np.int64).reshape(rows, columns)
    across = vertices[:, :-1].ravel(), vertices[:, 1:].ravel()
    down = vertices[:-1].ravel(), vertices[1:].ravel()
    u, v = (np.concatenate(ends) for ends in zip(across, down, strict=True))
    y, x = np.indices((rows, columns), dtype=np.float64)
    coordinates = np.stack([x.ravel(), -y.ravel()], axis=1)
    return weighted_graph(n, u, v, weights=weights, seed=seed, coordinates=coordinates)


def path(*, n: int, weights: WeightChoice = "int", seed: int = 0) -> Graph:
    """Path 0 - 1 - ... - (n - 1), the connected graph with the largest diameter.

    Parameters
    ----------
    n : int
        Number of vertices.
    weights : {"int", "float", "equal", "rising", "ruler"}
        How edges are weighted. ``rising`` makes a single chain of n vertices in the first round of
        Borůvka's algorithm. ``ruler`` makes the algorithm take its maximum number of rounds, log2
        n.
    seed : int
        Determines the random weights.

    Notes
    -----
    Source: folklore. O(n).

    Examples
    --------
    >>> from clmst.generators import path
    >>> path(n=4)
    Graph(n_vertices=4, n_edges=3, weights=int32)
    """
    n = check_integer("n", n, low=0)
    u = np.arange(max(n - 1, 0), dtype=np.int64)
    return weighted_graph(n, u, u + 1, weights=weights, seed=seed)


def star(*, n: int, weights: WeightChoice = "int", seed: int = 0) -> Graph:
    """Star: vertex 0 is joined to all other vertices, which is the largest possible degree.

    Parameters
    ----------
    n : int
        Number of vertices, including the hub.
    weights, seed
        See :func:`clmst.generate`.

    Notes
    -----
    Source: folklore. O(n).

    Examples
    --------
    >>> from clmst.generators import star
    >>> star(n=4)
    Graph(n_vertices=4, n_edges=3, weights=int32)
    """
    n = check_integer("n", n, low=0)
    rim = np.arange(1, max(n, 1), dtype=np.int64)
    return weighted_graph(n, np.zeros_like(rim), rim, weights=weights, seed=seed)


def complete(*, n: int, weights: WeightChoice = "int", seed: int = 0) -> Graph:
    """Complete graph, which has all n (n - 1) / 2 pairs as edges.

    Parameters
    ----------
    n : int
        Number of vertices.
    weights, seed
        See :func:`clmst.generate`.

    Notes
    -----
    Source: folklore. With ``weights="float"`` this is the setting of Frieze (1985), in which the
    weight of the minimum spanning tree tends to zeta(3) = 1.202... O(n**2).

    Examples
    --------
    >>> from clmst.generators import complete
    >>> complete(n=5)
    Graph(n_vertices=5, n_edges=10, weights=int32)
    """
    n = check_integer("n", n, low=0)
    check_sizes(vertices=n, edges=n * (n - 1) // 2)
    u, v = _clique_edges(1, n)
    return weighted_graph(n, u, v, weights=weights, seed=seed)


def cliques(
    *, count: int, size: int, chained: bool = False, weights: WeightChoice = "int", seed: int = 0
) -> Graph:
    """Disjoint cliques, or a chain of cliques that are joined by single edges.

    Without `chained` the forest has one tree for each clique. With `chained` it is one tree, in
    which single edges join dense parts.

    Parameters
    ----------
    count : int
        Number of cliques.
    size : int
        Number of vertices in each clique.
    chained : bool
        Join the last vertex of each clique to the first vertex of the next clique.
    weights, seed
        See :func:`clmst.generate`.

    Notes
    -----
    Source: folklore. O(count size**2).

    Examples
    --------
    >>> from clmst.generators import cliques
    >>> cliques(count=3, size=4, chained=True)
    Graph(n_vertices=12, n_edges=20, weights=int32)
    """
    count = check_integer("count", count, low=0)
    size = check_integer("size", size, low=1)
    check_sizes(vertices=count * size, edges=count * (size * (size - 1) // 2 + 1))
    u, v = _clique_edges(count, size)
    if check_bool("chained", chained):
        last = size * np.arange(1, max(count, 1), dtype=np.int64) - 1
        u, v = np.concatenate([u, last]), np.concatenate([v, last + 1])
    return weighted_graph(count * size, u, v, weights=weights, seed=seed)


def caveman(*, caves: int, size: int, weights: WeightChoice = "int", seed: int = 0) -> Graph:
    """Ring of cliques (caves), in which each clique redirects one edge to the previous clique.

    In every clique the edge between its first two vertices is replaced by an edge from its first
    vertex to the last vertex of the previous clique. The graph is connected.

    Parameters
    ----------
    caves : int
        Number of cliques. A single clique keeps all its edges.
    size : int
        Number of vertices in each clique, at least 3.
    weights, seed
        See :func:`clmst.generate`.

    Notes
    -----
    Source: Watts, "Networks, Dynamics, and the Small-World Phenomenon" (1999). O(caves size**2).

    Examples
    --------
    >>> from clmst.generators import caveman
    >>> caveman(caves=3, size=4)
    Graph(n_vertices=12, n_edges=18, weights=int32)
    """
    caves = check_integer("caves", caves, low=1)
    size = check_integer("size", size, low=3)
    n = caves * size
    check_sizes(vertices=n, edges=caves * (size * (size - 1) // 2))
    u, v = _clique_edges(caves, size)
    if caves > 1:
        moved = (u % size == 0) & (v == u + 1)
        v = np.where(moved, (u - 1) % n, v)
    return weighted_graph(n, u, v, weights=weights, seed=seed)


def circulant(
    *, n: int, offsets: Sequence[int] = (1, 2), weights: WeightChoice = "int", seed: int = 0
) -> Graph:
    """Circulant graph: vertex i is joined to i + d and i - d modulo n for every offset d.

    The offset 1 alone gives a cycle. The degree is twice the number of offsets if all are distinct
    and below n / 2.

    Parameters
    ----------
    n : int
        Number of vertices.
    offsets : sequence of int
        Distances along the ring, each from 1 to n // 2.
    weights, seed
        See :func:`clmst.generate`.

    Notes
    -----
    Source: Elspas and Turner, "Graphs with circulant adjacency matrices" (1970). O(m log m), where
    m = n len(offsets).

    Examples
    --------
    >>> from clmst.generators import circulant
    >>> circulant(n=10, offsets=(1, 3))
    Graph(n_vertices=10, n_edges=20, weights=int32)
    """
    n = check_integer("n", n, low=2)
    distances = as_array("offsets", offsets)
    if distances.size == 0:
        raise InvalidArgumentError("offsets is empty; it must hold at least one distance")
    if distances.ndim != 1:
        raise InvalidArgumentError(f"offsets are {shown(offsets)}; they must be a list of integers")
    offsets = [check_integer("an offset", one, low=1, high=n // 2) for one in distances.tolist()]
    check_sizes(vertices=n, edges=n * len(offsets))
    u = np.tile(np.arange(n, dtype=np.int64), len(offsets))
    v = (u + np.repeat(np.asarray(offsets, dtype=np.int64), n)) % n
    return weighted_graph(n, u, v, weights=weights, seed=seed)


def _clique_edges(count: int, size: int) -> tuple[Array, Array]:
    """Return the edges of `count` disjoint cliques with `size` vertices each, as arrays (u, v).

    Both are int64, and u[i] < v[i]. Clique k has the vertices k * size to (k + 1) * size - 1.
    """
    low, high = np.triu_indices(size, k=1)
    first = size * np.arange(count, dtype=np.int64)[:, None]
    return (first + low).ravel(), (first + high).ravel()


def delaunay(*, n: int, seed: int = 0) -> Graph:
    """Delaunay triangulation of random points in the unit square.

    Coordinates are set, and weights are the Euclidean lengths of edges, as float64. The graph is
    connected and planar. Its minimum spanning tree is the Euclidean minimum spanning tree of the
    points.

    Parameters
    ----------
    n : int
        Number of points.
    seed : int
        Determines the points.

    Notes
    -----
    Source: Delaunay, "Sur la sphère vide" (1934); the "delaunay_n" graphs of the 10th DIMACS
    Implementation Challenge (Bader et al., 2012). Qhull takes O(n log n), about 10 s for a million
    points.

    Examples
    --------
    >>> from clmst.generators import delaunay
    >>> delaunay(n=100).coordinates.shape
    (100, 2)
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
    """Return the triangles of the Delaunay triangulation of points, as vertices of shape (k, 3).

    If there are fewer than three points, the result is one row with all of them.
    """
    if len(points) < 3:
        return np.arange(len(points))[None, :]
    from scipy.spatial import Delaunay

    return np.asarray(Delaunay(points).simplices, dtype=np.int64)
