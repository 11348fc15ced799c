"""Matrix Market ``.mtx``: the coordinate format, with one entry a line.

The first line is the banner, ``%%MatrixMarket matrix coordinate FIELD SYMMETRY``; the first that
does not start with ``%`` gives rows, columns and entries; then come lines ``i j value``, or
``i j`` of a pattern, numbered from 1.

SciPy's reader and writer are not used: ``scipy.io.mmread`` reads 1.5 in an integer matrix as 1 and
1e400 as infinity, and ignores surplus fields; ``scipy.io.mmwrite`` aborts the whole process when a
write to a Python stream fails.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from clmst.core.errors import FileFormatError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.io.blocks import Block, blocks
from clmst.io.declared_sizes import DeclaredSizes
from clmst.io.edge_rows import EdgeRows, graph_of, write_rows
from clmst.io.files import SourceFile
from clmst.io.forest_edges import ForestEdges, headline, says_maximum
from clmst.io.simple_graph import simple_edges

# The fields of each entry; unsigned-integer is SciPy's own extension, for uint64.
_FIELDS = {"pattern": 2, "integer": 3, "unsigned-integer": 3, "real": 3, "double": 3}
_REAL = ("real", "double")
_COMMENT = ord("%")


def read(source: SourceFile) -> Graph:
    """Read a square matrix as a graph; the entries of a pattern are 1.

    Entries (i, j) and (j, i), stored or implied by symmetry, are one edge with the lesser weight.

    Raises
    ------
    FileFormatError
        The matrix is dense, complex, skew-symmetric or not square, a line breaks the format, or
        the file holds more or fewer entries than declared.
    """
    entries = EdgeRows(first_vertex=1)
    field = ""
    declared: DeclaredSizes | None = None
    for block in blocks(source.stream, file_bytes=source.stored):
        if declared is not None and entries.add_plain(block, n_vertices=declared.n_vertices):
            continue
        field = field or _field(block)
        initials = block.initials()
        lines = np.flatnonzero((initials != 0) & (initials != _COMMENT))
        if lines.size == 0:
            continue
        if declared is None:
            declared, lines = _sizes(block, int(lines[0])), lines[1:]
        entries.add(block, lines, n_vertices=declared.n_vertices)
    if declared is None:
        raise FileFormatError("there is no line of sizes; it must be 'rows columns entries'")
    declared.check_edges(entries.n_rows, what="entries")
    u, v, weights = entries.arrays()
    if u.size:
        _check_field(field, u, v, weights)
    if field in _REAL:  # even if all are written as integers, or there are none
        weights = np.asarray([] if weights is None else weights, np.float64)
    arrays = [u, v, weights]
    del u, v, weights
    return graph_of(arrays, declared.n_vertices)


def _field(block: Block) -> str:
    """Read the banner on the first line; return its field."""
    words = [word.lower() for word in block.words(0)]
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise block.error(
            0,
            f"{' '.join(words)[:40]!r} is not the banner of a Matrix Market file; it must be "
            "'%%MatrixMarket matrix coordinate FIELD SYMMETRY'",
        )
    layout, field, symmetry = words[2:]
    if layout != "coordinate":
        raise block.error(
            0, f"the matrix is dense (format {layout}); a graph must be in coordinate format"
        )
    if field not in _FIELDS or symmetry not in ("general", "symmetric"):
        raise block.error(
            0,
            f"the matrix is {field} {symmetry}; a graph must be real, integer or pattern, and "
            "general or symmetric",
        )
    return field


def _sizes(block: Block, line: int) -> DeclaredSizes:
    """Read the line of sizes."""
    words = block.words(line)
    if len(words) != 3:
        raise block.error(
            line,
            f"{' '.join(words)[:40]!r} has {len(words)} fields; it must be 'rows columns entries'",
        )
    if words[0] != words[1]:
        raise block.error(
            line, f"the matrix is {words[0]} x {words[1]}; an adjacency matrix must be square"
        )
    return DeclaredSizes.parse(
        words[0], words[2], line=block.first_line + line, file_bytes=block.file_bytes
    )


def _check_field(field: str, u: Array, v: Array, weights: Array | None) -> None:
    """Raise unless the entries match the field of the banner."""
    found = 2 if weights is None else 3
    if found != _FIELDS[field]:
        raise FileFormatError(
            f"the matrix is {field} but its entries have {found} fields; "
            f"they must have {_FIELDS[field]}"
        )
    if weights is not None and weights.dtype.kind == "f" and field not in _REAL:
        at = int((weights != np.trunc(weights)).argmax())
        raise FileFormatError(
            f"the matrix is {field} but entry {at + 1}, ({u[at] + 1}, "
            f"{v[at] + 1}), is {weights[at]}; entries must be integers"
        )


def write(graph: Graph, stream: BinaryIO) -> None:
    """Write a symmetric matrix, integer or real by the weights' dtype."""
    edges = simple_edges(graph)
    _write(stream, edges.n_vertices, edges.u, edges.v, edges.weights)


def write_forest(forest: Forest, stream: BinaryIO) -> None:
    """Write a symmetric matrix that holds the edges of the forest."""
    u, v = forest.edges.T
    _write(stream, forest.n_vertices, u, v, forest.weights, comment=f" {headline(forest)}")


def _write(
    stream: BinaryIO, n: int, u: Array, v: Array, weights: Array, *, comment: str = ""
) -> None:
    field = "real" if weights.dtype.kind == "f" else "integer"
    if weights.dtype == np.uint64 and int(weights.max(initial=0)) >= 1 << 63:
        field = "unsigned-integer"
    banner = f"%%MatrixMarket matrix coordinate {field} symmetric\n%{comment}\n"
    stream.write(f"{banner}{n} {n} {u.size}\n".encode())
    # A symmetric matrix is its lower triangle: the greater number comes first.
    write_rows(stream, "%d %d %r\n", v.astype(np.int64) + 1, u.astype(np.int64) + 1, weights)


def read_forest(source: SourceFile) -> ForestEdges:
    """Read the edges of a forest from a matrix."""
    source.stream.readline()
    is_maximum = says_maximum(source.stream.readline(256))
    source.stream.seek(0)
    return ForestEdges.of(read(source), maximum=is_maximum)
