"""Tables of points in CSV, Parquet and ``.npy`` files, with a row for each point.

The coordinates are all columns, or the columns that a caller names. A column that does not hold
numbers raises an error. It is not skipped silently.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Callable, Hashable, Sequence
from math import prod
from typing import Any

import numpy as np

from clmst.core.arguments import shown
from clmst.core.errors import FileFormatError, optional_import
from clmst.core.weight_keys import Array
from clmst.io import npz, pieces
from clmst.io.edge_list import OF_CSV, Head
from clmst.io.files import SourceFile, check_expansion, unreadable

_INDEX = "__index_level_"  # pandas stores an index without a name under this name
_MOST_NAMED = 20
_RULE = "points are rows of numbers"


def read_csv(
    source: SourceFile, columns: Sequence[Hashable] | None, separators: str = OF_CSV
) -> Array:
    """Read the coordinates of points from the CSV file `source`, as an array with a row per point.

    `columns` names the columns with coordinates, or is None for all. `separators` are the
    characters that may separate fields. The header row may be missing if `columns` is None. Empty
    cells become NaN.
    """
    head = Head(source.stream, separators)
    chosen = None
    if head.is_header:
        chosen = _chosen(head.names, columns)
        if not head.second.strip():
            return np.zeros((0, len(chosen)))
        _refuse_text(head, chosen)
    elif columns is not None:
        raise FileFormatError(
            "line 1 is not a header row; columns can be named only if there is one"
        )
    start = source.stream.tell()

    def rows(number: Callable[[str], float] | None = None) -> Array:
        source.stream.seek(start)
        text = io.TextIOWrapper(source.stream, encoding="utf-8-sig", newline="")
        try:
            return np.loadtxt(
                text, delimiter=head.separator, skiprows=int(head.is_header), usecols=chosen,
                ndmin=2, quotechar='"', comments=None if head.is_header else "#", converters=number,
            )  # fmt: skip
        finally:
            text.detach()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a warning that rows are missing
        try:
            return rows()
        except ValueError as error:
            try:
                # Empty cells are NaN. Reading them is slow, because there is one Python call for
                # each cell.
                return rows(lambda cell: float(cell or "nan"))
            except ValueError:
                said = " ".join(str(error).split())[:200]
                raise FileFormatError(f"it has no table of numbers ({said}); {_RULE}") from error


def _refuse_text(head: Head, chosen: list[int]) -> None:
    """Raise :class:`FileFormatError` if the first row of points has text in a chosen column.

    `head` has the header and that row.
    """
    cells = dict(enumerate(head.fields(head.second)))
    numbers = [name for k, name in enumerate(head.names) if not _is_text(cells.get(k, ""))]
    for k in chosen:
        if head.names[k] not in numbers:
            raise _no_numbers(head.names[k], f"text, as {shown(cells[k])}", numbers)


def _is_text(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return bool(cell)
    return False


def read_parquet(source: SourceFile, columns: Sequence[Hashable] | None) -> Array:
    """Read the coordinates of points from the Parquet file `source`, one row for each point.

    `columns` names the columns with coordinates, or is None for all. If the only column contains
    lists of equal length, each list is a point. Missing numbers become NaN.
    """
    return _rows_of(pieces.read_whole(source, lambda schema: chosen_columns(schema, columns)))


def chosen_columns(schema: Any, columns: Sequence[Hashable] | None) -> list[str]:
    """Return the names of the columns of a Parquet file that hold coordinates of points.

    `schema` is the Arrow schema of the file. `columns` names the columns, or is None for all. The
    chosen columns must hold numbers, or be a single column of lists. Raises
    :class:`FileFormatError` if a column holds something else.
    """
    names = [name for name in schema.names if not name.startswith(_INDEX)]
    kinds = {name: schema.field(name).type for name in names}
    chosen = [names[k] for k in _chosen(names, columns)]
    if len(chosen) == 1 and pieces.are_lists(kinds[chosen[0]]):
        return chosen
    numbers = [name for name in names if pieces.are_numbers(kinds[name])]
    for name in chosen:
        if name not in numbers:
            raise _no_numbers(name, f"values of type {kinds[name]}", numbers)
    return chosen


def of_batch(batch: Any) -> Array:
    """Convert an Arrow record batch, whose columns are coordinates, to an array, shape (n, d)."""
    return _rows_of(optional_import("pyarrow", extra="frames").Table.from_batches([batch]))


def _rows_of(table: Any) -> Array:
    """Convert an Arrow table with columns of coordinates to an array of points, shape (n, d)."""
    if table.num_columns == 1 and pieces.are_lists(table.schema.types[0]):
        return _of_lists(table.column_names[0], table.column(0))
    found = [(c.cast("float64") if c.null_count else c).to_numpy() for c in table.columns]
    return np.stack(found, axis=1) if found else np.zeros((table.num_rows, 0))


def _of_lists(name: str, column: Any) -> Array:
    """Convert a column of lists of equal length, such as embeddings, to a two-dimensional array.

    `name` is the name of the column, for messages. Raises FileFormatError if lengths differ.
    """
    if column.null_count:
        row = column.is_null().to_numpy().argmax()
        raise FileFormatError(f"row {row} of column {name!r} is missing; each point needs a list")
    lists = column.combine_chunks()
    values = np.asarray(lists.flatten())
    lengths = np.unique(np.asarray(lists.value_lengths()))
    if not len(lists):
        return np.zeros((0, 0))
    if lengths.size > 1 or values.dtype.kind not in "biuf":
        raise FileFormatError(
            f"column {name!r} has lists of {lengths.min()} to {lengths.max()} values of "
            f"{values.dtype}; points have equally many numbers"
        )
    return values.reshape(len(lists), -1)


def read_npy(source: SourceFile, columns: Sequence[Hashable] | None) -> Array:
    """Read the coordinates of points from the ``.npy`` file `source`, one row for each point.

    The array is two-dimensional or structured. The fields of a structured array are its columns.
    `columns` may name some of the fields, and None means all.
    """
    stream = source.stream
    with unreadable("it is no whole .npy file ({})"):
        shape, dtype = npz.header(stream)
        n_bytes = prod(shape) * dtype.itemsize
        if source.stored is not None:
            check_expansion(n_bytes, source.stored)
        stream.seek(0)
        array: Array = np.load(stream, allow_pickle=False)
    names = check_array(array, columns)
    return array if names is None else of_fields(array, names)


def of_fields(array: Array, names: list[str]) -> Array:
    """Convert the fields `names` of a structured array to a matrix with a row for each element."""
    return np.stack([array[name] for name in names], axis=1)


def check_array(array: Array, columns: Sequence[Hashable] | None) -> list[str] | None:
    """Check that an array can hold points, and return the fields with coordinates, if it has any.

    For a structured array, the result has the names of the fields, which are those in `columns`, or
    all if `columns` is None. For a two-dimensional array of numbers the result is None. Raises
    :class:`FileFormatError` for any other array, and if a field does not hold numbers.
    """
    if array.dtype.names is not None and array.ndim == 1:
        names = list(array.dtype.names)
        numbers = [name for name in names if array.dtype[name].kind in "biuf"]
        chosen: list[str] = [names[k] for k in _chosen(names, columns)]
        for name in chosen:
            if name not in numbers:
                raise _no_numbers(name, f"values of type {array.dtype[name]}", numbers)
        return chosen
    if columns is not None:
        raise FileFormatError("the array has no fields; columns can be named only if it has")
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise FileFormatError(
            f"it has an array of shape {array.shape} and dtype {array.dtype}; points are rows of "
            "real numbers"
        )
    return None


def _chosen(names: list[Any], columns: Sequence[Hashable] | None) -> list[int]:
    """Return the indices of the columns that a caller names in `columns`.

    `names` are the names of all columns of the file. If `columns` is None, all indices are
    returned. Raises :class:`FileFormatError` if a name does not occur exactly once in the file.
    """
    if columns is None:
        return list(range(len(names)))
    for name in columns:
        if (count := names.count(name)) != 1:
            raise FileFormatError(
                f"{count} columns are called {shown(name)} among {_listed(names)}; there must be "
                "one"
            )
    return [names.index(name) for name in columns]


def _no_numbers(name: str, what: str, numbers: list[str]) -> FileFormatError:
    """Create the error about the column `name`, which has `what` instead of numbers.

    The message says how to leave the column out: by naming the columns in `numbers`.
    """
    remedy = f"columns (--columns) names those to take, as {_listed(numbers)}" if numbers else ""
    return FileFormatError(f"column {name!r} has {what}; {_RULE}{': ' if remedy else ''}{remedy}")


def _listed(names: list[str]) -> str:
    """Return names joined by commas, in the form that the option --columns takes."""
    row = io.StringIO()
    csv.writer(row, lineterminator="").writerow(names[:_MOST_NAMED])
    return row.getvalue() + (",..." if len(names) > _MOST_NAMED else "")
