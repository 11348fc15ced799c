"""Segmentation by seeds: the spanning forest in which every tree has one seed."""

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

    A vertex gets the label of the seed that it reaches by the lightest way, where a way is as heavy
    as its heaviest edge. This is the watershed cut of the graph. Ties are broken as in the forest,
    so the labels are the same on every device.

    Parameters
    ----------
    graph : Forest, or any graph that :func:`clmst.minimum_spanning_forest` takes
        A forest saves the first of two solves: with it, other seeds take little time. Of a maximum
        spanning forest the lightest edges are cut.
    seeds : array of int, size n_vertices, any shape
        The label of each seed, above 0; 0 for all other vertices.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`.

    Returns
    -------
    ndarray, shape and dtype of `seeds`
        The label of each vertex; 0 in a component without a seed.

    Raises
    ------
    InvalidArgumentError
        `seeds` has another size, is not of integers, or has one below 0; or `graph` is an image.
    ClmstError
        As of :func:`clmst.minimum_spanning_forest`.

    Notes
    -----
    All seeds become one vertex. The edges of the minimum spanning forest then join every other
    vertex to the nearest seed, and leave one seed in each tree. A lighter edge between two trees
    would have been taken. Only edges of the graph's own forest can be among them, so a solve of
    n - 1 edges finds them: O(n log n) work, O(n) memory.

    Source: J. Cousty, G. Bertrand, L. Najman, M. Couprie, "Watershed cuts: minimum spanning forests
    and the drop of water principle", IEEE Transactions on Pattern Analysis and Machine
    Intelligence, 2009.
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
    """Raise if an image is in the place of its graph: a seed for each cell, not for each row."""
    shape = np.shape(seeds) if isinstance(graph, np.ndarray | list) else ()
    if len(shape) > 1 and np.shape(graph)[: len(shape)] == shape and max(shape) > 1:
        raise InvalidArgumentError(
            f"graph is an array of the shape of the seeds, {shape}, so it is an image; "
            "Graph.from_image(image) makes a graph of it"
        )


def _checked_seeds(seeds: Any, n_vertices: int) -> Array:
    """Return labels of seeds as a flat array, or raise unless they are such."""
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
