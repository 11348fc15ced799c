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
from typing import Any, BinaryIO, cast

from clmst.core.columns import Columns, choose
from clmst.core.data_frames import numbered_frame
from clmst.core.errors import ClmstError, FileFormatError, optional_import
from clmst.core.graph import Graph
from clmst.core.vertex_names import NumberedEdges
from clmst.core.weight_keys import Array
from clmst.io import edge_list
from clmst.io.edge_text import EdgeText
from clmst.io.file_edges import FileEdges, write_rows
from clmst.io.files import SourceFile
from clmst.io.forest_edges import ForestEdges
from clmst.io.text import Block

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
        """Return whether all columns are needed in order, and ids of the first row are integers."""
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
    chosen = _chosen(head, columns)
    if head.is_plain(chosen):
        return _PlainRows.read(source).relabelled_graph()
    return _frame_edges(source, head, chosen).merged()


def read_forest(source: SourceFile) -> ForestEdges:
    """Read the edges of a forest under the caller's names of vertices."""
    head = _Head(source.stream)
    if not head.is_header:
        return edge_list.read_forest(source)
    chosen = _chosen(head, None)
    if head.is_plain(chosen):
        u, v, weights = _PlainRows.read(source).arrays()
        return ForestEdges(n_vertices=None, u=u, v=v, weights=weights, are_labels=True)
    return ForestEdges.named(_frame_edges(source, head, chosen))


def _chosen(head: _Head, columns: Sequence[Any] | None) -> Columns:
    if not head.is_header:
        raise FileFormatError("line 1 is no header row; columns can be named only if there is one")
    return choose(head.names, columns)


class _PlainRows(EdgeText):
    """Rows of two integers, and perhaps a weight, below a header row."""

    first_vertex = 0
    commas = True

    def header(self, block: Block, lines: Array) -> Array:
        return lines[1:]


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


def write(listing: FileEdges, stream: BinaryIO) -> None:
    """Write a header and every edge once, with the caller's labels if they are integers or text.

    The file does not tell a maximum spanning forest from a minimum one.
    """
    u, v, weights = listing.named_rows(takes_text=True)
    stream.write(_HEADER)
    if u.dtype != object:
        write_rows(stream, "%d,%d,%r\n", u, v, weights)
        return
    for start in range(0, u.size, _ROWS_AT_ONCE):  # text, in quotes
        part = slice(start, start + _ROWS_AT_ONCE)
        text = StringIO(newline="")
        writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerows(zip(u[part], v[part], weights[part].tolist(), strict=True))
        stream.write(text.getvalue().encode())
