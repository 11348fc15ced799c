"""Time changes of a dynamic forest of a random graph beside solves of the whole graph.

    python -m benchmarks dynamic --device nvidia --vertices 8388608 --edges 33554432

Each change is made several times, with other edges each time. At the end, the forest is compared
with a solve of the edges that are present then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.runner import Rows, Run, case
from clmst.bench.harness import CLOCKS, WrongResultError

_CHANGES = ("insert", "delete of the forest", "delete outside", "update", "mixed")
_SIZES = (1, 100, 10_000, 1_000_000)
_DRAWN = 8  # ids that are drawn for each id that is wanted, of an edge of either kind


class Changes:
    """A dynamic forest of a random graph, and random changes of its edges."""

    def __init__(self, n: int, m: int, dtype: np.dtype[Any], device: clmst.Device) -> None:
        self.rng, self.n, self.dtype = np.random.default_rng(1), n, dtype
        self.graph = clmst.Graph.from_edges(*self.edges(m), n)
        self.forest = clmst.DynamicForest(self.graph, device=device)
        self.forest.insert(*self.edges(1))  # uploads all edges to a GPU, and builds the kernels

    def edges(self, k: int) -> tuple[Any, Any, Any]:
        """Return `k` random edges."""
        u, v = self.rng.integers(0, self.n, (2, k), dtype=np.uint32)
        return u, v, self.weights(k)

    def weights(self, k: int) -> Any:
        """Return `k` random weights."""
        if self.dtype.kind == "f":
            return self.rng.random(k).astype(self.dtype)
        return self.rng.integers(0, np.iinfo(self.dtype).max, k).astype(self.dtype)

    def ids(self, k: int, *, inside: bool) -> Any:
        """Return up to `k` ids of edges of the forest, or of edges outside."""
        known = self.forest.snapshot().edge_ids
        if inside:
            return self.rng.choice(known, min(k, known.size), replace=False)
        every = self.forest.ids
        drawn = np.unique(self.rng.choice(every, min(_DRAWN * k, every.size)))
        drawn = drawn[~np.isin(drawn, known)]
        return self.rng.permutation(drawn)[:k]

    def next(self, kind: str, k: int) -> Callable[[], Any]:
        """Return a function that makes a change of `k` edges."""
        forest = self.forest
        if kind == "insert":
            edges = self.edges(k)
            return lambda: forest.insert(*edges)
        if kind.startswith("delete"):
            ids = self.ids(k, inside=kind != "delete outside")
            return lambda: forest.delete(ids)
        part = -(-k // 2) if kind == "update" else -(-k // 4)
        outside, inside = self.ids(2 * part, inside=False), self.ids(part, inside=True)
        if kind == "update":
            ids = np.concatenate((outside[:part], inside))[:k]
            weights = self.weights(ids.size)
            return lambda: forest.update(ids, weights)
        gone, changed = np.concatenate((outside[:part], inside)), outside[part:]
        new = {"insert": self.edges(part), "delete": gone}
        return lambda: forest.apply(**new, update=(changed, self.weights(changed.size)))

    def check(self, device: clmst.Device) -> None:
        """Raise WrongResultError unless the forest is that of the present edges."""
        solved = clmst.minimum_spanning_forest(self.forest.to_graph(), device=device)
        if not np.array_equal(self.forest.ids[solved.edge_ids], self.forest.snapshot().edge_ids):
            raise WrongResultError("the dynamic forest differs from that of a solve")


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
    click.option("--dtype", default="float32", show_default=True),
    repetitions=7,
)
def main(run: Run, vertices: float, edges: float, dtype: str) -> Rows:
    """Time changes of 1 to a million edges beside solves of the whole graph."""
    changes, clock = Changes(int(vertices), int(edges), np.dtype(dtype), run.device), CLOCKS
    for name, times in solves(run, changes.graph):
        yield {"what": name, "edges changed": 0, "ms": times}
    for kind in _CHANGES:
        for k in (size for size in _SIZES if size <= edges / 8):
            found = []
            for _ in range(run.repetitions):
                call = changes.next(kind, k)
                began = clock[run.clock]()
                call()
                found.append(1e3 * (clock[run.clock]() - began))
            yield {"what": kind, "edges changed": k, "ms": found}
    changes.check(run.device)
    yield "the forest is equal to that of a solve of the edges at the end"
