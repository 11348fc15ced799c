"""The reader of text files with one edge on each line, ``u v`` or ``u v weight``.

If pyarrow is installed, it reads blocks that contain only rows of edges, in half the time of NumPy.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np

from clmst.core.deferred_graph import of_owned
from clmst.core.errors import FileFormatError
from clmst.core.graph import Graph
from clmst.core.vertex_names import rank
from clmst.core.weight_keys import NAN_RULE, Array, first_nan
from clmst.io.files import DeclaredSizes, SourceFile
from clmst.io.text import (
    EXACT,
    GrowingArray,
    Word,
    blocks,
    exact,
    line_error,
    table,
    word_error,
    words_of,
)

ARROW_BYTES = 1 << 17  # smaller blocks: importing pyarrow would take longer than it saves
_NO_VERTEX = "is not a vertex number"
_EMPTY_FIELD = re.compile(rb"^[ \t]*,|,[ \t]*(?=[,\r\n]|\Z)", re.MULTILINE)
_FRACTION = re.compile(rb"[.eEnNiI]")


class EdgeText:
    """A reader that collects the edges of a text file block by block.

    A format is a subclass. The class attributes of the subclass say how a line is split into
    fields. Its methods say what comes before the first edge and which lines are not edges.
    """

    # The number of the first vertex in the file, 0 or 1. In :meth:`arrays` the first vertex is 0.
    first_vertex: ClassVar[int] = 1
    comments: ClassVar[tuple[bytes, ...]] = ()  # a line that begins with one is skipped
    commas: ClassVar[bool] = False  # whether commas, too, separate fields
    letters: tuple[str, ...] = ()  # one of these words may precede an edge on its line
    noun: ClassVar[str] = "edges"  # what messages call the edges
    # What determines how many fields a line must have, as error messages call it: "it must have 3,
    # as the edges before it".
    like: ClassVar[str] = "the edges before it"
    no_header: ClassVar[str] = ""  # the message if a required header is missing

    def __init__(self, source: SourceFile) -> None:
        self.declared: DeclaredSizes | None = None  # the sizes that the header declares
        self.n_rows = 0  # lines with edges read so far
        self.has_begun = False  # whether the first edge has been reached
        self._source = source
        self.n_fields = 0  # fields of each edge; 0 before the first edge
        self._u, self._v, self._w = (GrowingArray() for _ in range(3))

    @classmethod
    def read(cls, source: SourceFile) -> Self:
        """Read the text file `source` to the end.

        Raises :class:`FileFormatError` at the first wrong line.
        """
        return cls(source).gathered()

    def gathered(self) -> Self:
        """Read all blocks of the file, and return this object with the edges of all blocks."""
        for first, block in blocks(self._source.stream):
            if first == 1:
                self.begin(block)
            line, text = (first, block) if self.has_begun else self._behind_header(first, block)
            if text and not self.add_plain(text):
                self.add_lines(line, self.edge_lines(line, text))
        self.finish()
        return self

    # ----------------------------------------------------- what a format says

    def begin(self, text: bytes) -> None:
        """Do nothing. Called with the first block of the file, `text`.

        Subclasses override this to check how the file begins.
        """

    def comment_before_edges(self, text: bytes) -> None:
        """Do nothing. Called with each comment before the first edge, which is `text`.

        Subclasses override this for formats whose comments have a meaning.
        """

    def header(self, line: int, words: list[str]) -> bool:
        """Return whether a line belongs to the header. Called for each line before the first edge.

        `line` is the number of the line, and `words` are its words. The line is neither empty nor a
        comment. Subclasses override this for formats with a header, and store what it declares.
        """
        return False

    def edge_lines(self, line: int, text: bytes) -> list[bytes]:
        """Split a block of text into lines. A line without an edge becomes an empty one.

        `line` is the number of the first line, for error messages.
        """
        lines = text.split(b"\n")
        if any(comment in text for comment in self.comments):
            return [b"" if one.lstrip().startswith(self.comments) else one for one in lines]
        return lines

    def edge_words(self, line: int, words: list[str]) -> list[str]:
        """Return the fields of an edge, which are the words of a line from the first vertex on.

        `words` are all words of the line, which may begin with a letter such as "e" or "a". `line`
        is the number of the line, for messages.
        """
        return words

    def finish(self) -> None:
        """Check at the end of the file that the header is complete.

        Raises :class:`FileFormatError` if a required header is missing, or declares another number
        of edges.
        """
        if self.declared is None and self.no_header:
            raise FileFormatError(self.no_header)
        if self.declared is not None:
            self.declared.check_edges(self.n_rows, what=self.noun)

    # ----------------------------------------------------------------- reading

    def declare(self, line: int, n_vertices: str, n_edges: str) -> None:
        """Store the numbers of vertices and edges that the header declares on a line.

        `n_vertices` and `n_edges` are words of the line. Raises :class:`FileFormatError` if they
        are not valid sizes.
        """
        self.declared = DeclaredSizes.parse(
            n_vertices, n_edges, line=line, file_bytes=self._source.stored
        )

    def _behind_header(self, line: int, text: bytes) -> tuple[int, bytes]:
        """Skip the comments and header lines at the start of a block.

        Returns the number of the first line after them, and the text from there on.
        """
        at = 0
        while at < len(text):
            end = text.find(b"\n", at) + 1 or len(text)
            one = text[at:end]
            words = words_of(one.replace(b",", b" ") if self.commas else one)
            is_comment = one.lstrip().startswith(self.comments)
            if is_comment:
                self.comment_before_edges(one)
            elif one.strip() and not (words and self.header(line, words)):
                self.has_begun = True
                break
            at, line = end, line + 1
        return line, text[at:]

    def add_plain(self, text: bytes) -> bool:
        """Collect the edges of the block `text` with pyarrow, and return whether that succeeded.

        It succeeds only if every line of the block is an edge with valid vertices and weights.
        """
        rows = arrow_rows(text, self.letters)
        return rows is not None and self._take_sound(rows)

    def add_lines(self, line: int, lines: list[bytes]) -> None:
        """Collect the edges on some lines. Empty lines are skipped.

        `line` is the number of the first line. Raises :class:`FileFormatError` if a line is wrong.
        """
        first = next((one for one in lines if one.strip()), None)
        if first is None:
            return
        delimiter = "," if self.commas and b"," in first else None
        words = words_of(first.replace(b",", b" ") if delimiter else first)
        n_letters = int(bool(words) and words[0] in self.letters)
        rows = self._table(lines, n_letters, self.n_fields or len(words) - n_letters, delimiter)
        if rows is None or not self._take_sound(rows):
            self._take(self._exact(line, _without_commas(line, lines) if self.commas else lines))

    def _table(
        self, lines: list[bytes], n_letters: int, n_fields: int, delimiter: str | None
    ) -> list[Array] | None:
        """Convert lines to columns with NumPy, or return None if a line does not fit.

        Each line has `n_letters` words and then `n_fields` numbers, separated by `delimiter`. None
        as delimiter means white space.
        """
        if n_fields not in (2, 3):
            return None
        names = [*["letter"][:n_letters], *"uvw"[:n_fields]]
        for weights in ("i8", "f8")[: n_fields - 1]:
            kinds = [*["U2"][:n_letters], "i8", "i8", weights]
            rows = table(lines, [*zip(names, kinds, strict=False)], delimiter)
            if rows is not None:
                is_known = not n_letters or np.isin(rows["letter"], self.letters).all()
                return [rows[name] for name in names[n_letters:]] if is_known else None
        return None

    def _exact(self, line: int, lines: list[bytes]) -> list[Array]:
        """Convert lines to columns word by word.

        Raises :class:`FileFormatError` at the first wrong line.
        """
        edges: list[list[Word]] = []
        for number, one in enumerate(lines, line):
            if words := words_of(one):
                words = self.edge_words(number, words)
                if len(words) not in ((self.n_fields,) if self.n_fields else (2, 3)):
                    raise self.fields_error(number, len(words))
                self.n_fields = len(words)
                edges.append([(number, word) for word in words])
        columns = [*zip(*edges, strict=True)]
        rows = [exact(column, _NO_VERTEX) for column in columns[:2]]
        if self.n_fields == 3:
            rows.append(exact(columns[2]))
            if (nan := first_nan(rows[2])) is not None:
                u, v, weight = edges[nan]
                raise word_error(weight, f"is the weight of edge ({u[1]}, {v[1]}); {NAN_RULE}")
        least, greatest = self._range()
        for column, ends in zip(columns, rows[:2], strict=False):
            for is_wrong, rule in (
                (ends < least, f"they start at {least}"),
                (ends > greatest, f"they end at {greatest}"),
            ):
                if is_wrong.any():
                    raise word_error(column[int(is_wrong.argmax())], f"{_NO_VERTEX}; {rule}")
        return rows

    def fields_error(self, line: int, n_fields: int) -> FileFormatError:
        """Create the error about a line that has `n_fields` fields, which is a wrong number."""
        rule = "an edge has two, or three with its weight"
        if self.n_fields:
            rule = f"it must have {self.n_fields}, as {self.like}"
        return line_error(line, f"the edge has {n_fields} fields; {rule}")

    def _range(self) -> tuple[int, int]:
        """Return the least and the greatest vertex number that is valid in the file."""
        least = self.first_vertex
        n = (1 << 63) - least if self.declared is None else self.declared.n_vertices
        return least, least + n - 1

    def _take_sound(self, rows: list[Array]) -> bool:
        """Collect the edges in `rows` if all vertices are in range and all weights are exact.

        `rows` are the columns u, v and perhaps the weights. Returns whether the edges were
        collected. A float of 1e18 or more may be an integer that was rounded, so it does not count
        as exact.
        """
        least, greatest = self._range()
        if len(rows) != (self.n_fields or len(rows)) or not all(
            least <= int(ends.min()) and int(ends.max()) <= greatest for ends in rows[:2]
        ):
            return False
        if rows[-1].dtype.kind == "f" and not (np.abs(rows[-1]) < EXACT).all():
            return False
        self.n_fields = len(rows)
        self._take(rows)
        return True

    def _take(self, rows: list[Array]) -> None:
        """Collect the edges in `rows`, which are the columns u, v and perhaps the weights.

        Vertices are numbered from 0, as uint32 if all numbers fit.
        """
        self.n_rows += rows[0].size
        for k in (0, 1):
            fits = self.declared is not None or int(rows[k].max()) < 1 << 32
            numbered: Any = rows[k].astype(np.uint32 if fits else np.int64)
            numbered -= numbered.dtype.type(self.first_vertex)
            rows[k] = numbered
        self.gather(*rows)

    def gather(self, u: Array, v: Array, w: Array | None = None) -> None:
        """Append the edges of a block to the arrays.

        Edge i is (u[i], v[i]) with the weight ``w[i]``; None as `w` means that weights are missing.
        Subclasses override this to leave out some edges.
        """
        self._u.append(u)
        self._v.append(v)
        if w is not None:
            self._w.append(w)

    # ------------------------------------------------------------------ result

    def arrays(self) -> tuple[Array, Array, Array | None]:
        """Return the endpoints u and v and the weights in file order, and leave this object empty.

        Weights are int64, uint64 or float64. The weights are None if the file is without weights.
        """
        weights = self._w.take() if self.n_fields == 3 and self.n_rows else None
        return self._u.take(), self._v.take(), weights

    def graph(self) -> Graph:
        """Return the graph of all edges, with parallel edges merged, and leave this object empty.

        A header must have declared the sizes.
        """
        assert self.declared is not None
        return graph_of([*self.arrays()], self.declared.n_vertices)

    def relabelled_graph(self, check: Callable[[int, int], object] | None = None) -> Graph:
        """Return the graph of the vertices that occur in the file, and leave this object empty.

        Vertices are renumbered from 0 in rising order. If the numbers in the file have gaps, they
        become the `vertex_labels` of the graph. `check`, unless it is None, is called with the
        number of vertices and the number of edges without self-loops, and may raise an error.
        """
        u, v, weights = self.arrays()
        u, v, names = rank(u, v)
        if check is not None:
            check(names.size, int(np.count_nonzero(u != v)))
        arrays = [u, v, weights]
        del u, v, weights
        graph = graph_of(arrays, names.size)
        has_gaps = names.size > 0 and int(names[-1]) != names.size - 1
        return graph.replace(vertex_labels=tuple(names.tolist())) if has_gaps else graph


def graph_of(arrays: list[Array | None], n_vertices: int) -> Graph:
    """Return the graph of edges, with parallel edges merged, and empty the list `arrays`.

    The list has the endpoints u, the endpoints v, and the weights. None as weights gives each edge
    the weight 1. The list is emptied so that the memory of the arrays can be reused. The graph has
    `n_vertices` vertices.
    """
    return Graph.unchecked(**of_owned(arrays, n_vertices))


def _without_commas(line: int, lines: list[bytes]) -> list[bytes]:
    """Replace commas by spaces in some lines.

    Raises :class:`FileFormatError` if a field is empty.
    """
    text = b"\n".join(lines)
    if b"," not in text:
        return lines
    if empty := _EMPTY_FIELD.search(text):
        line += text.count(b"\n", 0, empty.start())
        raise line_error(line, "a field is empty; each comma must separate two fields")
    return text.replace(b",", b" ").split(b"\n")


# -------------------------------------------------------------------------- pyarrow


@cache
def _pyarrow() -> tuple[Any, Any] | None:
    """Return pyarrow and the module ``pyarrow.csv``, or None if pyarrow is not installed."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.csv")
    except ImportError:
        return None


def arrow_rows(text: bytes, letters: tuple[str, ...] = ()) -> list[Array] | None:
    """Parse a text that contains only rows with pyarrow, and return the columns.

    Two columns are int64. A third, if there is one, is int64 or float64. If `letters` are given,
    one of them begins each row, unless the text begins with a digit.

    Returns None if the text is short, if pyarrow is not installed, if a row does not fit, or if
    pyarrow would misread the text: it takes 0x1f for a number and a single carriage return for the
    end of a row, and it leaves out a byte order mark at the beginning of any block.
    """
    modules = _pyarrow() if len(text) >= ARROW_BYTES else None
    if modules is None or b"x" in text or b"X" in text or text.startswith(codecs.BOM_UTF8):
        return None
    if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
        return None
    first = text[: text.find(b"\n")].rstrip()
    delimiter = next((one for one in (b",", b"\t", b" ") if one in first), b"?")
    fields = first.split(delimiter)
    is_lettered = bool(letters) and not text[:1].isdigit()
    if len(fields) - is_lettered not in (2, 3):
        return None
    pyarrow, csv = modules
    types = dict.fromkeys(["letter", *"uvw"][1 - is_lettered :][: len(fields)], pyarrow.int64())
    if _FRACTION.search(fields[-1]):
        types[[*types][-1]] = pyarrow.float64()
    if is_lettered:
        types["letter"] = pyarrow.string()
    try:
        rows = csv.read_csv(
            pyarrow.BufferReader(text),
            # No threads are used, because for a single block they only take 1.3 times the processor
            # time.
            csv.ReadOptions(column_names=[*types], block_size=len(text), use_threads=False),
            csv.ParseOptions(delimiter=delimiter.decode(), quote_char=False),
            csv.ConvertOptions(column_types=types, null_values=[], check_utf8=False),
        )
        if is_lettered and not {*rows["letter"].unique().to_pylist()} <= {*letters}:
            return None
    except (pyarrow.ArrowException, ValueError):
        return None
    columns = [_array_of(column) for column in rows.columns[is_lettered:]]
    return columns if columns[1].dtype.kind == "i" else None


def _array_of(column: Any) -> Array:
    """Return a column of int64 or float64 without missing values as an array.

    The method `to_numpy` of pyarrow would import pandas, which takes half a second.
    """
    dtype = np.dtype(str(column.type).replace("double", "float64"))
    chunks = [
        np.frombuffer(one.buffers()[1], dtype, len(one), one.offset * dtype.itemsize)
        for one in column.chunks
    ]
    return np.concatenate([np.empty(0, dtype), *chunks])
