"""Segmentation by seeds: a spanning forest in which every tree contains one seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.api import minimum_spanning_forest
from clmst.core.arguments import as_array, shown
from clmst.core.canonical import stable_order
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.long_work import lasting
from clmst.core.paths import components
from clmst.core.weight_keys import Array

__all__ = ["seeded_segmentation"]


@lasting("segmenting by seeds")
def seeded_segmentation(graph: Any, seeds: Any, *, device: Any = None) -> Array:
    """Give every vertex the label of a seed, by cutting the heaviest edges of a spanning forest.

    A vertex gets the label of the seed to which it has the lightest path, where the weight of a
    path is its heaviest edge. The result is a watershed cut of the graph. Ties are broken in the
    same way as in the forest, so the labels do not depend on the device.

    Parameters
    ----------
    graph : Forest, or any graph that :func:`clmst.minimum_spanning_forest` takes
        Pass a forest to try several sets of seeds on one graph: the graph is then solved only once.
        In a maximum spanning forest the lightest edges are cut instead. An image is not a graph;
        use :meth:`Graph.from_image` first.
    seeds : array of int, size n_vertices, any shape
        A positive label for each vertex that is a seed, and 0 for every other vertex. Several seeds
        may share a label.
    device : None, str, Device or pyopencl.CommandQueue
        The device that computes; see :func:`clmst.get_device`.

    Returns
    -------
    ndarray, with the shape and dtype of `seeds`
        The label of each vertex. It is 0 for vertices in a component without a seed.

    Raises
    ------
    InvalidArgumentError
        `seeds` does not have n_vertices elements, does not consist of integers, or contains a
        negative one; or `graph` is an image.
    ClmstError
        Any error that :func:`clmst.minimum_spanning_forest` raises.

    Notes
    -----
    All seeds are merged into one vertex. In the minimum spanning forest of the merged graph each
    vertex is connected to its nearest seed, and removing the merged vertex leaves one seed in each
    tree. Only edges of the forest of `graph` can be in this forest, so the second solve has at most
    n - 1 edges: O(n log n) work and O(n) memory.

    Source: J. Cousty, G. Bertrand, L. Najman, M. Couprie, "Watershed cuts: minimum spanning forests
    and the drop of water principle", IEEE Transactions on Pattern Analysis and Machine
    Intelligence, 2009.

    Examples
    --------
    A path of five vertices with a seed at each end is cut at its heaviest edge:

    >>> import clmst
    >>> path = clmst.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [1, 5, 2, 1])
    >>> clmst.seeded_segmentation(path, [7, 0, 0, 0, 9])
    array([7, 7, 9, 9, 9])
    """
    _check_no_image(graph, seeds)
    forest = graph if isinstance(graph, Forest) else minimum_spanning_forest(graph, device=device)
    labels = _checked_seeds(seeds, forest.n_vertices)
    n, edges, planted = forest.n_vertices, forest.edges, np.flatnonzero(labels)
    if not planted.size:
        return labels.reshape(np.shape(seeds)).copy()
    vertices = np.arange(n)
    vertices[planted] = planted[0]
    u, v = vertices[edges.T]
    ranks = np.empty(forest.n_edges, np.uint32)
    ranks[stable_order(forest.weights, descending=forest.maximum)] = np.arange(forest.n_edges)
    joined = Graph.from_edges(u, v, ranks, n_vertices=n)
    u, v = edges[minimum_spanning_forest(joined, device=device).edge_ids].T
    n_trees, tree = components(n, u, v)
    label_of = np.zeros(n_trees, labels.dtype)
    label_of[tree[planted]] = labels[planted]
    return label_of[tree].reshape(np.shape(seeds))


def _check_no_image(graph: Any, seeds: Any) -> None:
    """Raise InvalidArgumentError if the caller passed an image instead of the graph of its pixels.

    An array that has the shape of the seeds is an image: there is one seed for each cell, but a
    matrix of weights would have one seed for each row.
    """
    shape = np.shape(seeds) if isinstance(graph, np.ndarray | list) else ()
    if len(shape) > 1 and np.shape(graph)[: len(shape)] == shape and max(shape) > 1:
        raise InvalidArgumentError(
            f"graph is an array of the shape of the seeds, {shape}, so it is an image; "
            "Graph.from_image(image) makes a graph of it"
        )


def _checked_seeds(seeds: Any, n_vertices: int) -> Array:
    """Return the seed labels as a flat array.

    Raises InvalidArgumentError unless there is one non-negative integer for each of `n_vertices`.
    """
    labels = as_array("seeds", seeds)
    if labels.dtype.kind not in "iu" or labels.size != n_vertices:
        raise InvalidArgumentError(
            f"seeds are {shown(seeds)} of shape {labels.shape}; they must be an array of "
            f"{n_vertices} integers, one a vertex"
        )
    if labels.size and labels.min() < 0:
        at = int(labels.argmin())
        raise InvalidArgumentError(
            f"the seed of vertex {at} is {labels.flat[at]}; labels are above 0, and 0 means no seed"
        )
    return labels.ravel()
