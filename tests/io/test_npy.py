"""Headers of arrays, which are lines of Python: whatever its parser raises, the file is named."""

from __future__ import annotations

import struct
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_LZMA, ZipFile

import numpy as np
import pytest
from scipy import sparse

from clmst.core.errors import FileFormatError
from clmst.io import read_graph
from clmst.io.npz import read_table
from clmst.io.pieces import n_rows

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


def archive(changed: str, data: bytes, *, method: int = 0) -> bytes:
    """Return an archive of SciPy's with another file in it."""
    stream, target = BytesIO(), BytesIO()
    sparse.save_npz(stream, sparse.eye_array(3, format="csr"))
    with ZipFile(stream) as source, ZipFile(target, "w", method) as made:
        for name in source.namelist():
            made.writestr(name, data if name == changed else source.read(name))
    return target.getvalue()


@pytest.mark.parametrize("header", HEADERS)
def test_header_that_cannot_be_read(tmp_path: Path, header: str) -> None:
    """In an archive, in a table of points, and in a structured array of edges."""
    paths = [tmp_path / name for name in ("graph.npz", "points.npy", "edges.npy")]
    paths[0].write_bytes(archive("data.npy", array_file(header)))
    for path in paths[1:]:
        path.write_bytes(array_file(header))
    readers: tuple[Callable[[Path], object], ...] = (read_graph, read_table, n_rows)
    for path, read in zip(paths, readers, strict=True):
        with pytest.raises(FileFormatError) as caught:
            read(path)
        assert str(caught.value).startswith(str(path))
        assert "\n" not in str(caught.value)


def test_damage_of_lzma(tmp_path: Path) -> None:
    """A zip archive may be compressed by it, and its error is one of its own."""
    whole = archive("", b"", method=ZIP_LZMA)
    path = tmp_path / "graph.npz"
    path.write_bytes(whole)
    assert read_graph(path).n_vertices == 3
    refused = [error for at in range(0, len(whole), 7) if (error := _refusal(path, whole, at))]
    assert len(refused) > 20
    assert all(str(error).startswith(str(path)) for error in refused)


def _refusal(path: Path, whole: bytes, at: int) -> FileFormatError | None:
    """Return what reading a file with a byte changed raises."""
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
    try:
        read_graph(path)
    except FileFormatError as error:
        return error
    return None
