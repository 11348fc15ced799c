"""Methods of :class:`Forest` for tables: edges as a table, and rows of the caller's table."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core.arguments import errors_as, has, shown
from clmst.core.columns import SOURCE, TARGET, WEIGHT, check_columns, choose, is_name, takes_columns
from clmst.core.errors import InvalidArgumentError, InvalidGraphError, optional_import
from clmst.core.tables import names_of
from clmst.core.vertex_names import label_of, named
from clmst.core.weight_keys import Array

if TYPE_CHECKING:
    from clmst.core.forest import Forest


@takes_columns
def to_pandas(
    self: Forest, *, columns: Sequence[Hashable] | None = None, edge_id: Hashable = "edge_id"
) -> Any:
    """Return the edges as a ``pandas.DataFrame``, one row per edge, in the order of `edges`.

    The ends are given by the caller's labels. Use :meth:`rows` to select the rows of the original
    table, with all its columns.

    Parameters
    ----------
    columns : list or tuple, optional
        The names for the columns of the two ends and the weight. By default "source", "target" and
        "weight".
    edge_id : hashable
        The name for the column of edge ids.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    InvalidArgumentError
        Two columns have the same name, or pandas refuses a name.
    InvalidForestError
        The arrays contradict each other, as in :meth:`to_scipy`.
    MissingDependencyError
        pandas is not installed.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
    >>> clmst.minimum_spanning_forest(graph).to_pandas()
       source  target  weight  edge_id
    0       0       2       2        2
    1       1       2       1        1
    """
    return _as_table(self, columns, edge_id, "pandas", lambda pandas: pandas.DataFrame)


@takes_columns
def to_arrow(
    self: Forest, *, columns: Sequence[str] | None = None, edge_id: str = "edge_id"
) -> Any:
    """Return the edges as a ``pyarrow.Table``, one row per edge, in the order of `edges`.

    Parameters
    ----------
    columns, edge_id
        The same as in :meth:`to_pandas`, but names must be strings.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    InvalidArgumentError
        Two columns have the same name, or Arrow does not have a type for the labels of the
        vertices, for example because some are integers and some are strings.
    InvalidForestError
        The arrays contradict each other, as in :meth:`to_scipy`.
    MissingDependencyError
        pyarrow is not installed.

    Examples
    --------
    >>> import clmst, numpy as np
    >>> clmst.kruskal(np.array([[0, 2], [2, 0]])).to_arrow().column_names
    ['source', 'target', 'weight', 'edge_id']
    """
    return _as_table(self, columns, edge_id, "pyarrow", lambda pyarrow: pyarrow.table)


@takes_columns
def to_polars(
    self: Forest, *, columns: Sequence[str] | None = None, edge_id: str = "edge_id"
) -> Any:
    """Return the edges as a ``polars.DataFrame``, one row per edge, in the order of `edges`.

    Parameters
    ----------
    columns, edge_id
        The same as in :meth:`to_pandas`, but names must be strings.

    Returns
    -------
    polars.DataFrame

    Raises
    ------
    InvalidArgumentError
        Two columns have the same name, or polars does not have a type for the labels of the
        vertices, for example because some are integers and some are strings.
    InvalidForestError
        The arrays contradict each other, as in :meth:`to_scipy`.
    MissingDependencyError
        polars is not installed.

    Examples
    --------
    >>> import clmst, numpy as np
    >>> clmst.kruskal(np.array([[0, 2], [2, 0]])).to_polars().columns
    ['source', 'target', 'weight', 'edge_id']
    """
    return _as_table(self, columns, edge_id, "polars", lambda polars: polars.DataFrame)


def _as_table(
    forest: Forest, columns: Any, edge_id: Any, library: str, maker: Callable[[Any], Any]
) -> Any:
    """Build a table of another library from the edges of a forest, one row per edge.

    `library` is the name of the library. `maker` receives the imported module and returns the
    function that builds a table from a dict of columns. `columns` are the names for the two ends
    and the weight, or None for the usual names, and `edge_id` is the name for the edge ids.
    """
    given = check_columns(columns) or (SOURCE, TARGET, WEIGHT)
    names = [*given, *(WEIGHT,)[: 3 - len(given)], edge_id]
    if not is_name(edge_id):
        raise InvalidArgumentError(f"edge_id is {shown(edge_id)}; it must be the name of a column")
    listed = ", ".join(map(shown, names))
    if len(set(names)) < len(names):
        raise InvalidArgumentError(f"the columns are {listed}; all must differ")
    make = maker(optional_import(library, extra="polars" if library == "polars" else "frames"))
    ends = [named(forest.vertex_labels, end) for end in forest.checked_edges().T]
    found: list[Any] = [*ends, forest.weights, forest.edge_ids]
    if library != "pandas":
        not_text = [name for name in names if not isinstance(name, str)]
        if not_text:
            raise InvalidArgumentError(
                f"a column is called {shown(not_text[0])}; the names of columns of {library} must "
                "be strings"
            )
        found = [one.tolist() if one.dtype == object else one for one in found]
    with errors_as(lambda error: InvalidArgumentError(
        f"the columns are {listed}; {library} refuses them or their values "
        f"({type(error).__name__}: {shown(str(error))}); to_pandas() takes values of any type"
        if library != "pandas"
        else f"the columns are {listed}; pandas refuses them ({type(error).__name__})"
    )):  # fmt: skip  # some versions of pandas look into a name, which may raise
        return make(dict(zip(names, found, strict=True)))


# ----------------------------------------------------------------- rows of a table


@takes_columns
def rows(self: Forest, table: Any, *, columns: Sequence[Hashable] | None = None) -> Any:
    """Return the rows of the original table that are edges of the forest, in the order of `edges`.

    Rows are selected by position, whatever the index of a data frame says. The ends in the selected
    rows are compared with the ends in the forest, and so are the weights if the table has them. A
    table of another graph, or with its rows in another order, is therefore refused.

    Parameters
    ----------
    table : pandas.DataFrame, pyarrow.Table, polars.DataFrame, or array
        The table that was solved. An object of another library that exports an Arrow stream, such
        as a relation of DuckDB, is read as a pyarrow.Table. An array without column names cannot be
        compared with the forest, so its rows are selected without a check.
    columns : list or tuple, optional
        The names of the columns of the two ends and the weight. With two names, weights are not
        compared. By default the columns "source", "target" and "weight", or else any two columns
        that contain the ends, and any column that contains the weights.

    Returns
    -------
    pandas.DataFrame, pyarrow.Table, polars.DataFrame or ndarray
        One row for each edge of the forest, with all columns of the table.

    Raises
    ------
    InvalidArgumentError
        The object is not a table, has too few rows, or is not the table that was solved. The
        message names the first row that differs.
    InvalidForestError
        The arrays of the forest contradict each other, as in :meth:`to_scipy`.

    Examples
    --------
    >>> import clmst, pandas
    >>> roads = pandas.DataFrame({"source": [0, 1, 0], "target": [1, 2, 2], "weight": [3, 1, 2]})
    >>> clmst.kruskal(roads).rows(roads).weight.tolist()
    [2, 1]
    """
    wanted = check_columns(columns)
    if has(table, "collect", "collect_schema"):
        raise InvalidArgumentError(
            f"the table is a {type(table).__name__}, which has no rows before it is collected; "
            "give table.collect()"
        )
    positions = self.edge_ids
    is_whole = has(table, "iloc") or has(table, "get_column") or has(table, "take", "schema")
    if not is_whole and has(table, "__arrow_c_stream__"):
        with _giving_rows(table):
            table = optional_import("pyarrow", extra="frames").table(table)
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
    taken: Any
    if has(table, "iloc"):
        taken = table.iloc[positions]
    elif has(table, "take", "schema"):
        taken = table.take(positions)
    else:
        with _giving_rows(table):  # SciPy's matrices of blocks, for example, cannot select rows
            taken = table[positions]
    names = names_of(taken)
    if names is not None and positions.size:
        _check_same_edges(self, _Rows(taken, names), wanted)
    elif wanted is not None and names is None:
        raise InvalidArgumentError(
            f"columns are {shown(columns)}, and the array has no names of columns; leave it out"
        )
    return taken


def _giving_rows(table: Any) -> AbstractContextManager[None]:
    """Create a context manager that replaces any exception inside it by InvalidArgumentError.

    Inside, rows are read from a caller's `table`, which may not be a table.
    """
    return errors_as(lambda error: InvalidArgumentError(
        f"the {type(table).__name__} gives no rows ({shown(str(error))}); the table must be a "
        "data frame, an Arrow table or an array"
    ))  # fmt: skip


class _Rows:
    """The rows of a caller's table that belong to the edges of a forest.

    A column of these rows is converted to an array when it is first read.
    """

    def __init__(self, taken: Any, names: list[Any]) -> None:
        self._taken = taken
        self.names = [one for one in names if is_name(one) and names.count(one) == 1]
        self._columns: dict[Any, Array] = {}

    def __getitem__(self, name: Any) -> Array:
        """Return the column `name` as an array.

        It is an array of Python objects if the values are not numbers of one dtype.
        """
        if name not in self._columns:
            self._columns[name] = _as_values(self._taken[name])
        return self._columns[name]


def _as_values(column: Any) -> Array:
    """Convert a column of any library to an array of numbers or of Python objects."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf" and column.ndim == 1:
        return column
    if isinstance(column, np.ndarray) and column.dtype.kind == "S":
        column = np.char.decode(column, "utf-8", "surrogateescape")
    lists = [one for one in ("to_pylist", "tolist", "to_list") if has(column, one)]
    listed = list(getattr(column, lists[0])()) if lists else list(column)
    if set(map(type, listed)) in ({int}, {float}, {bool}):
        values = np.array(listed)
        if values.dtype.kind in "biuf":
            return values
    objects = np.empty(len(listed), object)
    objects[:] = listed
    return objects


def _equal(one: Array, other: Array) -> Array:
    """Compare the arrays `one` and `other` element by element.

    Values that cannot be compared count as different.
    """
    try:
        equal = np.asarray(one == other)
        if equal.shape == one.shape:
            return equal.astype(np.bool_)
    except Exception:  # some values compare to an array, or cannot be compared
        return np.array([_are_equal(a, b) for a, b in zip(one, other, strict=True)], np.bool_)
    return np.zeros(one.shape, np.bool_)


def _are_equal(one: Any, other: Any) -> bool:
    """Return whether `one` equals `other`. Return False if the comparison raises an exception."""
    try:
        return bool(one == other)
    except Exception:
        return False


def _check_same_edges(forest: Forest, rows: _Rows, wanted: tuple[Any, ...] | None) -> None:
    """Raise InvalidArgumentError unless the rows have the ends and weights of the forest's edges.

    Row i of `rows` must belong to edge i. Weights are not compared if the rows do not have any.
    `wanted` are the names of the columns that the caller gives. If it is None, the columns are
    found by their usual names or by their values.
    """
    try:
        chosen = choose(rows.names, wanted)
    except InvalidGraphError as error:
        if wanted is not None:
            raise InvalidArgumentError(str(error)) from None
        chosen = None
    a, b = (named(forest.vertex_labels, end) for end in forest.checked_edges().T)

    def differs(source: Any, target: Any) -> Array:
        u, v = rows[source], rows[target]
        return ~((_equal(u, a) & _equal(v, b)) | (_equal(u, b) & _equal(v, a)))

    wrong = None if chosen is None else differs(chosen.source, chosen.target)
    if wrong is None or (wrong.any() and wanted is None):
        some = [one for one in rows.names if (_equal(rows[one], a) | _equal(rows[one], b)).all()]
        if not any(not differs(*pair).any() for pair in permutations(some, 2)):
            if chosen is None or wrong is None:
                listed = ", ".join(map(shown, rows.names[:20])) or "none"
                raise InvalidArgumentError(
                    f"no two of the columns {listed} hold the ends of the forest's edges; the "
                    f"table must be the one that was solved, {_REMEDY}"
                )
        else:
            wrong = None
    if wrong is not None and wrong.any():
        assert chosen is not None, "its ends differ"
        at = int(wrong.argmax())
        u, v = (shown(_plain(rows[name][at])) for name in (chosen.source, chosen.target))
        ends = ", ".join(label_of(forest.vertex_labels, int(k)) for k in forest.edges[at])
        raise InvalidArgumentError(
            f"row {int(forest.edge_ids[at])} of the table is edge ({u}, {v}), and in the forest "
            f"this is edge ({ends}); the table must be the one that was solved, {_REMEDY}"
        )
    if chosen is not None and chosen.weight is not None:
        _check_same_weights(forest, rows, chosen.weight, is_named=wanted is not None)


_REMEDY = (
    "with its rows in the same order (columns= names the columns of its ends; "
    "table[forest.edge_ids], of a frame table.iloc[forest.edge_ids], takes rows unchecked)"
)


def _check_same_weights(forest: Forest, rows: _Rows, name: Any, *, is_named: bool) -> None:
    """Raise InvalidArgumentError unless the column `name` of `rows` has the weights of the forest.

    If `is_named` is False, the caller did not name the column, and any other column may have the
    weights instead.
    """
    weights = forest.weights
    wrong = ~_equal(_as_dtype(rows[name], weights), weights)
    if not wrong.any():
        return
    if not is_named:
        if (weights == 1).all():  # the graph may have no weights, whatever the table has
            return
        others = (_as_dtype(rows[one], weights) for one in rows.names if one != name)
        if any(_equal(one, weights).all() for one in others):
            return
    at = int(wrong.argmax())
    raise InvalidArgumentError(
        f"row {int(forest.edge_ids[at])} of the table has the weight "
        f"{shown(_plain(rows[name][at]))} in column {name!r}, and the edge of the forest "
        f"{shown(_plain(weights[at]))}; the table must be the one that was solved (with "
        "columns=(source, target), the names of two columns, no weights are compared)"
    )


def _as_dtype(values: Array, weights: Array) -> Array:
    """Convert Python objects, such as decimals, to the dtype of `weights`.

    Values of any other dtype, and objects that cannot be converted, are returned unchanged.
    """
    if values.dtype != object:
        return values
    try:
        return values.astype(weights.dtype)
    except Exception:
        return values


def _plain(value: Any) -> Any:
    """Convert a NumPy scalar to a Python value, for messages."""
    return value.item() if isinstance(value, np.generic) else value
