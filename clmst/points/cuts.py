"""Cuts of a forest: its clusters at a height, or so many of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from clmst.core.arguments import as_array, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.weight_keys import Array
from clmst.points.dendrogram import rising

if TYPE_CHECKING:
    from clmst.core.forest import Forest

Labels = npt.NDArray[np.int32]

_FAR = 1 << 65  # beyond all integers of 64 bits


def cut(forest: Forest, height: Any, k: Any) -> Labels:
    """Return labels by the heights, or by the numbers of clusters, of which one is given.

    Raises
    ------
    InvalidArgumentError
        Both or none are given, a height is no number, or there is no cut with so many clusters.
    """
    if (height is None) == (k is None):
        raise InvalidArgumentError(
            f"height is {shown(height)} and k is {shown(k)}; a cut takes one of the two"
        )
    edges, order = forest.checked_edges(), rising(forest)
    if k is None:
        numbers = _real_numbers(height)
        merged = _merged_at(forest, order, numbers)
    else:
        numbers = _counts(k, forest)
        merged = forest.n_vertices - numbers
    labels = _labels(forest.n_vertices, edges[order], merged.reshape(-1))
    return labels.reshape(*numbers.shape, forest.n_vertices)


def _merged_at(forest: Forest, order: Array, heights: Array) -> Array:
    """Return how many of the ordered edges are merged at each height."""
    weights, none = forest.weights[order], np.zeros(heights.shape, np.bool_)
    if weights.dtype.kind in "iu" and heights.dtype != weights.dtype:
        heights, none = _whole_numbers(heights, weights.dtype, up=forest.maximum)
    if forest.maximum:
        merged = weights.size - np.searchsorted(weights[::-1], heights, side="left")
    else:
        merged = np.searchsorted(weights, heights, side="right")
    return np.where(none, 0, merged)


def _whole_numbers(heights: Array, dtype: np.dtype[Any], *, up: bool) -> tuple[Array, Array]:
    """Return heights as integers of the weights' dtype, and which of them no weight reaches.

    NumPy would compare integers of 64 bits with others as floats, which are not exact.
    """
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    rounded = math.ceil if up else math.floor
    whole = [rounded(min(max(h, -_FAR), _FAR)) for h in heights.reshape(-1).tolist()]
    within = np.array([min(max(h, low), high) for h in whole], dtype)
    none = np.array([h > high if up else h < low for h in whole], np.bool_)
    return within.reshape(heights.shape), none.reshape(heights.shape)


def _labels(n: int, edges: Array, merged: Array) -> Labels:
    """Return a row of labels for each number of merged edges.

    A row begins with the clusters of the next lesser one: only the edges between the two are
    merged. Numbers by least vertex stay so, as clusters are numbered by their least cluster.
    """
    labels = np.empty((merged.size, n), np.int32)
    row, count, before = np.arange(n, dtype=np.int32), n, 0
    for position in np.argsort(merged, kind="stable").tolist():
        upto = int(merged[position])
        if upto > before:
            u, v = row[edges[before:upto]].T
            ones = np.ones(u.size, np.bool_)
            graph = sparse.coo_array((ones, (u, v)), shape=(count, count))
            count, joined = connected_components(graph, directed=False)
            row, before = joined.astype(np.int32, copy=False)[row], upto
        labels[position] = row
    return labels


def _real_numbers(height: Any) -> Array:
    """Return heights as they are given, or raise unless they are ordered numbers."""
    heights = as_array("height", height)
    if heights.dtype.kind not in "biuf" or heights.ndim > 1:
        raise InvalidArgumentError(
            f"height is {shown(height)}; it must be a real number, or an array of one dimension"
        )
    wrong = np.flatnonzero(np.isnan(heights))
    if wrong.size:
        raise InvalidArgumentError(f"height {wrong[0]} is NaN; heights must be ordered")
    return heights


def _counts(k: Any, forest: Forest) -> Array:
    """Return numbers of clusters, or raise unless there are such cuts."""
    counts = as_array("k", k)
    if counts.dtype.kind not in "iu" or counts.ndim > 1:
        raise InvalidArgumentError(
            f"k is {shown(k)}; it must be an integer, or an array of integers of one dimension"
        )
    low, high = forest.n_components, forest.n_vertices
    wrong = counts[(counts < low) | (counts > high)]
    if wrong.size:
        raise InvalidArgumentError(
            f"k is {wrong.flat[0]}; a forest of {high} vertices in {low} trees has from {low} to "
            f"{high} clusters"
        )
    return counts.astype(np.int64)
