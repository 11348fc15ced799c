"""The columns of a table that are the ends of edges, and the weight: the same at every door.

The doors are files, streams, data frames, Arrow tables, and partitions of Dask and Ray.
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
    """The names of columns; `weight` is None if every edge has the weight 1."""

    source: Any
    target: Any
    weight: Any

    @property
    def names(self) -> list[Any]:
        """All of them, each once, in this order."""
        named = (self.source, self.target, self.weight)
        return list(dict.fromkeys(name for name in named if name is not None))


def check_columns(columns: object) -> tuple[Hashable, ...] | None:
    """Return the columns that a caller names, or raise unless they are two or three names."""
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
    """Return the columns of coordinates that a caller names, or raise unless they are names."""
    if columns is None:
        return None
    names = tuple(columns) if isinstance(columns, list | tuple) else ()
    if not names or not all(map(is_name, names)):
        raise InvalidArgumentError(
            f"columns are {shown(columns)}; they must be a list of the names of columns"
        )
    return names


def is_name(name: object) -> bool:
    """Return whether a column may be called so: pandas takes numbers and more for names."""
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
    """Return the columns of a table to read: those that a caller wants, or the usual ones.

    The usual columns are "source", "target" and the weight; or, if neither "source" nor "target"
    is there, the columns of a table of two or three, in order. `weight` is the name of the weight
    if `columns` is None. The column "weight" may be missing if there is no other column either.
    Every edge then has the weight 1, as it has if `weight` is None.

    Raise :class:`InvalidGraphError` if a wanted column is not there, or is there twice; if nothing
    tells which columns to take; and if columns taken in order may as well be coordinates of points
    (see :func:`_may_be_points`). The error names the `door` that takes columns, if that is another
    function than the one that was called.
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
    """Return whether columns, taken in order, may be coordinates rather than ends of edges.

    That is so if the first two are called as coordinates are, as "x" and "y". It is also so of two
    columns without a weight, unless both are called as ends of edges are, as "from" and "to".
    """
    words = [_NO_LETTER.sub("", str(name).lower()) for name in columns]
    if SOURCE in words or TARGET in words:
        return False
    return _COORDINATES.issuperset(words[:2]) or (len(words) == 2 and not _ENDS.issuperset(words))


_NO_LETTER = re.compile(r"[^a-z]")  # "X_1" and "x (m)" are called as "x" is
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
    """Return the columns to take where none are named; None if nothing tells.

    One without a name is no candidate: an index, as pandas writes it.
    """
    names = [name for name in names if name != ""]
    ends = [name for name in (SOURCE, TARGET) if name in names]
    weights = [] if weight is None or (weight == WEIGHT and weight not in names) else [weight]
    if not ends:
        ends = [name for name in names if name not in weights]
        if not weights and len(ends) == (2 if weight is None else 3):
            return ends
    elif not weights and weight is not None and len(set(names)) > len(ends):
        return None  # of the other columns none is called so, and one may be meant
    return [*ends, *weights] if len(ends) == 2 else None


def takes_columns(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function refuse `source`, `target` and `weight`, and say that `columns` has them now.

    Earlier versions took them, by name or by position.
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
