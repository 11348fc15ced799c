"""What subjects are compared with: merges in plain Python, and SciPy's components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from clmst import Forest
from clmst.algorithms.self_test import merge_by_host
from clmst.core.weight_keys import Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Merged:
    """The merges of a forest; merge i makes node n + i."""

    n: int
    children: npt.NDArray[np.uint32]
    heights: npt.NDArray[np.float64]
    sizes: npt.NDArray[np.uint32]

    def linkage(self) -> Array:
        """Return SciPy's linkage matrix."""
        return np.column_stack((self.children, self.heights, self.sizes)).astype(np.float64)


def merges(forest: Forest) -> Merged:
    """Return the merges in the order of the edges.

    In the end each tree joins the tree of vertex 0.
    """
    order = np.argsort(forest.weights, kind="stable")
    apart = np.unique(forest.labels, return_index=True)[1][1:]  # the least vertices of other trees
    edges = np.concatenate([forest.edges[order], np.column_stack((0 * apart, apart))])
    children, sizes = merge_by_host(forest.n_vertices, edges, np.arange(len(edges)))
    heights = np.append(forest.weights[order].astype(np.float64), np.full(apart.size, np.inf))
    return Merged(n=forest.n_vertices, children=children, heights=heights, sizes=sizes)


def labels_at(forest: Forest, joined: Array) -> Array:
    """Return the components that some edges of a forest make, numbered by their least vertices."""
    n, (u, v) = forest.n_vertices, forest.edges[joined].T
    matrix = sparse.coo_array((np.ones(u.size), (u, v)), shape=(n, n))
    found: Array = connected_components(matrix, directed=False)[1]
    return found
