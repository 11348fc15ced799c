"""Where to draw the vertices of a graph that does not say: trees apart, large ones first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components

from clmst.core.coercion import as_listed
from clmst.core.weight_keys import Array
from clmst.drawing.stress import Points, place, shortest_parallels

_WIDEST_RANGE = 1e6  # of lengths: beyond it the short ones would not show
_MARGIN = 0.06  # round a component, over the side of its square
_SHEET = 1.25  # width over height of a sheet of several components
_STRETCHES = (0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0)  # tried: sheet widths over root of area


def layout(graph: Any, *, symmetrize: bool = False) -> Points:
    """Lay out a graph: weights are lengths where they can be, else every edge has length 1.

    Weights can be lengths where all of them are positive and finite, and the longest is less than
    a million times the shortest. Components are laid out one by one, drawn on squares of
    side sqrt(vertices), and packed in rows from the largest to the smallest.

    Parameters
    ----------
    graph : Graph, or any other one that lies on the host
        As of :func:`clmst.minimum_spanning_forest`. Edges of complete graphs are listed.
    symmetrize : bool
        As of :func:`clmst.minimum_spanning_forest`.

    Returns
    -------
    ndarray of float64, shape (n_vertices, 2)

    Notes
    -----
    See :func:`clmst.drawing.stress.place` for how a component is laid out, and what it costs.
    """
    graph = as_listed(graph, symmetrize=symmetrize)
    n = graph.n_vertices
    u, v, weights, _ = graph.edges()
    lengths = shortest_parallels(u, v, edge_lengths(weights), n)
    _, labels = connected_components(lengths, directed=False)
    sizes = np.bincount(labels) if n else np.zeros(0, np.int64)
    members = np.argsort(labels, kind="stable").astype(np.int32)
    lengths = lengths[members][:, members]
    ends = np.cumsum(sizes)
    local = np.zeros((n, 2))
    for component in np.flatnonzero(sizes > 1):
        part = slice(ends[component] - sizes[component], ends[component])
        local[part] = _on_square(place(lengths[part, part]), int(sizes[component]))
    corners = pack(_boxes(local, labels[members], sizes))
    points = np.empty((n, 2))
    points[members] = local + corners[labels[members]]
    return points


def edge_lengths(weights: Array) -> npt.NDArray[np.float64]:
    """Return weights as lengths over their median, or ones where they cannot be lengths."""
    lengths = weights.astype(np.float64)
    if lengths.size == 0:
        return lengths
    shortest, longest = float(lengths.min()), float(lengths.max())
    if not (shortest > 0 and longest < np.inf and longest / shortest < _WIDEST_RANGE):
        return np.ones(lengths.size)
    return lengths / float(np.median(lengths))


def _on_square(points: Points, n: int) -> Points:
    """Scale a component to its share of the sheet, its lower left corner at the origin."""
    low: Points = points.min(axis=0)
    extent = float((points.max(axis=0) - low).max())
    return (points - low) * (math.sqrt(n) / extent) if extent else points - low


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """The space that components take, by component; each array has shape (n_components,)."""

    width: Array
    height: Array
    margin: Array


def _boxes(local: Points, labels: Array, sizes: Array) -> Boxes:
    """Measure components whose lower left corners are at the origin."""
    extent = np.zeros((sizes.size, 2))
    np.maximum.at(extent, labels, local)
    margin = _MARGIN * np.sqrt(sizes) + 0.4
    return Boxes(width=extent[:, 0] + margin, height=extent[:, 1] + margin, margin=margin)


def pack(boxes: Boxes) -> Points:
    """Pack boxes in rows, high ones first; return their lower left corners, shape (k, 2)."""
    area = float(boxes.width @ boxes.height)
    widest = float(boxes.width.max(initial=0.0))
    sheets = {max(widest, stretch * math.sqrt(area)) for stretch in _STRETCHES}
    tries = (_rows_of(boxes, sheet) for sheet in sorted(sheets))
    # The best sheet is the one that a page of the wanted shape shows largest.
    corners, _ = min(tries, key=lambda packed: max(packed[1][0] / _SHEET, packed[1][1]))
    return corners + boxes.margin[:, None] / 2


def _rows_of(boxes: Boxes, sheet: float) -> tuple[Points, tuple[float, float]]:
    """Fill rows up to the width of a sheet; return the corners, and the width and height used."""
    order = np.argsort(-boxes.height, kind="stable").tolist()
    widths, heights = boxes.width.tolist(), boxes.height.tolist()
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
