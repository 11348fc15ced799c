"""Positions in the plane whose distances follow the shortest paths of a connected graph.

Up to some thousand vertices every pair counts. Larger graphs are laid out in three steps: pivot MDS
gives a first map; some hundred landmarks, spread evenly over it, are placed by the stress of all
their pairs; the rest follows its landmarks and is then relaxed along the edges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from clmst.core.weight_keys import Array

Points = npt.NDArray[np.float64]

_PIVOTS = 30
_LANDMARKS = 1200  # at most: their stress costs the square of their number a round
_STRESS_ROUNDS = 40
_FOLLOW_STEPS = 50  # of conjugate gradients: enough to reach across the cell of a landmark
_RELAX_ROUNDS = 5
_RELAX_STEPS = 10
_GRIP = 10.0  # how firmly landmarks stay while the rest relaxes, over the pull of their edges
_GOLDEN_ANGLE = 2.399963229728653  # successive multiples of it spread evenly round a circle


def place(lengths: Any) -> Points:
    """Lay out a connected graph.

    Parameters
    ----------
    lengths : scipy.sparse CSR array, shape (n, n)
        Symmetric; edge lengths of about 1, all positive and finite.

    Returns
    -------
    ndarray of float64, shape (n, 2)
        Centred, the longer axis horizontal.

    Notes
    -----
    Sources: pivot MDS, Brandes and Pich (2007); stress majorisation, Gansner, Koren and North
    (2005); the split into landmarks and edges after Ortmann, Klimenta and Brandes, "A sparse
    stress model" (2017). O(m log n) for each of 30 pivots, and O(landmarks**2) a round.
    """
    n = lengths.shape[0]
    if n <= _LANDMARKS:
        distances = dijkstra(lengths)
        first_map = _pivot_mds(_far_apart(distances.__getitem__, n))
        return upright(_least_stress(distances, first_map))
    rows = _far_apart(lambda v: dijkstra(lengths, indices=np.array([v]))[0], n)
    first_map = _pivot_mds(rows)
    landmarks = _evenly_spread(first_map)
    cells = Cells.around(landmarks, lengths)
    placed = _least_stress(dijkstra(cells.graph), first_map[landmarks])
    return upright(_follow(lengths, first_map, landmarks, placed, cells.owner))


def upright(points: Points) -> Points:
    """Centre points; turn the longer principal axis horizontal, the longer tails right and up."""
    points = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(points.T @ points)
    turned: Points = points @ axes[:, ::-1]
    return turned * np.where((turned**3).sum(axis=0) < 0, -1.0, 1.0)


# --------------------------------------------------------------------- the map


def _far_apart(distances_from: Callable[[int], Array], n: int) -> Array:
    """Return the distances from pivots, each as far as possible from those before: (k, n)."""
    rows = [distances_from(0)]
    nearest = rows[0]
    while len(rows) < min(_PIVOTS, n):
        rows.append(distances_from(int(np.argmax(nearest))))
        nearest = np.minimum(nearest, rows[-1])
    return np.stack(rows)


def _pivot_mds(rows: Array) -> Points:
    """Return the plane that fits the distances from k pivots best; `rows` has shape (k, n)."""
    squares = rows * rows
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1, keepdims=True)
    _, vectors = np.linalg.eigh(squares @ squares.T)
    points: Points = (vectors[:, :-3:-1].T @ squares).T
    if points.shape[1] < 2:
        points = np.pad(points, ((0, 0), (0, 2 - points.shape[1])))
    reach = np.sqrt(((points - points[np.argmin(rows[0])]) ** 2).sum(axis=1))
    scale = float(rows[0] @ reach) / max(float(reach @ reach), np.finfo(float).tiny)
    # Vertices that all pivots see alike would stay on one spot for ever: none of the steps that
    # follow can tell in which direction to part them.
    turn = _GOLDEN_ANGLE * np.arange(len(points))
    blur = 0.01 * float(rows[0].max())
    return scale * points + blur * np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _least_stress(distances: Array, points: Points) -> Points:
    """Move points until their distances follow those given, the short ones most faithfully."""
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
    """Choose a vertex near the middle of each cell of the finest grid that is not too fine."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Each vertex belongs to its nearest landmark."""

    owner: npt.NDArray[np.int64]  # shape (n,): position in the list of landmarks
    graph: Any  # shape (k, k): shortest paths between landmarks of cells that touch

    @classmethod
    def around(cls, landmarks: Array, lengths: Any) -> Cells:
        """Divide the graph; one run of Dijkstra's algorithm from all landmarks together."""
        reach, _, nearest = dijkstra(
            lengths, indices=landmarks, min_only=True, return_predecessors=True
        )
        owner = np.searchsorted(landmarks, nearest)
        edges = sparse.triu(lengths).tocoo()
        u, v = edges.row, edges.col
        touching = owner[u] != owner[v]
        u, v = u[touching], v[touching]
        through = reach[u] + edges.data[touching] + reach[v]
        a, b = np.minimum(owner[u], owner[v]), np.maximum(owner[u], owner[v])
        graph = shortest_parallels(a, b, through, len(landmarks))
        return cls(owner=owner, graph=graph)


def shortest_parallels(u: Array, v: Array, lengths: Array, n: int) -> Any:
    """Return a symmetric CSR array with the shortest of each set of parallel edges, u < v."""
    order = np.lexsort((lengths, v, u))
    u, v, lengths = u[order], v[order], lengths[order]
    first = np.ones(u.size, bool)
    first[1:] = (u[1:] != u[:-1]) | (v[1:] != v[:-1])
    u, v, lengths = u[first], v[first], lengths[first]
    u, v = u.astype(np.int32), v.astype(np.int32)  # csgraph of older SciPy takes no others
    both = np.concatenate([u, v]), np.concatenate([v, u])
    return sparse.coo_array((np.concatenate([lengths, lengths]), both), shape=(n, n)).tocsr()


def _follow(
    lengths: Any, first_map: Points, landmarks: Array, placed: Points, owner: Array
) -> Points:
    """Take all vertices from the first map to where their landmarks went, then relax the edges."""
    n = lengths.shape[0]
    edges = sparse.triu(lengths).tocoo()
    u, v = edges.row, edges.col
    springs = lengths.copy()
    springs.data = 1.0 / springs.data
    stiffness = np.asarray(springs.sum(axis=1)).ravel()
    grip = np.zeros(n)
    grip[landmarks] = _GRIP * stiffness[landmarks]
    system = (sparse.diags_array(stiffness + grip) - springs).tocsr()
    moved = placed - first_map[landmarks]
    points = np.empty((2, n))
    for axis in range(2):  # one row an axis: columns of two would be slow to add and multiply
        pull = np.zeros(n)
        pull[landmarks] = grip[landmarks] * moved[:, axis]
        shift = _solve(system, pull, moved[owner, axis], _FOLLOW_STEPS)
        points[axis] = first_map[:, axis] + shift
    pull = np.zeros((2, n))
    pull[:, landmarks] = grip[landmarks] * placed.T
    for _ in range(_RELAX_ROUNDS):
        span = points[:, u] - points[:, v]
        span /= np.sqrt((span * span).sum(axis=0)) + 1e-12  # spring times length is 1: unit pushes
        for axis in range(2):
            push = np.bincount(u, span[axis], n) - np.bincount(v, span[axis], n)
            points[axis] = _solve(system, pull[axis] + push, points[axis], _RELAX_STEPS)
    return np.ascontiguousarray(points.T)


def _solve(system: Any, right: Array, start: Array, steps: int) -> Array:
    """Take some steps of conjugate gradients, scaled by the diagonal, from a good start."""
    scale = 1.0 / system.diagonal()
    solution = start.copy()
    residual = right - system @ solution
    preconditioned = scale * residual
    direction = preconditioned.copy()
    energy = _dot(residual, preconditioned)
    enough = 1e-8 * energy
    for _ in range(steps):
        if energy <= enough:
            break
        image = system @ direction
        step = energy / _dot(direction, image)
        solution += step * direction
        residual -= step * image
        preconditioned = scale * residual
        energy, last = _dot(residual, preconditioned), energy
        direction *= energy / last
        direction += preconditioned
    return solution


def _dot(a: Array, b: Array) -> float:
    """Return an inner product without BLAS, whose threads cost more than they save here."""
    return float(np.einsum("i,i", a, b))
