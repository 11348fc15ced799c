"""The table of file formats, and the choice of a format by name or by the suffix of a path."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from clmst.core.arguments import check_text, shown
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.points import Metric, Points
from clmst.core.weight_keys import Array
from clmst.io import (
    dimacs,
    ecl,
    edge_list,
    graph_xml,
    matrix_market,
    metis,
    npz,
    pieces,
    point_table,
    tsplib,
)
from clmst.io.compression import codec_of
from clmst.io.file_edges import FileEdges, ForestEdges, write_summary, written_labels
from clmst.io.files import SourceFile, named

Reader: TypeAlias = Callable[[SourceFile], Graph]
Writer: TypeAlias = Callable[[FileEdges, BinaryIO], None]
TableReader: TypeAlias = Callable[[SourceFile, Sequence[Any] | None], Graph]
RowsReader: TypeAlias = Callable[[SourceFile, Sequence[Any] | None], Array]
PointsReader: TypeAlias = Callable[[SourceFile, Metric | None], Points | DenseGraph]
ForestReader: TypeAlias = Callable[[SourceFile], ForestEdges]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format: its name, its suffixes, and the functions that read and write it.

    A function is None if clmst cannot do with this format what the function would do. For example,
    ``json`` has only a `forest_writer`.

    Examples
    --------
    >>> from clmst.io import FORMATS
    >>> next(form.name for form in FORMATS if ".gr" in form.suffixes)
    'dimacs'
    """

    name: str
    suffixes: tuple[str, ...]  # in lower case; the suffix of a compression may follow
    description: str
    reader: Reader | None = None
    writer: Writer | None = None
    points_reader: PointsReader | None = None  # if a file of the format is one complete graph
    rows_reader: RowsReader | None = None  # if a file is a table with one point a row
    forest_reader: ForestReader | None = None
    forest_writer: Writer | None = None
    table_reader: TableReader | None = None  # if a file is a table with named columns
    takes_text: bool | None = None  # whether vertex labels may be strings; None: no labels

    def keeps(self, labels: Sequence[Any] | None) -> bool:
        """Return whether a file of this format stores the given vertex labels.

        The result is also True if nothing is lost: if `labels` is None, or if the format does not
        list vertices at all, like JSON.
        """
        if labels is None or self.reader is None:
            return True
        text = self.takes_text
        return text is not None and written_labels(labels, takes_text=text) is not None


def _of_tsv(reader: Callable[..., Any]) -> Callable[..., Any]:
    """Convert a function that reads CSV to one that reads TSV, where tabs separate the fields."""
    return partial(reader, separators=edge_list.OF_TSV)


FORMATS: tuple[Format, ...] = (
    Format(
        name="dimacs", suffixes=(".gr",),
        description="DIMACS shortest paths, 'p edge' and PACE; reads SteinLib sections too",
        reader=dimacs.read, writer=dimacs.write,
    ),
    Format(
        name="steinlib", suffixes=(".stp",), description="SteinLib: the graph section",
        reader=dimacs.read_steinlib, writer=dimacs.write_steinlib,
    ),
    Format(
        name="matrix-market", suffixes=(".mtx",),
        description="Matrix Market: sparse, real, integer or pattern, general or symmetric",
        reader=matrix_market.read, writer=matrix_market.write,
        forest_reader=matrix_market.read_forest, forest_writer=matrix_market.write,
    ),
    Format(
        name="metis", suffixes=(".graph",),
        description="METIS: a line of neighbours for each vertex; positive integer weights",
        reader=metis.read, writer=metis.write,
    ),
    Format(
        name="ecl", suffixes=(".egr",),
        description="ECL: the arrays of a symmetric CSR; 32-bit integer weights",
        reader=ecl.read, writer=ecl.write,
    ),
    Format(
        name="npz", suffixes=(".npz",),
        description="SciPy: scipy.sparse.save_npz; keeps the dtype of weights, and edge ids",
        reader=npz.read, writer=npz.write, forest_reader=npz.read_forest, forest_writer=npz.write,
    ),
    Format(
        name="edge-list", suffixes=(".txt", ".el", ".wel", ".edges"),
        description="text, as of SNAP: u v [weight], from 0, between spaces, tabs or commas",
        reader=edge_list.read, writer=edge_list.write, forest_reader=edge_list.read_forest,
        forest_writer=edge_list.write, takes_text=False,
    ),
    Format(
        name="csv", suffixes=(".csv",),
        description="CSV with a header row: source, target, weight; an edge list; or points",
        reader=edge_list.read_csv, writer=edge_list.write_csv,
        forest_reader=edge_list.read_csv_forest, forest_writer=edge_list.write_csv,
        table_reader=edge_list.read_csv, rows_reader=point_table.read_csv, takes_text=True,
    ),
    Format(
        name="tsv", suffixes=(".tsv", ".tab"), description="CSV with tabs for commas",
        reader=_of_tsv(edge_list.read_csv), writer=edge_list.write_tsv,
        forest_reader=_of_tsv(edge_list.read_csv_forest), forest_writer=edge_list.write_tsv,
        table_reader=_of_tsv(edge_list.read_csv), rows_reader=_of_tsv(point_table.read_csv),
        takes_text=True,
    ),
    Format(
        name="parquet", suffixes=(".parquet", ".pq"),
        description="Parquet: columns source, target, weight; or of points",
        reader=pieces.read, writer=pieces.write,
        forest_reader=pieces.read_forest, forest_writer=pieces.write,
        table_reader=pieces.read, rows_reader=point_table.read_parquet, takes_text=True,
    ),
    Format(
        name="tsplib", suffixes=(".tsp",),
        description="TSPLIB: points at EUC_2D, EUC_3D or GEO distances, or EXPLICIT matrices",
        reader=tsplib.read, points_reader=tsplib.read_points,
    ),
    Format(
        name="npy", suffixes=(".npy",), description="NumPy: points, a row each",
        rows_reader=point_table.read_npy,
    ),
    Format(
        name="graphml", suffixes=(".graphml",), description="GraphML, read by NetworkX",
        reader=graph_xml.read_graphml, table_reader=graph_xml.read_graphml,
    ),
    Format(
        name="gexf", suffixes=(".gexf",), description="GEXF, read by NetworkX",
        reader=graph_xml.read_gexf, table_reader=graph_xml.read_gexf,
    ),
    Format(
        name="json", suffixes=(".json",),
        description="JSON: summary of a forest, without its edges", forest_writer=write_summary,
    ),
)  # fmt: skip


POINT_FORMATS = tuple(one for one in FORMATS if one.points_reader or one.rows_reader)


def able(ability: str) -> tuple[Format, ...]:
    """Return the formats that have a certain function.

    `ability` is the name of the field of :class:`Format` with the function, such as "reader".
    """
    return tuple(one for one in FORMATS if getattr(one, ability))


def find(path: Path | BinaryIO, name: str | None, formats: Sequence[Format] = FORMATS) -> Format:
    """Return the format called `name` or, if `name` is None, the format by the suffix of the file.

    The suffix is taken from `path`, or from the name of an open file. `name` may also be a suffix,
    with or without its dot. `formats` are the formats that the caller can use, and error messages
    list them. A format outside `formats` is returned as well, so that :func:`ability` can say what
    it lacks. But if `formats` is POINT_FORMATS, a format outside it is an error.

    Raises :class:`InvalidArgumentError` if no format fits.
    """
    are_points = formats is POINT_FORMATS
    kind = "format of points" if are_points else "format"
    candidates = formats if are_points else FORMATS
    listed = ", ".join(f"{each.name} ({' '.join(each.suffixes)})" for each in formats)
    if name is not None:
        name = check_text("format", name)
        for candidate in candidates:
            if name == candidate.name or f".{name.removeprefix('.').lower()}" in candidate.suffixes:
                return candidate
        raise InvalidArgumentError(f"there is no {kind} {shown(name)}; there are {listed}")
    is_open = not isinstance(path, Path)
    path = path if isinstance(path, Path) else Path(named(path))
    suffix = (path if codec_of(path) is None else path.with_suffix("")).suffix.lower()
    for candidate in candidates:
        if suffix in candidate.suffixes:
            return candidate
    if is_open and not suffix:
        raise InvalidArgumentError(
            f"{path} has no suffix that tells its format; format= (--format, --output-format, "
            f"--forest-format) must name it: {listed}"
        )
    if os.path.isdir(path):  # pathlib's is_dir raises if a name is too long
        raise InvalidArgumentError(
            f"{path} is a folder; it must be a file (a stream takes folders: "
            "stream_minimum_spanning_forest, clmst solve --stream)"
        )
    raise InvalidArgumentError(
        f"{path} has the suffix {suffix!r}, which no {kind} has; known are {listed}"
    )


def ability(chosen: Format, name: str, action: str) -> Any:
    """Return a function of a format. Raise InvalidArgumentError if the format does not have it.

    `name` is the name of the field of :class:`Format` with the function, such as "reader". `action`
    is a part of the message: what clmst cannot do in this format, such as "reads no graph".
    """
    function = getattr(chosen, name)
    if function is None:
        able = ", ".join(each.name for each in FORMATS if getattr(each, name))
        raise InvalidArgumentError(
            f"clmst {action} in format {chosen.name}; the format must be one of {able}"
        )
    return function
