"""How a fault gets into the way of a solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import clmst
from clmst import Forest


def is_struck(edges: np.ndarray) -> bool:
    """Whether a forest has a vertex of three edges: what a planted fault needs."""
    return bool(np.bincount(edges.ravel().astype(np.int64), minlength=1).max() >= 3)


def plant(fault: Callable[[Forest], Any]) -> None:
    """Let a fault happen to the forests that prim finds, where it is struck."""

    def planted(real: Callable[..., Any]) -> Callable[..., Any]:
        def solve(graph: Any, **how: Any) -> Any:
            forest = real(graph, **how)
            is_forest = how["algorithm"] == "prim" and isinstance(forest, Forest)
            return fault(forest) if is_forest and is_struck(forest.edges) else forest

        return solve

    for name in ("minimum_spanning_forest", "maximum_spanning_forest"):
        setattr(clmst, name, planted(getattr(clmst, name)))
