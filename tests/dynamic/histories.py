"""Random histories of a dynamic forest, beside a model: a dict of edges, and Kruskal's algorithm.

python -m tests.dynamic.histories 10000 --device cpu     # so many histories, and their number
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import clmst
from clmst import DynamicForest
from clmst.dynamic.change import Change
from clmst.route import LIMITS
from tests.helpers.bounds import bounds

_SHARE = 100  # histories after which the command says how many there were
_OPERATIONS = (
    "insert", "insert", "insert", "window", "one by one", "delete", "update", "apply", "expire",
    "vertices", "everything", "save",
)  # fmt: skip


class Model:
    """The edges of a graph, and its forest by Kruskal's algorithm, in plain Python."""

    def __init__(self, n: int) -> None:
        self.n, self.next_id = n, 0
        self.edges = dict[int, tuple[Any, int, int, int]]()  # weight, lesser end, greater end, id

    def insert(self, u: Any, v: Any, w: Any) -> list[int]:
        ids = list(range(self.next_id, self.next_id + len(u)))
        for edge, a, b, weight in zip(ids, u.tolist(), v.tolist(), w.tolist(), strict=True):
            self.edges[edge] = (weight, min(a, b), max(a, b), edge)
        self.next_id += len(u)
        return ids

    def update(self, ids: Any, w: Any) -> None:
        for edge, weight in zip(ids.tolist(), w.tolist(), strict=True):
            self.edges[edge] = (weight, *self.edges[edge][1:])

    def delete(self, ids: Any) -> None:
        for edge in ids.tolist():
            del self.edges[edge]

    def forest(self) -> list[int]:
        """Return the ids of the forest's edges in their order."""
        above = list(range(self.n))

        def root(vertex: int) -> int:
            while above[vertex] != vertex:
                vertex = above[vertex]
            return vertex

        taken = []
        for _, u, v, edge in sorted(self.edges.values()):
            if (one := root(u)) != (other := root(v)):
                above[one] = other
                taken.append(edge)
        return taken


class History:
    """One random history. Weights are few integers, so that there are many ties."""

    def __init__(self, seed: int, device: Any) -> None:
        self.rng, self.device = np.random.default_rng(seed), device
        n = int(self.rng.integers(0, 12))
        self.dtype = np.dtype(self.rng.choice(["f8", "f4", "f2", "i4", "i8", "u1"]))
        self.most = int(self.rng.integers(1, 9))
        self.model = Model(n)
        self.forest = DynamicForest(n, device=device, weight_dtype=self.dtype)
        self.taken = list[int]()

    def run(self) -> int:
        """Make some changes, and compare after each one. Return how many there were."""
        count = int(self.rng.integers(1, 14))
        for _ in range(count):
            getattr(self, f"_{self.rng.choice(_OPERATIONS).replace(' ', '_')}")()
            self.check()
        self.check_solve()
        return count

    def check(self) -> None:
        """Compare the forest, and everything that is read from it, with the model's."""
        model, forest = self.model, self.forest
        self.taken = model.forest()
        found = forest.snapshot()
        assert forest.ids.tolist() == sorted(model.edges)
        assert sorted(found.edge_ids.tolist()) == sorted(self.taken)
        assert forest.n_components == model.n - len(self.taken)
        assert forest.next_id == model.next_id
        total = sum(model.edges[edge][0] for edge in self.taken)
        assert forest.total_weight == total
        if model.n > 1:
            self.check_paths()

    def check_paths(self) -> None:
        """Compare a path's heaviest edge: where Kruskal's algorithm first connects the ends."""
        u, v = self.rng.integers(0, self.model.n, 2).tolist()
        above = {vertex: {vertex} for vertex in range(self.model.n)}
        expected = -1
        for edge in self.taken:
            _, a, b, _ = self.model.edges[edge]
            merged = above[a] | above[b]
            above.update(dict.fromkeys(merged, merged))
            if v in above[u] and expected < 0 and u != v:
                expected = edge
        assert self.forest.path_maximum(u, v) == expected
        assert self.forest.connected(u, v) == (v in above[u])

    def check_solve(self) -> None:
        """Compare with a solve of the present edges, array by array."""
        forest, found = self.forest, self.forest.snapshot()
        solved = clmst.minimum_spanning_forest(forest.to_graph(), device=self.device)
        assert found.edges.tolist() == solved.edges.tolist()
        assert found.edge_ids.tolist() == forest.ids[solved.edge_ids].tolist()
        assert (found.weights.dtype, found.weights.tobytes()) == (
            solved.weights.dtype, solved.weights.tobytes(),
        )  # fmt: skip
        assert (forest.total_weight, forest.labels.tolist()) == (
            solved.total_weight, solved.labels.tolist(),
        )  # fmt: skip

    def compare(self, change: Change, ids: Any) -> None:
        """Compare what a change says with the model before and after it."""
        before, after = set(self.taken), set(self.model.forest())
        assert change.ids.tolist() == list(ids)
        assert change.entered.tolist() == sorted(after - before)
        assert change.left.tolist() == sorted(before - after)

    def _weights(self, count: int) -> Any:
        return self.rng.integers(0, self.most, count).astype(self.dtype)

    def _edges(self) -> tuple[Any, Any, Any]:
        count = int(self.rng.integers(0, 10)) if self.model.n else 0
        u, v = self.rng.integers(0, max(self.model.n, 1), (2, count))
        return u, v, self._weights(count)

    def _some(self) -> Any:
        ids = self.rng.permutation(sorted(self.model.edges)).astype(int)
        return ids[: int(self.rng.integers(0, ids.size + 1))]

    def _insert(self) -> None:
        edges = self._edges()
        change = self.forest.insert(*edges)
        self.compare(change, self.model.insert(*edges))
        assert change.replaced is None

    def _window(self) -> None:
        edges, window = self._edges(), int(self.rng.integers(0, 30))
        change = self.forest.insert(*edges, window=window)
        ids = self.model.insert(*edges)
        outside = [edge for edge in sorted(self.model.edges) if edge < self.model.next_id - window]
        self.model.delete(np.array(outside, int))
        self.compare(change, [*ids, *(edge for edge in outside if edge not in ids)])

    def _one_by_one(self) -> None:
        u, v, w = self._edges()
        change = self.forest.insert(u, v, w, one_by_one=True)
        before, replaced, ids = list(self.taken), list[int](), list[int]()
        taken = set(before)
        for one in range(u.size):
            ids += self.model.insert(u[one : one + 1], v[one : one + 1], w[one : one + 1])
            now = set(self.model.forest())
            gone = (taken | {ids[-1]}) - now
            replaced += gone or {-1}
            taken = now
        assert change.replaced is not None
        assert change.replaced.tolist() == replaced
        self.compare(change, ids)

    def _delete(self) -> None:
        ids = self._some()
        change = self.forest.delete(ids)
        self.model.delete(ids)
        self.compare(change, ids)

    def _update(self) -> None:
        ids = self._some()
        if ids.size and self.rng.integers(0, 2):
            ids = np.append(ids, ids[:1])  # its last weight counts
        weights = self._weights(ids.size)
        change = self.forest.update(ids, weights)
        self.model.update(ids, weights)
        self.compare(change, np.unique(ids))

    def _apply(self) -> None:
        edges, some = self._edges(), self._some()
        at = int(self.rng.integers(0, some.size + 1))
        deleted, updated = some[:at], some[at:]
        weights = self._weights(updated.size)
        change = self.forest.apply(insert=edges, delete=deleted, update=(updated, weights))
        self.model.delete(deleted)
        self.model.update(updated, weights)
        self.compare(change, [*self.model.insert(*edges), *deleted, *sorted(updated)])

    def _expire(self) -> None:
        before = int(self.rng.integers(0, self.model.next_id + 1))
        change = self.forest.expire(before=before)
        gone = [edge for edge in sorted(self.model.edges) if edge < before]
        self.model.delete(np.array(gone, int))
        self.compare(change, gone)

    def _vertices(self) -> None:
        count = int(self.rng.integers(0, 4))
        assert self.forest.insert_vertices(count) == self.model.n
        self.model.n += count

    def _everything(self) -> None:
        ids = np.array(sorted(self.model.edges), int)
        change = self.forest.delete(ids)
        self.model.delete(ids)
        self.compare(change, ids)

    def _save(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "saved.forest"
            self.forest.save(path)
            self.forest = DynamicForest.load(path, device=self.device)


def run_many(seeds: range, device: Any) -> int:
    """Run the histories of some seeds, and return the number of their changes."""
    changes = 0
    for seed in seeds:
        # Of three histories, two complete the trees that remain, as large forests do.
        least = 0 if seed % 3 else LIMITS.forest_per_lost_edge
        # On a GPU, and in the shape of one, the edges of every other history stay on the device.
        there = {"resident_forest": 0} if seed % 2 else {}
        if seed % 4 == 1:
            there |= {"lost_at_once": 0, "edges_per_lost_edge": 1}
        try:
            with bounds(forest_per_lost_edge=least, **there):
                changes += History(seed, device).run()
        except Exception as error:
            raise AssertionError(f"the history of seed {seed} is wrong") from error
    return changes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--device", default=None)
    given = parser.parse_args()
    changes, end = 0, given.first + given.count
    for first in range(given.first, end, _SHARE):
        seeds = range(first, min(first + _SHARE, end))
        changes += run_many(seeds, given.device)
        done = f"{seeds.stop - given.first} histories with {changes} changes are right"
        print(f"{done} on {given.device or 'the default device'}", flush=True)


if __name__ == "__main__":
    main()
