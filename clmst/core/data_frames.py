"""Data frames of pandas, and Arrow tables, as graphs; and forests as data frames."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core.arguments import check_has, errors_as, has, shown
from clmst.core.columns import (
    SOURCE,
    TARGET,
    WEIGHT,
    Columns,
    check_columns,
    choose,
    is_name,
    takes_columns,
)
from clmst.core.errors import InvalidArgumentError, InvalidGraphError, optional_import
from clmst.core.networkx_graphs import exact_array
from clmst.core.vertex_names import Ends, Names, NumberedEdges, label_of, number
from clmst.core.weight_keys import Array, as_weights, first_unsupported

if TYPE_CHECKING:
    from clmst.core.forest import Forest
    from clmst.core.graph import Graph

_EXTRA = "frames"


@takes_columns
def from_pandas(
    cls: type[Graph], frame: Any, *, columns: Sequence[Hashable] | None = None
) -> Graph:
    """Take a data frame with one row for each edge.

    The ends of edges are integers, strings, categories or other hashable values. Vertices are
    those that occur: integers are numbered in rising order, all else in the order in which rows
    have them. `vertex_labels` are the ids, unless these are 0 .. n - 1. Edge ids are positions
    of rows: :meth:`clmst.Forest.rows` returns the rows of a forest.

    Parameters
    ----------
    frame : pandas.DataFrame
    columns : list or tuple, optional
        The names of the columns: of both ends, and of weights, which are 1 where it is left
        out. By default as of :func:`clmst.read_graph`.

    Raises
    ------
    InvalidGraphError
        There is no such column, nothing tells which to take, or an id or a weight is missing or
        of the wrong type; names the first row.
    MissingDependencyError
        pandas is not installed.
    """
    return graph_of_pandas(frame, columns)


@takes_columns
def from_arrow(cls: type[Graph], table: Any, *, columns: Sequence[Hashable] | None = None) -> Graph:
    """Take an Arrow table, or any frame that exports one; else as :meth:`from_pandas`.

    Parameters
    ----------
    table : pyarrow.Table, polars.DataFrame, or any object with ``__arrow_c_stream__``
    columns : list or tuple of str, optional
        As of :meth:`from_pandas`.

    Raises
    ------
    InvalidGraphError
        As :meth:`from_pandas`.
    MissingDependencyError
        pyarrow is not installed.
    """
    return graph_of_arrow(table, columns)


def graph_of_pandas(frame: Any, columns: Any, weight: Hashable = WEIGHT) -> Graph:
    """Return the graph of a data frame; as of `choose`."""
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
            "the frame has the same names for rows and columns, as a matrix has; of a frame of "
            "edges columns=(source, target, weight) names the columns, and a matrix is taken as an "
            "array (frame.to_numpy())"
        )
    chosen = choose(names, columns, weight=weight, door=" of Graph.from_pandas")
    return numbered_frame(frame, chosen).graph()


def numbered_frame(frame: Any, columns: Columns) -> NumberedEdges:
    """Return the edges of a pandas.DataFrame."""
    pandas = optional_import("pandas", extra=_EXTRA)
    u, v = (_ids_of_series(frame[name], name) for name in (columns.source, columns.target))
    numbered = number(u, v, pandas.factorize)
    if columns.weight is None:
        return numbered
    series = frame[columns.weight]
    missing = series.isna().to_numpy()
    return _weighted(numbered, series.to_numpy(), missing, columns.weight, series.dtype)


def graph_of_arrow(table: Any, columns: Any, weight: Hashable = WEIGHT) -> Graph:
    """Return the graph of an Arrow table; as of `choose`."""
    pyarrow = optional_import("pyarrow", extra=_EXTRA)
    frames = "or a frame that gives itself as one (by __arrow_c_stream__, as those of polars do)"
    check_has("from_arrow", table, f"an Arrow table, {frames}", "__arrow_c_stream__")
    with errors_as(lambda error: InvalidGraphError(
        f"the {type(table).__name__} is no table ({shown(str(error))}); it must have columns"
    )):  # fmt: skip
        own = table if isinstance(table, pyarrow.Table) else pyarrow.table(table)
    wanted, door = check_columns(columns), " of Graph.from_arrow"
    chosen = choose(own.column_names, wanted, weight=weight, door=door)
    return numbered_table(own, chosen).graph()


def numbered_table(table: Any, columns: Columns) -> NumberedEdges:
    """Return the edges of a pyarrow.Table."""
    pyarrow = optional_import("pyarrow", extra=_EXTRA)
    ends = (columns.source, columns.target)
    u, v = (_ids_of_arrow(pyarrow, table[name], name) for name in ends)
    numbered = number(u, v, partial(_factorize_arrow, pyarrow))
    if columns.weight is None:
        return numbered
    column = table[columns.weight]
    values, missing = column.to_numpy(), column.is_null().to_numpy()
    if values.dtype.kind == "f":  # pyarrow 15 finds no NaN among halves
        missing = missing | np.isnan(values)
    return _weighted(numbered, values, missing, columns.weight, column.type)


def _ids_of_series(series: Any, name: Hashable) -> Ends:
    """Return a column of ids: integers as they are, all else as names."""
    import pandas

    _refuse_missing_id(series.isna().to_numpy(), name)
    if isinstance(series.dtype, pandas.CategoricalDtype):
        codes = series.cat.codes.to_numpy().astype(np.int32, copy=False)
        return Names(codes=codes, distinct=series.cat.categories.tolist())
    types = pandas.api.types
    if types.is_integer_dtype(series.dtype):
        return np.asarray(series.to_numpy())
    _refuse_fractions(types.is_float_dtype(series.dtype), series.dtype, name)
    try:
        codes, distinct = pandas.factorize(series)
    except TypeError as error:
        raise InvalidGraphError(
            f"column {name!r} has an id that cannot be hashed ({shown(error)}); ids must be "
            "integers, strings or other hashable values"
        ) from error
    return Names(codes=codes.astype(np.int32), distinct=distinct.tolist())


def _ids_of_arrow(pyarrow: Any, column: Any, name: Hashable) -> Ends:
    """Return a column of ids: integers as they are, all else as names."""
    types, kind = pyarrow.types, column.type
    if column.null_count:
        _refuse_missing_id(column.is_null().to_numpy(), name)
    if types.is_integer(kind):
        return np.asarray(column.to_numpy())
    if not len(column):  # whose type says nothing
        return np.zeros(0, np.int32)
    _refuse_fractions(types.is_floating(kind) or types.is_decimal(kind), kind, name)
    try:
        encoded = column if types.is_dictionary(kind) else column.dictionary_encode()
        whole = encoded.unify_dictionaries().combine_chunks()
        codes = whole.indices.to_numpy(zero_copy_only=False).astype(np.int32)
        return Names(codes=codes, distinct=whole.dictionary.to_pylist())
    except pyarrow.ArrowException as error:
        raise InvalidGraphError(
            f"column {name!r} has the type {kind}; ids must be integers, strings or categories"
        ) from error


def _factorize_arrow(pyarrow: Any, integers: Array) -> tuple[Array, Array]:
    """Return (codes, distinct) of integers."""
    encoded = pyarrow.array(integers).dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary.to_numpy()


def _refuse_missing_id(missing: Array, name: Hashable) -> None:
    if missing.any():
        raise InvalidGraphError(
            f"row {int(missing.argmax())} of column {name!r} is missing (NaN or null); every edge "
            "needs both ends"
        )


def _weighted(
    numbered: NumberedEdges, values: Array, missing: Array, name: Hashable, kind: object
) -> NumberedEdges:
    """Return edges with a column of weights, or raise unless the values are of a supported dtype.

    `kind` is the type that the frame or table says that they have.
    """
    if missing.any():
        row = int(missing.argmax())
        u, v = (label_of(numbered.labels, int(end[row])) for end in (numbered.u, numbered.v))
        raise InvalidGraphError(
            f"row {row} of column {name!r}, the weight of edge ({u}, {v}), is missing (NaN or "
            "null); every edge needs a weight"
        )
    if values.dtype.kind not in "biuf":
        numbers: Array | None = np.zeros(0, np.uint8)  # the type of no rows says nothing
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
    """Return whether a value is a number, or the text of one."""
    try:
        float(value)
    except Exception:
        return False
    return True


def _refuse_fractions(are_fractions: bool, kind: object, name: Hashable) -> None:
    if are_fractions:
        raise InvalidGraphError(
            f"column {name!r} has the type {kind}; ids must be integers, strings or categories "
            "(astype('int64') makes integers of whole numbers)"
        )


@takes_columns
def to_pandas(
    self: Forest, *, columns: Sequence[Hashable] | None = None, edge_id: Hashable = "edge_id"
) -> Any:
    """Return a ``pandas.DataFrame`` with one row for each edge, in the order of `edges`.

    Ends have the caller's labels. :meth:`rows` returns the rows of a frame that the forest
    took, with all columns.

    Parameters
    ----------
    columns : list or tuple, optional
        What the columns of both ends and of the weight are called: "source", "target" and
        "weight" where it is left out.
    edge_id : hashable
        What the column of edge ids is called.

    Raises
    ------
    InvalidArgumentError
        Two columns have one name.
    InvalidForestError
        As :meth:`to_scipy`.
    MissingDependencyError
        pandas is not installed.
    """
    given = check_columns(columns) or (SOURCE, TARGET, WEIGHT)
    names = [*given, *(WEIGHT,)[: 3 - len(given)], edge_id]
    if not is_name(edge_id):
        raise InvalidArgumentError(f"edge_id is {shown(edge_id)}; it must be the name of a column")
    listed = ", ".join(map(shown, names))
    if len(set(names)) < len(names):
        raise InvalidArgumentError(f"the columns are {listed}; all must differ")
    pandas = optional_import("pandas", extra=_EXTRA)
    ends = [named(self.vertex_labels, end) for end in self.checked_edges().T]
    found = (*ends, self.weights, self.edge_ids)
    with errors_as(lambda error: InvalidArgumentError(
        f"the columns are {listed}; pandas refuses them ({type(error).__name__})"
    )):  # fmt: skip  # of a name that some versions of pandas look into
        return pandas.DataFrame(dict(zip(names, found, strict=True)))


def rows(self: Forest, table: Any) -> Any:
    """Return the rows of a table of edges that the forest took, in the order of `edges`.

    Rows are taken by their position, whatever the index of a data frame says.

    Parameters
    ----------
    table : pandas.DataFrame, pyarrow.Table, polars.DataFrame or array
        The one that the graph was made of, or another one with a row for each edge id.

    Raises
    ------
    InvalidArgumentError
        It is no table, or has too few rows.
    """
    positions = self.edge_ids
    n_rows = table.shape[0] if has(table, "shape", "__getitem__") and table.shape else None
    if not isinstance(n_rows, int):
        raise InvalidArgumentError(
            f"the table is {shown(table)}; it must be a data frame, an Arrow table or an array"
        )
    if positions.size and int(positions.max()) >= n_rows:
        raise InvalidArgumentError(
            f"the table has {n_rows} rows, and the forest has the edge id {int(positions.max())}; "
            "it must be the table of all edges that the forest was found in"
        )
    if has(table, "iloc"):
        return table.iloc[positions]
    return table.take(positions) if has(table, "take", "schema") else table[positions]


def named(labels: Any, vertices: Array) -> Array:
    """Return the names of vertices; their numbers if `labels` is None."""
    if labels is None:
        return vertices
    if isinstance(labels, np.ndarray) and labels.ndim == 1:
        names: Array = labels[vertices]
        return names
    each = np.empty(len(labels), object)
    each[:] = list(labels)
    taken: Array = each[vertices]
    return taken
