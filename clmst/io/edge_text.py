"""The reader of texts with an edge on each line, ``u v`` or ``u v weight``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self

import numpy as np

from clmst.core.deferred_graph import of_owned
from clmst.core.errors import FileFormatError
from clmst.core.graph import Graph
from clmst.core.vertex_names import rank
from clmst.core.weight_keys import Array, first_nan
from clmst.io.files import DeclaredSizes, SourceFile
from clmst.io.numbers import GrowingArray, arrow_rows, integers, numbers, parse_int64
from clmst.io.text import Block, blocks

_NO_VERTEX = "is not a vertex number"


class EdgeText:
    """The edges of a text, gathered block by block.

    A format says by class attributes how lines are read, and by its methods what stands before the
    first edge and which lines are no edges.
    """

    first_vertex: ClassVar[int] = 1  # its number in the file, 0 or 1; in `arrays` it is 0
    comments: ClassVar[bytes] = b""  # a line that begins with one of these letters is passed over
    commas: ClassVar[bool] = False  # whether commas separate fields, too
    letters: bytes = b""  # one of these letters may begin a line with an edge
    noun: ClassVar[str] = "edges"  # what messages call them
    no_header: ClassVar[str] = ""  # the error of a file without a header, if it must have one

    def __init__(self, source: SourceFile) -> None:
        self.declared: DeclaredSizes | None = None  # what a header says
        self.n_rows = 0  # lines with edges so far
        self._source = source
        self._has_begun = False
        self._fields = 0
        self._u, self._v, self._w = (GrowingArray() for _ in range(3))

    @classmethod
    def read(cls, source: SourceFile) -> Self:
        """Read a text to its end, or raise :class:`FileFormatError` at the first wrong line."""
        return cls(source).gathered(blocks(source.stream, commas=cls.commas))

    def gathered(self, text: Iterable[Block]) -> Self:
        """Gather the edges of all blocks."""
        for block in text:
            if block.first_line == 1:
                self.begin(block)
            if self._has_begun and self.add_plain(block):
                continue
            lines = self.edge_lines(block)
            if lines.size and not self._has_begun:
                self._has_begun = True
                lines = self.header(block, lines)
            if lines.size:
                self._add(block, lines, self.fields_before(block, lines))
        self.finish()
        return self

    # ----------------------------------------------------- what a format says

    def begin(self, block: Block) -> None:
        """Look at the first block of the file."""

    def edge_lines(self, block: Block) -> Array:
        """Return the lines of a block that are edges, or the header."""
        if not any(comment in block.raw for comment in self.comments):
            return np.flatnonzero(block.counts)
        initials = block.initials()
        return np.flatnonzero((initials != 0) & ~np.isin(initials, [*self.comments]))

    def header(self, block: Block, lines: Array) -> Array:
        """Read the header from the first lines that are no comments; return the others."""
        return lines

    def fields_before(self, block: Block, lines: Array) -> Array | int:
        """Return how many fields each line has before the first vertex."""
        return 0

    def finish(self) -> None:
        """Raise unless there are as many edges as the header says."""
        if self.declared is None and self.no_header:
            raise FileFormatError(self.no_header)
        if self.declared is not None:
            self.declared.check_edges(self.n_rows, what=self.noun)

    # ----------------------------------------------------------------- reading

    def declare(self, block: Block, line: int, n_vertices: str, n_edges: str) -> None:
        """Take the sizes that a line of the header declares."""
        self.declared = DeclaredSizes.parse(
            n_vertices, n_edges, line=block.first_line + line, file_bytes=self._source.stored
        )

    def _add(self, block: Block, lines: Array, skipped: Array | int) -> None:
        """Gather the edges on some lines, which rise; none of them is blank."""
        self._check_fields(block, lines, block.counts[lines] - skipped)
        heads = block.heads[lines] + skipped
        rows = _integer_rows(block, heads, self._fields, skipped)
        if rows is None:
            ends = integers(block, (heads[:, None] + (0, 1)).ravel(), _NO_VERTEX)
            rows = [ends[::2], ends[1::2]]
            if self._fields == 3:
                rows.append(self._weights(block, heads + 2))
        for k in (0, 1):
            self._check_range(block, heads + k, rows[k])
        self._take(rows)

    def add_plain(self, block: Block) -> bool:
        """Gather the edges of a block by pyarrow, if it has nothing but rows and all are sound."""
        rows = arrow_rows(block.raw, self.letters)
        if rows is None or len(rows) != (self._fields or len(rows)):
            return False
        least, greatest = self._range()
        if not all(least <= int(end.min()) and int(end.max()) <= greatest for end in rows[:2]):
            return False
        self._fields = len(rows)
        self._take(rows)
        return True

    def _take(self, rows: list[Array]) -> None:
        """Gather rows, vertices counted from 0, in 32 bits where all of them fit."""
        self.n_rows += rows[0].size
        for k in (0, 1):
            fits = self.declared is not None or int(rows[k].max()) < 1 << 32
            numbered: Any = rows[k].astype(np.uint32 if fits else np.int64)
            numbered -= numbered.dtype.type(self.first_vertex)
            rows[k] = numbered
        self.gather(*rows)

    def gather(self, u: Array, v: Array, w: Array | None = None) -> None:
        """Take the edges of a block."""
        self._u.append(u)
        self._v.append(v)
        if w is not None:
            self._w.append(w)

    def _check_fields(self, block: Block, lines: Array, fields: Array) -> None:
        expected = self._fields or int(fields[0])
        wrong = np.flatnonzero((fields != expected) | (expected not in (2, 3)))
        if wrong.size:
            at = int(wrong[0])
            rule = "an edge has two, or three with its weight"
            if self._fields or at:
                rule = f"it must have {expected}, as the edges before it"
            raise block.error(int(lines[at]), f"the edge has {fields[at]} fields; {rule}")
        self._fields = expected

    def _range(self) -> tuple[int, int]:
        """Return the least and the greatest number that a vertex may have in the file."""
        least = self.first_vertex
        n = (1 << 63) - least if self.declared is None else self.declared.n_vertices
        return least, least + n - 1

    def _check_range(self, block: Block, tokens: Array, values: Array) -> None:
        least, greatest = self._range()
        for is_wrong, rule in (
            (values < least, f"they start at {least}"),
            (values > greatest, f"they end at {greatest}"),
        ):
            if is_wrong.any():
                token = int(tokens[is_wrong.argmax()])
                raise block.token_error(token, f"{_NO_VERTEX}; {rule}")

    def _weights(self, block: Block, tokens: Array) -> Array:
        weights = numbers(block, tokens)
        nan = first_nan(weights)
        if nan is not None:
            token = int(tokens[nan])
            raise block.token_error(
                token,
                f"is the weight of edge ({block.word(token - 2)}, {block.word(token - 1)}); "
                "weights must be ordered, and infinities are the only special values allowed",
            )
        return weights

    # ------------------------------------------------------------------ result

    def arrays(self) -> tuple[Array, Array, Array | None]:
        """Return the endpoints u and v and the weights, in file order; then none are left here.

        Weights are int64, uint64 or float64, or None if the file has none.
        """
        weights = self._w.take() if self._fields == 3 else None
        return self._u.take(), self._v.take(), weights

    def graph(self) -> Graph:
        """Return the graph of all edges, parallel ones merged; then no edges are left here."""
        assert self.declared is not None
        return graph_of([*self.arrays()], self.declared.n_vertices)

    def relabelled_graph(self, check: Callable[[int, int], object] | None = None) -> Graph:
        """Return the graph of the vertices that occur; numbers with gaps become its labels.

        `check` is given the numbers of vertices and of edges that are no loops.
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


def _integer_rows(
    block: Block, heads: Array, n_fields: int, skipped: Array | int
) -> list[Array] | None:
    """Return the columns of rows of int64, whose first fields are `heads`; None if not all are."""
    size = heads.size * n_fields
    n_others = block.starts.size - size
    if not n_others:
        text = block.extract()
    elif n_others == heads.size and np.all(skipped == 1):
        text = block.without_letters(heads - 1)
    else:
        text = block.extract((heads[:, None] + np.arange(n_fields)).ravel())
    values = parse_int64(text, size)
    return None if values is None else [*values.reshape(-1, n_fields).T]


def graph_of(arrays: list[Array | None], n_vertices: int) -> Graph:
    """Return the graph of endpoints u and v and weights, which are taken out of the list."""
    return Graph.unchecked(**of_owned(arrays, n_vertices))
