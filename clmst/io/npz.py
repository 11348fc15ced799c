"""SciPy's ``.npz`` files of sparse matrices, and ``.npy`` files of single arrays.

The files are those that ``scipy.sparse.save_npz`` writes and ``load_npz`` reads. The file of a
forest has one more array, ``edge_ids``, and a flag ``maximum``, which SciPy ignores. Nothing is
ever unpickled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from io import SEEK_END, BytesIO
from operator import index
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, cast
from zipfile import ZipFile, is_zipfile

import numpy as np

from clmst.core.arguments import errors_as, shown
from clmst.core.errors import FileFormatError
from clmst.core.from_scipy import check_parts
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.io.file_edges import FileEdges, ForestEdges
from clmst.io.files import DeclaredSizes, SourceFile, check_expansion


def read(source: SourceFile) -> Graph:
    """Read the sparse matrix in the file `source` as a graph, as :meth:`Graph.from_scipy` does.

    All of SciPy's formats are read.
    """
    return Graph.from_scipy(_matrix(_arrays(source), source.stored))


def _arrays(source: SourceFile) -> dict[str, Array]:
    """Read all arrays of the archive `source` into a dict by name.

    Each array must have the length that its header declares. Raises FileFormatError otherwise.
    """
    stream = source.stream if source.size is not None else BytesIO(source.stream.read())
    if not is_zipfile(stream):
        raise FileFormatError(
            "the file is not a complete zip archive; a SciPy .npz file must be one"
        )
    stored = stream.seek(0, SEEK_END)
    stream.seek(0)
    with _damage_named():
        with ZipFile(stream) as archive:
            check_expansion(sum(one.file_size for one in archive.infolist()), stored)
            for name in archive.namelist():
                _check_member(archive, name)
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as arrays:
            return dict(arrays)


def _matrix(arrays: Mapping[str, Array], stored: int | None) -> Any:
    """Build the SciPy matrix of an archive, after checks of the arrays.

    `stored` is the size of the file in bytes, or None if it is unknown.
    """
    with _damage_named():
        shape = [index(extent) for extent in arrays["shape"].tolist()]
        kind = arrays["format"].item()
        kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
        if len(shape) != 2 or min(shape) < 0:
            raise FileFormatError(f"the matrix has shape {shape}; an adjacency matrix has n x n")
        if kind not in _PARTS:
            known = ", ".join(_PARTS)
            raise FileFormatError(f"the format is {shown(kind)}; it must be one of {known}")
        DeclaredSizes(n_vertices=max(shape), n_edges=0, file_bytes=stored)
        check_parts(kind, (shape[0], shape[1]), arrays)
        from scipy import sparse  # takes a quarter of a second

        return getattr(sparse, f"{kind}_array")(_PARTS[kind](arrays), shape=tuple(shape))


def _damage_named() -> AbstractContextManager[None]:
    """Create a context manager that replaces errors of NumPy, SciPy or `zipfile`.

    Any exception inside the ``with`` becomes a FileFormatError, because these libraries raise even
    SystemError for damaged archives. Yields None.
    """
    return errors_as(_damaged)


def _damaged(error: BaseException) -> FileFormatError:
    said = _first_line(error)
    said += " is not a file in the archive" if isinstance(error, KeyError) else ""
    return FileFormatError(f"{said}; the file must be what scipy.sparse.save_npz writes")


# For each format of SciPy's sparse arrays, the parts from which its class makes an array.
_PARTS: Mapping[str, Callable[[Mapping[str, Array]], tuple[Any, ...]]] = {
    "csr": lambda of: (of["data"], of["indices"], of["indptr"]),
    "csc": lambda of: (of["data"], of["indices"], of["indptr"]),
    "bsr": lambda of: (of["data"], of["indices"], of["indptr"]),
    "coo": lambda of: (of["data"], (of["row"], of["col"])),
    "dia": lambda of: (of["data"], of["offsets"]),
}


def _check_member(archive: ZipFile, name: str) -> None:
    """Raise :class:`FileFormatError` unless an array has the length that its header declares.

    The array is the member `name` of the archive.
    """
    with archive.open(name) as member:
        shape, dtype = header(member)
        found = archive.getinfo(name).file_size - member.tell()
    declared = dtype.itemsize
    for extent in shape:
        declared *= extent
    if not dtype.hasobject and declared != found:
        raise FileFormatError(
            f"{name} declares {declared} bytes of {dtype} but holds {found}; they must be equal"
        )


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].strip("'\"") or type(error).__name__


def write(listing: FileEdges, stream: BinaryIO) -> None:
    """Write a graph as a symmetric CSR array, or a forest as an upper triangle, uncompressed.

    `listing` has the edges, and `stream` is the open file. The weights keep their dtype, except
    that float16 becomes float32, because SciPy's sparse arrays cannot hold float16. A forest also
    gets the edge id of each entry and whether it is a maximum.
    """
    forest, archive, more = listing.forest, BytesIO(), cast(Any, {})
    if forest is not None:
        matrix = forest.to_scipy()
        more = {"edge_ids": forest.edge_ids, "maximum": np.array(forest.maximum)}
    else:
        indptr, indices, weights = listing.symmetric_csr()
        weights = weights.astype(np.float32) if weights.dtype == np.float16 else weights
        shape = (listing.n_vertices, listing.n_vertices)
        from scipy import sparse

        matrix = sparse.csr_array((weights, indices, indptr), shape=shape)
    np.savez(
        archive, format=np.array(b"csr"), shape=np.array(matrix.shape), indptr=matrix.indptr,
        indices=matrix.indices, data=matrix.data, _is_array=np.array(True), **more,
    )  # fmt: skip
    stream.write(archive.getbuffer())


def read_forest(source: SourceFile) -> ForestEdges:
    """Read the edges of a forest from the file `source`, with edge ids if the file has ids."""
    arrays = _arrays(source)
    matrix = _matrix(arrays, source.stored)
    if "edge_ids" not in arrays:
        return ForestEdges.of(Graph.from_scipy(matrix))
    ids, maximum = arrays["edge_ids"], arrays.get("maximum", np.array(False))
    entries = matrix.tocoo()
    if ids.shape != entries.data.shape or ids.dtype.kind not in "iu":
        raise FileFormatError(
            f"edge_ids has shape {ids.shape} and dtype {ids.dtype}; "
            f"there must be one integer for each of the {entries.nnz} entries"
        )
    if maximum.shape != () or maximum.dtype.kind not in "biu":
        raise FileFormatError(
            f"maximum has shape {maximum.shape} and dtype {maximum.dtype}; it must be one bool"
        )
    return ForestEdges(
        n_vertices=max(entries.shape), u=entries.row, v=entries.col, weights=entries.data,
        edge_ids=ids, maximum=bool(maximum),
    )  # fmt: skip


# ---------------------------------------------------------------- single arrays


def header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read the header of an ``.npy`` file from a stream, and return the declared shape and dtype.

    Raises :class:`ValueError` if the header is damaged, in place of the various exceptions that
    Python's parser, `tokenize`, NumPy or a decompressor raise.
    """
    try:
        shape, dtype = _header(stream)
    except Exception as error:
        words = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ValueError(f"the header of an array cannot be read: {words}") from error
    if not dtype.itemsize:
        raise ValueError(f"an array is of dtype {dtype}; its items must have at least one byte")
    return shape, dtype


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise ValueError(f"version is {version[0]}.{version[1]}; it must be 1.0 or 2.0")
    return shape, dtype


def load(path: Path, *, mmap_mode: Literal["r"] | None = None) -> Array:
    """Return the array of the ``.npy`` file `path`.

    With `mmap_mode` "r" the file is mapped. With None it is read. Raises ValueError, EOFError or
    OSError if the file cannot be read.
    """
    with path.open("rb") as file:
        header(file)
    found: Array = np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    return found
