"""CSV files with a header row: a row for each edge, columns found by their names.

Columns are as of :func:`clmst.core.columns.choose`. Vertices are the ids that occur, integers or
text. A vertex without neighbours is a row with itself at both ends.

A file whose first line is no header, but a comment or numbers, is an edge list
(:mod:`clmst.io.edge_list`): so are the files that earlier versions wrote.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from io import StringIO
from typing import Any, BinaryIO, TextIO, cast

import numpy as np

from clmst.core.columns import Columns, choose
from clmst.core.data_frames import named, numbered_frame
from clmst.core.errors import ClmstError, FileFormatError, optional_import
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.vertex_names import NumberedEdges, rank
from clmst.core.weight_keys import Array
from clmst.io import edge_list
from clmst.io.blocks import blocks
from clmst.io.edge_rows import EdgeRows, graph_of, write_rows
from clmst.io.files import SourceFile
from clmst.io.forest_edges import ForestEdges
from clmst.io.table_rows import TableRows, forest_rows, graph_rows

_HEADER = b"source,target,weight\n"
_LONGEST_LINE = 1 << 16
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NUMBER = re.compile(r"\s*[-+]?(\d|\.\d|inf|nan)", re.IGNORECASE)
_VERTEX = re.compile(r"\s*\d{1,19}\s*")
_ROWS_AT_ONCE = 1 << 16


class _Head:
    """The first two lines of a file: whether there is a header, and what it names."""

    def __init__(self, stream: BinaryIO) -> None:
        stream.seek(0)
        line, self.second = (stream.readline(_LONGEST_LINE) for _ in range(2))
        stream.seek(0)
        first = line.removeprefix(_BYTE_ORDER_MARK)
        self.has_mark = len(first) < len(line)
        self.separator = next((one for one in ",;\t" if one.encode() in first), ",")
        self.names = self._fields(first)
        self.is_header = not (
            first.strip()[:1] in (b"", b"#", b"%") or _NUMBER.match(self.names[0])
        )

    def _fields(self, line: bytes) -> list[str]:
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise FileFormatError(f"it is not UTF-8 text ({error}); a CSV file must be") from error
        lines = csv.reader([text.rstrip("\r\n")], delimiter=self.separator, quotechar='"')
        try:
            row = next(lines, [])
        except csv.Error as error:  # as of a carriage return among the names
            raise FileFormatError(f"line 1 is no row of CSV ({error}); it must be") from error
        return [name.strip() for name in row] or [""]

    def is_plain(self, columns: Columns) -> bool:
        """Whether all columns are needed in order, and ids are integers as far as one row tells."""
        simple = columns.names == self.names and self.separator != ";" and not self.has_mark
        ends = self.second.decode(errors="replace").strip("\r\n").split(self.separator)[:2]
        return simple and (not self.second.strip() or all(map(_VERTEX.fullmatch, ends)))


def read(source: SourceFile, columns: Sequence[Any] | None = None) -> Graph:
    """Read a graph.

    Raises
    ------
    FileFormatError
        There is no such column, a row has another number of fields than the header, an id or a
        weight is missing, or a weight is no number.
    MissingDependencyError
        Ids are text, or there are more columns, and pandas is not installed.
    """
    head = _Head(source.stream)
    if not head.is_header and columns is None:
        return edge_list.read(source)
    if head.is_header and head.is_plain(choose(head.names, columns)):
        return _plain_graph(source)
    return _edges(source, head, columns).merged()


def read_forest(source: SourceFile) -> ForestEdges:
    """Read the edges of a forest under the caller's names of vertices."""
    head = _Head(source.stream)
    if not head.is_header:
        return edge_list.read_forest(source)
    edges = _edges(source, head, None)
    u, v = named(edges.labels, edges.u), named(edges.labels, edges.v)
    return ForestEdges(n_vertices=None, u=u, v=v, weights=edges.weights, are_labels=True)


def _edges(source: SourceFile, head: _Head, columns: Sequence[Any] | None) -> NumberedEdges:
    """Return the edges of all rows."""
    if not head.is_header:
        raise FileFormatError("line 1 is no header row; columns can be named only if there is one")
    chosen = choose(head.names, columns)
    if head.is_plain(chosen):
        return _plain_edges(source)
    return _frame_edges(source, head, chosen)


def _plain_edges(source: SourceFile) -> NumberedEdges:
    """Read rows of two integers, and perhaps a weight."""
    rows = EdgeRows(first_vertex=0)
    for block in blocks(source.stream, commas=True, file_bytes=source.stored):
        if block.first_line > 1 and rows.add_plain(block):
            continue
        lines = np.flatnonzero(block.initials() != 0)
        rows.add(block, lines[1:] if block.first_line == 1 else lines)
    u, v, weights = rows.arrays()
    u, v, numbers = rank(u, v)
    has_gaps = numbers.size > 0 and int(numbers[-1]) != numbers.size - 1
    return NumberedEdges(
        u=u, v=v, n_vertices=numbers.size, labels=numbers if has_gaps else None, weights=weights
    )


def _plain_graph(source: SourceFile) -> Graph:
    """Read such rows as a graph, in less memory than :meth:`NumberedEdges.merged` takes."""
    edges = _plain_edges(source)
    n, labels = edges.n_vertices, edges.labels
    arrays: list[Array | None] = [edges.u, edges.v, edges.weights]
    del edges  # else it would keep the arrays
    graph = graph_of(arrays, n)
    return graph.replace(vertex_labels=tuple(labels.tolist())) if labels is not None else graph


def _frame_edges(source: SourceFile, head: _Head, columns: Columns) -> NumberedEdges:
    """Read other rows by pandas.

    All columns are read, since pandas does not count the fields of a row where it is to read some.
    """
    pandas = optional_import("pandas", extra="frames")
    try:
        frame = pandas.read_csv(
            cast(Any, source.stream),
            sep=head.separator,
            header=0,
            names=range(len(head.names)),
            keep_default_na=False,
            na_values=[""],
            encoding="utf-8-sig",
            **_exact_floats(pandas),
            low_memory=False,
        )
    except (ClmstError, MemoryError, EOFError):
        raise
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise FileFormatError(
            f"pandas cannot read it as CSV ({said}); rows must fit the header"
        ) from error
    if not isinstance(frame.index, pandas.RangeIndex):  # made of fields that have no name
        raise FileFormatError(
            f"rows have more fields than the {len(head.names)} of the header; there must be as many"
        )
    chosen = {name: frame[head.names.index(name)] for name in columns.names}
    return numbered_frame(pandas.DataFrame(chosen), columns)


def _exact_floats(pandas: Any) -> dict[str, Any]:
    """Return what makes pandas read the nearest float, as it does by default from 3.1 on."""
    version = tuple(int(part) for part in pandas.__version__.split(".")[:2])
    return {"float_precision": "round_trip"} if version < (3, 1) else {}


# ---------------------------------------------------------------------------- writing


def write(graph: Graph, stream: BinaryIO) -> None:
    """Write a header and every edge once, with the caller's labels if they are integers or text."""
    _write(graph_rows(graph), stream)


def write_forest(forest: Forest, stream: BinaryIO) -> None:
    """Write a header and the edges of a forest; the file does not tell a maximum from a minimum."""
    _write(forest_rows(forest), stream)


def _write(rows: TableRows, stream: BinaryIO) -> None:
    stream.write(_HEADER)
    if rows.are_text:
        _write_text(stream, rows)
    else:
        write_rows(stream, "%d,%d,%r\n", rows.u, rows.v, rows.weights)


def _write_text(stream: BinaryIO, rows: TableRows) -> None:
    """Write rows whose ends are text, in quotes."""
    for start in range(0, rows.u.size, _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        text: TextIO = StringIO(newline="")
        writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerows(zip(rows.u[part], rows.v[part], rows.weights[part].tolist(), strict=True))
        stream.write(cast(StringIO, text).getvalue().encode())
