"""Data frames of pandas and Arrow tables as graphs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core.arguments import check_has, errors_as, has, shown
from clmst.core.columns import (
    WEIGHT,
    Columns,
    check_columns,
    choose,
    takes_columns,
)
from clmst.core.errors import InvalidGraphError, optional_import
from clmst.core.networkx_graphs import exact_array
from clmst.core.vertex_names import Ends, Names, NumberedEdges, label_of, number
from clmst.core.weight_keys import Array, as_weights, first_unsupported

if TYPE_CHECKING:
    from clmst.core.graph import Graph

_EXTRA = "frames"


@takes_columns
def from_pandas(
    cls: type[Graph], frame: Any, *, columns: Sequence[Hashable] | None = None
) -> Graph:
    """Build a graph from a data frame with one row for each edge.

    The ends of the edges may be integers, strings, categories or other hashable values. The
    vertices are the distinct ends. Integer ends are numbered in ascending order, other ends in the
    order in which the rows first contain them. The original values become `vertex_labels`, unless
    they are 0 to n - 1. The id of an edge is the position of its row, whatever the index of the
    frame says; :meth:`clmst.Forest.rows` returns the rows that are in a forest.

    Parameters
    ----------
    frame : pandas.DataFrame
        The edges.
    columns : list or tuple, optional
        The names of two or three columns: source, target and, optionally, weight. With two names
        every weight is 1. By default the columns "source", "target" and "weight", or all columns in
        order if there are two or three and they have other names.

    Returns
    -------
    Graph

    Raises
    ------
    InvalidGraphError
        A column does not exist, it is unclear which columns to take, or an end or a weight is
        missing or has an unsupported type. The message names the first row that is wrong.
    InvalidArgumentError
        `columns` are not two or three names.
    MissingDependencyError
        pandas is not installed.

    Examples
    --------
    >>> import clmst, pandas
    >>> roads = pandas.DataFrame({"a": ["x", "y", "x"], "b": ["y", "z", "z"], "km": [3, 1, 2]})
    >>> graph = clmst.Graph.from_pandas(roads, columns=("a", "b", "km"))
    >>> [str(name) for name in graph.vertex_labels]
    ['x', 'y', 'z']
    """
    return graph_of_pandas(cls, frame, columns)


@takes_columns
def from_arrow(cls: type[Graph], table: Any, *, columns: Sequence[Hashable] | None = None) -> Graph:
    """Build a graph from an Arrow table, or from a frame that can be exported as one.

    The rows, the vertices and the edge ids are as in :meth:`from_pandas`.

    Parameters
    ----------
    table : pyarrow.Table, polars.DataFrame, or any object with ``__arrow_c_stream__``
        The edges, one per row.
    columns : list or tuple of str, optional
        The names of the columns; see :meth:`from_pandas`.

    Returns
    -------
    Graph

    Raises
    ------
    InvalidGraphError
        A column does not exist, it is unclear which columns to take, or an end or a weight is
        missing or has an unsupported type.
    InvalidArgumentError
        `columns` are not two or three names.
    MissingDependencyError
        pyarrow is not installed.

    Examples
    --------
    >>> import clmst, pyarrow
    >>> table = pyarrow.table({"source": [0, 1, 0], "target": [1, 2, 2], "weight": [3, 1, 2]})
    >>> clmst.Graph.from_arrow(table)
    Graph(n_vertices=3, n_edges=3, weights=int64)
    """
    return graph_of_arrow(cls, table, columns)


def graph_of_pandas(cls: type[Graph], frame: Any, columns: Any, weight: Hashable = WEIGHT) -> Graph:
    """Build a graph of the class `cls` from a pandas.DataFrame with one row per edge.

    `columns` are the names of the columns of source, target and weight, or None. If they are None,
    they are chosen as in :func:`choose`, with `weight` as the name of the weight column.
    """
    pandas = optional_import("pandas", extra=_EXTRA)
    if not isinstance(frame, pandas.DataFrame):
        takers = {
            "__arrow_c_stream__": "Graph.from_arrow",
            "to_delayed": "clmst.dask.minimum_spanning_forest",
        }
        other = "".join(f"; {take} takes it" for name, take in takers.items() if has(frame, name))
        given = f"{type(frame).__name__} of {type(frame).__module__.partition('.')[0]}"
        raise InvalidGraphError(
            f"from_pandas was given a {given}; it takes a pandas.DataFrame{other}"
        )
    columns, names = check_columns(columns), list(frame.columns)
    if columns is None and 0 < len(names) == len(frame) and names == list(frame.index):
        raise InvalidGraphError(
            "the frame has the same names for rows and columns, so it looks like a matrix; if it "
            "lists edges, name its columns by columns=(source, target, weight), and if it is a "
            "matrix, give the array frame.to_numpy()"
        )
    chosen = choose(names, columns, weight=weight, door=" of Graph.from_pandas")
    return numbered_frame(frame, chosen).graph(cls)


def numbered_frame(frame: Any, columns: Columns) -> NumberedEdges:
    """Read the edges of the pandas.DataFrame `frame`, and number their vertices from 0.

    `columns` names the columns of the ends and of the weight.
    """
    pandas = optional_import("pandas", extra=_EXTRA)
    numbered = number(*_ends_of_frame(pandas, frame, columns), pandas.factorize)
    if columns.weight is None:
        return numbered
    series = frame[columns.weight]
    missing = series.isna().to_numpy()
    return _weighted(numbered, series.to_numpy(), missing, columns.weight, series.dtype)


def graph_of_arrow(cls: type[Graph], table: Any, columns: Any, weight: Hashable = WEIGHT) -> Graph:
    """Build a graph of the class `cls` from an Arrow table with one row per edge.

    `columns` are the names of the columns of source, target and weight, or None. If they are None,
    they are chosen as in :func:`choose`, with `weight` as the name of the weight column.
    """
    pyarrow = optional_import("pyarrow", extra=_EXTRA)
    frames = "or a frame that gives itself as one (by __arrow_c_stream__, as those of polars do)"
    check_has("from_arrow", table, f"an Arrow table, {frames}", "__arrow_c_stream__")
    with errors_as(lambda error: InvalidGraphError(
        f"the {type(table).__name__} is no table ({shown(str(error))}); it must have columns"
    )):  # fmt: skip
        own = table if isinstance(table, pyarrow.Table) else pyarrow.table(table)
    wanted, door = check_columns(columns), " of Graph.from_arrow"
    chosen = choose(own.column_names, wanted, weight=weight, door=door)
    return numbered_table(own, chosen).graph(cls)


def numbered_table(table: Any, columns: Columns) -> NumberedEdges:
    """Read the edges of a pyarrow.Table, and number their vertices from 0.

    `columns` names the columns of the ends and of the weight.
    """
    pyarrow = optional_import("pyarrow", extra=_EXTRA)
    u, v = _ends_of_table(pyarrow, table, columns)
    numbered = number(u, v, partial(_factorize_arrow, pyarrow))
    if columns.weight is None:
        return numbered
    column = table[columns.weight]
    missing = column.is_null().to_numpy()
    are_decimals = pyarrow.types.is_decimal(column.type) and not missing.any()
    values = _of_decimals(pyarrow, column, columns.weight) if are_decimals else column.to_numpy()
    if values.dtype.kind == "f":  # pyarrow 15 does not count NaN of float16 as missing
        missing = missing | np.isnan(values)
    return _weighted(numbered, values, missing, columns.weight, column.type)


def _ends_of_frame(pandas: Any, frame: Any, columns: Columns) -> tuple[Ends, Ends]:
    """Return the two columns of vertex ids of the pandas.DataFrame `frame`.

    If both columns have the same dtype, which is not one of integers, their distinct values are
    found in one step. Raise InvalidGraphError if an id is missing or a float.
    """
    names = (columns.source, columns.target)
    u, v = (frame[name] for name in names)
    for series, name in zip((u, v), names, strict=True):
        _refuse_missing_id(series.isna().to_numpy(), name)
        _refuse_fractions(
            pandas.api.types.is_float_dtype(series.dtype), series.dtype, name,
        )  # fmt: skip
    is_plain = not isinstance(u.dtype, pandas.CategoricalDtype)
    if u.dtype != v.dtype or not is_plain or pandas.api.types.is_integer_dtype(u.dtype):
        return _ids_of_series(pandas, u, names[0]), _ids_of_series(pandas, v, names[1])
    both = _ids_of_series(pandas, pandas.concat([u, v], ignore_index=True), names[0], names[1])
    assert isinstance(both, Names), "integers have been returned"
    return both.split(len(u))


def _ids_of_series(pandas: Any, series: Any, *names: Hashable) -> Ends:
    """Return a column of vertex ids: integers as an array, all other values as names.

    `pandas` is the module. `series` is one column, or the two columns of ends one after the other.
    `names` are the names of the one or two columns, for the message about an id that cannot be
    hashed.
    """
    if isinstance(series.dtype, pandas.CategoricalDtype):
        codes = series.cat.codes.to_numpy().astype(np.int32, copy=False)
        return Names(codes=codes, distinct=series.cat.categories.tolist())
    if pandas.api.types.is_integer_dtype(series.dtype):
        return np.asarray(series.to_numpy())
    try:
        codes, distinct = pandas.factorize(series)
    except TypeError as error:
        listed = " or ".join(repr(name) for name in dict.fromkeys(names))
        raise InvalidGraphError(
            f"column {listed} has an id that cannot be hashed ({shown(error)}); ids must be "
            "integers, strings or other hashable values"
        ) from error
    return Names(codes=codes.astype(np.int32), distinct=distinct.tolist())


def _ends_of_table(pyarrow: Any, table: Any, columns: Columns) -> tuple[Ends, Ends]:
    """Return the two columns of vertex ids of a pyarrow.Table.

    If both columns have the same type and are not integers, their distinct values are determined
    together.
    """
    types, names = pyarrow.types, (columns.source, columns.target)
    u, v = (table[name] for name in names)
    for column, name in zip((u, v), names, strict=True):
        if column.null_count:
            _refuse_missing_id(column.is_null().to_numpy(), name)
        kind = column.type
        if len(column):  # the type of an empty column means nothing
            _refuse_fractions(types.is_floating(kind) or types.is_decimal(kind), kind, name)
    if not len(u):
        return np.zeros(0, np.int32), np.zeros(0, np.int32)
    if u.type != v.type or types.is_integer(u.type):
        return _ids_of_arrow(pyarrow, u, names[0]), _ids_of_arrow(pyarrow, v, names[1])
    both = pyarrow.chunked_array([*u.chunks, *v.chunks], u.type)
    found = _ids_of_arrow(pyarrow, both, names[0])
    assert isinstance(found, Names), "integers have been returned"
    return found.split(len(u))


def _ids_of_arrow(pyarrow: Any, column: Any, name: Hashable) -> Ends:
    """Return a column of vertex ids: integers as an array, all other values as names.

    `pyarrow` is the module. `name` is the name of the column, for messages. The chunks of the
    column are concatenated first. Otherwise, each chunk would have a list of distinct values of its
    own, and these lists would have to be compared with each other.
    """
    types, kind = pyarrow.types, column.type
    if types.is_integer(kind):
        return np.asarray(column.to_numpy())
    try:
        if types.is_dictionary(kind):
            encoded = _joined(pyarrow, column)
        else:
            encoded = _joined(pyarrow, column.cast(_large(pyarrow, kind))).dictionary_encode()
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
        distinct = encoded.dictionary
    except pyarrow.ArrowException as error:
        raise InvalidGraphError(
            f"column {name!r} has the type {kind}; ids must be integers, strings or categories"
        ) from error
    if distinct.null_count:
        _refuse_missing_id(distinct.is_null().to_numpy(zero_copy_only=False)[codes], name)
    return Names(codes=codes, distinct=distinct.to_pylist())


def _joined(pyarrow: Any, column: Any) -> Any:
    """Return a chunked Arrow column as one array. A column of a single chunk is not copied.

    `pyarrow` is the imported module.
    """
    return column.chunk(0) if column.num_chunks == 1 else pyarrow.concat_arrays(column.chunks)


def _large(pyarrow: Any, kind: Any) -> Any:
    """Return Arrow's type for long texts if `kind` is a text type, otherwise `kind` itself.

    Only that type can hold texts of more than 2 GiB in one array. `pyarrow` is the imported module.
    """
    is_view = getattr(pyarrow.types, "is_string_view", None)  # exists since pyarrow 16
    is_text = pyarrow.types.is_string(kind) or (is_view is not None and is_view(kind))
    return pyarrow.large_string() if is_text else kind


_EXACT_UNITS = 10**15  # different decimals with fewer units than this are different doubles
_EXACT_POWER = 22  # 10**22 is the greatest power of ten that a double holds exactly


def _of_decimals(pyarrow: Any, column: Any, name: Hashable) -> Array:
    """Convert decimal numbers to int64 if their type is for integers, otherwise to doubles.

    Raise InvalidGraphError if a conversion would round. A number is not rounded if Python prints
    its double as the same decimal. So different numbers stay different. `pyarrow` is the imported
    module, `column` a chunked array, and `name` the name of the column, for the message.
    """
    scale = column.type.scale
    ends = optional_import("pyarrow.compute", extra=_EXTRA).min_max(column).as_py().values()
    units = max((abs(int(end.scaleb(scale))) for end in ends if end is not None), default=0)
    if 0 <= scale <= _EXACT_POWER and units < (_EXACT_UNITS if scale else 1 << 63):
        whole = _joined(pyarrow, column.cast(pyarrow.decimal128(38, scale)))
        words = np.frombuffer(whole.buffers()[1], "<i8")[2 * whole.offset :][: 2 * len(whole)]
        low: Array = words[::2].astype(np.int64)  # the lower 64 bits of each number
        return low / 10.0**scale if scale else low
    listed = column.to_pylist()
    kind, limits = (np.float64, "a double") if scale > 0 else (np.int64, "64 bits")
    for row, value in enumerate(listed):
        fits = Decimal(repr(float(value))) == value if scale > 0 else -(1 << 63) <= value < 1 << 63
        if not fits:
            raise InvalidGraphError(
                f"row {row} of column {name!r} is {value}, and its type {column.type}; a decimal "
                f"weight must fit into {limits} without rounding: cast the column to a float, "
                "which rounds (CAST(... AS DOUBLE) in SQL, .cast(pyarrow.float64()) in "
                "Arrow)"
            )
    return np.array([float(one) if scale > 0 else int(one) for one in listed], kind)


def _factorize_arrow(pyarrow: Any, integers: Array) -> tuple[Array, Array]:
    """Return each integer's index among the distinct integers, and the distinct integers.

    `pyarrow` is the imported module.
    """
    encoded = pyarrow.array(integers).dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary.to_numpy()


def _refuse_missing_id(missing: Array, name: Hashable) -> None:
    """Raise InvalidGraphError if an end of an edge is missing in a column of vertex ids.

    `missing` is the mask, with one element per row, and `name` the name of the column. The message
    names the first row.
    """
    if missing.any():
        raise InvalidGraphError(
            f"row {int(missing.argmax())} of column {name!r} is missing (NaN or null); every edge "
            "needs both ends"
        )


def _weighted(
    numbered: NumberedEdges, values: Array, missing: Array, name: Hashable, kind: object
) -> NumberedEdges:
    """Add the column of weights called `name` to the edges of `numbered`.

    Raise InvalidGraphError if a weight is missing or the values do not have a supported dtype.
    `missing` marks the missing weights. `kind` is the column's type in the frame or table, for the
    message.
    """
    if missing.any():
        row = int(missing.argmax())
        u, v = (label_of(numbered.labels, int(end[row])) for end in (numbered.u, numbered.v))
        raise InvalidGraphError(
            f"row {row} of column {name!r}, the weight of edge ({u}, {v}), is missing (NaN or "
            "null); every edge needs a weight"
        )
    if values.dtype.kind not in "biuf":
        numbers: Array | None = np.zeros(0, np.uint8)  # the type of an empty column is arbitrary
        if values.size:
            numbers = exact_array(values.tolist()) if values.dtype.kind == "O" else None
        if numbers is None:
            no_numbers = (k for k, value in enumerate(values) if not _is_number(value))
            row = next(no_numbers, first_unsupported(values) or 0)
            raise InvalidGraphError(
                f"row {row} of column {name!r} is {shown(values[row])}, and its type {kind}; "
                "weights must be bool, int, uint or float"
            )
        values = numbers
    return replace(numbered, weights=as_weights(values))


def _is_number(value: Any) -> bool:
    """Return whether a value is a number, or a text that can be converted to one."""
    try:
        float(value)
    except Exception:
        return False
    return True


def _refuse_fractions(are_fractions: bool, kind: object, name: Hashable) -> None:
    """Raise InvalidGraphError if a column of vertex ids has floats or decimals.

    `are_fractions` says whether it has. `kind` is the type of the column and `name` its name, for
    the message.
    """
    if are_fractions:
        raise InvalidGraphError(
            f"column {name!r} has the type {kind}; ids must be integers, strings or categories "
            "(astype('int64') makes integers of whole numbers)"
        )
