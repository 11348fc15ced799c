"""Read and write graphs, forests and tables of points as files.

>>> from clmst.io import read_graph, write_graph
>>> write_graph(read_graph("roads.gr.gz"), "roads.egr")  # doctest: +SKIP

The suffix of a path decides the format. A second suffix ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` says
that the file is compressed. :data:`FORMATS` lists the formats. An open binary file, such as
``sys.stdin.buffer``, can be passed instead of a path.

Files hold simple graphs. If a file or a graph has several edges between the same two vertices, the
lightest one is kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from clmst.core.arguments import check_bool, check_choice, check_file, check_kind, shown
from clmst.core.coercion import as_listed
from clmst.core.columns import check_columns, check_names
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError, InvalidForestError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.points import METRICS_OF_FILES, Metric, Points
from clmst.core.weight_keys import Array
from clmst.io import files, mapped_points, registry
from clmst.io.file_edges import FileEdges, ForestEdges, attach
from clmst.io.registry import FORMATS, Format

__all__ = [
    "FORMATS",
    "Format",
    "read_forest",
    "read_graph",
    "read_points",
    "write_forest",
    "write_graph",
]


def read_graph(
    path: str | Path | BinaryIO,
    *,
    format: str | None = None,  # noqa: A002
    columns: Sequence[Hashable] | None = None,
) -> Graph:
    r"""Read a graph from a file.

    Parameters
    ----------
    path : str, Path or binary file
        The file to read. It is decompressed if its name ends in ``.gz``, ``.bz2``, ``.xz`` or
        ``.zst``.
    format : str, optional
        The name of one of :data:`FORMATS`. By default the suffix of `path` decides.
    columns : list or tuple of str, optional
        The names of the columns to read from a table: a CSV or TSV file with a header row, a
        Parquet file, or the edge attributes of GraphML and GEXF. The first two name the ends of
        each edge, and an optional third one names the weights. Without the third name every weight
        is 1. The default is ``("source", "target", "weight")``. A table of two or three columns
        with other names is read in the order of its columns.

    Returns
    -------
    Graph
        The weights are int64, or float64 if at least one of them is not an integer. Binary formats
        keep the dtype of their weights. If the file is without weights, each is 1, stored as uint8.

        Edge ids are positions in the file: lines that hold edges, rows of a table, or entries of a
        matrix. In a DIMACS file two opposite arcs share one id if they follow each other and the
        first one is in an even row, counted from 0, or if all arcs of the file are paired.

        `vertex_labels` holds the names that a table gives to its vertices, or the vertex numbers of
        an edge list or table if these are not 0 .. n - 1.

    Raises
    ------
    MissingFileError
        The file does not exist. This is also a :class:`FileNotFoundError`.
    InvalidArgumentError
        The format is unknown or cannot hold a graph, or the file cannot be opened.
    FileFormatError
        The file is truncated, is in another format, or breaks the rules of its format.

    Notes
    -----
    Takes O(size of the file). Memory is allocated for what the file contains, never only because
    its header declares large sizes.

    Examples
    --------
    >>> from io import BytesIO
    >>> from clmst.io import read_graph
    >>> graph = read_graph(BytesIO(b"source,target,weight\na,b,5\nb,c,7\n"), format="csv")
    >>> graph.vertex_labels
    ('a', 'b', 'c')
    """
    path = check_file("path", path, "read")
    chosen = registry.find(path, format, registry.able("reader"))
    read = registry.ability(chosen, "reader", "reads no graph")
    columns = check_columns(columns)
    if columns is not None:
        read = partial(
            registry.ability(chosen, "table_reader", "names no columns"), columns=columns
        )
    with files.reading(path) as source:
        graph: Graph = read(source)
        return graph


def read_points(
    path: str | Path | BinaryIO,
    *,
    format: str | None = None,  # noqa: A002
    metric: Metric | None = None,
    columns: Sequence[Hashable] | None = None,
    mapped: bool = False,
) -> Points | DenseGraph:
    r"""Read a complete graph as points or as a matrix of distances, without listing its edges.

    Parameters
    ----------
    path : str, Path or binary file
        The file to read. It is decompressed if its name ends in ``.gz``, ``.bz2``, ``.xz`` or
        ``.zst``.
    format : str, optional
        ``csv``, ``tsv``, ``parquet``, ``npy`` or ``tsplib``. By default the suffix of `path`
        decides.
    metric : str, optional
        One of the metrics of :class:`clmst.Points`. By default it is the metric that the file
        states, or "euclidean" for a table. "haversine" takes coordinates in decimal degrees,
        whereas TSPLIB's GEO takes degrees and minutes.
    columns : list or tuple of str, optional
        The columns of a table that hold the coordinates. By default all columns are coordinates.
        Each row of the table is one point.
    mapped : bool
        Whether the coordinates stay on a disk, for points that are solved with `block_points`.
        `path` may then also be a folder, or a pattern with ``*``, ``?`` or ``[...]``, of ``.npy``
        and Parquet files. Their rows are joined in the order of the names of the files. The rows of
        one ``.npy`` file are mapped from it. All other files are first copied, in passes, to a
        temporary file in the folder that the environment variable TMPDIR names. `format` must be
        None.

    Returns
    -------
    Points or DenseGraph
        A DenseGraph if the file lists the distances themselves, else Points.

    Raises
    ------
    MissingFileError
        The file does not exist.
    InvalidArgumentError
        The format does not hold points, the metric is unknown, or the file cannot be opened. With
        `mapped` also if a file is neither ``.npy`` nor Parquet, or if the temporary file cannot
        grow.
    FileFormatError
        The file breaks the rules of its format, a column is not numeric, or the file states
        distances that clmst does not support. With `mapped` also if two files have different
        columns.

    Examples
    --------
    >>> from io import BytesIO
    >>> from clmst.io import read_points
    >>> read_points(BytesIO(b"x,y\n0,0\n3,4\n"), format="csv").coordinates
    array([[0., 0.],
           [3., 4.]])
    """
    if metric is not None:
        check_choice("metric", metric, METRICS_OF_FILES)
    path = check_file("path", path, "read")
    found = read_rows(path, format=format, metric=metric, columns=columns, mapped=mapped)
    if not isinstance(found, np.ndarray):
        return found
    with files.explained(path):
        return Points(found, metric or "euclidean")


def read_rows(
    path: str | Path | BinaryIO,
    *,
    format: str | None = None,  # noqa: A002
    metric: Metric | None = None,
    columns: Sequence[Hashable] | None = None,
    mapped: bool = False,
) -> Array | Points | DenseGraph:
    """Read points as :func:`read_points` does, but return a table as a NumPy array.

    The arguments are the same as in :func:`read_points`. All but `path` may be None. The array has
    one row for each point. A TSPLIB file is not a table, so it still gives Points or a DenseGraph.
    `metric` matters only for TSPLIB.
    """
    path = check_file("path", path, "read")
    columns = check_names(columns)
    if check_bool("mapped", mapped):
        if format is not None or not isinstance(path, Path):
            given = f"format is {shown(format)}" if isinstance(path, Path) else "path is open"
            raise InvalidArgumentError(
                f"mapped is True, and {given}; files are mapped by their paths, whose suffixes "
                "say the format"
            )
        return mapped_points.read(path, columns)
    chosen = registry.find(path, format, registry.POINT_FORMATS)
    if columns is not None:
        registry.ability(chosen, "rows_reader", "names no columns")
    with files.reading(path) as source:
        if chosen.points_reader is not None:
            return chosen.points_reader(source, metric)
        rows: Array = registry.ability(chosen, "rows_reader", "reads no points")(source, columns)
        return rows


def write_graph(
    graph: Any,
    path: str | Path | BinaryIO,
    *,
    format: str | None = None,  # noqa: A002
    symmetrize: bool = False,
) -> None:
    """Write a graph, so that reading the file gives the same vertices, edges and weights.

    Of parallel edges only the lightest is written. Self-loops are not written. Vertices are written
    as numbers, except that edge lists keep labels that are integers, and CSV, TSV and Parquet keep
    labels that are integers or strings. An existing file is replaced only after everything has been
    written.

    Parameters
    ----------
    graph : Graph or other graph in host memory
        Any graph that :func:`clmst.minimum_spanning_forest` accepts, unless its arrays are on a
        device. The edges of a complete graph are listed one by one.
    path : str, Path or binary file
        Where to write. The file is compressed if its name ends in ``.gz``, ``.bz2``, ``.xz`` or
        ``.zst``.
    format : str, optional
        The name of one of :data:`FORMATS`. By default the suffix of `path` decides.
    symmetrize : bool
        Whether a matrix that is not symmetric is accepted, as in
        :func:`clmst.minimum_spanning_forest`.

    Raises
    ------
    InvalidGraphError
        `graph` is not a graph, or it is malformed.
    InvalidArgumentError
        The format is unknown, it cannot hold these weights, or the file cannot be created.

    Examples
    --------
    >>> from io import BytesIO
    >>> import clmst
    >>> from clmst.io import write_graph
    >>> file = BytesIO()
    >>> write_graph(clmst.Graph.from_edges([0, 1], [1, 2], [5, 7]), file, format="dimacs")
    >>> print(file.getvalue().decode().splitlines()[:2])
    ['p sp 3 4', 'a 1 2 5']
    """
    path = check_file("path", path, "write")
    chosen = registry.find(path, format, registry.able("writer"))
    write = registry.ability(chosen, "writer", "writes no graph")
    listing = FileEdges.of_graph(as_listed(graph, symmetrize=symmetrize))
    with files.writing(path) as stream:
        write(listing, stream)


def write_forest(forest: Forest, path: str | Path | BinaryIO, *, format: str | None = None) -> None:  # noqa: A002
    """Write the edges of a forest, or a summary of the forest as JSON.

    Parameters
    ----------
    forest : Forest
        The forest to write.
    path : str, Path or binary file
        Where to write. The file is compressed if its name ends in ``.gz``, ``.bz2``, ``.xz`` or
        ``.zst``.
    format : str, optional
        ``csv``, ``tsv``, ``edge-list``, ``matrix-market``, ``npz``, ``parquet`` or ``json``. By
        default the suffix of `path` decides. CSV and TSV do not record whether the forest is a
        maximum. JSON has the sizes and the total weight, but not the edges.

    Raises
    ------
    InvalidArgumentError
        The format is unknown, it cannot hold a forest, `forest` is not a Forest, or the file cannot
        be created.

    Examples
    --------
    >>> from io import BytesIO
    >>> import clmst
    >>> from clmst.io import write_forest
    >>> forest = clmst.minimum_spanning_forest(clmst.Graph.from_edges([0, 1], [1, 2], [5, 7]))
    >>> file = BytesIO()
    >>> write_forest(forest, file, format="csv")
    >>> print(file.getvalue().decode().split())
    ['source,target,weight', '0,1,5', '1,2,7']
    """
    path = check_file("path", path, "write")
    chosen = registry.find(path, format, registry.able("forest_writer"))
    write = registry.ability(chosen, "forest_writer", "writes no forest")
    check_kind("forest", forest, Forest)
    listing = FileEdges.of_forest(forest)
    with files.writing(path) as stream:
        write(listing, stream)


def read_forest(
    path: str | Path | BinaryIO,
    graph: Any,
    *,
    format: str | None = None,  # noqa: A002
    symmetrize: bool = False,
) -> Forest:
    r"""Read a forest from a file, and find the edges of the forest in `graph`.

    If the file has edge ids (npz and Parquet), the ids identify the edges. Otherwise the two
    endpoints and the weight do. Every format that holds a graph can hold a forest.

    Parameters
    ----------
    path : str, Path or binary file
        The file to read. It is decompressed if its name ends in ``.gz``, ``.bz2``, ``.xz`` or
        ``.zst``.
    graph : Graph or other graph in host memory
        The graph to which the forest belongs: any graph that :func:`clmst.minimum_spanning_forest`
        accepts, unless its arrays are on a device.
    format : str, optional
        The name of one of :data:`FORMATS`. By default the suffix of `path` decides.
    symmetrize : bool
        Whether a matrix that is not symmetric is accepted, as in
        :func:`clmst.minimum_spanning_forest`.

    Returns
    -------
    Forest
        Its edges are in the canonical order of `graph`. The edges are known to belong to the graph,
        but not to be a spanning forest of minimum weight. :meth:`Forest.verify` checks that.

    Raises
    ------
    MissingFileError
        The file does not exist.
    InvalidArgumentError
        The format is unknown or cannot hold a forest, or the file cannot be opened.
    FileFormatError
        The file is truncated, is in another format, or breaks the rules of its format.
    InvalidForestError
        An edge of the file is not in the graph, or has another weight there.

    Examples
    --------
    >>> from io import BytesIO
    >>> import clmst
    >>> from clmst.io import read_forest
    >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [5, 7, 9])
    >>> read_forest(BytesIO(b"0 1 5\n1 2 7\n"), graph, format="edge-list").total_weight
    12
    """
    path = check_file("path", path, "read")
    chosen = registry.find(path, format, registry.able("reader"))
    read = registry.ability(chosen, "reader", "reads no forest")
    listed_graph = as_listed(graph, symmetrize=symmetrize)
    with files.reading(path) as source:
        if chosen.forest_reader is not None:
            listed = chosen.forest_reader(source)
        else:
            listed = ForestEdges.of(read(source))
    try:
        return attach(listed, listed_graph)
    except InvalidForestError as error:
        name = path if isinstance(path, Path) else files.named(path)
        raise InvalidForestError(f"{name}: {error}") from error
