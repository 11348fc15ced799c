"""Matrix Market ``.mtx`` files in coordinate format, with one entry on each line.

The first line is the banner, ``%%MatrixMarket matrix coordinate FIELD SYMMETRY``. Further lines
that start with ``%`` are comments. The next line gives the numbers of rows, columns and entries.
Then come lines ``i j value``, or ``i j`` if FIELD is ``pattern``. Rows and columns are numbered
from 1.

SciPy's reader and writer are not used. ``scipy.io.mmread`` reads 1.5 in an integer matrix as 1 and
1e400 as infinity, and ignores surplus fields. ``scipy.io.mmwrite`` aborts the whole process when a
write to a Python stream fails.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from clmst.core.errors import FileFormatError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.io.edge_text import EdgeText
from clmst.io.file_edges import FileEdges, ForestEdges, says_maximum, write_rows
from clmst.io.files import SourceFile
from clmst.io.text import line_error, words_of

# Number of words in the line of an entry. The field unsigned-integer is an extension of SciPy, for
# uint64.
_FIELDS = {"pattern": 2, "integer": 3, "unsigned-integer": 3, "real": 3, "double": 3}
_REAL = ("real", "double")


class _Entries(EdgeText):
    comments = (b"%",)
    noun = "entries"
    no_header = "there is no line of sizes; it must be 'rows columns entries'"

    def begin(self, text: bytes) -> None:
        words = [word.lower() for word in words_of(text.partition(b"\n")[0])]
        if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
            raise line_error(
                1,
                f"{' '.join(words)[:40]!r} is not the banner of a Matrix Market file; it must be "
                "'%%MatrixMarket matrix coordinate FIELD SYMMETRY'",
            )
        layout, self.field, symmetry = words[2:]
        if layout != "coordinate":
            raise line_error(
                1, f"the matrix is dense (format {layout}); a graph must be in coordinate format"
            )
        if self.field not in _FIELDS or symmetry not in ("general", "symmetric"):
            raise line_error(
                1,
                f"the matrix is {self.field} {symmetry}; a graph must be real, integer or pattern, "
                "and general or symmetric",
            )

    def header(self, line: int, words: list[str]) -> bool:
        if self.declared is not None:
            return False
        if len(words) != 3:
            raise line_error(
                line,
                f"{' '.join(words)[:40]!r} has {len(words)} fields; it must be "
                "'rows columns entries'",
            )
        if words[0] != words[1]:
            raise line_error(
                line, f"the matrix is {words[0]} x {words[1]}; an adjacency matrix must be square"
            )
        self.declare(line, words[0], words[2])
        return True

    def arrays(self) -> tuple[Array, Array, Array | None]:
        u, v, weights = super().arrays()
        found = 2 if weights is None else 3
        if u.size and found != _FIELDS[self.field]:
            raise FileFormatError(
                f"the matrix is {self.field} but its entries have {found} fields; "
                f"they must have {_FIELDS[self.field]}"
            )
        if self.field in _REAL:  # even if all values look like integers, or there are none
            return u, v, np.asarray([] if weights is None else weights, np.float64)
        if weights is not None and weights.dtype.kind == "f":
            at = int((weights != np.trunc(weights)).argmax())
            raise FileFormatError(
                f"the matrix is {self.field} but entry {at + 1}, ({u[at] + 1}, "
                f"{v[at] + 1}), is {weights[at]}; entries must be integers"
            )
        return u, v, weights


def read(source: SourceFile) -> Graph:
    """Read the square matrix in the file `source` as a graph.

    Entries of a pattern have the weight 1.

    Entries (i, j) and (j, i), stored or implied by symmetry, are one edge with the lesser weight.
    """
    return _Entries.read(source).graph()


def read_forest(source: SourceFile) -> ForestEdges:
    """Read the edges of a forest from the matrix in the file `source`.

    The comment of the file says whether it is a maximum forest.
    """
    source.stream.readline()
    is_maximum = says_maximum(source.stream.readline(256))
    source.stream.seek(0)
    return ForestEdges.of(read(source), maximum=is_maximum)


def write(listing: FileEdges, stream: BinaryIO) -> None:
    """Write a symmetric matrix, whose FIELD is integer or real, depending on the weights' dtype.

    `listing` has the edges, and `stream` is the open file.
    """
    n, (u, v, weights) = listing.n_vertices, listing.rows_from_one()
    field = "real" if weights.dtype.kind == "f" else "integer"
    if weights.dtype == np.uint64 and int(weights.max(initial=0)) >= 1 << 63:
        field = "unsigned-integer"
    comment = f"% {listing.headline}".rstrip()
    banner = f"%%MatrixMarket matrix coordinate {field} symmetric\n{comment}\n"
    stream.write(f"{banner}{n} {n} {u.size}\n".encode())
    # A file has only the lower triangle of a symmetric matrix, so the greater vertex number of an
    # edge, its row, comes first.
    write_rows(stream, "%d %d %r\n", v, u, weights)
