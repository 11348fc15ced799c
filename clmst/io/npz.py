"""SciPy ``.npz``: what ``scipy.sparse.save_npz`` writes and ``load_npz`` reads.

A forest carries one array more than a matrix, ``edge_ids``; SciPy passes over it. Nothing is ever
unpickled.
"""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile, is_zipfile

import numpy as np
from scipy import sparse

from clmst.core.errors import FileFormatError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.io.files import Source
from clmst.io.forest_edges import ForestEdges
from clmst.io.promises import Promise
from clmst.io.simple_graph import simple_edges

# What NumPy, SciPy and zipfile raise for files that are damaged or are something else.
_DAMAGE = (
    BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    KeyError,
    TypeError,
    ValueError,
    OverflowError,
    RuntimeError,  # an encrypted archive; a format that SciPy does not know
)


def read(source: Source) -> Graph:
    """Read a sparse matrix of any format as a graph, as :meth:`Graph.from_scipy` does.

    Raises
    ------
    FileFormatError
        The file is no zip archive, is damaged, or holds no square matrix of real numbers.
    """
    return Graph.from_scipy(_load(_seekable(source)))


def _seekable(source: Source) -> BinaryIO:
    """Return the archive: its directory stands at its end."""
    stream = source.stream if source.size is not None else BytesIO(source.stream.read())
    if not is_zipfile(stream):
        raise FileFormatError("the file is no whole zip archive; a SciPy .npz file is one")
    stream.seek(0)
    return stream


def _load(stream: BinaryIO) -> Any:
    try:
        with ZipFile(stream) as archive:
            for name in archive.namelist():
                _check_member(archive, name)
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as arrays:
            shape = arrays["shape"].tolist()
        if len(shape) == 2:
            Promise(n_vertices=max(shape), n_edges=0)
        stream.seek(0)
        matrix = sparse.load_npz(stream)
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)  # converting a CSC trusts its indices
    except FileFormatError:
        raise
    except _DAMAGE as error:
        raise FileFormatError(
            f"{_first_line(error)}; the file must be what scipy.sparse.save_npz writes"
        ) from error
    return matrix


def _check_member(archive: ZipFile, name: str) -> None:
    """Raise unless an array of the archive is as long as its header says."""
    with archive.open(name) as member:
        version = np.lib.format.read_magic(member)
        parse = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, _, dtype = parse(member)
        found = archive.getinfo(name).file_size - member.tell()
    promised = dtype.itemsize
    for extent in shape:
        promised *= extent
    if not dtype.hasobject and promised != found:
        raise FileFormatError(
            f"{name} promises {promised} bytes of {dtype} but holds {found}; they must be equal"
        )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].strip("'\"") or type(error).__name__


def write(graph: Graph, stream: BinaryIO) -> None:
    """Write the symmetric CSR array of a graph, in the dtype of its weights, not compressed.

    SciPy has no sparse float16: such weights come as float32.
    """
    edges = simple_edges(graph)
    indptr, indices, weights = edges.symmetric_csr()
    if weights.dtype == np.float16:
        weights = weights.astype(np.float32)
    shape = (edges.n_vertices, edges.n_vertices)
    archive = BytesIO()
    sparse.save_npz(
        archive, sparse.csr_array((weights, indices, indptr), shape=shape), compressed=False
    )
    stream.write(archive.getbuffer())


def write_forest(forest: Forest, stream: BinaryIO) -> None:
    """Write ``forest.to_scipy()`` with one array more, the id of each entry's edge."""
    matrix = forest.to_scipy()
    archive = BytesIO()
    np.savez(
        archive,
        format=np.array(b"csr"),
        shape=np.array(matrix.shape),
        indptr=matrix.indptr,
        indices=matrix.indices,
        data=matrix.data,
        _is_array=np.array(True),
        edge_ids=forest.edge_ids,
        maximum=np.array(forest.maximum),
    )
    stream.write(archive.getbuffer())


def read_forest(source: Source) -> ForestEdges:
    """Read the edges of a forest, and their ids if the file has them."""
    stream = _seekable(source)
    matrix = _load(stream)
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as arrays:
        if "edge_ids" not in arrays:
            return ForestEdges.of(Graph.from_scipy(matrix))
        ids, maximum = arrays["edge_ids"], bool(arrays.get("maximum", False))
    entries = matrix.tocoo()
    if ids.shape != entries.data.shape or ids.dtype.kind not in "iu":
        raise FileFormatError(
            f"edge_ids has shape {ids.shape} and dtype {ids.dtype}; "
            f"there must be one integer for each of the {entries.nnz} entries"
        )
    return ForestEdges(
        n_vertices=max(entries.shape),
        u=entries.row,
        v=entries.col,
        weights=entries.data,
        edge_ids=ids,
        maximum=maximum,
    )
