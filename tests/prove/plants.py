"""Faults that tests plant in the way of a solve: ``--plant wrong``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

import clmst
from clmst import Forest


def _without_last_edge(forest: Forest) -> Forest:
    parts = {name: getattr(forest, name)[:-1] for name in ("edges", "weights", "edge_ids")}
    return Forest(n_vertices=forest.n_vertices, **parts)


def _fail(forest: Forest) -> NoReturn:
    raise TypeError(f"no {forest}")


FAULTS: dict[str, Callable[[Forest], Any]] = {
    "wrong": _without_last_edge,
    "foreign error": _fail,
    "crash": lambda _: os.abort(),  # as by a fault of a driver
    "hang": lambda _: time.sleep(1000),
}


def is_struck(edges: np.ndarray) -> bool:
    """Whether a forest has a vertex of three edges: what a planted fault needs."""
    return bool(np.bincount(edges.ravel().astype(np.int64), minlength=1).max() >= 3)


def plant(name: str | None) -> None:
    """Let a fault happen to the forests that prim finds, where it is struck."""
    if name is None:
        return

    def planted(real: Callable[..., Any]) -> Callable[..., Any]:
        def solve(graph: Any, **how: Any) -> Any:
            forest = real(graph, **how)
            is_forest = how["algorithm"] == "prim" and isinstance(forest, Forest)
            return FAULTS[name](forest) if is_forest and is_struck(forest.edges) else forest

        return solve

    for function in ("minimum_spanning_forest", "maximum_spanning_forest"):
        setattr(clmst, function, planted(getattr(clmst, function)))
