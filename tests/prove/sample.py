"""A graph with its weights, drawn: what one or more cases solve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from clmst.core.graph import Graph
from clmst.core.points import Metric, Points
from clmst.core.weight_keys import Array
from tests.prove import shapes, weights
from tests.prove.draws import Draws

# Vertices at most, edges a vertex at most; by how often: of 100 samples 80, 16 and 4.
_SIZES = ((60, 4),) * 20 + ((400, 5),) * 4 + ((4000, 4),)


@dataclass(frozen=True, eq=False)
class Sample:
    """A graph as a caller has it."""

    family: str
    shape: str
    order: str
    n: int
    u: Array
    v: Array
    w: Array
    coordinates: Array | None = None  # of points, whose edges are all pairs, in order
    metric: Metric = "euclidean"

    @property
    def m(self) -> int:
        """Number of edges, loops included."""
        return self.u.size

    @property
    def kind(self) -> str:
        """What it is counted as."""
        return f"{self.family}: {self.shape}, {self.order} weights"

    @cached_property
    def low(self) -> Array:
        """The lesser end of each edge."""
        return np.minimum(self.u, self.v)

    @cached_property
    def high(self) -> Array:
        """The greater end of each edge."""
        return np.maximum(self.u, self.v)

    @cached_property
    def is_simple(self) -> bool:
        """Whether no two edges, nor two loops, have the same ends."""
        return np.unique(self.low * self.n + self.high).size == self.m

    @cached_property
    def is_complete(self) -> bool:
        """Whether every pair of vertices is an edge, once, and nothing else is."""
        pairs = self.n * (self.n - 1) // 2
        return self.m == pairs and self.is_simple and not (self.u == self.v).any()

    @classmethod
    def of_points(cls, coordinates: Array, metric: Metric, kind: str) -> Sample:
        """Return points as all of their pairs, in order."""
        n = len(coordinates)
        u, v = np.triu_indices(n, 1)
        w = Points(coordinates, metric).weights_of(u, v)
        return cls("points", metric, kind, n, u, v, w, coordinates, metric)

    def graph(self) -> Graph:
        """Return the graph by its edges."""
        return Graph.from_edges(self.u, self.v, self.w, n_vertices=self.n)

    def points(self) -> Points:
        """Return the points as such."""
        return Points(self.coordinates, self.metric)

    def with_weights(self, w: Array) -> Sample:
        """Return the same edges under other weights."""
        return replace(self, w=w)

    def keeping(self, edges: Array) -> Sample:
        """Return the graph of some of the edges."""
        return replace(self, u=self.u[edges], v=self.v[edges], w=self.w[edges])

    def induced(self, vertices: Array) -> Sample:
        """Return the graph that some of the vertices induce, numbered anew."""
        number = np.full(self.n, -1)
        number[vertices] = np.arange(vertices.size)
        inside = (number[self.u] >= 0) & (number[self.v] >= 0)
        part = self.keeping(np.flatnonzero(inside))
        coordinates = None if self.coordinates is None else self.coordinates[vertices]
        return replace(
            part, n=vertices.size, u=number[part.u], v=number[part.v], coordinates=coordinates
        )


def csr_of(edges: Any, *, symmetric: bool) -> tuple[Array, Array, Array, Array]:
    """Return rows, indptr, columns and weights of edges n, u, v and w.

    Rows are sorted, parallel edges in their order.
    """
    low, high, w = np.minimum(edges.u, edges.v), np.maximum(edges.u, edges.v), edges.w
    if symmetric:
        away = low != high
        low, high = np.concatenate([low, high[away]]), np.concatenate([high, low[away]])
        w = np.concatenate([w, w[away]])
    order = np.lexsort((high, low))
    rows = low[order]
    return rows, np.searchsorted(rows, np.arange(edges.n + 1)), high[order], w[order]


def draw(draws: Draws, dtype_name: str) -> Sample:
    """Draw a graph whose weights have a dtype."""
    dtype = np.dtype(dtype_name)
    if dtype_name in ("f8", "i8") and draws.one_in(12):
        return _points(draws, dtype)
    family = "structured" if draws.one_in(4) else "random"
    table = shapes.STRUCTURED if family == "structured" else shapes.RANDOM
    kinds = weights.RANDOM | weights.ORDERED if draws.one_in(2) else weights.RANDOM
    shape, order = draws.choice(tuple(table)), draws.choice(tuple(kinds))
    most, degree = draws.choice(_SIZES)
    n = draws.below(most + 1)
    n, u, v = table[shape](draws, n, draws.below(n * degree + 1))
    drawn = Sample(family, shape, order, n, u, v, kinds[order](draws, u.size, dtype))
    return _renamed(draws, drawn) if draws.one_in(2) else drawn


def draw_points(draws: Draws) -> Sample:
    """Draw points of 1 to 6 dimensions, uniform, on a lattice, or in clusters of any size."""
    n, d = 2 + draws.below(160 if draws.one_in(8) else 60), 1 + draws.below(6)
    metric: Metric = draws.choice(("euclidean", "euclidean", "manhattan", "chebyshev", "cosine"))
    kind = draws.choice(("uniform", "lattice", "repeated", "clusters"))
    coordinates = draws.integers(1 << 20, n * d).reshape(n, d) / (1 << 20)
    if kind == "lattice":
        coordinates = draws.integers(2 + draws.below(6), n * d).reshape(n, d).astype(np.float64)
    elif kind == "repeated":
        coordinates = coordinates[draws.integers(1 + draws.below(n), n)]
    elif kind == "clusters":
        scales = 2.0 ** -draws.integers(30, n)[:, None]
        coordinates = coordinates[draws.integers(min(4, n), n)] + coordinates * scales
    if metric == "cosine":
        coordinates = np.abs(coordinates) + 1
    return Sample.of_points(coordinates, metric, f"{kind}, {d}-d")


def _renamed(draws: Draws, sample: Sample) -> Sample:
    """Return a graph with its vertices renamed, its edges in another order, some turned round."""
    names, order = draws.permutation(sample.n), draws.permutation(sample.m)
    turned = draws.integers(2, sample.m).astype(bool)
    u, v = np.where(turned, sample.v, sample.u), np.where(turned, sample.u, sample.v)
    return replace(sample, u=names[u][order], v=names[v][order], w=sample.w[order])


def _points(draws: Draws, dtype: np.dtype[Any]) -> Sample:
    """Draw points; their distances are float64, or int64 where they are rounded."""
    n = draws.below(60)
    if dtype.kind == "f":
        metric: Metric = "euclidean"
        dimensions = 1 + draws.below(3)
    else:
        metric = draws.choice(("rounded-euclidean", "great-circle"))
        dimensions = 2 if metric == "great-circle" else 1 + draws.below(3)
    # A coarse lattice has many equal distances; a fine one hardly any. Degrees are DDD.MM.
    bound = 60 if metric == "great-circle" else draws.choice((3, 10, 1 << 20))
    coordinates = draws.integers(bound, n * dimensions).reshape(n, dimensions).astype(np.float64)
    if metric == "great-circle":
        coordinates += draws.integers(60, 2 * n).reshape(n, 2) / 100
    elif draws.one_in(2):
        coordinates /= 7
    return Sample.of_points(coordinates, metric, f"{dimensions}-d")
