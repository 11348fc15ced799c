"""Dendrograms of forests, and cuts into clusters at a height or into a number of clusters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.algorithms import families
from clmst.algorithms.dendrogram import on_host
from clmst.algorithms.dendrogram.merge import Merges, merge, rising_order
from clmst.algorithms.shared.self_test_cases import FEW_VERTICES, MANY_VERTICES
from clmst.core.arguments import as_array, shown
from clmst.core.canonical import stable_order
from clmst.core.errors import InvalidArgumentError, InvalidForestError
from clmst.core.long_work import lasting
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.discovery import on_device_or_host
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher

if TYPE_CHECKING:
    from clmst.core.forest import Forest

T = TypeVar("T")

_MOST_VERTICES = 1 << 31  # so that the nodes, vertices and merges together, have 32-bit numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class Dendrogram:
    """The merges that join all vertices, in ascending order of height.

    Nodes 0 to n - 1 are the vertices, and merge i makes node n + i.
    """

    n_points: int  # the number of vertices, which are nodes 0 to n - 1
    children: npt.NDArray[np.uint32]  # shape (n - 1, 2): the nodes each merge joins, lesser first
    heights: npt.NDArray[np.float64]  # shape (n - 1,): the weight of the edge of each merge
    sizes: npt.NDArray[np.uint32]  # shape (n - 1,): the number of vertices below each merge

    def linkage(self) -> npt.NDArray[np.float64]:
        """Return the dendrogram as a linkage matrix of SciPy, shape (n - 1, 4)."""
        return np.column_stack((self.children, self.heights, self.sizes))


@lasting("computing a dendrogram")
def dendrogram_of(forest: Forest, *, join_components: bool, device: Any) -> Dendrogram:
    """Compute the dendrogram of a minimum spanning forest. Blocks until it is complete.

    With `join_components`, the trees of the forest are joined at the end, each to the first tree,
    at an infinite height. Without it, InvalidForestError is raised if the forest has several trees.
    """
    return made_of_edges(
        forest, partial(_copied, forest), lambda found: found, join_components=join_components,
        device=device,
    )  # fmt: skip


def _copied(forest: Forest, edges: Array, heights: Array, launch: Launcher) -> Dendrogram:
    """Compute the dendrogram of a forest on the device of a launcher, and read it to the host.

    `edges` and `heights` are the edges of the forest, with those that join its trees, and their
    heights, as :func:`made_of_edges` passes them.
    """
    merges = merged(forest, edges, heights, launch)
    order, children, sizes = (
        array.to_host() for array in (merges.order, merges.children, merges.sizes)
    )
    return Dendrogram(
        n_points=merges.n, children=children.reshape(-1, 2), heights=heights[order], sizes=sizes
    )


def made_of_edges(
    forest: Forest,
    use: Callable[[Array, Array, Launcher], T],
    use_on_host: Callable[[Dendrogram], T],
    *,
    join_components: bool,
    device: Any,
) -> T:
    """Call `use` with a forest's edges and heights and a device, and return the result of `use`.

    `use` gets the edges as uint32, the heights as float64, and a launcher of the device. A device
    that fails its self-test of dendrograms is skipped. `use` should be picklable, because while the
    host answers a first call, another process calls `use` to build the kernels. If no device is
    left, and `device` is None, `use_on_host` is called instead, with the dendrogram, which the host
    has built. Raises InvalidForestError if the forest is a maximum one, or if it has several trees
    and `join_components` is False.
    """
    edges, heights = _joined_edges(forest, join_components=join_components)
    edges = np.ascontiguousarray(edges, np.uint32)

    def by_host(_: route.Way) -> T:
        order = with_joined(stable_order(forest.weights), heights)
        children, sizes = on_host.merge(forest.n_vertices, edges, order)
        return use_on_host(
            Dendrogram(
                n_points=forest.n_vertices, children=children, heights=heights[order], sizes=sizes
            )
        )

    return on_device_or_host(
        device,
        partial(_used_on, forest.n_vertices, edges, heights, use),
        by_host,
        host_first=lambda: route.host_compares_first(forest.n_vertices),
    )


def _used_on(
    n: int,
    edges: Array,
    heights: Array,
    use: Callable[[Array, Array, Launcher], T],
    device: Device,
) -> T:
    """Call `use` as :func:`made_of_edges` does, for a forest of `n` vertices on a device.

    Raises an error if the device fails the self-test of dendrograms.
    """
    serial = route.one_merges(n, alone=device.facts.alone)
    device.trust.require(families.DENDROGRAM, FEW_VERTICES if serial else MANY_VERTICES)
    with device.lock, Guard(device):
        return use(edges, heights, Launcher(device, device.queue))


def merged(forest: Forest, edges: Array, heights: Array, launch: Launcher) -> Merges:
    """Enqueue the computation of a forest's dendrogram, and return its arrays on the device.

    `edges` are the edges of the forest as uint32, followed by edges that join its trees, and
    `heights` has the height of each of these edges. The caller must keep `edges` until the device
    has finished, because the device may read the array later.
    """
    n, device = forest.n_vertices, launch.device
    order = rising_order(forest.weights, launch)
    if heights.size > order.size:
        order = DeviceArray.from_host(with_joined(order.to_host(), heights), device)
    serial = route.one_merges(n, alone=device.facts.alone)
    return merge(n, device.upload(edges.reshape(-1)), order, launch, serial=serial)


def with_joined(order: Array, heights: Array) -> Array:
    """Return the order of a forest's edges, followed by the edges that join the forest's trees.

    `order` has the positions of the forest's own edges, sorted by weight. `heights` has the heights
    of these edges, followed by the heights of the edges that join trees.
    """
    joined = np.arange(order.size, heights.size, dtype=order.dtype)
    return np.concatenate([order, joined]) if joined.size else order


def _joined_edges(forest: Forest, *, join_components: bool) -> tuple[Array, Array]:
    """Return the edges of a forest and the edges that join its trees, with their heights.

    The height of an edge is its weight. Edges that join trees come last and have infinite heights.

    Raises InvalidArgumentError for more than 2**31 vertices. Raises InvalidForestError for a
    maximum spanning forest, and for several trees unless `join_components` is True.
    """
    edges, n = forest.checked_edges(), forest.n_vertices
    if forest.maximum:
        raise InvalidForestError(
            "the forest is a maximum spanning forest; a dendrogram needs a minimum one, whose "
            "weights are distances"
        )
    if n > _MOST_VERTICES:
        raise InvalidArgumentError(f"there are {n} vertices; a dendrogram takes up to 2**31")
    heights = forest.weights.astype(np.float64)
    n_joined = forest.n_components - 1
    if n == 0 or n_joined == 0:
        return edges, heights
    if not join_components:
        raise InvalidForestError(
            f"the forest has {forest.n_components} trees; a dendrogram joins all vertices, so "
            "there must be one (join_components=True joins them at infinity)"
        )
    roots = np.sort(np.unique(forest.labels, return_index=True)[1])
    joined = np.stack([np.full(n_joined, roots[0]), roots[1:]], axis=1)
    edges = np.concatenate([edges, joined.astype(edges.dtype)])
    return edges, np.concatenate([heights, np.full(n_joined, np.inf)])


Labels = npt.NDArray[np.int32]

_FAR = 1 << 65  # greater than any 64-bit integer


@lasting("cutting a forest")
def cut(forest: Forest, height: Any, k: Any) -> Labels:
    """Cut a forest at each height, or into each number of clusters, and return the labels.

    Exactly one of `height` and `k` must be given, as a number or as an array of one dimension. An
    array gives one row of labels for each of its elements. Raises InvalidArgumentError otherwise.
    """
    if (height is None) == (k is None):
        raise InvalidArgumentError(
            f"height is {shown(height)} and k is {shown(k)}; a cut takes one of the two"
        )
    edges = forest.checked_edges()
    order = stable_order(forest.weights, descending=forest.maximum)
    if k is None:
        numbers = _real_numbers(height)
        merged = _merged_at(forest, order, numbers)
    else:
        numbers = _counts(k, forest)
        merged = forest.n_vertices - numbers
    labels = _labels(forest.n_vertices, edges[order], merged.reshape(-1))
    return labels.reshape(*numbers.shape, forest.n_vertices)


def _merged_at(forest: Forest, order: Array, heights: Array) -> Array:
    """Count, for each height, the edges of a forest that a cut at that height keeps.

    `order` has the positions of the edges by ascending weight, or descending for a maximum forest.
    A cut keeps the first edges in this order, which merge vertices to clusters.
    """
    weights, none = forest.weights[order], np.zeros(heights.shape, np.bool_)
    if weights.dtype.kind in "iu" and heights.dtype != weights.dtype:
        heights, none = _whole_numbers(heights, weights.dtype, up=forest.maximum)
    if forest.maximum:
        merged = weights.size - np.searchsorted(weights[::-1], heights, side="left")
    else:
        merged = np.searchsorted(weights, heights, side="right")
    return np.where(none, 0, merged)


def _whole_numbers(heights: Array, dtype: np.dtype[Any], *, up: bool) -> tuple[Array, Array]:
    """Round heights to integers of the weights' dtype, so that NumPy compares them exactly.

    NumPy would compare 64-bit integers with other numbers as floats. With `up`, heights are rounded
    up, else down. The second result is a mask of the heights at which a cut keeps no edge, because
    they are beyond the range of `dtype`.
    """
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    rounded = math.ceil if up else math.floor
    whole = [rounded(min(max(h, -_FAR), _FAR)) for h in heights.reshape(-1).tolist()]
    within = np.array([min(max(h, low), high) for h in whole], dtype)
    none = np.array([h > high if up else h < low for h in whole], np.bool_)
    return within.reshape(heights.shape), none.reshape(heights.shape)


def _labels(n: int, edges: Array, merged: Array) -> Labels:
    """Return the cluster of each vertex for several cuts of a forest, one row for each cut.

    There are `n` vertices. `merged` has, for each cut, the number of edges that it keeps, which are
    the first ones in `edges`. The cuts are computed from the fewest edges to the most. Each begins
    with the clusters of the previous cut, and merges only the further edges. Clusters are numbered
    in the order of their least vertices.
    """
    from scipy import sparse  # takes a quarter of a second
    from scipy.sparse.csgraph import connected_components

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
    """Return heights as an array.

    Raises InvalidArgumentError unless they are real numbers, none of which is NaN.
    """
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
    """Return `k`, one or several numbers of clusters, as int64.

    Raises InvalidArgumentError unless each is an integer from the number of trees of the forest to
    the number of vertices.
    """
    counts = as_array("k", k)
    if counts.dtype.kind not in "iu" or counts.ndim > 1:
        raise InvalidArgumentError(
            f"k is {shown(k)}; it must be an integer, or an array of integers of one dimension"
        )
    low, high = forest.n_components, forest.n_vertices
    wrong = counts[(counts < low) | (counts > high)]
    if wrong.size:
        raise InvalidArgumentError(
            f"k is {wrong.flat[0]}; it must be from {low} to {high}, the numbers of trees and of "
            "vertices"
        )
    return counts.astype(np.int64)
