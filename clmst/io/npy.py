"""Arrays in NumPy's own format, whose header is a line of Python; and tables of points."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from clmst.core.errors import FileFormatError, MissingFileError
from clmst.core.weight_keys import Array

TABLE_SUFFIXES = (".npy", ".csv")


def header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read the header of an array; return the shape and dtype that it declares.

    Raises
    ------
    ValueError
        It cannot be read. What Python's parser, `tokenize`, NumPy and decompressors raise for one
        that is damaged is no closed list.
    """
    try:
        shape, dtype = _header(stream)
    except Exception as error:
        words = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ValueError(f"the header of an array cannot be read: {words}") from error
    if not dtype.itemsize:
        raise ValueError(f"an array is of dtype {dtype}; its items must have bytes")
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
    """Return the array of a ``.npy`` file; nothing is ever unpickled.

    Raises
    ------
    ValueError, EOFError, OSError
        It cannot be read.
    """
    with path.open("rb") as file:
        header(file)
    found: Array = np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    return found


def read_table(path: Path) -> Array:
    """Return the rows of a .npy or .csv file as an array of two dimensions.

    A .csv file may have a first line of names, which is passed over.

    Raises
    ------
    MissingFileError
        There is no such file.
    FileFormatError
        It has no rows of numbers.
    """
    if not path.exists():
        raise MissingFileError(f"{path} does not exist; a table of points must be a file")
    try:
        array: Any = load(path) if path.suffix == ".npy" else _csv(path)
    except OSError as error:
        if path.suffix != ".npy" or error.errno is not None:
            raise
        raise FileFormatError(f"{path} is no .npy file ({error})") from error
    except (ValueError, EOFError) as error:
        raise FileFormatError(f"{path} has no table of numbers ({error})") from error
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise FileFormatError(
            f"{path} has an array of shape {array.shape} and dtype {array.dtype}; points are rows "
            "of real numbers"
        )
    return np.asarray(array)


def _csv(path: Path) -> Array:
    with path.open(encoding="utf-8") as file:
        first = file.readline()
    try:
        [float(cell) for cell in first.split(",")]
        names = 0
    except ValueError:
        names = 1
    return np.loadtxt(path, delimiter=",", skiprows=names, ndmin=2)
