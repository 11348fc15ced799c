"""Decide which columns of a table are the ends of edges and the weight.

All functions that take tables use this module: for files, streams, data frames, Arrow tables, and
partitions of Dask and Ray.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from clmst.core.arguments import shown
from clmst.core.errors import InvalidArgumentError, InvalidGraphError

SOURCE, TARGET, WEIGHT = "source", "target", "weight"
_RULE = (
    f'{SOURCE}, {TARGET} and {WEIGHT} must be among them, or be named: columns=("{SOURCE}", '
    f'"{TARGET}", "{WEIGHT}")%s, or --columns {SOURCE},{TARGET},{WEIGHT}; two names give every '
    "edge the weight 1"
)

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The names of the columns to read. `weight` is None if every edge has the weight 1."""

    source: Any
    target: Any
    weight: Any

    @property
    def names(self) -> list[Any]:
        """The distinct names, in the order source, target, weight."""
        named = (self.source, self.target, self.weight)
        return list(dict.fromkeys(name for name in named if name is not None))


def check_columns(columns: object) -> tuple[Hashable, ...] | None:
    """Return the column names that a caller gives as a tuple, or None if `columns` is None.

    Raise InvalidArgumentError unless there are two or three names.
    """
    if columns is None:
        return None
    given = tuple(columns) if isinstance(columns, list | tuple) else ()
    names = tuple(str.__str__(name) if isinstance(name, str) else name for name in given)
    if len(names) not in (2, 3) or not all(map(is_name, names)):
        raise InvalidArgumentError(
            f"columns are {shown(columns)}; they must be two or three names: of the source, the "
            "target and the weight"
        )
    return names


def check_names(columns: object) -> tuple[Hashable, ...] | None:
    """Check a caller's names of coordinate columns, and return the names as a tuple.

    Returns None if `columns` is None. Raises InvalidArgumentError unless `columns` is None, or a
    list or tuple of at least one name.
    """
    if columns is None:
        return None
    names = tuple(columns) if isinstance(columns, list | tuple) else ()
    if not names or not all(map(is_name, names)):
        raise InvalidArgumentError(
            f"columns are {shown(columns)}; they must be a list of the names of columns"
        )
    return names


def is_name(name: object) -> bool:
    """Return whether a value can be the name of a column. pandas also allows numbers and tuples."""
    try:
        hash(name)
        is_itself = bool(name == name)  # noqa: PLR0124 - not so of NaN, pandas.NA and arrays
    except Exception:
        return False
    return is_itself and name is not None


def choose(
    names: Sequence[Any], columns: Sequence[Any] | None = None, *, weight: Any = WEIGHT,
    door: str = "",
) -> Columns:  # fmt: skip
    """Choose the columns of a table to read.

    Parameters
    ----------
    names : sequence
        The names of all columns of the table.
    columns : sequence, optional
        The two or three columns that the caller wants. By default the columns "source", "target"
        and `weight`. If neither "source" nor "target" exists, all columns of a table of two or
        three are taken in order.
    weight : hashable or None
        The name of the weight column, if `columns` is None. None means that every edge has the
        weight 1. The column "weight" may be missing if the table has only the ends; then every edge
        has the weight 1 too.
    door : str
        Text for error messages, such as " of Graph.from_pandas". It names the function that has the
        argument `columns`. It is empty if the caller has called that function.

    Raises
    ------
    InvalidGraphError
        A wanted column does not exist or exists twice, or it is unclear which columns to take.
        Columns taken in order are also refused if they may be coordinates of points (see
        :func:`_may_be_points`).
    """
    names = [name for name in names if is_name(name)]
    listed = ", ".join(shown(name) for name in names[:20]) or "none"
    wanted = columns
    if columns is None and (columns := _usual(names, weight)) is None:
        wanted = [] if weight is None or weight == WEIGHT else [weight]
    for name in wanted or columns or ():
        if (count := names.count(name)) != 1:
            raise InvalidGraphError(
                f"{count} columns are called {shown(name)} among {listed}; there must be one"
            )
    if columns is None:
        raise InvalidGraphError(f"the columns are {listed}; {_RULE % door}")
    if wanted is None and weight is not None and _may_be_points(columns):
        ends = ", ".join(map(shown, columns))
        raise InvalidGraphError(
            f"the columns are {listed}, which may be coordinates of points; if they are ends of "
            f"edges, columns=({ends}){door} says so, or --columns {','.join(map(str, columns))}; "
            "points are read by clmst.read_points, clmst cluster, or clmst solve --metric euclidean"
        )
    return Columns(
        source=columns[0], target=columns[1], weight=columns[2] if len(columns) > 2 else None
    )


def _may_be_points(columns: Sequence[Any]) -> bool:
    """Return whether columns, taken in order, may be coordinates instead of ends of edges.

    The answer is True if the first two columns have typical names of coordinates, such as "x" and
    "y". It is also True for exactly two columns, unless both have typical names of ends, such as
    "from" and "to".
    """
    words = [_NO_LETTER.sub("", str(name).lower()) for name in columns]
    if SOURCE in words or TARGET in words:
        return False
    return _COORDINATES.issuperset(words[:2]) or (len(words) == 2 and not _ENDS.issuperset(words))


_NO_LETTER = re.compile(r"[^a-z]")  # removed, so that "X_1" and "x (m)" become "x" and "xm"
_COORDINATES = frozenset({
    "x", "y", "z", "xm", "ym", "zm", "lon", "lat", "lng", "long", "longitude", "latitude",
    "easting", "northing", "coord", "coordinate", "dim", "pc", "tsne", "umap",
})  # fmt: skip
_ENDS = frozenset({
    "src", "dst", "dest", "destination", "origin", "start", "end", "from", "to", "fromid", "toid",
    "fromnode", "tonode", "fromnodeid", "tonodeid", "u", "v", "i", "j", "node", "nodea", "nodeb",
    "nodeid", "vertex", "vertexa", "vertexb", "n", "id", "ida", "idb", "head", "tail", "left",
    "right", "parent", "child", "sender", "receiver", "follower", "followee", "endpoint", "enda",
    "endb",
})  # fmt: skip


def _usual(names: list[Any], weight: Any) -> Sequence[Any] | None:
    """Return the columns to take if the caller does not name any, or None if that is unclear.

    `names` are the columns of the table. `weight` is the name of the column of weights, or None if
    every edge has the weight 1. A column whose name is empty is ignored. pandas writes the index of
    a frame to CSV in this way.
    """
    names = [name for name in names if name != ""]
    ends = [name for name in (SOURCE, TARGET) if name in names]
    weights = [] if weight is None or (weight == WEIGHT and weight not in names) else [weight]
    if not ends:
        ends = [name for name in names if name not in weights]
        if not weights and len(ends) == (2 if weight is None else 3):
            return ends
    elif not weights and weight is not None and len(set(names)) > len(ends):
        return None  # a further column, of another name, may contain the weights
    return [*ends, *weights] if len(ends) == 2 else None


def takes_columns(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function so that arguments of earlier versions raise a helpful error.

    In earlier versions, the names of columns were passed as `source`, `target` and `weight`, by
    name or by position. The InvalidArgumentError says to use `columns` instead.
    """
    kinds = [one.kind for one in signature(function).parameters.values()]
    most = sum(kind is Parameter.POSITIONAL_OR_KEYWORD for kind in kinds)

    @wraps(function)
    def checked(*args: P.args, **given: P.kwargs) -> R:
        old = [name for name in (SOURCE, TARGET, WEIGHT) if name in given]
        old += [shown(name) for name in args[most:]]
        if old:
            raise InvalidArgumentError(
                f"{function.__name__} was given {', '.join(old)}; the names of all columns are one "
                f"argument: columns=({SOURCE}, {TARGET}, {WEIGHT}), or the first two of them"
            )
        return function(*args, **given)

    return checked
