"""A forest in the form of other libraries, which are not imported before."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from clmst.core.columns import takes_columns

if TYPE_CHECKING:
    from clmst.core.forest import Forest


class ForestExports:
    """The methods of a :class:`Forest` that return it as an object of another library."""

    def to_scipy(self) -> Any:
        """Return a ``scipy.sparse.csr_array`` with each edge stored once, as [u, v] with u < v.

        Weights keep their dtype; a weight of zero is stored explicitly. SciPy's sparse arrays have
        no float16, so such weights become float32.

        Raises
        ------
        InvalidForestError
            The arrays are no forest: different numbers of edges and weights, or an endpoint out of
            range.
        """
        from scipy import sparse

        forest = cast("Forest", self)
        edges = forest.checked_edges()
        weights, columns = forest.weights, np.ascontiguousarray(edges[:, 1])
        if weights.dtype == np.float16:
            weights = weights.astype(np.float32)
        counts = np.bincount(edges[:, 0], minlength=forest.n_vertices)
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(edges.dtype)
        shape = (forest.n_vertices, forest.n_vertices)
        return sparse.csr_array((weights, columns, indptr), shape=shape)

    def to_networkx(self, weight: str | None = None) -> Any:
        """Return a ``networkx.Graph`` of all vertices, with the caller's names if any.

        Of a forest of a NetworkX graph it has the attributes that the graph has now, those of nodes
        and edges too, as ``networkx.minimum_spanning_tree`` has. Names that are arrays, or lists,
        become tuples.

        Parameters
        ----------
        weight : str, optional
            The edge attribute that holds the weight; by default the one that it was in, or
            "weight".

        Raises
        ------
        InvalidArgumentError
            A name is not hashable, two vertices have the same, or the NetworkX graph has lost a
            node or an edge since.
        InvalidForestError
            As :meth:`to_scipy`.
        MissingDependencyError
            NetworkX is not installed.

        Notes
        -----
        A pickled forest has the names of nodes, but not the graph with its attributes.
        """
        from clmst.core.networkx_nodes import networkx_of

        return networkx_of(cast("Forest", self), weight)

    @takes_columns
    def to_pandas(
        self, *, columns: Sequence[Hashable] | None = None, edge_id: Hashable = "edge_id"
    ) -> Any:
        """Return a ``pandas.DataFrame`` with one row for each edge, in the order of `edges`.

        Ends have the caller's labels. :meth:`rows` returns the rows of a frame that the forest
        took, with all columns.

        Parameters
        ----------
        columns : list or tuple, optional
            What the columns of both ends and of the weight are called: "source", "target" and
            "weight" where it is left out.
        edge_id : hashable
            What the column of edge ids is called.

        Raises
        ------
        InvalidArgumentError
            Two columns have one name.
        InvalidForestError
            As :meth:`to_scipy`.
        MissingDependencyError
            pandas is not installed.
        """
        from clmst.core.data_frames import frame_of

        return frame_of(cast("Forest", self), columns, edge_id)

    def rows(self, table: Any) -> Any:
        """Return the rows of a table of edges that the forest took, in the order of `edges`.

        Rows are taken by their position, whatever the index of a data frame says.

        Parameters
        ----------
        table : pandas.DataFrame, pyarrow.Table, polars.DataFrame or array
            The one that the graph was made of, or another one with a row for each edge id.

        Raises
        ------
        InvalidArgumentError
            It is no table, or has too few rows.
        """
        from clmst.core.data_frames import rows_at

        return rows_at(table, cast("Forest", self).edge_ids)
