"""Readers and writers of graph files.

>>> from clmst.io import read_graph, write_graph
>>> write_graph(read_graph("roads.gr.gz"), "roads.egr")

The suffix of a path gives the format; a further ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` means that
it is compressed. :data:`FORMATS` lists the formats. Instead of a path an open binary file will do,
as ``sys.stdin.buffer``. Files hold simple graphs: edges between the same two vertices are read, and
written, as one, with the least of their weights.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, get_args

import numpy as np

from clmst.core.arguments import check_choice, check_file, check_kind
from clmst.core.coercion import as_listed
from clmst.core.columns import check_columns, check_names
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidForestError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.points import Metric, Points
from clmst.core.weight_keys import Array
from clmst.io import files, registry
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
    """Read a graph.

    Parameters
    ----------
    path : str, Path or binary file
        A file; compressed if its name ends in ``.gz``, ``.bz2``, ``.xz`` or ``.zst``.
    format : str, optional
        The name of one of :data:`FORMATS`; by default the suffix of `path` decides.
    columns : list or tuple of str, optional
        Of a CSV file with a header row, or a Parquet file: the names of two columns with the edges'
        ends, and of one with weights, which are 1 where it is left out. By default ``("source",
        "target", "weight")``, or all columns of a table of two or three that have other names.

    Returns
    -------
    Graph
        Weights are int64, or float64 if one is no integer; binary formats keep their own dtype,
        and missing weights are 1 in uint8. Edge ids are positions in the file: lines that hold
        edges, rows of a table, or slots of a matrix. In DIMACS files two opposite arcs that follow
        each other, the first in an even row from 0 on, have one id together, and so they have in
        a file whose arcs are all paired. `vertex_labels` are the numbers of an edge
        list or table that are not 0 .. n - 1, or the names that a table has.

    Raises
    ------
    MissingFileError
        There is no such file; a :class:`FileNotFoundError` too.
    InvalidArgumentError
        There is no such format, or the file cannot be opened.
    FileFormatError
        The file is truncated, mislabelled or breaks the rules of its format.

    Notes
    -----
    O(size of the file). Sizes in a header alone never cause an allocation.
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
) -> Points | DenseGraph:
    """Read a complete graph without listing its edges: points, or a matrix of weights.

    Parameters
    ----------
    path, format
        As of :func:`read_graph`; the format is ``csv``, ``parquet``, ``npy`` or ``tsplib``.
    metric : str, optional
        Instead of the file's, or "euclidean" for a table, one of :class:`clmst.Points`: "haversine"
        for coordinates in decimal degrees, which TSPLIB's own GEO takes for degrees and minutes.
    columns : list or tuple of str, optional
        Of a table, whose rows are points: the names of the columns of coordinates, by default all.

    Returns
    -------
    Points or DenseGraph
        A DenseGraph if the file lists the distances themselves.

    Raises
    ------
    MissingFileError, InvalidArgumentError, FileFormatError
        As of :func:`read_graph`; of another format, too, and of distances of another kind.
    """
    if metric is not None:
        check_choice("metric", metric, get_args(Metric))
    path = check_file("path", path, "read")
    found = read_rows(path, format=format, metric=metric, columns=columns)
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
) -> Array | Points | DenseGraph:
    """Read as :func:`read_points`, but return a table as the array that it is."""
    path = check_file("path", path, "read")
    columns = check_names(columns)
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

    Of parallel edges the lightest is written; self-loops are not. Vertices are written as numbers;
    only edge lists and CSV keep labels, if these are integers, and CSV if these are strings. An
    existing file is replaced only after all is written.

    Parameters
    ----------
    graph : Graph, or any other one that lies on the host
        As of :func:`clmst.minimum_spanning_forest`. Edges of complete graphs are listed.
    path, format
        As of :func:`read_graph`.
    symmetrize : bool
        As of :func:`clmst.minimum_spanning_forest`.

    Raises
    ------
    InvalidGraphError
        There is no graph, or it is malformed.
    InvalidArgumentError
        There is no such format, it cannot hold these weights, or the file cannot be made.
    """
    path = check_file("path", path, "write")
    chosen = registry.find(path, format, registry.able("writer"))
    write = registry.ability(chosen, "writer", "writes no graph")
    listing = FileEdges.of_graph(as_listed(graph, symmetrize=symmetrize))
    with files.writing(path) as stream:
        write(listing, stream)


def write_forest(forest: Forest, path: str | Path | BinaryIO, *, format: str | None = None) -> None:  # noqa: A002
    """Write a forest: its edges, or a summary as JSON.

    Parameters
    ----------
    forest : Forest
    path, format
        As of :func:`write_graph`; the format is ``csv``, which does not say whether the forest is a
        maximum, ``edge-list``, ``matrix-market``, ``npz``, ``parquet`` or ``json``.

    Raises
    ------
    InvalidArgumentError
        There is no such format, it cannot hold a forest, or the file cannot be made.
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
    """Read a forest of `graph`.

    Edges are found in the graph by their ids where the file has them (npz), else by endpoints and
    weight. Any format that holds a graph can hold a forest.

    Parameters
    ----------
    path, format
        As of :func:`read_graph`.
    graph, symmetrize
        As of :func:`clmst.minimum_spanning_forest`; any graph that lies on the host.

    Returns
    -------
    Forest
        In the graph's canonical order. :meth:`Forest.verify` checks whether it spans the graph and
        is a minimum.

    Raises
    ------
    MissingFileError, InvalidArgumentError, FileFormatError
        As of :func:`read_graph`.
    InvalidForestError
        An edge of the file is not in the graph, or has another weight there.
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
