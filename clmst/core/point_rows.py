"""Convert points in the form of any library to a NumPy array with a row for each point.

All functions that take points use this module: for arrays, data frames, Arrow tables, tensors and
lists of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from clmst.core.arguments import as_array, has, has_numbers, shown
from clmst.core.errors import InvalidGraphError, optional_import
from clmst.core.weight_keys import Array

_EXTRA = "frames"
_PLAIN = (np.ndarray, list, tuple)


def is_table(X: Any) -> bool:
    """Return whether `X` is a data frame or an Arrow table, which have named columns."""
    if isinstance(X, _PLAIN):
        return False
    return has(X, "to_numpy", "columns") or _is_arrow(X)


def _is_arrow(X: Any) -> bool:
    """Return whether `X` can be exported as an Arrow table."""
    return has(X, "__arrow_c_stream__") and (has(X, "columns") or has(X, "schema"))


def are_rows(X: Any) -> bool:
    """Return whether `X` may hold points as rows, by its type.

    It may if it is a table, an array, a tensor, a list or a tuple.
    """
    return isinstance(X, _PLAIN) or is_table(X) or has_numbers(X)


def column_names(X: Any) -> list[Any]:
    """Return the column names of `X` in order, or [] if `X` is not a table."""
    if not is_table(X):
        return []
    if has(X, "column_names"):
        return list(X.column_names)
    return list(X.columns) if has(X, "columns") else list(X.schema.names)


def of_one_dimension(name: str) -> str:
    """Return the end of an error message about a one-dimensional array: how to reshape it.

    `name` is the name of the argument.
    """
    return (
        f" ({name}.reshape(-1, 1) takes each number for a point, {name}.reshape(1, -1) all of "
        "them for one)"
    )


def check_rows(array: Array, name: str = "X") -> None:
    """Raise InvalidGraphError unless an array has two dimensions and real numbers.

    `name` is the name of the argument, for the message.
    """
    if array.dtype.kind not in "biuf" or array.ndim != 2 or not array.shape[1]:
        remedy = of_one_dimension(name) if array.ndim == 1 else ""
        raise InvalidGraphError(
            f"{name} has shape {array.shape} and dtype {array.dtype}; points are rows of real "
            f"numbers{remedy}"
        )


def rows_of(name: str, X: Any) -> Array:
    """Convert `X`, which has rows of numbers, to a NumPy array.

    Numbers are not copied if NumPy can use the memory of `X`. Missing numbers of a data frame
    become NaN. Numbers that are stored as objects become float64.

    Raises
    ------
    InvalidGraphError
        The object does not have rows, NumPy cannot convert it, or a column contains something other
        than numbers. The message starts with `name`.
    """
    if isinstance(X, _PLAIN):
        return _numbers(name, as_array(name, X, error=InvalidGraphError))
    if has(X, "to_numpy", "columns"):
        return _numbers(name, as_array(name, _with_gaps(X), error=InvalidGraphError), X)
    if _is_arrow(X):
        return _of_arrow(name, X)
    if not (has_numbers(X) or _is_sequence(X)):
        raise _no_rows(name, X)
    return _numbers(name, as_array(name, X, error=InvalidGraphError))


def _is_sequence(X: Any) -> bool:
    """Return whether `X` may be a sequence of rows. Texts and sparse matrices are not."""
    if isinstance(X, str | bytes | Mapping) or has(X, "toarray"):
        return False
    return has(X, "__len__", "__getitem__")


def _no_rows(name: str, X: Any) -> InvalidGraphError:
    """Create the error for an object `X` without rows. `name` is the name of the argument.

    If there is a call by which the caller gets rows from `X`, the message says so.
    """
    fact, remedy = f"of type {type(X).__name__}", ""
    if X is None:
        fact = "None"
    elif isinstance(X, str | PathLike):
        remedy = "; clmst.read_points reads a file of points"
    elif has(X, "collect", "collect_schema"):
        remedy = f"; {name}.collect() computes its rows"
    elif has(X, "toarray"):
        remedy = f"; {name}.toarray() makes an array of it"
    elif has(X, "__next__"):
        remedy = f"; list({name}) makes a list of rows"
    is_or_are = "are" if name in ("coordinates", "points") else "is"
    return InvalidGraphError(
        f"{name} {is_or_are} {fact}; give points as rows, which are an array of shape (n, d), a "
        f"data frame, an Arrow table, a tensor or a list of rows{remedy}"
    )


def _with_gaps(frame: Any) -> Any:
    """Replace missing values such as ``pandas.NA`` in a data frame by NaN.

    Returns an array if the frame has the method `isna` and its values are objects. Otherwise
    returns the frame itself.
    """
    if not has(frame, "isna"):
        return frame
    array = np.asarray(frame)
    return np.where(frame.isna(), np.nan, array) if array.dtype == object else array


def _of_arrow(name: str, table: Any) -> Array:
    """Convert an Arrow table, or an object that exports one, to an array.

    Missing numbers become NaN. `name` is the name of the argument, for the message.
    """
    pyarrow = optional_import("pyarrow", extra=_EXTRA)
    try:
        arrow = pyarrow.table(table)
        columns = [column.to_numpy() for column in arrow.columns]
    except Exception as error:  # another library's object may raise anything
        raise InvalidGraphError(
            f"{name} is a {type(table).__name__} that pyarrow cannot read ({shown(error)}); points "
            "are rows of real numbers"
        ) from error
    rows = np.stack(columns, axis=1) if columns else np.zeros((arrow.num_rows, 0))
    return _numbers(name, rows, arrow)


def _numbers(name: str, array: Array, table: Any = None) -> Array:
    """Convert an array of objects to float64. Other arrays are returned unchanged.

    Raise InvalidGraphError, with `name` as the name of the argument, if an object is not a number.
    `table` is the table from which the array was made, for the names of columns in the message;
    None if there was none.
    """
    if array.dtype != object:
        return array
    try:
        return array.astype(np.float64)
    except Exception as error:  # an object of the caller's may raise anything
        wrong = _column_without_numbers(array, table)
        raise InvalidGraphError(
            f"{name}: dtype is object, and some values are not numbers ({wrong or shown(error)}); "
            "points are rows of real numbers"
        ) from error


def _column_without_numbers(array: Array, table: Any) -> str:
    """Describe the first column of `array` that contains something other than numbers.

    `table` gives the names of the columns. The result is "" if no column is found.
    """
    if array.ndim != 2:
        return ""
    for column, column_name in zip(array.T, column_names(table), strict=False):
        try:
            column.astype(np.float64)
        except Exception as error:
            return f"column {shown(column_name)}: {shown(error)}"
    return ""
