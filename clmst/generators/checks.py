"""Checks of the parameters of graph families: the fact, then the rule."""

from __future__ import annotations

import numpy as np

from clmst.core import arguments
from clmst.core.arguments import shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph_checks import MAX_SLOTS, MAX_VERTICES


def check_integer(name: str, value: int, *, low: int, high: int = MAX_VERTICES) -> int:
    """Return `value` as an int, or raise unless it is an integer from low to high."""
    return arguments.check_integer(name, value, low=low, high=high)


def check_number(name: str, value: float, *, low: float, high: float) -> None:
    """Raise unless `value` is a number from low to high."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be a number")
    if not low <= value <= high:
        raise InvalidArgumentError(f"{name} is {value}; it must be {low} to {high}")


def check_sizes(*, vertices: int, edges: int) -> None:
    """Raise, before anything is allocated, where a graph would not fit 32-bit numbers."""
    for what, count, limit in (("vertices", vertices, MAX_VERTICES), ("edges", edges, MAX_SLOTS)):
        if count > limit:
            raise InvalidArgumentError(
                f"these parameters ask for {count} {what}; there may be up to {limit}"
            )
