"""Edges for tests of streams, and the forest that one device finds in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import clmst
from clmst.algorithms.edge_stream import passes
from clmst.algorithms.edge_stream.edges import EdgePart
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.scale import capacity, sinks

Edges = tuple[Array, Array, Array]

ALL_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "float32", "float64",
)  # fmt: skip


class KilledError(BaseException):
    """Stands for the end of the process: nothing of clmst handles it."""


def kill_at(edges: int, passes: int = 1) -> Callable[[clmst.StreamProgress], None]:
    """Return a function that kills a stream after it has read some edges in a pass."""

    def kill(progress: clmst.StreamProgress) -> None:
        if progress.passes == passes and progress.edges >= edges:
            raise KilledError

    return kill


class Readings:
    """Chunks that can be read again, each time others; errors among them are raised."""

    def __init__(self, *readings: Sequence[Any]) -> None:
        self._next = iter(readings)

    def __iter__(self) -> Iterator[Any]:
        for chunk in next(self._next):
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk


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
    """Return the forest of the oracle."""
    return clmst.kruskal(clmst.Graph.from_edges(*edges, n_vertices=n), maximum=maximum)


def assert_forest(
    found: clmst.Forest, edges: Edges, n: int, *, maximum: bool = False, ids: Any = None
) -> None:
    """Compare with what the oracle finds; the edges may have ids of a caller."""
    right = forest_of_edges(edges, n, maximum=maximum)
    expected = right.edge_ids if ids is None else ids[right.edge_ids]
    np.testing.assert_array_equal(found.edge_ids, expected)
    assert found == right if ids is None else (found.edges == right.edges).all()


def cut(edges: tuple[Array, ...], size: int) -> Iterator[tuple[Array, ...]]:
    """Yield chunks of `size` rows."""
    for begin in range(0, edges[0].size, size):
        yield tuple(column[begin : begin + size] for column in edges)


def limit_for(device: Device, n: int, n_edges: int, dtype: str = "int32") -> int:
    """Return the limit at which a reduction on the host takes `n_edges`."""
    a_vertex, an_edge = capacity.bytes_a_vertex_and_edge(device, np.dtype(dtype))
    return n * a_vertex + n_edges * an_edge


def limit_for_passes(n: int, rows: int, dtype: str = "int32") -> int:
    """Return the memory limit at which passes have blocks of `rows` rows.

    Blocks of generated edges are larger.
    """
    of = np.dtype(dtype)
    a_row = passes.bytes_of_row(of) + sinks.bytes_of_row(of)
    return n * passes.bytes_of_vertex(of) + rows * a_row
