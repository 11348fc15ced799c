"""Time changes of a dynamic forest beside solves of the whole graph.

    python -m benchmarks dynamic --device nvidia --vertices 8388608 --edges 33554432
    python -m benchmarks dynamic --device nvidia --roads 58e6 --bandwidth 4800

The graph has random edges, or with ``--roads`` it is a road map: a random spanning tree of a square
grid of vertices, with one further edge for seven vertices. Each change is made several times, with
other edges each time. New edges are random in both graphs, so a road map gets long bridges. At the
end, the forest is compared with a solve of the edges that are present then.

With ``--bandwidth``, a column has the milliseconds in which a memory with so many GB/s gives the
bytes that a change on a GPU reads at least: 16 bytes of each vertex, 9 bytes of each edge if the
forest loses edges, and the changed edges themselves. Changes that cannot change the forest read
the changed edges alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.runner import Rows, Run, case
from clmst.bench.harness import CLOCKS, WrongResultError
from clmst.generators.surrogates.lattice import road_map

_CHANGES = ("insert", "delete of the forest", "delete outside", "update", "mixed")
_SIZES = (1, 100, 10_000, 1_000_000)
# Where an edge is: deleted from the graph, in the graph but not in the forest, or in the forest.
_GONE, _OUTSIDE, _INSIDE = 0, 1, 2
_MORE_ROADS = 1 / 7  # further edges of a road map, for each vertex
_EDGE_BYTES, _VERTEX_BYTES = 9, 16


class Changes:
    """A dynamic forest of a random graph or of a road map, and random changes of its edges."""

    def __init__(
        self, graph: clmst.Graph, dtype: np.dtype[Any], device: clmst.Device, rng: Any
    ) -> None:
        self.rng, self.n, self.dtype, self.graph = rng, graph.n_vertices, dtype, graph
        self.forest = clmst.DynamicForest(graph, device=device, weight_dtype=dtype)
        self._where = np.zeros(self.forest.next_id, np.uint8)  # of the edge with each id
        self._where[self.forest.ids] = _OUTSIDE
        self._where[self.forest.snapshot().edge_ids] = _INSIDE
        self.next("insert", 1)()  # uploads all edges to a GPU, and builds the kernels

    def edges(self, k: int) -> tuple[Any, Any, Any]:
        """Return `k` random edges."""
        return random_edges(self.rng, self.n, k, self.dtype)

    def ids(self, k: int, where: int) -> Any:
        """Return up to `k` ids of random edges of the forest, or of edges that are not in it.

        `where` is _INSIDE for edges of the forest, and _OUTSIDE for all other edges of the graph.
        At most half of these edges are returned.
        """
        found = np.zeros(0, np.int64)
        most = min(k, int((self._where == where).sum()) // 2)
        while found.size < most:
            drawn = self.rng.integers(0, self._where.size, 4 * k)
            found = np.union1d(found, drawn[self._where[drawn] == where])
        return self.rng.permutation(found)[:most]

    def note(self, change: clmst.Change) -> None:
        """Note which edges a change has brought into the forest, and which ones have left it."""
        more = self.forest.next_id - self._where.size
        self._where = np.append(self._where, np.full(more, _OUTSIDE, np.uint8))
        self._where[change.entered] = _INSIDE
        self._where[change.left[self._where[change.left] != _GONE]] = _OUTSIDE

    def next(self, kind: str, k: int) -> Callable[[], clmst.Change]:
        """Return a function that makes a change of `k` edges, of one of the kinds of changes."""
        forest = self.forest
        if kind == "insert":
            edges = self.edges(k)
            return lambda: forest.insert(*edges)
        if kind.startswith("delete"):
            ids = self.ids(k, _OUTSIDE if kind == "delete outside" else _INSIDE)
            self._where[ids] = _GONE
            return lambda: forest.delete(ids)
        part = -(-k // 2) if kind == "update" else -(-k // 4)
        outside, inside = self.ids(2 * part, _OUTSIDE), self.ids(part, _INSIDE)
        if kind == "update":
            ids = np.concatenate((outside[:part], inside))[:k]
            weights = random_weights(self.rng, ids.size, self.dtype)
            return lambda: forest.update(ids, weights)
        gone, changed = np.concatenate((outside[:part], inside)), outside[part:]
        self._where[gone] = _GONE
        new = {"insert": self.edges(part), "delete": gone}
        weights = random_weights(self.rng, changed.size, self.dtype)
        return lambda: forest.apply(**new, update=(changed, weights))

    def check(self, device: clmst.Device) -> None:
        """Raise WrongResultError unless it is the forest of the present edges."""
        solved = clmst.minimum_spanning_forest(self.forest.to_graph(), device=device)
        if not np.array_equal(self.forest.ids[solved.edge_ids], self.forest.snapshot().edge_ids):
            raise WrongResultError("the dynamic forest differs from that of a solve")


def random_edges(rng: Any, n: int, k: int, dtype: np.dtype[Any]) -> tuple[Any, Any, Any]:
    """Return `k` random edges between `n` vertices, with random weights of a dtype."""
    u, v = rng.integers(0, n, (2, k), dtype=np.uint32)
    return u, v, random_weights(rng, k, dtype)


def random_weights(rng: Any, k: int, dtype: np.dtype[Any]) -> Any:
    """Return `k` random weights of a dtype."""
    if dtype.kind == "f":
        return rng.random(k).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max, k).astype(dtype)


def road_graph(rng: Any, m: int, dtype: np.dtype[Any]) -> clmst.Graph:
    """Return a road map of about `m` edges with random weights, which stores each edge once."""
    side = math.isqrt(int(m / (1 + _MORE_ROADS)))
    u, v, _, _ = road_map(rows=side, columns=side, extra=_MORE_ROADS).edges()
    return clmst.Graph.from_edges(u, v, random_weights(rng, u.size, dtype), side * side)


def floor_ms(kind: str, k: int, graph: clmst.Graph, bandwidth: float, itemsize: int) -> float:
    """Return the milliseconds in which a memory gives what a change of `k` edges has to read.

    The top of this module says what that is. `bandwidth` is in GB/s, and `itemsize` is the size of
    a weight in bytes.
    """
    n_bytes = (_EDGE_BYTES + itemsize) * k
    if kind != "delete outside":
        n_bytes += _VERTEX_BYTES * graph.n_vertices
    if kind not in ("insert", "delete outside"):
        n_bytes += _EDGE_BYTES * graph.n_edges
    return 1e-6 * n_bytes / bandwidth


def solves(run: Run, graph: clmst.Graph) -> Iterator[tuple[str, list[float]]]:
    """Time solves of the whole graph, from arrays of the host, and of the graph on the device."""
    resident, n = clmst.to_device(graph, run.device), graph.n_vertices
    u, v, w, _ = graph.edges()

    def from_arrays() -> clmst.Forest:
        return clmst.minimum_spanning_forest(clmst.Graph.from_edges(u, v, w, n), device=run.device)

    def on_device() -> clmst.DeviceForest:
        return clmst.minimum_spanning_forest(resident, keep_on_device=True)

    times = run.turns({"solve from arrays": from_arrays, "solve on the device": on_device})
    yield from times.items()


@case(
    click.option("--vertices", type=float, default=1e6, show_default=True),
    click.option("--edges", type=float, default=4e6, show_default=True),
    click.option("--roads", type=float, help="Edges of a road map, in place of a random graph."),
    click.option("--dtype", default="float32", show_default=True),
    click.option("--bandwidth", type=float, help="GB/s of the device's memory, for a floor."),
    repetitions=7,
)
def main(
    run: Run, *, vertices: float, edges: float, roads: float | None, dtype: str,
    bandwidth: float | None,
) -> Rows:  # fmt: skip
    """Time changes of 1 to a million edges beside solves of the whole graph."""
    rng, kind_of_weight, n = np.random.default_rng(1), np.dtype(dtype), int(vertices)
    if roads is None:
        graph = clmst.Graph.from_edges(*random_edges(rng, n, int(edges), kind_of_weight), n)
    else:
        graph = road_graph(rng, int(roads), kind_of_weight)
    changes, clock = Changes(graph, kind_of_weight, run.device, rng), CLOCKS
    for name, times in solves(run, changes.graph):
        yield {"what": name, "edges changed": 0, "ms": times}
    for kind in _CHANGES:
        for k in (size for size in _SIZES if size <= graph.n_edges / 8):
            found = []
            for _ in range(run.repetitions):
                call = changes.next(kind, k)
                began = clock[run.clock]()
                change = call()
                found.append(1e3 * (clock[run.clock]() - began))
                changes.note(change)
            row = {"what": kind, "edges changed": k, "ms": found}
            if bandwidth is not None:
                row["floor"] = floor_ms(kind, k, graph, bandwidth, kind_of_weight.itemsize)
            yield row
    changes.check(run.device)
    yield f"{graph.n_vertices:,} vertices, {graph.n_edges:,} edges"
    yield "the forest is equal to that of a solve of the edges at the end"
