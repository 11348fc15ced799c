"""Edges for tests of streams, and the forest that one device finds in them."""

from __future__ import annotations

from typing import Any

import numpy as np

import clmst
from clmst.core.weight_keys import Array
from clmst.scale.edge_part import EdgePart

Edges = tuple[Array, Array, Array]

ALL_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64",
)  # fmt: skip


def random_edges(
    n: int, m: int, *, seed: int = 0, dtype: str = "int32", n_weights: int = 5
) -> Edges:
    """Return edges with many equal weights, parallel edges and self-loops."""
    random = np.random.default_rng(seed)
    u, v = random.integers(0, n, (2, m))
    weights = random.integers(0, n_weights, m)
    if np.dtype(dtype).kind in "if":
        weights = weights - n_weights // 2
    return u, v, weights.astype(dtype)


def part_of(edges: Edges, at: Any, n: int) -> EdgePart:
    """Return some edges as a part, whose ids are their positions."""
    u, v, w = edges
    ids = np.arange(u.size)[at]
    return EdgePart.checked(u[at], v[at], w[at], ids, n_vertices=n, row=str)


def forest_of_edges(edges: Edges, n: int, *, maximum: bool = False) -> clmst.Forest:
    """Return what the oracle finds."""
    return clmst.kruskal(clmst.Graph.from_edges(*edges, n_vertices=n), maximum=maximum)
