"""The columns of a table that are the ends of edges, and the weight: the same at every door.

The doors are files, streams, data frames, Arrow tables, and partitions of Dask and Ray.
"""

from __future__ import annotations

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

    These are "source", "target" and the weight; or, if neither of the first two is there, the
    columns of a table of two or three, in order. The `weight` is called so where `columns` do not
    tell. "weight" may be missing if there is no other column either; every edge has the weight 1
    then, as it has for None. Raise if a wanted column is not there, or is there twice, or if
    nothing tells which to take; the error names the `door` that takes columns, if it is another
    one than the caller's.
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
    return Columns(
        source=columns[0], target=columns[1], weight=columns[2] if len(columns) > 2 else None
    )


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
