"""Methods of :class:`Forest` for clustering: the dendrogram and its cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import check_bool
from clmst.core.errors import optional_import

if TYPE_CHECKING:
    from clmst.core.forest import Forest


def linkage(
    self: Forest, *, join_components: bool = False, device: Any = None
) -> npt.NDArray[np.float64]:
    """Compute the single-linkage dendrogram of the forest as a SciPy linkage matrix.

    Row i merges the two clusters in its first two columns, the lesser id first, into the cluster n
    + i. The third column is the height of the merge, which is the weight of an edge. The fourth is
    the number of vertices of the new cluster. Merges of equal height are in the forest's order of
    edges, so the matrix is the same on every device.

    Parameters
    ----------
    join_components : bool
        If the forest has several trees, join them at the end, at an infinite height. By default
        several trees are an error.
    device : None, str, Device or pyopencl.CommandQueue
        The device that computes; see :func:`clmst.get_device`.

    Returns
    -------
    ndarray of float64, shape (n - 1, 4)
        The format of ``scipy.cluster.hierarchy.linkage``, which all functions of that module
        accept. It does not have rows if the forest has fewer than two vertices.

    Raises
    ------
    InvalidForestError
        This is a maximum spanning forest, or it has several trees and `join_components` is False.
    InvalidArgumentError
        There are more than 2**31 vertices.
    UnsupportedDeviceError
        No usable device was found.

    Notes
    -----
    The edges are sorted and then merged with disjoint sets: O(n log n) work, O(n) memory.

    Examples
    --------
    >>> import clmst
    >>> forest = clmst.minimum_spanning_forest(clmst.Points([[0], [1], [5], [7]]))
    >>> forest.linkage()
    array([[0., 1., 1., 2.],
           [2., 3., 2., 2.],
           [4., 5., 4., 4.]])
    """
    from clmst.points.dendrogram import dendrogram_of

    check_bool("join_components", join_components)
    return dendrogram_of(self, join_components=join_components, device=device).linkage()


def cut(self: Forest, *, height: Any = None, k: Any = None) -> npt.NDArray[np.int32]:
    """Cut the forest into clusters at one or several heights, or into `k` clusters.

    Give either `height` or `k`. No device is needed.

    Parameters
    ----------
    height : float or array of float, shape (m,), optional
        Vertices connected by edges of at most this weight are in one cluster. In a maximum spanning
        forest the edges of at least this weight connect.
    k : int or array of int, shape (m,), optional
        The number of clusters. The heaviest edges are removed, and among equal weights the last
        ones in the forest's order. If the cut falls between equal weights, the clusters therefore
        depend on the order of the vertices. A cut at a height does not.

    Returns
    -------
    ndarray of int32, shape (n,) or (m, n)
        The cluster of each vertex. Clusters are numbered in the order of their least vertices, like
        :attr:`Forest.labels`. An array argument gives one row for each of its elements.

    Raises
    ------
    InvalidArgumentError
        Both arguments or neither of them are given, a height is NaN, or k is less than the number
        of trees or greater than the number of vertices.
    InvalidForestError
        The arrays of the forest contradict each other, as in :meth:`Forest.to_scipy`.

    Notes
    -----
    Sorting takes O(n log n) time, and each row then takes O(n). Every edge is merged once, however
    many rows there are.

    Examples
    --------
    >>> import clmst
    >>> forest = clmst.minimum_spanning_forest(clmst.Points([[0], [1], [5], [7]]))
    >>> forest.cut(k=2)
    array([0, 0, 1, 1], dtype=int32)
    >>> forest.cut(height=[0.5, 1, 4])
    array([[0, 1, 2, 3],
           [0, 0, 1, 2],
           [0, 0, 0, 0]], dtype=int32)
    """
    from clmst.points.dendrogram import cut

    return cut(self, height, k)


def dendrogram_to_networkx(
    self: Forest, *, join_components: bool = False, device: Any = None
) -> Any:
    """Build the single-linkage dendrogram as a ``networkx.DiGraph``.

    The vertices are the nodes 0 to n - 1, and the merges are the nodes n to 2 n - 2, as in
    :meth:`linkage`. An arc leads from each merge to the two nodes that it merges. Each node has the
    attributes "height", which is 0 for vertices, and "size", the number of vertices in its
    cluster. If the forest has `vertex_labels`, each vertex also has the attribute "label".

    Parameters
    ----------
    join_components, device
        The same as in :meth:`linkage`.

    Returns
    -------
    networkx.DiGraph

    Raises
    ------
    MissingDependencyError
        NetworkX is not installed.
    ClmstError
        Any error that :meth:`linkage` raises.

    Examples
    --------
    >>> import clmst
    >>> forest = clmst.minimum_spanning_forest(clmst.Points([[0], [1], [5]]))
    >>> forest.dendrogram_to_networkx().nodes[4]
    {'height': 4.0, 'size': 3}
    """
    nx = optional_import("networkx", extra="networkx")
    tree, labels = nx.DiGraph(), self.vertex_labels
    for vertex in range(self.n_vertices):
        named = {} if labels is None else {"label": labels[vertex]}
        tree.add_node(vertex, height=0.0, size=1, **named)
    rows = self.linkage(join_components=join_components, device=device).tolist()
    for node, (a, b, height, size) in enumerate(rows, self.n_vertices):
        tree.add_node(node, height=height, size=int(size))
        tree.add_edges_from([(node, int(a)), (node, int(b))])
    return tree
