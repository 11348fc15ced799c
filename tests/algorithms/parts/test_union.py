"""Unions of parts' forests: rows, columns and words, and what moves between devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clmst
from clmst import DeviceGraph, Graph
from clmst.algorithms.families import PARTS
from clmst.algorithms.parts.union import ForestLists, PartForest, merged, united
from clmst.core import topology
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.kernel_family import Case
from clmst.runtime.launcher import Launcher
from clmst.runtime.peer_copy import locks_in_order
from tests.repeated.device_sets import every_device_set

# Rows 0 to 6; edges in rows 0, 1, 1, 3, 4, 4, 4 and 5.
INDPTR = np.array([0, 1, 3, 3, 4, 7, 8, 8], np.uint32)
COLUMNS = np.array([2, 3, 6, 5, 5, 6, 6, 6], np.uint32)
WEIGHTS = np.array([7, 6, 5, 4, 3, 2, 1, 0], np.int32)


def part_on(device: Device, first: int, end: int, chosen: list[int]) -> PartForest:
    """Return slots of some rows, as if they were a forest."""
    starts = np.clip(INDPTR, INDPTR[first], INDPTR[end])
    slots = slice(int(starts[0]), int(starts[-1]))
    arrays = (starts - starts[0], COLUMNS[slots], WEIGHTS[slots])
    graph = clmst.DeviceGraph.from_arrays(*(DeviceArray.from_host(a, device) for a in arrays))
    own = DeviceArray.from_host(np.array([*chosen, 99], np.uint32), device)
    number = 10 * int(first > 0)  # slots of the parts below, say
    original = DeviceArray.from_host(np.array(chosen, np.uint32) + np.uint32(number), device)
    return PartForest(
        graph=graph, first_row=first, end_row=end, slots=own, n_edges=len(chosen), original=original
    )


@every_device_set("two", "copying", "gpu shape")
@pytest.mark.parametrize(("end", "expected"), [(7, [0, 2, 3, 5, 7]), (5, [0, 2, 3, 5])])
def test_union_of_two(devices: list[Device], end: int, expected: list[int]) -> None:
    """The rows of a pair in a tree of several begin and end anywhere."""
    slots = [one - 3 for one in expected if one >= 3]
    first, second = part_on(devices[0], 0, 3, [0, 2]), part_on(devices[1], 3, end, slots)
    one, other = locks_in_order(*devices)
    with one, other:
        graph, original, moved = united(first, second)
    rows = np.searchsorted(INDPTR, expected, side="right") - 1
    starts = np.searchsorted(rows, np.arange(8))
    np.testing.assert_array_equal(graph.graph.indptr, starts)
    np.testing.assert_array_equal(graph.graph.indices, COLUMNS[expected])
    np.testing.assert_array_equal(graph.graph.weights, WEIGHTS[expected])
    assert original.to_host().tolist() == [0, 2, *(10 + one for one in slots)]
    assert moved.n_bytes == 12 * len(slots) + 4 * (end - 3 + 1)
    assert moved.way == "host"


def forest_of(device: Device, graph: DeviceGraph, slots: Any) -> PartForest:
    """Return slots of a graph, as if they were a forest."""
    found = DeviceArray.from_host(np.array(slots, np.uint32), device)
    return PartForest(graph=graph, slots=found, n_edges=found.size, original=found)


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "i8"])
@pytest.mark.parametrize("lengths", [(3000, 1, 0, 700), (0, 0), (5000,), (1023, 1025)])
def test_merge(device: Device, dtype: str, lengths: tuple[int, ...]) -> None:
    """Of lists however their slots are mixed, with room behind each."""
    rng = np.random.default_rng(0)
    n, m = 2000, 9000
    u, v = rng.integers(0, n - 7, (2, 2 * m))  # the last rows are empty
    edges = topology.edges_once(Graph.from_edges(u, v, n_vertices=n))
    weights = rng.integers(0, 200, edges.n_slots).astype(dtype)
    whole = clmst.to_device(edges.replace(weights=weights), device)
    word = whole.encoded.encoding.word
    lists = ForestLists([length + 3 for length in lengths], word, device)
    launch = Launcher(device, device.queue)
    chosen = rng.choice(edges.n_slots, sum(lengths), replace=False)
    for number, some in enumerate(np.split(chosen, np.cumsum(lengths)[:-1])):
        lists.add(number, forest_of(device, whole, np.sort(some)), launch)
    graph, slots = merged(lists, lengths, whole, launch)
    expected = np.sort(chosen)
    counts = np.bincount(edges.rows[expected], minlength=n)
    np.testing.assert_array_equal(slots.to_host(), expected)
    np.testing.assert_array_equal(graph.graph.indptr, np.concatenate([[0], np.cumsum(counts)]))
    np.testing.assert_array_equal(graph.graph.indices, edges.indices[expected])
    found = graph.encoded.encoding.decode(graph.encoded.words())
    np.testing.assert_array_equal(found, weights[expected])


@pytest.mark.parametrize("bits", [32, 64])
def test_self_test_passes(any_device: Device, bits: int) -> None:
    assert PARTS.failure(any_device, Case(bits, None)) is None
