"""Tables of points: rows of numbers, as NumPy's own files and as text with commas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.errors import FileFormatError, MissingFileError
from clmst.core.weight_keys import Array
from clmst.io import npy

SUFFIXES = (".npy", ".csv")


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
        array: Any = npy.load(path) if path.suffix == ".npy" else _csv(path)
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
