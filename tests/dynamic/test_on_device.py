"""Forests whose edges stay on a GPU: when they do, and what happens if they cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import DynamicForest, OutOfDeviceMemoryError
from clmst.dynamic import on_device
from tests.faults.subjects import device_of
from tests.helpers.bounds import bounds
from tests.helpers.wrong_families import WrongFamilies

EDGES = ([0, 1, 0, 2], [1, 2, 2, 3], [3.0, 1.0, 2.0, 5.0])


@pytest.fixture(autouse=True)
def stays_there() -> Iterator[None]:
    """Let the edges of small forests stay in the memory of a GPU."""
    with bounds(resident_forest=0):
        yield


def record_of(forest: DynamicForest) -> str:
    """Return the name of the way of the last change."""
    found: str = forest.snapshot().stats["route"]["record"]
    return found


def test_changes_of_the_host_follow() -> None:
    """Deletions outside, vertices, and edges one by one reach the device with a later change."""
    forest = DynamicForest(4, device=device_of("gpu-shape"))
    forest.insert(*EDGES)
    assert record_of(forest) == "kept-forest"
    forest.delete([0])
    forest.update([1], [0.5])  # an edge of the forest that becomes lighter
    assert forest.delete([2]).entered.tolist() == []
    assert forest.insert_vertices(1) == 4
    one_by_one = forest.insert([0, 3], [4, 4], [1.0, 1.0], one_by_one=True)
    assert one_by_one.entered.tolist() == [4, 5]
    change = forest.insert([0, 1], [1, 3], [0.0, 0.0])
    assert (change.entered.tolist(), change.left.tolist()) == ([6, 7], [3, 5])
    assert record_of(forest) == "kept-forest"
    expected = clmst.kruskal(forest.to_graph())
    assert forest.snapshot().edge_ids.tolist() == forest.ids[expected.edge_ids].tolist()


def test_a_refused_family(wrong: WrongFamilies) -> None:
    """Edges are uploaded for each solve if the device fails the self-test of these kernels."""
    wrong.names = {"kept-forest"}
    forest = DynamicForest(4, device=device_of.__wrapped__("gpu-shape"))  # not tested before
    forest.insert(*EDGES)
    assert record_of(forest) != "kept-forest"
    assert forest.total_weight == 8.0


def test_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that was named raises an error; else edges are uploaded for each solve."""
    device = device_of("gpu-shape")

    def lacks(*_: Any) -> None:
        raise OutOfDeviceMemoryError("the device has no memory left")

    monkeypatch.setattr(on_device, "KeptForest", lacks)
    forest = DynamicForest(4, device=device)
    with pytest.raises(OutOfDeviceMemoryError):
        forest.insert(*EDGES)
    assert (forest.n_edges, forest.next_id) == (0, 0)
    monkeypatch.setattr(on_device, "default_device", lambda: device)
    forest = DynamicForest(4)
    forest.insert(*EDGES)
    assert record_of(forest) != "kept-forest"
    assert forest.total_weight == 8.0


def test_ids_with_gaps() -> None:
    """Ids of self-loops belong to no row, and are told from those that do."""
    rng = np.random.default_rng(3)
    u, v = rng.integers(0, 40, (2, 9000))
    weights = rng.random(9000)
    forest = DynamicForest(clmst.Graph.from_edges(u, v, weights, 40))
    assert forest.ids.tolist() == np.flatnonzero(u != v).tolist()
    some = rng.permutation(forest.ids)
    assert forest.edges(some)[2].tolist() == weights[some].tolist()
    for loop in np.flatnonzero(u == v)[::20].tolist():
        with pytest.raises(clmst.InvalidArgumentError, match=f"is {loop}, and this edge is gone"):
            forest.edges([0, loop])
    assert forest.insert([0], [3], [9]).ids.tolist() == [9000]
    assert forest.edges([9000, int(some[0])])[2].tolist() == [9, weights[some[0]]]


def test_ids_of_which_most_are_missing() -> None:
    """After a compaction the rows of ids are still right."""
    forest = DynamicForest(3)
    weights = np.arange(11_000.0)
    forest.insert(weights.astype(int) % 2, np.full(11_000, 2), weights)
    gone = np.setdiff1d(np.arange(11_000), np.arange(0, 11_000, 2)[:5400])
    forest.delete(gone)
    assert forest.n_edges == 5400
    some = np.random.default_rng(4).permutation(forest.ids)
    assert forest.edges(some)[2].tolist() == weights[some].tolist()
    with pytest.raises(clmst.InvalidArgumentError, match="is 4001, and this edge is gone"):
        forest.edges([4000, 4001])
    assert forest.delete([10_000]).ids.tolist() == [10_000]
