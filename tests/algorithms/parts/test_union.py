"""Unions of parts' forests: rows, columns and words, and what moves between devices."""

from __future__ import annotations

import numpy as np
import pytest

import clmst
from clmst.algorithms.parts.union import PartForest, united
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.peer_copy import locks_in_order
from tests.repeated.device_sets import every_device_set
from tests.scale.test_several import upper_part

# Rows 0 to 6; edges in rows 0, 1, 1, 3, 4, 4, 4 and 5.
INDPTR = np.array([0, 1, 3, 3, 4, 7, 8, 8], np.uint32)
COLUMNS = np.array([2, 3, 6, 5, 5, 6, 6, 6], np.uint32)
WEIGHTS = np.array([7, 6, 5, 4, 3, 2, 1, 0], np.int32)


def part_on(device: Device, first: int, end: int, chosen: list[int]) -> PartForest:
    """Return slots of some rows, as if they were a forest."""
    graph = upper_part(clmst.Graph.from_csr(INDPTR, COLUMNS, WEIGHTS), device, first, end)
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
