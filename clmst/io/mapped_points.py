"""Points that stay on disk: the rows of an ``.npy`` file, or a temporary copy of other files.

Files are copied some rows at a time, so that memory does not depend on the number of points.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.arguments import shown
from clmst.core.errors import FileFormatError
from clmst.core.long_work import LongWork
from clmst.core.mapped_rows import RowFile, passes
from clmst.core.weight_keys import Array
from clmst.io import npz, pieces, point_table
from clmst.io.files import explained, system_errors_named, unreadable

_VALUES_OF_A_BATCH = 1 << 21
_MOST_OF_A_LIST = 1 << 10  # the length of a list that is assumed if the schema does not state it


@dataclass(frozen=True, slots=True, kw_only=True)
class _PointFile:
    """One file of points.

    `names` are the columns that are read, or None if the file does not name its columns. `passes`
    is a function that reads the file from its start, and returns an iterator over arrays of
    consecutive rows. `whole` is all rows as an array that is mapped from the file, or None if the
    file is not a ``.npy`` file with a two-dimensional array.
    """

    path: Path
    names: list[str] | None
    dtype: np.dtype[Any]
    passes: Callable[[], Iterator[Array]]
    whole: Array | None = None


def read(path: Path, columns: Sequence[Hashable] | None) -> Array:
    """Return the coordinates of points as an array that is mapped from a file.

    Parameters
    ----------
    path : Path
        A file, a folder or a pattern, as :func:`clmst.io.pieces.listed` takes it. Several files
        are read in the order of their names.
    columns : sequence of str, optional
        The columns that hold the coordinates. By default all columns of the first file, which all
        other files must have, too.

    Returns
    -------
    array of shape (n, d)
        The rows of a single ``.npy`` file of two dimensions, mapped from that file. Otherwise they
        are copied to a temporary file first. Its dtype is the dtype of the files, or one to which
        their dtypes can be converted. Integers of a Parquet file become float64.

    Raises
    ------
    MissingFileError, InvalidArgumentError, FileFormatError
        As :func:`clmst.read_points` raises them.
    """
    with LongWork(f"reading {path}"):
        tables = list[_PointFile]()
        for one in pieces.listed(path):
            with explained(one), system_errors_named(one):
                tables.append(_opened(one, columns, tables[0] if tables else None))
        if len(tables) == 1 and tables[0].whole is not None:
            return tables[0].whole
        return _copied(tables)


def _opened(path: Path, columns: Sequence[Hashable] | None, first: _PointFile | None) -> _PointFile:
    """Open a file of points, and choose the columns to read.

    `columns` names them. If it is None, they are all columns of `first`, the first of several
    files, or all columns of this file if `first` is None.
    """
    open_table = _of_npy if path.suffix == ".npy" else _of_parquet
    table = open_table(path, columns)
    if columns is None and first is not None and table.names != first.names:
        if table.names is None or first.names is None or {*table.names} != {*first.names}:
            raise FileFormatError(
                f"the columns are {shown(table.names)}, and those of {first.path} are "
                f"{shown(first.names)}; all files must have the same"
            )
        table = open_table(path, first.names)
    return table


def _copied(tables: list[_PointFile]) -> Array:
    """Copy the rows of all files to a temporary file, and return the array mapped from it."""
    dtype = np.result_type(*(table.dtype for table in tables))
    file: RowFile | None = None
    width = 0
    for table in tables:
        with explained(table.path), system_errors_named(table.path):
            for rows in table.passes():
                if not len(rows):
                    continue
                if file is None:
                    width = rows.shape[1]
                    file = RowFile(dtype, width)
                if rows.shape[1] != width:
                    raise FileFormatError(
                        f"a point has {rows.shape[1]} coordinates, and those before it have "
                        f"{width}; all points must have equally many"
                    )
                file.append(rows)
    return np.zeros((0, len(tables[0].names or "xy")), dtype) if file is None else file.mapped()


def _of_npy(path: Path, columns: Sequence[Hashable] | None) -> _PointFile:
    """Open an ``.npy`` file with a two-dimensional or a structured array of points.

    `columns` names the fields to read of a structured array, or is None for all.
    """
    with unreadable("it is no whole .npy file ({})"):
        array = npz.load(path, mmap_mode="r")
    names = point_table.check_array(array, columns)
    if names is None:
        return _PointFile(
            path=path, names=None, dtype=array.dtype, whole=array,
            passes=lambda: (array[some] for some in passes(*array.shape)),
        )  # fmt: skip
    return _PointFile(
        path=path, names=names, dtype=np.result_type(*(array.dtype[name] for name in names)),
        passes=lambda: (
            point_table.of_fields(array[some], names) for some in passes(len(array), len(names))
        ),
    )  # fmt: skip


def _of_parquet(path: Path, columns: Sequence[Hashable] | None) -> _PointFile:
    """Open a Parquet file with a column for each coordinate, or with one column of lists.

    `columns` names the columns to read, or is None for all.
    """
    file = pieces.open_parquet(path)
    schema = file.schema_arrow
    names = point_table.chosen_columns(schema, columns)
    kinds = [schema.field(name).type for name in names]
    width = len(kinds)
    if width == 1 and pieces.are_lists(kinds[0]):
        width = getattr(kinds[0], "list_size", _MOST_OF_A_LIST)
        kinds = [kinds[0].value_type]
    # A column of integers becomes float64, because missing values become NaN.
    doubles = np.dtype(np.float64)
    dtypes = [np.dtype(kind.to_pandas_dtype()) for kind in kinds] or [doubles]

    n_rows = max(_VALUES_OF_A_BATCH // max(width, 1), 1)

    def batches() -> Iterator[Array]:
        with unreadable("pyarrow cannot read it ({}); it must be a whole Parquet file"):
            for batch in file.iter_batches(n_rows, columns=names):
                batch.validate(full=True)  # otherwise damaged text raises later
                yield point_table.of_batch(batch)

    return _PointFile(
        path=path, names=names, passes=batches,
        dtype=np.result_type(*(one if one.kind == "f" else doubles for one in dtypes)),
    )  # fmt: skip
