"""Compute for which minimum cluster sizes each cluster is a leaf of HDBSCAN's condensed tree.

A leaf is a cluster that contains no other cluster.

Source: D. M. Bot, L. McInnes, J. Aerts, "Persistent Multiscale Density-based Clustering",
arXiv:2512.16558, 2025 (PLSCAN).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst.algorithms.dendrogram.condense import CondensedTree, Floats, Nodes, reciprocals
from clmst.core.weight_keys import Array
from clmst.points.condensed import first_above
from clmst.points.measures import ChosenClusters

MEASURES = ("size", "distance")

TRACE = np.dtype(
    [
        ("min_cluster_size", np.int64), ("persistence", np.float64), ("n_clusters", np.int64),
        ("is_layer", np.bool_),
    ]
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leaves:
    """The clusters that are a leaf for some minimum cluster size, and the range of these sizes.

    A leaf is a cluster that contains no other cluster. A split of the condensed tree counts for a
    minimum cluster size if at least two of its parts have that size. A cluster, which is a part of
    a split, is a leaf for the sizes for which its split counts, the cluster is large enough, and no
    split inside the cluster counts.
    """

    cluster: Nodes  # shape (c,): the number of each cluster in the condensed tree
    first: Nodes  # shape (c,): the least minimum cluster size for which it is a leaf
    last: Nodes  # shape (c,): the greatest minimum cluster size for which it is a leaf


def leaves_of(tree: CondensedTree, least: int) -> Leaves:
    """Find the clusters that are leaves for some minimum cluster size of `least` or more.

    `tree` is the condensed tree for the minimum cluster size `least`. For a greater size, a split
    disappears from the tree if its second largest part is smaller than that size. The root is not a
    leaf, as HDBSCAN does not choose it by default. Takes O(k log k) time for k clusters.
    """
    second = np.zeros(tree.n_clusters, np.int64)
    second[tree.parent[1:]] = tree.size[1:][_largest_parts(tree)[1]]
    first = np.maximum(ChosenClusters(tree=tree, chosen=_NONE).greatest_within(second) + 1, least)
    last = np.minimum(tree.size, second[tree.above])
    last[0] = 0
    cluster = np.flatnonzero(first <= last)
    return Leaves(cluster=cluster, first=first[cluster], last=last[cluster])


_NONE = np.zeros(0, np.int64)


def _largest_parts(tree: CondensedTree) -> tuple[Nodes, Nodes]:
    """Find the largest and the second largest part of each split.

    The clusters without the root are numbered from 0 here. The results are two arrays with an
    element for each of these clusters. It is the number of the largest, or second largest, part of
    the split from which the cluster results.
    """
    parent, size = tree.parent[1:], tree.size[1:]
    order = np.lexsort((-size, parent))
    first = np.searchsorted(parent[order], parent)
    return order[first], order[np.minimum(first + 1, order.size - 1)]


def persistences_of(tree: CondensedTree, leaves: Leaves, measure: str) -> Floats:
    """Return the persistence of each leaf, shape (c,).

    `leaves` are the clusters of `tree` that are a leaf for some minimum cluster size. `measure` is
    one of `MEASURES`.

    By "size", the persistence is the number of minimum cluster sizes for which the cluster is a
    leaf. By "distance", it is a difference of heights: the height at which the cluster joins
    another one, minus the least height at which it has as many connected points as the least of
    these sizes. An infinite height counts as the greatest finite one.
    """
    if measure == "size":
        return (leaves.last - leaves.first + 1).astype(np.float64)
    heights, total, before = _growth(tree)
    grown = heights[np.searchsorted(total, before[leaves.cluster] + leaves.first)]
    joined = reciprocals(tree.birth[leaves.cluster])
    densities = np.concatenate([tree.point_lambda, tree.birth])
    greatest = reciprocals(densities[densities > 0].min(initial=np.inf))
    persistences: Floats = np.minimum(joined, greatest) - np.minimum(grown, greatest)
    return persistences


def _growth(tree: CondensedTree) -> tuple[Floats, Nodes, Nodes]:
    """Compute the growth of the densest part of each cluster while the height rises.

    The clusters are divided into paths of the condensed tree. The largest part of a split continues
    the path of its parent, and each other part begins a path. While the height rises, a path gains
    points of its clusters, and the other parts of its splits as a whole.

    Returns (heights, total, before). `heights` are the heights at which points are gained, path
    after path, in rising order within each path. `total` is the running total of gained points.
    `before` has, for each cluster, the total before its path. So the least height at which the
    densest part of cluster c has j points is the first one at which the running total is at least
    ``before[c] + j``.
    """
    k = tree.n_clusters
    continues = np.zeros(k, bool)
    continues[_largest_parts(tree)[0] + 1] = True
    path = first_above(tree, ~continues)
    others = np.flatnonzero(~continues)[1:]
    of = np.concatenate([path[tree.point_cluster], path[tree.parent[others]]])
    counts = np.concatenate([tree.counts, tree.size[others]])
    heights = reciprocals(np.concatenate([tree.point_lambda, tree.birth[others]]))
    order = np.lexsort((heights, of))
    total = np.cumsum(counts[order])
    before = np.concatenate([[0], total])[np.searchsorted(of[order], path)]
    return heights[order], total, before


def trace_of(
    leaves: Leaves, persistences: Floats, least: int, most: int | None = None
) -> npt.NDArray[np.void]:
    """Sum the persistences of the leaves for each minimum cluster size from `least` to `most`.

    None as `most` means no limit. The result has the dtype `TRACE`, and a row for each size at
    which the set of leaves changes. A row is valid for the sizes up to the next row. The last row
    does not have leaves, unless it is beyond `most`. Sums are added in an order of values, so they
    do not depend on the order of the leaves.
    """
    at = np.concatenate([[least], leaves.first, leaves.last + 1])
    change = np.concatenate([[0.0], persistences, -persistences])
    count = np.repeat([0, 1, -1], [1, leaves.cluster.size, leaves.cluster.size])
    order = np.lexsort((change, at))
    at = at[order]
    ends = np.flatnonzero(np.append(at[1:] != at[:-1], True))
    trace = np.empty(ends.size, TRACE)
    trace["min_cluster_size"] = at[ends]
    trace["n_clusters"] = np.cumsum(count[order])[ends]
    sums = np.cumsum(change[order])[ends]
    trace["persistence"] = np.where(trace["n_clusters"] > 0, np.maximum(sums, 0), 0)
    if most is not None:
        trace = trace[trace["min_cluster_size"] <= most]
    trace["is_layer"] = _are_peaks(trace["persistence"])
    return trace


def _are_peaks(values: Array) -> npt.NDArray[np.bool_]:
    """Return a mask of the local maxima. Of equal values in a row, only the first one counts.

    A 0 is assumed before the first value and after the last one.
    """
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    around = np.concatenate([[0], values[starts], [0]])
    is_peak = np.zeros(values.size, np.bool_)
    is_peak[starts] = (around[1:-1] > around[:-2]) & (around[1:-1] > around[2:])
    return is_peak


def best_of(trace: npt.NDArray[np.void], n: int | None) -> Nodes:
    """Return the minimum cluster sizes of the `n` best layers of a trace, in rising order.

    A trace has the sum of persistences for each minimum cluster size, and a layer is a local
    maximum of this sum. The best layers have the greatest sums; of equal sums, the least sizes are
    taken first. If `n` is None, all layers are returned.
    """
    layers = trace[trace["is_layer"]]
    order = np.argsort(-layers["persistence"], kind="stable")[:n]
    return np.sort(layers["min_cluster_size"][order])
