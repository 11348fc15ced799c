"""Methods of forests for clusters: the dendrogram, and its cuts."""

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
    """Return the single-linkage dendrogram as SciPy's linkage matrix.

    Row i merges the two clusters of its first two columns, at the height of the third, to
    cluster n + i, whose number of vertices is the fourth. The lesser id comes first. Equal
    heights are in the forest's order of edges, so the matrix is the same on every device.

    Parameters
    ----------
    join_components : bool
        Join several trees in the end, at an infinite height.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`.

    Returns
    -------
    ndarray of float64, shape (n - 1, 4)
        As of ``scipy.cluster.hierarchy.linkage``; every function there takes it. Its rows are
        none if there are fewer than two vertices.

    Raises
    ------
    InvalidForestError
        This is a maximum spanning forest, or has several trees that are not to be joined.
    InvalidArgumentError
        There are more than 2**31 vertices.
    UnsupportedDeviceError
        There is no usable device.

    Notes
    -----
    A sort of the edges, and a merge of disjoint sets: O(n log n) work, O(n) memory.

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
    """Return the clusters at a height, or `k` clusters; no device is needed.

    Parameters
    ----------
    height : float or array of float, shape (m,), optional
        Edges up to this weight join clusters; of a maximum spanning forest those from it on.
    k : int or array of int, shape (m,), optional
        How many clusters; the last edges of the forest's order are left out.

    Returns
    -------
    ndarray of int32, shape (n,) or (m, n)
        The cluster of each vertex, numbered by least vertex, as :attr:`Forest.labels`; a row
        for each height or k.

    Raises
    ------
    InvalidArgumentError
        Both or none are given, a height is NaN, or k is less than the number of trees or more
        than that of vertices.
    InvalidForestError
        As :meth:`Forest.to_scipy`.

    Notes
    -----
    O(n log n) for the order, then O(n) for each row; every edge is merged once, whatever the
    number of rows.

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
    """Return the dendrogram as a ``networkx.DiGraph``, each merge above its two nodes.

    Vertices are nodes 0 to n - 1, merges n to 2 n - 2, as in :meth:`linkage`. Each node has the
    attributes "height", 0 of vertices, and "size", and each vertex has its "label" where the
    forest has `vertex_labels`.

    Parameters
    ----------
    join_components, device
        As of :meth:`linkage`.

    Raises
    ------
    ClmstError
        As :meth:`linkage`; or NetworkX is not installed.
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
