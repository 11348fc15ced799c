"""Dendrograms of forests: the merges of clusters in the forest's order of edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clmst.algorithms import families
from clmst.algorithms.dendrogram.merge import Merges, has_few, merge, rising_order
from clmst.core.errors import InvalidArgumentError, InvalidForestError
from clmst.core.weight_keys import Array
from clmst.runtime.discovery import get_device, pass_over
from clmst.runtime.failures import Guard
from clmst.runtime.trust import NoFamilyLeftError

if TYPE_CHECKING:
    from clmst.core.forest import Forest

_MOST_VERTICES = 1 << 31  # vertices and merges together have numbers of 32 bits


@dataclass(frozen=True, kw_only=True, eq=False)
class Dendrogram:
    """The merges that join all vertices, in their order; merge i makes node n + i.

    Attributes
    ----------
    n_points : int
        Vertices: nodes 0 .. n - 1.
    children : ndarray of uint32, shape (n - 1, 2)
        The two nodes that each merge joins, the lesser first.
    heights : ndarray of float64, shape (n - 1,)
        The weight of the edge of each merge.
    sizes : ndarray of uint32, shape (n - 1,)
        Vertices below each merge.
    """

    n_points: int
    children: npt.NDArray[np.uint32]
    heights: npt.NDArray[np.float64]
    sizes: npt.NDArray[np.uint32]

    def linkage(self) -> npt.NDArray[np.float64]:
        """Return SciPy's linkage matrix, shape (n - 1, 4)."""
        matrix = np.empty((self.heights.size, 4))
        matrix[:, :2] = self.children
        matrix[:, 2] = self.heights
        matrix[:, 3] = self.sizes
        return matrix


def dendrogram_of(forest: Forest, *, join_components: bool, device: Any) -> Dendrogram:
    """Return the dendrogram of a minimum spanning forest, found on a device.

    Parameters
    ----------
    forest : Forest
    join_components : bool
        Whether several components are joined in the end, each to the first one, at infinity.
    device : None, str, Device or pyopencl.CommandQueue

    Raises
    ------
    InvalidForestError
        A maximum spanning forest, several components that are not to be joined, or arrays that
        contradict one another.
    InvalidArgumentError
        More than 2**31 vertices.
    """
    edges, n = forest.checked_edges(), forest.n_vertices
    if forest.maximum:
        raise InvalidForestError(
            "the forest is a maximum spanning forest; a dendrogram is of a minimum one, whose "
            "weights are distances"
        )
    if n > _MOST_VERTICES:
        raise InvalidArgumentError(f"there are {n} vertices; a dendrogram takes up to 2**31")
    heights = forest.weights.astype(np.float64)
    n_joined = forest.n_components - 1
    if n > 0 and n_joined > 0:
        if not join_components:
            raise InvalidForestError(
                f"the forest has {forest.n_components} trees; a dendrogram joins all vertices, so "
                "there must be one (join_components=True joins them at infinity)"
            )
        roots = np.sort(np.unique(forest.labels, return_index=True)[1])
        joined = np.stack([np.full(n_joined, roots[0]), roots[1:]], axis=1)
        edges = np.concatenate([edges, joined.astype(edges.dtype)])
        heights = np.concatenate([heights, np.full(n_joined, np.inf)])
    order, merges = _merge(forest, edges, device)
    return Dendrogram(
        n_points=n, children=merges.children, heights=heights[order], sizes=merges.sizes
    )


def rising(forest: Forest) -> Array:
    """Return the edges of a forest in its order, the first to be taken first. O(n log n)."""
    weights = forest.weights
    if forest.maximum:  # the greatest first, but equal ones still by position
        order: Array = np.argsort(weights[::-1], kind="stable")[::-1]
        return weights.size - 1 - order
    return np.argsort(weights, kind="stable")


def _merge(forest: Forest, edges: Array, device: Any) -> tuple[Array, Merges]:
    """Sort and merge on the device that is meant, or on the next one if it fails its self-test.

    Edges behind those of the forest come last.
    """
    while True:
        found = get_device(device)
        try:
            few = has_few(forest.n_vertices, found)
            case = families.FEW_VERTICES if few else families.MANY_VERTICES
            found.trust.require(families.DENDROGRAM, case)
            with found.lock, Guard(found):
                joined = np.arange(forest.weights.size, len(edges))
                order = np.concatenate([rising_order(forest.weights, found), joined])
                return order, merge(forest.n_vertices, edges, order, found, few=few)
        except NoFamilyLeftError as error:
            if not pass_over(device, error):
                raise
