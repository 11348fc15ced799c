"""Read a chunk of edges of a stream, which is either a tuple of arrays or a table.

A table is a data frame, an Arrow table, a structured array, or a mapping of arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clmst.core.arguments import errors_as, has, shown
from clmst.core.columns import choose
from clmst.core.errors import InvalidGraphError
from clmst.core.weight_keys import Array


def names_of(data: Any) -> list[Any] | None:
    """Return the column names of `data`, or None if it is not a table."""
    # Two types look like tables, but are not. A SciPy matrix in the format "dok" is a dict with
    # pairs as keys. A lazy frame of polars has not computed its columns yet.
    if has(data, "tocsr") or has(data, "collect", "collect_schema"):
        return None
    if isinstance(data, np.ndarray):
        return None if data.dtype.names is None else list(data.dtype.names)
    try:
        if isinstance(data, Mapping):
            return list(data)
        for attribute in ("column_names", "columns"):  # Arrow's columns are arrays, not names
            if has(data, attribute, "__getitem__"):
                return list(getattr(data, attribute))
        return list(data.schema.names) if has(data, "schema", "column") else None
    except Exception:  # the object only looks like a table
        return None


def arrays_of(
    data: Any, columns: Sequence[Any] | None, edge_id: str | None, name: str
) -> tuple[Any, Any, Any, Any]:
    """Return the arrays (u, v, weights, edge ids) of a chunk of edges.

    Weights and ids are None if the chunk does not have any.

    Parameters
    ----------
    data : tuple or table
        The chunk: (u, v), (u, v, w), (u, v, w, ids) or a table.
    columns : sequence or None
        The names of the columns, as in :func:`clmst.core.columns.choose`.
    edge_id : str or None
        The name of the column of edge ids of a table, or None if it does not have any.
    name : str
        What error messages call the chunk.

    Raises
    ------
    InvalidGraphError
        The object is not a chunk, a column does not exist, or a value is missing.
    """
    if isinstance(data, tuple | list) and 2 <= len(data) <= 4:
        u, v, weights, ids = [*data, None, None][:4]
        return u, v, weights, ids
    names = names_of(data)
    if names is None:
        raise InvalidGraphError(
            f"{name} is {shown(data)}; it must be a data frame or another table, or (u, v), (u, v, "
            "w) or (u, v, w, edge ids)"
        )
    try:
        chosen = choose([one for one in names if one != edge_id], columns)
    except InvalidGraphError as error:
        raise InvalidGraphError(f"{name}: {error}") from error
    u, v = (_column(data, end, name) for end in (chosen.source, chosen.target))
    weights = None if chosen.weight is None else _column(data, chosen.weight, name)
    return u, v, weights, None if edge_id is None else _column(data, edge_id, name)


def _column(data: Any, column: Any, name: str) -> Array:
    """Return a column of the table `data` as an array.

    Raise InvalidGraphError if a value is missing, or if the column does not exist. `name` says what
    the table is, for the message.
    """
    with errors_as(lambda error: InvalidGraphError(
        f"{name} has no column {column!r} ({shown(error)}); it must be a data frame, a table or a "
        "mapping of arrays"
    )):  # fmt: skip
        values = data[column]
        missing = None
        # Only a NumPy array is known not to have missing values.
        if not isinstance(getattr(values, "dtype", None), np.dtype):
            nulls = [one for one in ("is_null", "isna") if has(values, one)]
            missing = np.asarray(getattr(values, nulls[0])()) if nulls else None
        if not has(values, "to_numpy"):
            array = np.asarray(values)
        else:
            try:  # Arrow copies text only if the argument allows it
                array = values.to_numpy(zero_copy_only=False)
            except TypeError:  # another library than Arrow, without the argument
                array = values.to_numpy()
    if missing is not None and missing.any():
        raise InvalidGraphError(
            f"{name}: row {missing.argmax()} of column {column!r} is missing; every row needs one"
        )
    return array
