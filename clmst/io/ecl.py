"""ECL ``.egr`` files: the arrays of a symmetric CSR as they are in memory.

A file consists of little-endian 32-bit integers: n, m, n + 1 row starts, m columns and, optionally,
m weights. The length of the file tells whether there are weights, and must fit the sizes. Other
programs read all numbers as signed. Here sizes, starts and columns are read as unsigned, which
makes a difference only from 2**31 on.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from clmst.core.errors import FileFormatError, InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.io.file_edges import FileEdges
from clmst.io.files import SourceFile

_UNSIGNED = np.dtype("<u4")
_SIGNED = np.dtype("<i4")
_HEADER_BYTES = 8


def read(source: SourceFile) -> Graph:
    """Read a graph from the ECL file `source`. Missing weights are 1.

    If the matrix is not symmetric, it is read as a SciPy matrix would be: the two directions of an
    edge are one edge, with the lesser weight.
    """
    header = source.stream.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES:
        raise FileFormatError(f"the file holds {len(header)} bytes; an ECL graph starts with 8")
    n, m = np.frombuffer(header, _UNSIGNED).tolist()
    if source.size is None:
        body = source.stream.read()
        is_weighted = _check_length(n, m, _HEADER_BYTES + len(body))
        words = np.frombuffer(body, _UNSIGNED)
        indptr, indices, weights = words[: n + 1], words[n + 1 : n + 1 + m], words[n + 1 + m :]
    else:  # reads three arrays, since SciPy would copy slices of a single one
        is_weighted = _check_length(n, m, source.size)
        indptr, indices = (np.fromfile(source.stream, _UNSIGNED, size) for size in (n + 1, m))
        weights = np.fromfile(source.stream, _UNSIGNED, m if is_weighted else 0)
    weights = weights.view(_SIGNED) if is_weighted else np.ones(m, np.uint8)
    return Graph.from_csr(indptr, indices, weights)


def _check_length(n: int, m: int, size: int) -> bool:
    """Return whether a file of `size` bytes has weights.

    The file declares `n` vertices and `m` CSR entries. Raises FileFormatError if the size fits
    neither a file with weights nor a file without weights.
    """
    plain = _HEADER_BYTES + 4 * (n + 1 + m)
    if size not in (plain, plain + 4 * m):
        raise FileFormatError(
            f"the header declares {n} vertices and {m} stored edges but the file holds {size} "
            f"bytes; it must hold {plain}, or {plain + 4 * m} with weights"
        )
    return size != plain


def write(listing: FileEdges, stream: BinaryIO) -> None:
    """Write the graph in `listing` to `stream` as an ECL graph with weights.

    Raises :class:`InvalidArgumentError` if the weights are not integers of 32 bits, or if there are
    2**31 or more vertices or CSR entries, which other programs would read as negative.
    """
    _check_weights(listing.weights)
    if max(listing.n_vertices, 2 * listing.u.size) >= 1 << 31:
        raise InvalidArgumentError(
            f"the graph has {listing.n_vertices} vertices and {2 * listing.u.size} stored edges; "
            "ECL graphs have fewer than 2**31 of each"
        )
    write_csr(*listing.symmetric_csr(), stream)


def write_csr(indptr: Array, indices: Array, weights: Array, stream: BinaryIO) -> None:
    """Write the arrays of a symmetric CSR that has neither self-loops nor parallel edges.

    `indptr`, `indices` and `weights` are not checked. `stream` is the open file. :func:`write`
    takes any graph.
    """
    stream.write(np.array([indptr.size - 1, indices.size], _UNSIGNED).tobytes())
    for array, dtype in ((indptr, _UNSIGNED), (indices, _UNSIGNED), (weights, _SIGNED)):
        stream.write(np.ascontiguousarray(array, dtype).data)


def _check_weights(weights: Array) -> None:
    if weights.dtype.kind == "f" and weights.size:
        raise InvalidArgumentError(
            f"the weights are {weights.dtype}; those of ECL graphs are integers of 32 bits"
        )
    low, high = int(weights.min(initial=0)), int(weights.max(initial=0))
    if low < -(1 << 31) or high >= 1 << 31:
        raise InvalidArgumentError(
            f"the weights go from {low} to {high}; those of ECL graphs are integers of 32 bits, "
            "from -2147483648 to 2147483647"
        )
