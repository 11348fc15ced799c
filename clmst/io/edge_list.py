"""Edge lists in text files: ``u v`` or ``u v weight``, separated by spaces, tabs or commas.

Lines that start with ``#`` or ``%`` are comments. The vertices are the numbers that occur in the
file. If these are not 0 .. n - 1, they are renumbered in rising order, and the graph keeps the
numbers as its `vertex_labels`. An isolated vertex u is written as a self-loop ``u u 0``, so that
its number occurs. Self-loops are never edges.

Three kinds of header are recognised. The header that :func:`write` writes is a comment with counts,
which must be right. The header of the algs4 collection is two lines with one number each, n and m.
Its n also counts vertices that do not occur. SNAP's header is a comment, ``# Nodes: n Edges: m``.
The file must have at least m lines, because some of SNAP's files list an edge in both directions
and count it once.

A CSV or TSV file with a header row has a row for each edge, and :func:`clmst.core.columns.choose`
finds the columns by their names. Vertices are the ids that occur, integers or text. An isolated
vertex is a row with the vertex at both ends. A CSV file whose first line is a comment or contains
numbers is read as an edge list. The files that earlier versions of clmst wrote are like this.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from io import StringIO
from typing import Any, BinaryIO, cast

from clmst.core.columns import SOURCE, TARGET, WEIGHT, Columns, choose
from clmst.core.data_frames import numbered_frame
from clmst.core.errors import FileFormatError, optional_import
from clmst.core.graph import Graph
from clmst.core.vertex_names import NumberedEdges, rank
from clmst.io.edge_text import EdgeText
from clmst.io.file_edges import FileEdges, ForestEdges, says_maximum, write_rows
from clmst.io.files import SourceFile, unreadable
from clmst.io.text import Word, word_error

_HEADER = b"# clmst "
_GRAPH_HEADER = b"# clmst graph: "
_SNAP_COUNTS = re.compile(rb"^#\s*Nodes:\s*(\d{1,19})\s+Edges:\s*(\d{1,19})\b")
_COUNTS = re.compile(rb"# clmst (graph|[a-z ]+ forest): (\d{1,19}) vertices and (\d{1,19}) edges ")


class _Lines(EdgeText):
    """The reader of an edge list, whose edges have the vertex numbers of the file."""

    first_vertex = 0
    comments = (b"#", b"%")
    commas = True

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.comment = b""  # the first line of the file; empty if the file is empty
        self.least_edges = 0  # the number of edges in a comment of SNAP's, if there is one
        self._n_vertices: Word | None = None  # the first line of an algs4 header

    def begin(self, text: bytes) -> None:
        """Keep the first line of `text`, which may be a comment of clmst's own.

        Raises :class:`FileFormatError` for a Matrix Market file, which would be misread without
        this check: its banner looks like a comment, and its line of sizes like an edge.
        """
        self.comment = text[:256].partition(b"\n")[0]
        if self.comment.lower().startswith(b"%%matrixmarket"):
            raise FileFormatError("line 1 is a Matrix Market banner; the suffix must be .mtx")

    def comment_before_edges(self, text: bytes) -> None:
        """Store the number of edges that a comment declares if it is a header of SNAP's."""
        if counts := _SNAP_COUNTS.match(text):
            self.least_edges = int(counts[2])

    def header(self, line: int, words: list[str]) -> bool:
        """Return whether a line is part of a header of algs4, and store the number on it.

        `line` is the number of the line, and `words` are its words.
        """
        if self.declared is None and self._n_vertices is None and words[0][:1].isalpha():
            rule = "is not a vertex number; a table with a header row is of format csv"
            raise word_error((line, words[0]), rule)
        is_count = len(words) == 1 and words[0].isdigit()
        if self.declared is not None or (self._n_vertices is None and not is_count):
            return False
        if self._n_vertices is None:
            self._n_vertices = line, words[0]
        elif len(words) > 1:
            raise self.fields_error(self._n_vertices[0], 1)
        else:
            self.declare(line, self._n_vertices[1], words[0])
        return True

    def finish(self) -> None:
        if self._n_vertices is not None and self.declared is None:
            raise self.fields_error(self._n_vertices[0], 1)
        if self.n_rows < self.least_edges:
            raise FileFormatError(
                f"the header declares {self.least_edges} edges but the file holds "
                f"{self.n_rows}; it must hold at least that many (is the file cut short?)"
            )
        super().finish()


def read(source: SourceFile) -> Graph:
    """Read a graph from the edge list `source`.

    Missing weights are 1. Of parallel edges the lightest is kept.
    """
    lines = _Lines.read(source)
    if lines.declared is not None:
        return lines.graph()
    return lines.relabelled_graph(lambda n, m: _check_counts(lines.comment, n, m))


def read_forest(source: SourceFile) -> ForestEdges:
    """Read the edges of a forest from `source`. The ends are the caller's vertex numbers."""
    lines = _Lines.read(source)
    u, v, weights = lines.arrays()
    n_occurring = rank(u, v)[2].size
    if lines.comment.startswith(_GRAPH_HEADER):
        is_edge = u != v  # write() makes a loop for each isolated vertex
        u, v, weights = u[is_edge], v[is_edge], None if weights is None else weights[is_edge]
    return ForestEdges(
        n_vertices=_check_counts(lines.comment, n_occurring, u.size), u=u, v=v, weights=weights,
        maximum=says_maximum(lines.comment), are_labels=True,
    )  # fmt: skip


def _check_counts(comment: bytes, n_vertices: int, n_edges: int) -> int | None:
    """Check the counts of a header that clmst wrote, and return the number of vertices in it.

    `n_vertices` and `n_edges` are the counts of the file's lines. Returns None if the comment is
    not a header of clmst. Raises :class:`FileFormatError` if the counts are missing or wrong. For a
    forest the number of vertices is not compared, because the file does not list isolated vertices.
    """
    if not comment.startswith(_HEADER):
        return None
    counts = _COUNTS.match(comment)
    if counts is None:
        raise FileFormatError(
            "line 1 starts as the header of a clmst file but gives no counts of vertices and "
            "edges; it must (is the file cut short?)"
        )
    declared = (int(counts[2]), int(counts[3]))
    if declared[1] != n_edges or (counts[1] == b"graph" and declared[0] != n_vertices):
        raise FileFormatError(
            f"line 1 declares {declared[0]} vertices and {declared[1]} edges but the file holds "
            f"{n_vertices} and {n_edges}; they must be equal (is the file cut short?)"
        )
    return declared[0]


def write(listing: FileEdges, stream: BinaryIO) -> None:
    """Write every edge once, with the caller's vertex numbers if the graph has integer labels.

    `listing` has the edges, and `stream` is the open file.
    """
    sizes = f"{listing.n_vertices} vertices and {listing.u.size} edges"
    header = f"clmst graph: {sizes} as u v weight; an isolated vertex is u u 0"
    stream.write(f"# {listing.headline or header}\n".encode())
    write_rows(stream, "%d %d %r\n", *listing.named_rows(takes_text=False))


_LONGEST_LINE = 1 << 16
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NUMBER = re.compile(r"\s*[-+]?(\d|\.\d|inf|nan)", re.IGNORECASE)
_DECIMAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)
_VERTEX = re.compile(r"\s*\d{1,19}\s*")
_ROWS_AT_ONCE = 1 << 16
OF_CSV, OF_TSV = ",;\t", "\t,;"  # possible separators of fields, the default first


class Head:
    """The first two lines of a CSV file, by which it is decided how the file is read.

    `is_header` says whether the first line is a header row, and `names` are its fields, the names
    of the columns. `separator` is the first of `separators` that occurs on the first line. It
    separates the fields of all lines.
    """

    def __init__(self, stream: BinaryIO, separators: str) -> None:
        stream.seek(0)
        line, self.second = (stream.readline(_LONGEST_LINE) for _ in range(2))
        stream.seek(0)
        first = line.removeprefix(_BYTE_ORDER_MARK)
        self.has_mark = len(first) < len(line)
        self.separator = next((one for one in separators if one.encode() in first), separators[0])
        self.names = self.fields(first)
        self.is_header = not (
            first.strip()[:1] in (b"", b"#", b"%") or _NUMBER.match(self.names[0])
        )

    def fields(self, line: bytes) -> list[str]:
        """Split a line at the separator. Return the fields without surrounding spaces.

        Raises :class:`FileFormatError` if the line is not UTF-8, or is not a row of CSV.
        """
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise FileFormatError(f"it is not UTF-8 text ({error}); a CSV file must be") from error
        lines = csv.reader([text.rstrip("\r\n")], delimiter=self.separator, quotechar='"')
        try:
            row = next(lines, [])
        except csv.Error as error:  # for example a carriage return among the names
            raise FileFormatError(f"line 1 is not a row of CSV ({error}); it must be") from error
        return [name.strip() for name in row] or [""]

    def is_plain(self, columns: Columns) -> bool:
        """Return whether the fast reader of integer edges can read these columns of the table.

        The answer is True if all columns are needed in their order, and if the ids in the first row
        are integers.
        """
        simple = columns.names == self.names and self.separator != ";" and not self.has_mark
        ends = self.second.decode(errors="replace").strip("\r\n").split(self.separator)[:2]
        return simple and (not self.second.strip() or all(map(_VERTEX.fullmatch, ends)))


def read_csv(
    source: SourceFile, columns: Sequence[Any] | None = None, separators: str = OF_CSV
) -> Graph:
    """Read a graph from the CSV file `source`.

    `columns` are the names of source, target and, optionally, weight. None means the usual names.
    `separators` are the characters that may separate fields. A file without a header row is read as
    an edge list. pandas is needed if ids are text, or if the file has more columns than are read.
    """
    head = Head(source.stream, separators)
    if not head.is_header and columns is None:
        return read(source)
    chosen = _chosen(head, columns)
    if head.is_plain(chosen):
        return _PlainRows(source, len(head.names)).gathered().relabelled_graph()
    return _frame_edges(source, head, chosen).merged(Graph)


def read_csv_forest(source: SourceFile, separators: str = OF_CSV) -> ForestEdges:
    """Read the edges of a forest from the CSV file `source`. The ends are the caller's names.

    `separators` are the characters that may separate fields.
    """
    head = Head(source.stream, separators)
    if not head.is_header:
        return read_forest(source)
    chosen = _chosen(head, None)
    if head.is_plain(chosen):
        u, v, weights = _PlainRows(source, len(head.names)).gathered().arrays()
        return ForestEdges(n_vertices=None, u=u, v=v, weights=weights, are_labels=True)
    return ForestEdges.named(_frame_edges(source, head, chosen))


def _chosen(head: Head, columns: Sequence[Any] | None) -> Columns:
    if not head.is_header:
        raise FileFormatError(
            "line 1 is not a header row; columns can be named only if there is one"
        )
    chosen = choose(head.names, columns)
    if columns is None and chosen.weight is not None and _DECIMAL.fullmatch(chosen.weight):
        raise FileFormatError(
            f"line 1 has the number {chosen.weight} where a header row has the name of the weight; "
            "there must be a header row, or numbers alone"
        )
    return chosen


class _PlainRows(EdgeText):
    """The reader of the rows below a header row of `n_fields` names.

    Each row has two integers, and perhaps a weight.
    """

    first_vertex = 0
    commas = True
    like = "the header row"

    def __init__(self, source: SourceFile, n_fields: int) -> None:
        super().__init__(source)
        self.n_fields = n_fields

    def header(self, line: int, words: list[str]) -> bool:
        return line == 1


def _frame_edges(source: SourceFile, head: Head, columns: Columns) -> NumberedEdges:
    """Read the rows of the table `source` with pandas, and number the vertices.

    `head` has the names of all columns, and `columns` names the columns that are needed. All
    columns are read, because pandas does not notice a row with too few or too many fields if it
    reads only some columns.
    """
    pandas = optional_import("pandas", extra="frames")
    with unreadable("pandas cannot read it as CSV ({}); it must be UTF-8, and rows fit the header"):
        frame = pandas.read_csv(
            cast(Any, source.stream), sep=head.separator, header=0, names=range(len(head.names)),
            keep_default_na=False, na_values=[""], encoding="utf-8-sig", **_exact_floats(pandas),
            low_memory=False,
        )  # fmt: skip
    if not isinstance(frame.index, pandas.RangeIndex):  # pandas made an index from surplus fields
        raise FileFormatError(
            f"rows have more fields than the {len(head.names)} of the header; the numbers must "
            "be equal"
        )
    chosen = {name: frame[head.names.index(name)] for name in columns.names}
    return numbered_frame(pandas.DataFrame(chosen), columns)


def _exact_floats(pandas: Any) -> dict[str, Any]:
    """Return the keyword arguments that make pandas round floats correctly.

    From 3.1 on pandas does so by default, and the result is empty.
    """
    version = tuple(int(part) for part in pandas.__version__.split(".")[:2])
    return {"float_precision": "round_trip"} if version < (3, 1) else {}


def write_csv(listing: FileEdges, stream: BinaryIO, separator: str = OF_CSV[0]) -> None:
    """Write a header row and every edge once.

    `listing` has the edges, and `stream` is the open file. Fields are separated by `separator`. The
    ends are the caller's labels if all are integers or all are text, else vertex numbers.
    """
    u, v, weights = listing.named_rows(takes_text=True)
    stream.write(separator.join([SOURCE, TARGET, WEIGHT]).encode() + b"\n")
    if u.dtype != object:
        write_rows(stream, separator.join(["%d", "%d", "%r"]) + "\n", u, v, weights)
        return
    for start in range(0, u.size, _ROWS_AT_ONCE):  # labels that are text are quoted
        part = slice(start, start + _ROWS_AT_ONCE)
        text = StringIO(newline="")
        writer = csv.writer(
            text, delimiter=separator, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n"
        )
        writer.writerows(zip(u[part], v[part], weights[part].tolist(), strict=True))
        stream.write(text.getvalue().encode())


def write_tsv(listing: FileEdges, stream: BinaryIO) -> None:
    """Write edges as :func:`write_csv` does, with tabs in place of commas.

    `listing` has the edges, and `stream` is the open file.
    """
    write_csv(listing, stream, OF_TSV[0])
