"""The trees of a fitted HDBSCAN as arrays, which are also tables, graphs and pictures."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from clmst.core.errors import InvalidArgumentError, optional_import
from clmst.core.weight_keys import Array


class TreeArray(np.ndarray[Any, np.dtype[Any]]):
    """The base class of arrays with the tree of a fit: conversions, and a picture.

    Parts of one of these arrays, and results of arithmetic with it, are ordinary arrays.
    """

    # The keywords of hdbscan's `plot` for colours and widths, which are accepted and ignored.
    _LOOKS: ClassVar[frozenset[str]] = frozenset()
    _fit: Any  # a shallow copy of the fitted estimator

    @classmethod
    def of(cls, array: Array, fit: Any) -> Self:
        """Return a view of an array as this kind of tree.

        `fit` is the fitted estimator, or a shallow copy of it.
        """
        tree = array.view(cls)
        tree._fit = fit
        return tree

    def __array_finalize__(self, obj: Any) -> None:
        self._fit = getattr(obj, "_fit", None)

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        # `return_scalar` is not used, because NumPy 1 does not set it. An array of no dimensions
        # becomes a scalar.
        plain = np.asarray(array)
        return plain if plain.ndim else plain[()]

    def __reduce__(self) -> Any:
        return type(self).of, (np.asarray(self), self._fit)

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def to_numpy(self) -> Array:
        """Return the tree as an ordinary array, which is a copy."""
        return np.array(self)

    def to_pandas(self) -> Any:
        """Return the tree as a ``pandas.DataFrame``."""
        return optional_import("pandas", extra="frames").DataFrame(self._columns())

    def _columns(self) -> dict[str, Array]:
        """Return the columns of the table, by name."""
        raise NotImplementedError

    def _check_looks(self, looks: dict[str, Any]) -> None:
        """Raise InvalidArgumentError if hdbscan's `plot` does not have a keyword of `looks`."""
        for name in looks:
            if name not in self._LOOKS:
                raise InvalidArgumentError(
                    f"plot has no keyword {name!r}; it takes axis and, without effect, "
                    f"{', '.join(sorted(self._LOOKS))}"
                )


class CondensedTreeArray(TreeArray):
    """A condensed tree: a structured array.

    The array has a row for each point and for each cluster except the root. The fields are
    "parent", "child", "value" and "cluster_size", as in scikit-learn. "value" is the density
    lambda, the reciprocal of the distance, at which the child leaves the parent.
    """

    _LOOKS = frozenset({
        "leaf_separation", "cmap", "label_clusters", "selection_palette", "colorbar", "log_size",
        "max_rectangles_per_icicle",
    })  # fmt: skip

    def to_numpy(self) -> npt.NDArray[np.void]:
        """Return the rows with hdbscan's fields: parent, child, lambda_val and child_size."""
        named = np.empty(self.shape, [
            ("parent", np.intp), ("child", np.intp), ("lambda_val", np.float64),
            ("child_size", np.intp),
        ])  # fmt: skip
        for name, column in self._columns().items():
            named[name] = column
        return named

    def _columns(self) -> dict[str, Array]:
        names = ("parent", "child", "lambda_val", "child_size")
        given = ("parent", "child", "value", "cluster_size")
        return {name: self[field] for name, field in zip(names, given, strict=True)}

    def to_networkx(self) -> Any:
        """Return the tree as a ``networkx.DiGraph``.

        An arc leads from each parent to each of its children. The attribute "weight" of an arc is
        the density lambda, 1 / distance, at which the child leaves. Each node has the attribute
        "size", the number of points in it.
        """
        graph = optional_import("networkx", extra="networkx").DiGraph()
        root = int(self["parent"].min())
        graph.add_node(root, size=int(self["cluster_size"][self["parent"] == root].sum()))
        for parent, child, density, size in np.asarray(self).tolist():
            graph.add_node(child, size=size)
            graph.add_edge(parent, child, weight=density)
        return graph

    def plot(self, *, select_clusters: bool = False, axis: Any = None, **looks: Any) -> Any:
        """Draw the tree with :func:`clmst.drawing.draw_condensed_tree`.

        Parameters
        ----------
        select_clusters : bool, default False
            Whether to draw the chosen clusters, to which the labels belong, in colour.
        axis : matplotlib.axes.Axes, optional
            Where to draw. By default pyplot makes a new figure.
        **looks
            The other keywords of hdbscan's ``plot``. They are ignored, because clmst's pictures
            have one style.

        Returns
        -------
        matplotlib.axes.Axes
            The axes with the drawing.

        Raises
        ------
        InvalidArgumentError
            A keyword is unknown.
        MissingDependencyError
            Matplotlib is not installed.
        """
        from clmst.drawing.condensed_tree import draw_condensed_tree

        self._check_looks(looks)
        selected = self._fit.selected_clusters_ if select_clusters else ()
        return draw_condensed_tree(np.asarray(self), selected=selected, ax=axis)


class SingleLinkageArray(TreeArray):
    """A dendrogram by mutual reachability: a linkage matrix of SciPy, shape (n - 1, 4)."""

    _LOOKS = frozenset({"truncate_mode", "p", "vary_line_width", "cmap", "colorbar"})

    def _columns(self) -> dict[str, Array]:
        left, right, distance, size = np.asarray(self).T
        parent = np.arange(len(self) + 1, 2 * len(self) + 1)
        return {
            "parent": parent, "left_child": left.astype(np.int64),
            "right_child": right.astype(np.int64), "distance": distance,
            "size": size.astype(np.int64),
        }  # fmt: skip

    def to_networkx(self) -> Any:
        """Return the dendrogram as a ``networkx.DiGraph``.

        An arc leads from each merge to the two nodes that it joins. The attribute "weight" of an
        arc is the distance of the merge. Each node has the attribute "size", the number of points
        in it.
        """
        graph = optional_import("networkx", extra="networkx").DiGraph()
        graph.add_nodes_from(range(len(self) + 1), size=1)
        for node, (left, right, distance, size) in enumerate(
            np.asarray(self).tolist(), len(self) + 1
        ):
            graph.add_node(node, size=int(size))
            graph.add_edge(node, int(left), weight=distance)
            graph.add_edge(node, int(right), weight=distance)
        return graph

    def get_clusters(self, cut_distance: float, min_cluster_size: int = 5) -> npt.NDArray[np.int64]:
        """Cut the dendrogram; see :meth:`clmst.cluster.HDBSCAN.dbscan_clustering`."""
        found: npt.NDArray[np.int64] = self._fit.dbscan_clustering(cut_distance, min_cluster_size)
        return found

    def plot(self, *, axis: Any = None, **looks: Any) -> Any:
        """Draw the dendrogram with :func:`clmst.drawing.draw_dendrogram`.

        Merges within a cluster have the hue of the cluster. The parameters `axis` and `looks` and
        the errors are as in :meth:`CondensedTreeArray.plot`.
        """
        from clmst.drawing.dendrogram import draw_dendrogram

        self._check_looks(looks)
        labels = self._fit.labels_[self._fit._given.finite]
        return draw_dendrogram(np.asarray(self), labels=labels, ax=axis)


class SpanningTreeArray(TreeArray):
    """A minimum spanning tree by mutual reachability: rows of two points and their distance."""

    _LOOKS = frozenset({
        "node_size", "node_color", "node_alpha", "edge_alpha", "edge_cmap", "edge_linewidth",
        "vary_line_width", "colorbar",
    })  # fmt: skip

    def _columns(self) -> dict[str, Array]:
        start, end, distance = np.asarray(self).T
        return {"from": start.astype(np.int64), "to": end.astype(np.int64), "distance": distance}

    def to_networkx(self) -> Any:
        """Return the tree as a ``networkx.Graph``.

        The "weight" of an edge is the distance. If the fit was of points, each node has the
        attribute "data", a tuple of its coordinates.
        """
        graph = optional_import("networkx", extra="networkx").Graph()
        graph.add_nodes_from(range(self._fit.forest_.n_vertices))
        rows = self._fit._given.rows
        if rows is not None:
            graph.add_nodes_from((k, {"data": tuple(row)}) for k, row in enumerate(rows.tolist()))
        for start, end, distance in np.asarray(self).tolist():
            graph.add_edge(int(start), int(end), weight=distance)
        return graph

    def plot(self, *, axis: Any = None, **looks: Any) -> Any:
        """Draw the tree with :func:`clmst.drawing.draw_forest`.

        The parameters `axis` and `looks` and the errors are as in :meth:`CondensedTreeArray.plot`.
        """
        from clmst.drawing.picture import draw_forest

        self._check_looks(looks)
        return draw_forest(self._fit._given.graph, self._fit.forest_, ax=axis)
