"""Which columns of a table are the ends of edges, and which the weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clmst.core.arguments import shown
from clmst.core.errors import FileFormatError, InvalidArgumentError


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The names of columns; `weight` is None if every edge has the weight 1."""

    source: str
    target: str
    weight: str | None


def check_columns(columns: object) -> tuple[str, ...] | None:
    """Return the columns that a caller names, or raise unless they are two or three strings."""
    if columns is None:
        return None
    names = tuple(columns) if isinstance(columns, list | tuple) else ()
    if len(names) not in (2, 3) or not all(isinstance(name, str) for name in names):
        raise InvalidArgumentError(
            f"columns are {shown(columns)}; they must be two or three names: of the source, the "
            "target and the weight"
        )
    return names


def choose(names: Sequence[str], columns: Sequence[str] | None) -> Columns:
    """Return the columns of a table to read.

    Parameters
    ----------
    names : sequence of str
        The columns that there are.
    columns : sequence of str, optional
        Two or three that the caller wants. When left out: "source", "target" and, if there is one,
        "weight"; or all columns of a table of two or three.

    Raises
    ------
    FileFormatError
        A wanted column is not there, or is there twice; or nothing tells which to take.
    """
    listed = ", ".join(map(repr, names[:20]))
    if columns is None:
        if {"source", "target"} <= set(names):
            columns = [name for name in ("source", "target", "weight") if name in names]
        elif len(names) in (2, 3):
            columns = names
        else:
            raise FileFormatError(
                f"the columns are {listed}; source, target and weight must be among them, or be "
                'named: read_graph(path, columns=("source", "target", "weight"))'
            )
    for name in columns:
        if names.count(name) != 1:
            raise FileFormatError(
                f"{names.count(name)} columns are called {name!r} among {listed}; there must be one"
            )
    source, target, *weight = columns
    return Columns(source=source, target=target, weight=weight[0] if weight else None)
