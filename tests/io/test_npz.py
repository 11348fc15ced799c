"""NumPy arrays in files: nothing is unpickled, no header is believed, any sparse matrix is read."""

from __future__ import annotations

import pickle
import re
import struct
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_LZMA, ZIP_STORED, ZipFile

import numpy as np
import pytest
from scipy import sparse

from clmst.core.errors import FileFormatError
from clmst.core.from_scipy import SparseFormat
from clmst.core.graph import Graph
from clmst.io import read_forest, read_graph, read_points
from clmst.io.pieces import n_rows
from tests.helpers.bounds import bounds
from tests.io.files import FORMAT_OF, parse, refuses, weight_by_edge, written

MATRIX = sparse.csr_array(
    (np.array([5, 7, 5, 9], np.int16), ([0, 0, 1, 2], [1, 2, 0, 2])), shape=(4, 4)
)


def archive(**changes: Any) -> bytes:
    """Return an archive as SciPy makes it, with some arrays changed or (None) left out."""
    arrays = {
        "format": b"csr",
        "shape": np.array([4, 4]),
        "indptr": MATRIX.indptr.astype(np.int64),
        "indices": MATRIX.indices.astype(np.int64),
        "data": MATRIX.data,
    } | changes
    stream = BytesIO()
    np.savez(stream, **{name: array for name, array in arrays.items() if array is not None})
    return stream.getvalue()


def with_member(
    name: str, change: Callable[[bytes], bytes], method: int = ZIP_STORED, whole: bytes = b""
) -> bytes:
    """Return an archive with one of its files changed, and its checksum right."""
    source, target = ZipFile(BytesIO(whole or archive())), BytesIO()
    with ZipFile(target, "w", method) as changed:
        for each in source.namelist():
            data = source.read(each)
            changed.writestr(each, change(data) if each == name else data)
    return target.getvalue()


def lying(member: str, *, shape: tuple[int, ...]) -> bytes:
    """Return an archive in which the header of one array declares another shape."""

    def change(data: bytes) -> bytes:
        array, header = np.load(BytesIO(data)), BytesIO()
        described = np.lib.format.header_data_from_array_1_0(array) | {"shape": shape}
        np.lib.format.write_array_header_1_0(header, described)
        return header.getvalue() + bytes(array.tobytes())

    return with_member(f"{member}.npy", change)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("compressed", [False, True])
def test_every_sparse_format_is_read(
    tmp_path: Path, layout: SparseFormat, compressed: bool
) -> None:
    stream = BytesIO()
    stored: Any = MATRIX.asformat(layout)
    sparse.save_npz(stream, stored, compressed=compressed)
    graph = parse(tmp_path, ".npz", stream.getvalue())
    assert graph.weights.dtype == np.int16
    found = {
        pair: w for pair, w in weight_by_edge(graph).items() if w
    }  # bsr and dia store zeros as well
    assert graph.n_vertices == 4
    assert found == {(0, 1): 5, (0, 2): 7} or layout in ("bsr", "dia")


@pytest.mark.parametrize("dtype", ["bool", "i1", "u2", "i8", "u8", "f4", "f8"])
def test_weights_keep_their_dtype(tmp_path: Path, dtype: str) -> None:
    weights = np.array([1, 0], dtype)
    data = written(Graph.from_edges([0, 1], [1, 2], weights), FORMAT_OF["npz"])
    matrix = sparse.load_npz(BytesIO(data))  # SciPy reads what is written
    assert isinstance(matrix, sparse.csr_array)
    assert matrix.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    graph = parse(tmp_path, ".npz", data)
    assert graph.weights.dtype == (np.uint8 if dtype == "bool" else weights.dtype)
    assert weight_by_edge(graph) == {(0, 1): 1, (1, 2): 0}


class _Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return (pytest.fail, ("the file was unpickled",))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"no archive", "the file is not a complete zip archive"),
        (pickle.dumps(_Bomb()), "the file is not a complete zip archive"),
        (archive(data=np.array([_Bomb()] * 4, object)), "Object arrays cannot be loaded"),
        (archive(format=None), "scipy.sparse.save_npz"),
        (archive(format=b"xyz"), "the format is 'xyz'; it must be one of csr"),
        (archive(data=None), "scipy.sparse.save_npz"),
        (archive(shape=None), "shape is not a file in the archive"),
        (archive(shape=np.array(4)), "scipy.sparse.save_npz"),
        (archive(shape=np.array([4, 5])), "the matrix is 4 x 5; an adjacency matrix must be squ"),
        (archive(shape=np.array([10**12] * 2)), "the header declares 1000000000000 vertices"),
        (archive(indices=np.array([1, 2, 0, 4])), "indices[3] is 4 in a graph of 4 vertices"),
        (archive(indices=np.array([1, 2, 0, -1])), "indices[3] is -1; vertex numbers must not"),
        (archive(indptr=np.array([0, 2, 3, 4])), "indptr has 4 entries for 4 rows; it must have 5"),
        (archive(data=np.array([1j] * 4)), "the matrix has dtype complex128; weights must be"),
        (archive(data=np.array([1, np.nan, 3, 4])), "the weight of edge 1 (0, 2) is NaN"),
        (lying("data", shape=(10**12,)), "data.npy declares 2000000000000 bytes of int16"),
        (lying("indices", shape=(2, 10**15)), "indices.npy declares"),
        (lying("indptr", shape=(1,)), "indptr.npy declares 8 bytes of int64 but holds 40"),
        (archive(format=np.array([2**32 - 1], "u4").view("U1")), "scipy.sparse.save_npz"),
        (archive(format=np.array(2**32 - 1, "u4").view("U1")), "invalid maximum character passed"),
    ],
    ids=range(20),  # archives have the time in them, which differs between processes
)
def test_bad_files_are_refused(tmp_path: Path, data: bytes, message: str) -> None:
    refuses(tmp_path, ".npz", data, message)


def test_a_damaged_member_is_refused(tmp_path: Path) -> None:
    """Its checksum tells."""
    data = bytearray(archive())
    at = data.index(MATRIX.data.tobytes())
    data[at] ^= 1
    refuses(tmp_path, ".npz", bytes(data), "Bad CRC-32")


def test_damage_of_lzma(tmp_path: Path) -> None:
    """A zip archive may be compressed by it, and its error is one of its own."""
    noise = np.random.default_rng(1).random(2000)
    matrix = sparse.coo_array((noise, (np.arange(2000), np.arange(2000)[::-1])))
    sparse.save_npz(stream := BytesIO(), matrix.tocsr())
    whole = with_member("", bytes, ZIP_LZMA, stream.getvalue())
    assert parse(tmp_path, ".npz", whole).n_vertices == 2000
    for at in range(0, len(whole), 211):
        with suppress(FileFormatError):
            parse(tmp_path, ".npz", whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])


HUGE = np.array([0, 10**7, 0])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"format": b"csr", "indptr": HUGE}, "indptr falls from 10000000 to 0 at row 1"),
        ({"format": b"csc", "indptr": HUGE}, "indptr falls from 10000000 to 0 at row 1"),
        (
            {"format": b"bsr", "indptr": HUGE, "data": np.ones((2, 1, 1))},
            "indptr falls from 10000000 to 0 at row 1",
        ),
        ({"format": b"bsr"}, "the blocks have shape (2,)"),
        (
            {"format": b"bsr", "shape": np.array([4, 4]), "data": np.ones((2, 2, 2))},
            "indices[1] is 2 in a graph of 2 vertices",
        ),
        ({"format": b"csc", "indices": np.array([0, 10**7])}, "indices[1] is 10000000"),
        ({"format": b"csc", "indices": np.array([[0], [1]])}, "indices has 2 dimensions"),
        ({"format": b"csc", "data": np.ones(1)}, "indptr[-1] is 2 but indices has 2 entries and"),
        (
            {"format": b"coo", "row": np.array([0, 10**7]), "col": np.zeros(2, int)},
            "row[1] is 1000",
        ),
        ({"format": b"coo", "row": np.zeros(2, int), "col": np.zeros(3, int)}, "have shapes"),
        ({"format": b"dia", "offsets": np.array([0, 1, 2]), "data": np.ones((2, 2))}, "3 offsets"),
        ({"format": b"dia", "offsets": np.array([1, 1]), "data": np.ones((2, 2))}, "occurs twice"),
        ({"format": np.array([b"csr", b"csc"])}, "scipy.sparse.save_npz"),
        ({"shape": np.array([2, 2, 2])}, "the matrix has shape [2, 2, 2]"),
        ({"shape": np.array(["2", "2"])}, "scipy.sparse.save_npz"),
    ],
)
@pytest.mark.parametrize("reader", ["graph", "forest"])
def test_arrays_are_checked_before_scipy_has_them(
    tmp_path: Path, arrays: dict[str, Any], message: str, reader: str
) -> None:
    """SciPy's conversions trust an archive: most of these ended the process."""
    given = {
        "format": b"csr",
        "shape": np.array([2, 2]),
        "indptr": np.array([0, 1, 2]),
        "indices": np.array([0, 2]),
        "data": np.ones(2),
    } | arrays
    path = tmp_path / "hostile.npz"
    np.savez(path, **given)
    graph = Graph.from_edges([0], [1], [1])
    with pytest.raises(FileFormatError, match=re.escape(message)):
        read_graph(path) if reader == "graph" else read_forest(path, graph)


@bounds(expansion_free=10**5)
def test_expansion_of_an_archive_is_limited(tmp_path: Path) -> None:
    """What its directory says is refused before any of it is read."""
    stream = BytesIO()
    np.savez_compressed(stream, indptr=np.zeros(10**6, np.int64))
    refuses(tmp_path, ".npz", stream.getvalue(), "bytes expand to 8000128 or more; there may be")


FINE = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }\n"
HEADERS = {
    "open": FINE.replace("}", ""),
    "open text": FINE.replace("}", "'''"),
    "indented": "if 1:\n   1\n 2\n",
    "no text": "\0\0\n",
    "deep": "(" * 3000 + "\n",
    "many signs": "-" * 9000 + "1\n",
    "long": FINE.replace("}", " " * 20_000 + "}"),
    "no dict": "[1, 2]\n",
    "a number": FINE.replace("'<f8'", "3"),
    "odd type": FINE.replace("'<f8'", "'(2,<f8'"),
    "without bytes": FINE.replace("'<f8'", "'|S0'").replace("(3, 2)", "(1099511627776,)"),
    "objects": FINE.replace("'<f8'", "'|O'"),
    "unknown version": FINE,
}


def array_file(name: str) -> bytes:
    """Return a file of NumPy's format with a header, and the items that a sound one declares."""
    text = HEADERS[name].encode("latin1")
    version = b"\3\0" if name == "unknown version" else b"\1\0"
    head = b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text
    return head + np.zeros((3, 2)).tobytes()


@pytest.mark.parametrize("header", HEADERS)
def test_header_that_cannot_be_read(tmp_path: Path, header: str) -> None:
    """In an archive, in a table of points, and in a structured array of edges."""
    paths = [tmp_path / name for name in ("graph.npz", "points.npy", "edges.npy")]
    paths[0].write_bytes(with_member("data.npy", lambda _: array_file(header)))
    for path in paths[1:]:
        path.write_bytes(array_file(header))
    readers: tuple[Callable[[Path], object], ...] = (read_graph, read_points, n_rows)
    for path, read in zip(paths, readers, strict=True):
        with pytest.raises(FileFormatError) as caught:
            read(path)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)
