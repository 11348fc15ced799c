"""The limits that a forest sets to later edges; streams have the rest (tests/scale)."""

from __future__ import annotations

import numpy as np
import pytest

from clmst.algorithms.edge_stream.edges import EdgeChunk
from clmst.algorithms.edge_stream.reducer import EdgeReducer
from clmst.algorithms.families import EDGE_STREAM
from clmst.core.paths import Hierarchy
from clmst.core.weight_keys import Array, order_keys
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.kernel_family import Case
from clmst.runtime.launcher import Launcher
from tests.helpers.capabilities import with_capabilities
from tests.scale.edges import forest_of_edges, random_edges


def chunk_of(device: Device, u: Array, v: Array, w: Array, first_id: int = 0) -> EdgeChunk:
    arrays = [DeviceArray.from_host(a, device) for a in (u.astype("u4"), v.astype("u4"), w)]
    return EdgeChunk(u=arrays[0], v=arrays[1], weights=arrays[2], first_id=first_id)


def test_doubles_need_no_arithmetic(any_device: Device) -> None:
    """Where a device has none, their words are compared."""
    device = with_capabilities(any_device, doubles=False)
    device.trust.given = False
    assert device.trust.refusal(EDGE_STREAM, Case(64, "float", maximum=True)) is None


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float64", "uint64"])
@pytest.mark.parametrize("maximum", [False, True])
def test_limits_are_those_of_the_host(any_device: Device, dtype: str, maximum: bool) -> None:
    """Several trees, vertices without edges, and later edges on either side of the limits."""
    n = 400
    edges = random_edges(n, 380, dtype=dtype, n_weights=120)
    launch = Launcher(any_device, any_device.queue)
    reducer = EdgeReducer(
        n_vertices=n, dtype=np.dtype(dtype), launch=launch, capacity=5000, maximum=maximum
    )
    reducer.take(chunk_of(any_device, *edges))
    reducer.reduce()
    host = forest_of_edges(edges, n, maximum=maximum)
    keys = order_keys(host.weights, descending=maximum)
    order = np.argsort(keys, kind="stable")
    hierarchy = Hierarchy(n, host.edges[order, 0], host.edges[order, 1])
    tree, reach = hierarchy.trees(), hierarchy.reaches
    a, b, later = random_edges(n, 3000, seed=1, dtype=dtype, n_weights=120)
    highest = np.maximum(reach[a], reach[b])
    above = order_keys(later, descending=maximum) > keys[order[np.maximum(highest, 0)]]
    stays = (a != b) & ((tree[a] != tree[b]) | (highest < 0) | ~above)
    assert 100 < stays.sum() < 2900
    for begin in (0, 1234):
        marked = reducer.mark(chunk_of(any_device, a, b, later), begin).marked
        assert marked is not None
        positions, count = marked
        right = np.flatnonzero(stays)
        right = right[right >= begin]
        assert count.to_host().tolist() == [right.size]
        np.testing.assert_array_equal(positions.to_host()[: right.size], right)
