"""Memberships of points in all chosen clusters of a fitted HDBSCAN (soft clustering).

The definition is from the hdbscan package (L. McInnes, J. Healy, S. Astels, "hdbscan: Hierarchical
density based clustering", Journal of Open Source Software, 2017). A membership is a product of
three factors: how near the point is to the exemplars of the cluster, which are the points that
represent it; at how great a density the point and the cluster are in one cluster of the condensed
tree; and how dense the point is compared with its nearest cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clmst.algorithms.dendrogram.condense import Floats, Nodes
from clmst.core.machine import usable_cores
from clmst.core.point_search import bound_of_least
from clmst.core.threads import in_threads, slices
from clmst.core.weight_keys import Array
from clmst.points.condensed import NOISE, share_of
from clmst.points.exemplars import Exemplars
from clmst.points.joining import Joining
from clmst.points.measures import ChosenClusters

# Maximum number of distances to exemplars, or of memberships, in memory at a time for each thread.
_CELLS_AT_ONCE = 1 << 18
# If fewer densities of a cluster's points are equal, each of them is converted by itself.
_FEWEST_EQUAL_CELLS = 1 << 11
# The points of a run are compared with the same exemplars. In longer runs, more exemplars are
# compared, and in shorter ones they are chosen more often. A core has several runs, so that all
# cores end at about the same time.
_POINTS_OF_A_RUN, _RUNS_OF_A_CORE = 1 << 11, 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Places:
    """The places of some points in a condensed tree, and the exemplars of the chosen clusters.

    The exemplars of a cluster are the points that represent it.
    """

    cluster: Nodes  # shape (m,): the last cluster of the tree that contains the point
    density: Floats  # shape (m,): lambda at which the point leaves that cluster, or connects to it
    rows: Array  # shape (m, d): the coordinates of the points
    exemplars: Exemplars
    are_of_fit: bool  # whether these are the fitted points, for which the formula differs


def memberships_of(chosen: ChosenClusters, places: Places) -> Floats:
    """Compute the membership of each point in each chosen cluster, shape (m, number of labels).

    `places` says where the points are in the tree.
    """
    found = np.zeros((places.cluster.size, chosen.chosen.size))

    def store(points: Nodes, block: Floats) -> None:
        found[points] = block

    _compute(chosen, places, store)
    return found


def greatest_memberships_of(
    chosen: ChosenClusters, places: Places, top_k: int
) -> tuple[Nodes, Floats]:
    """Compute the `top_k` greatest memberships of each point, in falling order.

    `chosen` are the clusters, and `places` says where the points are in the tree. Returns labels
    and memberships, both of shape (m, top_k). Of equal memberships, the one with the lesser label
    comes first. The memberships in all clusters are in memory only for a few points at a time.
    """
    shape = places.cluster.size, top_k
    labels, greatest = np.zeros(shape, np.int64), np.zeros(shape)

    def store(points: Nodes, block: Floats) -> None:
        some = _greatest(block, top_k)
        labels[points], greatest[points] = some, np.take_along_axis(block, some, axis=1)

    _compute(chosen, places, store)
    return labels, greatest


def _greatest(block: Floats, top_k: int) -> Nodes:
    """Return the columns of the `top_k` greatest values of each row, in falling order of values.

    `block` has the values. Of equal values, the one in the lesser column comes first.
    """
    bounds = -bound_of_least(-block, top_k)
    row, column = np.divmod(np.flatnonzero(block >= bounds[:, None]), block.shape[1])
    order = np.lexsort((-block[row, column], row))  # equal values stay in the order of columns
    starts = np.searchsorted(row, np.arange(len(block)))
    found: Nodes = column[order[starts[:, None] + np.arange(top_k)]]
    return found


def _compute(
    chosen: ChosenClusters, places: Places, store: Callable[[Nodes, Floats], None]
) -> None:
    """Compute the memberships of some points at a time, and pass them to `store`.

    `store` is called with the numbers of these points, and with their memberships: a row for each
    point and a column for each label. Several threads call `store`, each for points of its own.
    `chosen` are the clusters, and `places` says where the points are in the tree.
    """
    joining, count = Joining(chosen=chosen), chosen.chosen.size
    if not count or not places.cluster.size:
        return
    home = joining.home[places.cluster]
    order = places.exemplars.order_of(places.rows)
    if order is None:
        order = np.argsort(joining.place[home], kind="stable")

    def compute(run: slice) -> None:
        points = order[run]
        exemplars = places.exemplars.among_the_nearest(places.rows[points])
        points = points[np.lexsort((places.cluster[points], joining.place[home[points]]))]
        at_once = max(_CELLS_AT_ONCE // max(count, int(exemplars.counts.max())), 1)
        blocks = joining.blocks(home[points], places.density[points], at_once)
        for some, joined in zip(slices(points.size, at_once), blocks, strict=True):
            own = points[some]
            near = exemplars.least_distances(places.rows[own], _CELLS_AT_ONCE)
            store(own, _memberships(chosen, places, own, joined, near))

    share = -(-order.size // (_RUNS_OF_A_CORE * usable_cores()))
    in_threads(compute, slices(order.size, min(_POINTS_OF_A_RUN, share)))


def _memberships(
    chosen: ChosenClusters, places: Places, points: Nodes, joined: Floats, near: Floats
) -> Floats:
    """Compute the memberships of some points in the chosen clusters, a row for each point.

    `points` are indices into `places`. `joined` has the density up to which each point is joined to
    each chosen cluster, and `near` the distance of each point to the nearest exemplar of each
    chosen cluster.
    """
    death = chosen.tree.death
    own = death[places.cluster[points], None]
    nearness = _share_of_least(near)
    with np.errstate(invalid="ignore", divide="ignore"):
        if places.are_of_fit:
            parts = _parts_of_fit(joined, own, places.cluster[points])
        else:
            parts = np.where(joined < own, own / (own - joined), np.inf)
            parts[np.isinf(own[:, 0])[:, None] & (joined < own)] = 1
            most = parts.max(axis=1, keepdims=True)
            parts = np.where(parts == most, 1.0, np.exp(parts - most))
            nearness, parts = np.sqrt(nearness), parts * parts
    found = nearness * parts
    total = found.sum(axis=1, keepdims=True)
    # The sum may be 0 if a point equals an exemplar of one cluster, but in the tree it is joined to
    # another cluster. (An exemplar is a point that represents a cluster.)
    if not (total > 0).all():
        found = np.where(total > 0, found, nearness)
        total = found.sum(axis=1, keepdims=True)
    found /= total
    nearest = joined.max(axis=1, keepdims=True)
    label = chosen.label[places.cluster[points]]
    is_in, is_out = np.flatnonzero(label != NOISE), np.flatnonzero(label == NOISE)
    greatest = np.empty(points.size)
    greatest[is_in] = death[chosen.chosen[label[is_in]]]  # the cluster that contains the point
    of_nearest = np.where(joined[is_out] == nearest[is_out], death[chosen.chosen], 0)
    greatest[is_out] = of_nearest.max(axis=1)
    within = share_of(nearest[:, 0], greatest)
    found *= within[:, None]
    return found


def _parts_of_fit(joined: Floats, own: Floats, cluster: Nodes) -> Floats:
    """Compute ``exp(exp(-1 / share_of(joined, own)))``, in which points of a fit are joined.

    `cluster` has the last cluster of each point, and `own` the greatest density of that cluster.
    Points of the same last cluster mostly have the same densities in `joined`. If many of them
    follow one another, equal densities are converted once.
    """

    def part_of(joined: Floats, own: Floats) -> Floats:
        return np.exp(np.exp(-1 / share_of(joined, own)))

    parts, is_left = np.empty_like(joined), np.ones(len(joined), bool)
    first = np.flatnonzero(np.diff(cluster, prepend=-1))
    ends = np.append(first[1:], len(joined))
    for begin, end in zip(first.tolist(), ends.tolist(), strict=True):
        if (end - begin - 1) * joined.shape[1] < _FEWEST_EQUAL_CELLS:
            continue
        some, is_left[begin:end] = joined[begin:end], False
        least, density = some.min(axis=0), own[begin : begin + 1]
        differs = np.flatnonzero(least != some.max(axis=0))
        parts[begin:end] = part_of(least[None], density)
        parts[begin:end, differs] = part_of(some[:, differs], density)
    if is_left.any():
        parts[is_left] = part_of(joined[is_left], own[is_left])
    return parts


def _share_of_least(distances: Floats) -> Floats:
    """Divide the least distance of each row by all distances of the row.

    The result is 1 where both are 0 or infinite. It is the same array as `distances`.
    """
    least = distances.min(axis=1, keepdims=True)
    is_odd = ((least == 0) | np.isinf(least))[:, 0]
    odd = share_of(least[is_odd], distances[is_odd])
    with np.errstate(invalid="ignore", divide="ignore"):
        np.divide(least, distances, out=distances)
    distances[is_odd] = odd
    return distances
