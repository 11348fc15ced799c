"""The steps of HDBSCAN, from checked distances to labels.

Sources: R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander, "Hierarchical Density Estimates for
Data Clustering, Visualization, and Outlier Detection", ACM Transactions on Knowledge Discovery from
Data, 2015; K. Chaudhuri, S. Dasgupta, "Rates of convergence for the cluster tree", NIPS 2010.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst import route
from clmst.algorithms import complete
from clmst.algorithms.dendrogram.condense import CondensedTree, Floats, Nodes
from clmst.api import minimum_spanning_forest, tree_of_blocks
from clmst.core import complete_trees
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest, routed
from clmst.core.point_checks import BOXED, UNROUNDED
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.points.condensed import choose_clusters, condensed_tree, label_points
from clmst.points.core_distances import (
    core_by_the_host,
    core_of_divided,
    divided_points,
    reachability_graph,
)
from clmst.points.estimator import warn_of_components
from clmst.points.simplified import without_brief_clusters
from clmst.points.weights import core_by_weights
from clmst.runtime.array import DeviceArray, array_on_host
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.discovery import on_device_or_host
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher

if TYPE_CHECKING:
    from clmst.blocks.tasks import Workers
    from clmst.points.hdbscan import HDBSCAN


# Peak memory of the steps from the tree to the clusters, as pairs (a, b): a + b / min_cluster_size
# bytes for each point, on the host and on the device. tests/blocks/test_memory.py measures these
# numbers.
_HOST_BYTES = {"sequential": (80, 300), "simultaneous": (100, 1200)}
_DEVICE_BYTES = (135, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class DensityClusters:
    """The results of the steps of HDBSCAN that the estimator keeps."""

    forest: Forest  # the minimum spanning forest of mutual reachability
    tree: CondensedTree
    labels: Nodes  # shape (n,): the cluster of each point, or NOISE
    strengths: Floats  # shape (n,): how strongly each point belongs to its cluster
    clusters: Nodes  # the cluster of the condensed tree for each label
    # Shape (n,): with sample weights, each point stands for several equal points, and this is the
    # height at which they are joined. None without sample weights.
    own_heights: Floats | None = None


def forest_by_density(
    graph: Any, model: HDBSCAN, weights: Nodes | None = None, workers: Workers | None = None
) -> tuple[Forest, Floats | None]:
    """Compute the spanning forest by mutual reachability, with the parameters of an HDBSCAN model.

    The mutual reachability of two points is the greatest of their distance and both core distances.
    Blocks until the forest is found. With `weights`, shape (n,), vertex i stands for ``weights[i]``
    equal points, and the second result, shape (n,), has the height at which these points are
    joined. Without `weights` the second result is None. If the model has `block_points`, the points
    are solved in blocks; `workers`, which may be on other machines, solve the blocks if they are
    given. Raises InvalidArgumentError if there are fewer points than `min_samples`. Gives a
    GraphWarning if the graph has several components.
    """
    alpha = float(model.alpha)
    is_given = model.min_samples is not None
    min_samples = index(model.min_cluster_size if model.min_samples is None else model.min_samples)
    n_samples = graph.n_vertices if weights is None else int(weights.sum())
    if min_samples > n_samples:
        raise InvalidArgumentError(
            f"min_samples ({min_samples}) must be at most the number of points, and X has "
            f"{n_samples} sample{'s' * (n_samples != 1)}"
            f"{'' if is_given else '; it is min_cluster_size unless it is given'}"
        )
    core = None if weights is None else core_by_weights(graph, min_samples, weights)
    if model.block_points is not None:
        forest = tree_by_blocks(
            graph, min_samples, model, alpha, is_weighted=core is not None, workers=workers
        )
    elif isinstance(graph, Points) and graph.metric in UNROUNDED:
        forest = tree_of_points(graph, min_samples, model.device, alpha=alpha, core=core)
    else:
        mutual = reachability_graph(graph, min_samples, alpha=alpha, core=core)
        forest = minimum_spanning_forest(mutual, device=model.device)
    own_heights = None
    if core is not None:  # rounded as the weights of the forest are
        own_heights = (core * alpha).astype(forest.weights.dtype).astype(np.float64)
    if alpha != 1:
        forest = replace(forest, weights=forest.weights / alpha)
        if core is not None:
            own_heights = (core * alpha).astype(forest.weights.dtype) / alpha
    warn_of_components(forest)
    return forest, own_heights


def cluster_by_density(
    forest: Forest, own_heights: Floats | None, model: HDBSCAN, weights: Nodes | None = None
) -> DensityClusters:
    """Find the clusters of a forest by mutual reachability, as the parameters of `model` say.

    Blocks until all steps are done. `forest` and `own_heights` are the results of
    :func:`forest_by_density` for the same `weights`. The host computes the labels, because it needs
    the condensed tree in any case.
    """
    epsilon = float(model.cluster_selection_epsilon)
    tree = condensed_tree(
        forest, index(model.min_cluster_size), ties=str(model.ties), device=model.device,
        weights=weights, own_heights=own_heights,
    )  # fmt: skip
    if model.cluster_selection_persistence > 0:
        tree = without_brief_clusters(tree, float(model.cluster_selection_persistence))
    chosen = choose_clusters(
        tree,
        method=model.cluster_selection_method,
        epsilon=epsilon,
        epsilon_max=float(model.cluster_selection_epsilon_max),
        max_size=index(model.max_cluster_size or 0) or None,
        allow_single=bool(model.allow_single_cluster),
    )
    labels, strengths, clusters = label_points(tree, chosen, epsilon)
    return DensityClusters(
        forest=forest, tree=tree, labels=labels, strengths=strengths, clusters=clusters,
        own_heights=own_heights,
    )  # fmt: skip


def reporting_clusters(model: HDBSCAN, n: int) -> AbstractContextManager[None]:
    """Report the step from the tree of `n` points to clusters, if the model has blocks.

    A condensed tree has at most 2 / `min_cluster_size` clusters for each point, each of which takes
    memory. Without ties between heights the host takes less than for simultaneous ones, for which
    it also condenses the tree.
    """
    if model.block_points is None:
        return nullcontext()
    from clmst.blocks.solve import reporting_step

    of_points, of_clusters = _HOST_BYTES[model.ties]
    least = index(model.min_cluster_size)
    return reporting_step(
        model.block_points, "clusters", n, host=of_points + of_clusters / least,
        device=_DEVICE_BYTES[0] + _DEVICE_BYTES[1] / least,
    )  # fmt: skip


def tree_of_points(
    points: Points, min_samples: int, device: Any, *, alpha: float, core: Floats | None = None
) -> Forest:
    """Compute the minimum spanning tree of points by mutual reachability, times `alpha`.

    The mutual reachability of two points at the distance d is the greatest of d / alpha and both
    core distances, as in the robust single linkage of Chaudhuri and Dasgupta. The weights of the
    result are `alpha` times that, which is the greatest of d and `alpha` times each core distance.
    The caller divides them by `alpha`. `core` has the core distances. If it is None, they are
    computed for `min_samples`.
    """
    if core is not None:
        return minimum_spanning_forest(points.with_core_distances(core * alpha), device=device)
    plain = points.with_core_distances(None)
    return on_device_or_host(
        device,
        partial(_tree_on, plain, min_samples, alpha),
        lambda way: _tree_on_host(plain, min_samples, alpha, way),
        host_first=lambda: route.host_compares_first(points.n_vertices),
    )


def _tree_on_host(points: Points, min_samples: int, alpha: float, way: route.Way) -> Forest:
    """Compute the tree of points on the host.

    A single search finds the core distances and the near points with which the tree begins.
    `min_samples` and `alpha` are as in :func:`tree_of_points`. `way` says why the host computes the
    tree, for the statistics of the forest.
    """
    near = complete_trees.near_points(points, min_samples)
    core = complete_trees.core_distances(points, min_samples, near=near) * alpha
    tree = complete_trees.spanning_tree(points.with_core_distances(core), near=near)
    return routed(tree, way)


def tree_by_blocks(
    graph: Any, min_samples: int, model: HDBSCAN, alpha: float, *, is_weighted: bool,
    workers: Workers | None,
) -> Forest:  # fmt: skip
    """Compute the tree of points by mutual reachability, times `alpha`, block by block.

    A block is a set of points near to one another. The core distances are for `min_samples`.
    `model` has the device and the number of points in a block. If `workers` are given, they solve
    the blocks. Raises InvalidArgumentError if `graph` is not Points with a metric for core
    distances, or if the points have weights (`is_weighted`).
    """
    if is_weighted:
        raise InvalidArgumentError(
            "sample_weight and block_points are given; give one of the two, since points that "
            "stand for several are not divided into blocks"
        )
    if isinstance(graph, Points) and graph.metric not in BOXED:
        raise InvalidArgumentError(
            f"block_points is given, and metric is {graph.metric!r}; points in blocks must have "
            f"one of the metrics {', '.join(BOXED)}"
        )
    divided = divided_points(graph, model.block_points, min_samples)
    if workers is None:
        from clmst.blocks.placement import workers_on

        workers = workers_on([model.device])
    core = core_of_divided(divided, min_samples, workers)
    mutual = graph.with_core_distances(core * alpha)
    return tree_of_blocks(divided, mutual, workers)


def _tree_on(points: Points, min_samples: int, alpha: float, device: Device) -> Forest:
    """Compute the tree of points on one device, uploading the coordinates once.

    `min_samples` and `alpha` are as in :func:`tree_of_points`.
    """
    k, launch = min_samples - 1, Launcher(device, device.queue)
    matrix = DeviceMatrix.upload(points, device)
    way = complete.way_of_core_distances(matrix, k) if k else route.HOST
    by_host = core_by_the_host(points, min_samples) if way == route.HOST else None
    with device.lock, Guard(device, caches=matrix.caches):
        if way == route.TURNS:
            from clmst.algorithms.dense import one_group

            mutual = one_group.MutualReachability(matrix, k, launch, alpha=alpha)
            return mutual.tree().to_host(launch)
        if by_host is None:
            core = _times(complete.core_distances(matrix, k, way, launch), points, alpha)
        else:
            core = by_host * alpha
        return complete.spanning_tree(matrix.with_core_distances(core), launch).to_host(launch)


def _times(core: Array | DeviceArray, points: Points, alpha: float) -> Array | DeviceArray:
    """Multiply core distances by `alpha`, and undo the scaling of the points' coordinates.

    `core` has the distances on the host or on a device. They stay there if there is nothing to
    multiply. Otherwise they are read to the host, which also checks their range.
    """
    if isinstance(core, DeviceArray) and alpha == 1 and not points.exponent:
        return core
    return points.multiplied(array_on_host(core)) * np.float64(alpha)
