"""Edges in canonical order, by the device's sort."""

from __future__ import annotations

import numpy as np
import pytest

from clmst.algorithms.edge_stream.canonical_order import in_canonical_order
from clmst.core.graph_checks import MAX_VERTICES
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher


@pytest.mark.parametrize("n", [2, 300, 70_000, MAX_VERTICES])
@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_order_is_that_of_the_ends(any_device: Device, n: int, dtype: str) -> None:
    rng = np.random.default_rng(n)
    ends = np.sort(rng.integers(0, n, (4000, 2)), axis=1).astype(np.uint32)
    ends = np.append(ends, np.array([[0, n - 1]], np.uint32), axis=0)
    u, v = rng.permutation(np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)).T.copy()
    weights, ids = rng.random(u.size).astype(dtype), rng.permutation(u.size) + (1 << 40)
    found = in_canonical_order(
        (u, v, weights, ids), n_vertices=n, launch=Launcher(any_device, any_device.queue)
    )
    order = np.lexsort((v, u))
    for column, given in zip(found, (u, v, weights, ids), strict=True):
        np.testing.assert_array_equal(column, given[order])
        assert column.dtype == given.dtype


def test_no_edges(any_device: Device) -> None:
    none = np.zeros(0, np.uint32), np.zeros(0, np.uint32), np.zeros(0), np.zeros(0, np.int64)
    launch = Launcher(any_device, any_device.queue)
    assert in_canonical_order(none, n_vertices=5, launch=launch) == none
