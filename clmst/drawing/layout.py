"""Compute positions in the plane for the vertices of a graph without coordinates.

Distances between the positions follow the lengths of shortest paths. The layout minimises the
stress, which is the sum of the squared deviations from these lengths. In a component with up to
1,200 vertices all pairs are in the sum. A larger component is laid out in three steps:

1. Pivot MDS (multidimensional scaling) gives a first map.
2. Up to 1,200 landmarks, which are vertices spread evenly over the map, are placed so that the
   stress of their pairs is minimal.
3. All other vertices move with the nearest landmark, and are then moved further so that the
   lengths of the edges fit.

Components are placed side by side without overlap, the largest ones first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.sparse.linalg import cg

from clmst.core.arguments import as_array
from clmst.core.coercion import as_listed
from clmst.core.errors import InvalidArgumentError
from clmst.core.points import Points as PointSet
from clmst.core.weight_keys import Array

Points = npt.NDArray[np.float64]

_PIVOTS = 30
_LANDMARKS = 1200  # maximum; the time of a round grows with the square of their number
_STRESS_ROUNDS = 40
_RELAX_ROUNDS = 6
_RELAX_STEPS = 10  # steps of conjugate gradients in a round
_GRIP = 10.0  # how firmly landmarks stay, relative to the pull of their edges
_GOLDEN_ANGLE = 2.399963229728653  # its multiples spread evenly around a circle
_WIDEST_RANGE = 1e6  # maximum ratio of lengths; beyond it, short edges would be invisible
_MARGIN = 0.06  # around a component, relative to the side of its square
_SHEET = 1.25  # ratio of width to height of a page with several components
_STRETCHES = (0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0)  # ratios of width to sqrt(area) to try


def layout(graph: Any, *, symmetrize: bool = False) -> Points:
    """Compute positions for the vertices of a graph, so that distances follow shortest paths.

    Weights are used as lengths if all of them are positive and finite, and if the longest is less
    than a million times the shortest. Otherwise every edge has length 1. Components are laid out
    one by one, scaled to squares of side sqrt(vertices), and packed in rows from the largest to the
    smallest.

    Parameters
    ----------
    graph : Graph or other graph in host memory
        Any graph that :func:`clmst.minimum_spanning_forest` accepts, unless its arrays are on a
        device. The edges of a complete graph are listed one by one.
    symmetrize : bool
        Whether a matrix that is not symmetric is accepted, as in
        :func:`clmst.minimum_spanning_forest`.

    Returns
    -------
    ndarray of float64, shape (n_vertices, 2)
        The position of each vertex. The same graph always gets the same positions.

    Notes
    -----
    Sources: pivot MDS, Brandes and Pich (2007); stress majorisation, Gansner, Koren and North
    (2005); the split into landmarks and edges after Ortmann, Klimenta and Brandes, "A sparse stress
    model" (2017). O(m log n) for each of 30 pivots, and O(landmarks**2) per round.

    Examples
    --------
    >>> from clmst import drawing, generators
    >>> drawing.layout(generators.path(n=5)).shape
    (5, 2)
    """
    graph = as_listed(graph, symmetrize=symmetrize)
    n = graph.n_vertices
    u, v, weights, _ = graph.edges()
    lengths = _shortest_parallels(u, v, edge_lengths(weights), n)
    _, labels = connected_components(lengths, directed=False)
    sizes = np.bincount(labels) if n else np.zeros(0, np.int64)
    members = np.argsort(labels, kind="stable").astype(np.int32)
    lengths = lengths[members][:, members]
    ends = np.cumsum(sizes)
    local = np.zeros((n, 2))
    for component in np.flatnonzero(sizes > 1):
        part = slice(ends[component] - sizes[component], ends[component])
        local[part] = _on_square(_place(lengths[part, part]), int(sizes[component]))
    points = np.empty((n, 2))
    points[members] = local + _pack(local, labels[members], sizes)[labels[members]]
    return points


def projected(points: Any) -> Points:
    """Return points in the plane, shape (n, 2).

    Points with more than two coordinates are projected onto their first two principal components.
    For points on a sphere x is the longitude. A row with a NaN or an infinite number becomes NaN.
    Raises :class:`InvalidArgumentError` unless the points are rows of real numbers.
    """
    array = points.on_map if isinstance(points, PointSet) else as_array("points", points)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise InvalidArgumentError(
            f"points have shape {array.shape} and dtype {array.dtype}; they must be rows of real "
            "numbers"
        )
    places = array.astype(np.float64)
    known = np.isfinite(places).all(axis=1)
    places[~known] = np.nan
    if places.shape[1] > 2 and known.any():
        places -= places[known].mean(axis=0)
        axes = np.linalg.eigh(places[known].T @ places[known])[1][:, :-3:-1]
        places = places @ axes
    padding = np.zeros((len(places), max(2 - places.shape[1], 0)))
    return np.concatenate([places[:, :2], padding], axis=1)


def projection_of(points: Any) -> str:
    """Return a text for a caption that says from how many dimensions points are projected.

    It is "" if the points have at most two dimensions and are drawn as they are. `points` have been
    accepted by :func:`projected`.
    """
    array = points.on_map if isinstance(points, PointSet) else as_array("points", points)
    dimensions = array.shape[1]
    return f"projected from {dimensions:,} dimensions" if dimensions > 2 else ""


def edge_lengths(weights: Array) -> npt.NDArray[np.float64]:
    """Convert weights to lengths of edges, and return the lengths.

    A length is the weight divided by the median weight. If weights cannot serve as lengths, all
    lengths are 1. That is so unless all weights are positive and finite, and the greatest weight is
    less than a million times the least.
    """
    lengths = weights.astype(np.float64)
    if lengths.size == 0:
        return lengths
    shortest, longest = float(lengths.min()), float(lengths.max())
    if not (shortest > 0 and longest < np.inf and longest / shortest < _WIDEST_RANGE):
        return np.ones(lengths.size)
    return lengths / float(np.median(lengths))


def _on_square(points: Points, n: int) -> Points:
    """Scale the points of a component of n vertices to a square of side sqrt(n) at the origin."""
    low: Points = points.min(axis=0)
    extent = float((points.max(axis=0) - low).max())
    return (points - low) * (math.sqrt(n) / extent) if extent else points - low


def _pack(local: Points, labels: Array, sizes: Array) -> Points:
    """Arrange components in rows without overlap, and return the position of each, shape (k, 2).

    The highest components come first. `local` has the position of each vertex relative to its
    component, and `labels` its component. `sizes` has the number of vertices of each component.
    """
    boxes = np.zeros((sizes.size, 2))
    np.maximum.at(boxes, labels, local)
    margin = (_MARGIN * np.sqrt(sizes) + 0.4)[:, None]
    boxes += margin
    area, widest = float(boxes.prod(axis=1).sum()), float(boxes[:, 0].max(initial=0.0))
    sheets = {max(widest, stretch * math.sqrt(area)) for stretch in _STRETCHES}
    tries = (_rows_of(boxes, sheet) for sheet in sorted(sheets))
    # The best packing is the one that can be drawn largest on a page of the wanted shape.
    corners, _ = min(tries, key=lambda packed: max(packed[1][0] / _SHEET, packed[1][1]))
    return corners + margin / 2


def _rows_of(boxes: Points, sheet: float) -> tuple[Points, tuple[float, float]]:
    """Arrange boxes in rows, so that no row is wider than `sheet`.

    `boxes` has the width and height of each box. Returns the lower left corner of each box, and the
    width and height of the whole arrangement.
    """
    widths, heights = boxes.T.tolist()
    order = np.argsort(-boxes[:, 1], kind="stable").tolist()
    corners = [(0.0, 0.0)] * len(order)
    x = y = right = row_height = 0.0
    for box in order:
        if x > 0 and x + widths[box] > sheet * (1 + 1e-9):
            x, y, row_height = 0.0, y - row_height, 0.0
        row_height = max(row_height, heights[box])
        corners[box] = x, y - heights[box]
        x += widths[box]
        right = max(right, x)
    return np.reshape(corners, (-1, 2)), (right, row_height - y)


# --------------------------------------------------------------------- a component


def _place(lengths: Any) -> Points:
    """Compute positions for the vertices of a connected graph, given as a symmetric CSR of lengths.

    The longer axis of the result is horizontal.
    """
    n = lengths.shape[0]
    if n <= _LANDMARKS:
        distances = dijkstra(lengths)
        first_map = _pivot_mds(_far_apart(distances.__getitem__, n))
        return _upright(_least_stress(distances, first_map))
    rows = _far_apart(lambda v: dijkstra(lengths, indices=np.array([v]))[0], n)
    first_map = _pivot_mds(rows)
    landmarks = _evenly_spread(first_map)
    owner, between = _cells(landmarks, lengths)
    placed = _least_stress(dijkstra(between), first_map[landmarks])
    moved = first_map + (placed - first_map[landmarks])[owner]
    return _upright(_relax(lengths, moved, landmarks))


def _upright(points: Points) -> Points:
    """Move points so that their mean is 0, and turn their longer principal axis horizontal.

    The points are mirrored so that they reach farther from their mean to the right and upwards.
    """
    points = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(points.T @ points)
    turned: Points = points @ axes[:, ::-1]
    return turned * np.where((turned**3).sum(axis=0) < 0, -1.0, 1.0)


# --------------------------------------------------------------------- the map


def _far_apart(distances_from: Callable[[int], Array], n: int) -> Array:
    """Choose up to 30 vertices, the pivots, and return the distances from them to all vertices.

    The result has the shape (k, n), where n is the number of vertices. Each pivot is as far as
    possible from all previous pivots. ``distances_from(v)`` returns the distances from vertex v.
    """
    rows = [distances_from(0)]
    nearest = rows[0]
    while len(rows) < min(_PIVOTS, n):
        rows.append(distances_from(int(np.argmax(nearest))))
        nearest = np.minimum(nearest, rows[-1])
    return np.stack(rows)


def _pivot_mds(rows: Array) -> Points:
    """Return positions of n vertices in the plane, shape (n, 2), by pivot MDS.

    They fit the given distances from k vertices, the pivots. `rows` has these distances, shape
    (k, n).
    """
    squares = rows * rows
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1, keepdims=True)
    _, vectors = np.linalg.eigh(squares @ squares.T)
    points: Points = (vectors[:, :-3:-1].T @ squares).T
    if points.shape[1] < 2:
        points = np.pad(points, ((0, 0), (0, 2 - points.shape[1])))
    reach = np.sqrt(((points - points[np.argmin(rows[0])]) ** 2).sum(axis=1))
    scale = float(rows[0] @ reach) / max(float(reach @ reach), np.finfo(float).tiny)
    # Positions are computed from the distances to a few vertices, the pivots. Vertices with equal
    # distances to all pivots would get the same position, and later steps could not separate them,
    # because no direction would be better than another. So each vertex is moved a little in a
    # direction of its own.
    turn = _GOLDEN_ANGLE * np.arange(len(points))
    blur = 0.01 * float(rows[0].max())
    return scale * points + blur * np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _least_stress(distances: Array, points: Points) -> Points:
    """Move points until the distances between them fit given distances.

    Short distances are fitted best. `distances` has the shape (n, n), and `points` the shape
    (n, 2).
    """
    n = len(points)
    if n < 3:
        return points
    off_diagonal = ~np.eye(n, dtype=bool)
    weights = np.zeros((n, n))
    np.divide(1.0, distances * distances, out=weights, where=off_diagonal)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + 1.0 / n) - 1.0 / n
    weights *= distances
    for _ in range(_STRESS_ROUNDS):
        squares = (points * points).sum(axis=1)
        apart = np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * (points @ points.T), 1e-12))
        pull = weights / apart
        points = inverse @ (pull.sum(axis=1)[:, None] * points - pull @ points)
    return points


# ------------------------------------------------------------------- landmarks


def _evenly_spread(points: Points) -> npt.NDArray[np.int64]:
    """Choose landmarks, which are vertices that are spread evenly over the points.

    They are the vertices nearest to the middle of each cell of a grid. The grid is the finest that
    gives at most 1,200 landmarks. `points` has the position of each vertex. Returns the indices of
    the landmarks.
    """
    low = points.min(axis=0)
    extent = float((points.max(axis=0) - low).max())
    for across in (96, 84, 74, 66, 58, 51, 45, 40, 36, 33):
        at = (points - low) * (across / extent)
        cell = np.floor(at).astype(np.int64)
        number = cell[:, 0] * (across + 1) + cell[:, 1]
        if np.unique(number).size <= _LANDMARKS:
            break
    off_middle = ((at - cell - 0.5) ** 2).sum(axis=1)
    order = np.lexsort((off_middle, number))
    return np.sort(order[np.flatnonzero(np.diff(number[order], prepend=-1))])


def _cells(landmarks: Array, lengths: Any) -> tuple[npt.NDArray[np.int64], Any]:
    """Assign each vertex to the nearest landmark.

    The vertices of a landmark are its cell. Returns two things: for each vertex, the index of its
    landmark in `landmarks`, and a graph of the landmarks. In this graph, two landmarks are joined
    if an edge joins their cells. The length is the length of the shortest path from one landmark to
    the other through an edge that joins their cells. One run of Dijkstra's algorithm from all
    landmarks finds both results.
    """
    reach, _, nearest = dijkstra(
        lengths, indices=landmarks, min_only=True, return_predecessors=True
    )
    owner = np.searchsorted(landmarks, nearest)
    edges = sparse.triu(lengths).tocoo()
    touching = owner[edges.row] != owner[edges.col]
    u, v = edges.row[touching], edges.col[touching]
    through = reach[u] + edges.data[touching] + reach[v]
    a, b = np.minimum(owner[u], owner[v]), np.maximum(owner[u], owner[v])
    return owner, _shortest_parallels(a, b, through, len(landmarks))


def _shortest_parallels(u: Array, v: Array, lengths: Array, n: int) -> Any:
    """Return the symmetric CSR of some edges. Of parallel edges only the shortest is kept.

    Edge i is (u[i], v[i]), where u[i] < v[i], with the length ``lengths[i]``, in a graph of n
    vertices.
    """
    order = np.lexsort((lengths, v, u))
    _, first = np.unique(u[order].astype(np.int64) * n + v[order], return_index=True)
    chosen = order[first]
    u, v = u[chosen].astype(np.int32), v[chosen].astype(np.int32)  # older csgraph needs int32
    both = np.concatenate([u, v]), np.concatenate([v, u])
    return sparse.coo_array((np.tile(lengths[chosen], 2), both), shape=(n, n)).tocsr()


def _relax(lengths: Any, points: Points, landmarks: Array) -> Points:
    """Move vertices so that edges come closer to the given lengths, and return the positions.

    `points` has the positions of all vertices before. The vertices in `landmarks` stay almost in
    place. Each round takes some steps of conjugate gradients, preconditioned by the diagonal.
    """
    n = lengths.shape[0]
    edges = sparse.triu(lengths).tocoo()
    u, v = edges.row, edges.col
    springs = lengths.copy()
    springs.data = 1.0 / springs.data
    stiffness = np.asarray(springs.sum(axis=1)).ravel()
    grip = np.zeros(n)
    grip[landmarks] = _GRIP * stiffness[landmarks]
    system = (sparse.diags_array(stiffness + grip) - springs).tocsr()
    scale = sparse.diags_array(1.0 / (stiffness + grip))
    points = np.ascontiguousarray(points.T)  # one row for each axis is faster than two columns
    pull = grip * points
    for _ in range(_RELAX_ROUNDS):
        span = points[:, u] - points[:, v]
        span /= np.sqrt((span * span).sum(axis=0)) + 1e-12  # stiffness * length is 1: unit pushes
        for axis in range(2):
            force = pull[axis] + np.bincount(u, span[axis], n) - np.bincount(v, span[axis], n)
            points[axis], _ = cg(
                system, force, points[axis], rtol=1e-6, maxiter=_RELAX_STEPS, M=scale
            )
    return np.ascontiguousarray(points.T)
