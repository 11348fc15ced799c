"""A forest that stays on a device: after every change it is the forest of the present rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device, DeviceError, Graph, kruskal
from clmst.algorithms.changes.kept import FOREST, FRESH, MARKED, PRESENT, KeptForest, StoredRows
from clmst.core.weight_keys import order_keys
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher

Columns = tuple[Any, Any, Any]


def forest_of(n: int, columns: Columns, present: Any) -> Any:
    """Return which rows are in the forest, by Kruskal's algorithm."""
    rows = np.flatnonzero(present)
    u, v, weights = (column[rows] for column in columns)
    graph = Graph.from_edges(u, v, weights, n)
    found = np.zeros(present.size, np.bool_)
    found[rows[kruskal(graph).edge_ids]] = True
    return found


def flags_of(present: Any, in_forest: Any) -> Any:
    return (PRESENT * present + FOREST * in_forest).astype(np.uint8)


class Changed:
    """Rows on a device beside the same rows here, which change at random."""

    def __init__(self, n: int, columns: Columns, present: Any, device: Device) -> None:
        self.n, self.columns, self.present, self.device = n, columns, present, device
        self.in_forest = forest_of(n, columns, present)
        self.launch = Launcher(device, device.queue)
        flags = flags_of(present, self.in_forest)
        with device.lock, Guard(device):
            self.kept = KeptForest(n, (*columns, flags), device, self.launch)

    def change(self, rows: Any, weights: Any, present: Any, limits: Any = ()) -> dict[str, Any]:
        """Give rows new weights, and let them come or go; compare with Kruskal's algorithm."""
        u, v, before = self.columns
        more = rows.max(initial=-1) + 1 - before.size
        assert more <= 0
        old, was, inside = before[rows], self.present[rows], self.in_forest[rows]
        before[rows], self.present[rows] = weights, present
        lost = rows[inside & ~(present & (weights <= old))]
        fresh = rows[~inside & present & (~was | (weights < old))]
        lightened = rows[inside & present & (weights < old)]
        self.in_forest[lost] = False
        flags = flags_of(present, self.in_forest[rows])
        flags[np.isin(rows, fresh)] |= FRESH
        flags[np.isin(rows, np.concatenate((lost, fresh, lightened)))] |= MARKED
        stored = StoredRows(numbers=rows, u=u[rows], v=v[rows], weights=weights, flags=flags)
        with self.device.lock, Guard(self.device):
            found, stats = self.kept.change(stored, fresh.size, lost.size, limits, self.launch)
        assert np.unique(found).size == found.size
        self.in_forest[found] ^= True
        expected = forest_of(self.n, self.columns, self.present)
        assert self.in_forest.tolist() == expected.tolist()
        return stats


@pytest.mark.parametrize("dtype", ["u1", "f4", "i8"])
def test_random_changes(device: Device, dtype: str) -> None:
    """Ties, loops and parallel edges; rows that come, go, rise and fall in one change."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(1, 40)), int(rng.integers(1, 100))
        ends = np.sort(rng.integers(0, n, (2, m)), axis=0).astype(np.uint32)
        most = int(10 ** rng.integers(0, 3))
        weights = (rng.integers(0, most, m) - 3 * (dtype != "u1")).astype(dtype)
        rows = Changed(n, (*ends, weights), rng.random(m) < 0.8, device)
        for _ in range(5):
            some = rng.choice(m, int(rng.integers(0, m + 1)), replace=False)
            values = rng.permutation(weights)[some] if rng.random() < 0.7 else weights[some]
            stay = rng.random(some.size) < 0.7 if rng.random() < 0.7 else rows.present[some]
            keys = np.sort(order_keys(weights))
            limits = [int(keys[m // 4]), int(keys[m // 2])] if rng.random() < 0.5 else []
            rows.change(some, values, stay, limits)


@pytest.mark.parametrize("order", ["rising", "random"])
def test_a_path_and_a_star(device: Device, order: str) -> None:
    """Long chains of choices, and many edges at one vertex, in rounds with far reaching links."""
    n = 3000
    path = np.arange(n - 1, dtype=np.uint32), np.arange(1, n, dtype=np.uint32)
    star = np.zeros(n - 1, np.uint32), np.arange(1, n, dtype=np.uint32)
    rng = np.random.default_rng(1)
    u, v = (np.concatenate(both) for both in zip(path, star, strict=True))
    weights = np.arange(2 * n - 2, dtype=np.float32)
    if order == "random":
        weights = rng.permutation(weights)
    rows = Changed(n, (u, v, weights), np.arange(u.size) < n - 1, device)
    everything = np.arange(u.size)
    some = rng.choice(n - 1, 50, replace=False)
    rows.change(some, weights[some], np.zeros(50, np.bool_))
    rows.change(everything, weights.copy(), np.ones(u.size, np.bool_))
    stats = rows.change(some[:1], weights[some[:1]], np.zeros(1, np.bool_))
    # With rising weights, one round makes one cluster of the whole path.
    assert stats["open"] < (400 if order == "random" else n + 1)
    rows.change(everything, weights.copy(), everything % 2 == 0)
    rows.change(everything, weights.copy(), np.zeros(u.size, np.bool_))


def test_few_edges_are_open(device: Device) -> None:
    """A change of one edge opens far less than the forest, also after many changes."""
    rng, n, m = np.random.default_rng(2), 4000, 16_000
    ends = np.sort(rng.integers(0, n, (2, m)), axis=0).astype(np.uint32)
    rows = Changed(n, (*ends, rng.random(m)), np.ones(m, np.bool_), device)
    opened = []
    for _ in range(30):
        row = rng.integers(0, m, 1)
        opened.append(rows.change(row, rng.random(1), np.ones(1, np.bool_))["open"])
    assert max(opened) < n // 8


def test_rows_behind_the_last(device: Device) -> None:
    """Columns grow when rows are stored behind them."""
    u, v, w = np.zeros(1, np.uint32), np.ones(1, np.uint32), np.array([5], np.int32)
    rows = Changed(3, (u, v, w), np.ones(1, np.bool_), device)
    rows.columns = (
        np.array([0, 0, 1, 0], np.uint32), np.array([1, 2, 2, 1], np.uint32),
        np.array([5, 7, 6, 4], np.int32),
    )  # fmt: skip
    rows.present, rows.in_forest = (np.array([True, *[False] * 3]) for _ in range(2))
    new = np.arange(1, 4)
    rows.change(new, rows.columns[2][new], np.ones(3, np.bool_))
    assert rows.kept.n_rows == 4


def test_a_cycle_is_refused(device: Device) -> None:
    """Rows that are said to be a forest and close a cycle raise an error."""
    u, v = np.array([0, 0, 1], np.uint32), np.array([1, 2, 2], np.uint32)
    columns = u, v, np.arange(3, dtype=np.uint32), np.full(3, PRESENT | FOREST, np.uint8)
    launch = Launcher(device, device.queue)
    with pytest.raises(DeviceError, match="1 of 3 edges out of a forest"):
        KeptForest(3, columns, device, launch)
