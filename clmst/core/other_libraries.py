"""The constructors of a graph from objects of other libraries, which are not imported for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from clmst.core.columns import takes_columns

if TYPE_CHECKING:
    from clmst.core.graph import Graph


class OtherLibraries:
    """What :class:`clmst.Graph` takes from libraries that it does not need."""

    @classmethod
    @takes_columns
    def from_pandas(cls, frame: Any, *, columns: Sequence[Hashable] | None = None) -> Graph:
        """Take a data frame with one row for each edge.

        The ends of edges are integers, strings, categories or other hashable values. Vertices are
        those that occur: integers are numbered in rising order, all else in the order in which rows
        have them. `vertex_labels` are the ids, unless these are 0 .. n - 1. Edge ids are positions
        of rows: :meth:`clmst.Forest.rows` returns the rows of a forest.

        Parameters
        ----------
        frame : pandas.DataFrame
        columns : list or tuple, optional
            The names of the columns: of both ends, and of weights, which are 1 where it is left
            out. By default as of :func:`clmst.read_graph`.

        Raises
        ------
        InvalidGraphError
            There is no such column, nothing tells which to take, or an id or a weight is missing or
            of the wrong type; names the first row.
        MissingDependencyError
            pandas is not installed.
        """
        from clmst.core.data_frames import graph_of_pandas

        return graph_of_pandas(frame, columns)

    @classmethod
    @takes_columns
    def from_arrow(cls, table: Any, *, columns: Sequence[Hashable] | None = None) -> Graph:
        """Take an Arrow table, or any frame that gives itself as one; else as :meth:`from_pandas`.

        Parameters
        ----------
        table : pyarrow.Table, polars.DataFrame, or any object with ``__arrow_c_stream__``
        columns : list or tuple of str, optional
            As of :meth:`from_pandas`.

        Raises
        ------
        InvalidGraphError
            As :meth:`from_pandas`.
        MissingDependencyError
            pyarrow is not installed.
        """
        from clmst.core.data_frames import graph_of_arrow

        return graph_of_arrow(table, columns)

    @classmethod
    def from_image(
        cls,
        image: Any,
        *,
        connectivity: int = 1,
        channel_axis: int | None = None,
        mask: Any = None,
    ) -> Graph:
        """Take an image or a volume: a vertex a pixel, an edge between neighbours.

        The weight of an edge says how far the two pixels' values are apart: the absolute difference
        of one channel, exact for integers; the Euclidean distance of several, in float64. Vertices
        are numbered as the pixels in C order, so ``array.reshape(shape)`` makes an image of an
        array of vertices.

        Parameters
        ----------
        image : array of real numbers, shape (..., rows, columns)
            Of one to four axes of pixels, and finite.
        connectivity : int
            How many coordinates of two neighbours may differ, by one each: for two axes 1 is four
            neighbours, 2 is eight.
        channel_axis : int, optional
            The axis of colours or other channels. None: there is one channel; an array of uint8
            whose last axis has 3 or 4 values gets a `GraphWarning`.
        mask : array of bool, shape of the pixels, optional
            False: a pixel without edges.

        Raises
        ------
        InvalidGraphError
            The image is empty, not of real numbers, or has a value that is not finite.
        InvalidArgumentError
            Another argument is out of range, or the mask has another shape.

        Notes
        -----
        O(pixels * neighbours) time and memory. Edge ids go by neighbour first, then by pixel.
        """
        from clmst.core.from_image import graph_of_image

        return graph_of_image(image, connectivity, channel_axis, mask)

    @classmethod
    def from_igraph(cls, G: Any, weight: str | None = "weight") -> Graph:
        """Take an undirected igraph graph, parallel edges too.

        Edge ids are igraph's own. If vertices have the attribute "name", `vertex_labels` are those
        names.

        Parameters
        ----------
        G : igraph.Graph
        weight : str or None
            The edge attribute that holds the weight. All weights are 1 if it is None, or if it is
            "weight" and there is none of that name, as in igraph.

        Raises
        ------
        InvalidGraphError
            `G` is directed, there is no such attribute, or a weight is not a real number.
        """
        from clmst.core.from_graph_objects import graph_of_igraph

        return graph_of_igraph(G, weight)

    @classmethod
    def from_rustworkx(cls, G: Any, weight_fn: Callable[[Any], Any] | None = None) -> Graph:
        """Take an undirected rustworkx graph, parallel edges too.

        Edge ids are rustworkx's own edge indices. `vertex_labels` are its node indices where a node
        was removed, else None.

        Parameters
        ----------
        G : rustworkx.PyGraph
        weight_fn : callable, optional
            Called with the data of each edge, returns its weight. When left out, the data are the
            weights; if all are None, all weights are 1.

        Raises
        ------
        InvalidGraphError
            `G` is directed, or a weight is not a real number.
        """
        from clmst.core.from_graph_objects import graph_of_rustworkx

        return graph_of_rustworkx(G, weight_fn)
