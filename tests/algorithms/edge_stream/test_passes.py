"""Passes over edges: what a chunk leaves behind, and devices that compute wrongly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from clmst.algorithms.edge_stream.edges import EdgeChunk, EdgePart
from clmst.algorithms.edge_stream.passes import EdgePasses, bytes_of_vertex, in_canonical_order
from clmst.core.errors import DeviceError
from clmst.core.graph_checks import MAX_VERTICES
from clmst.core.weight_keys import as_weights
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher
from tests.algorithms.edge_stream.test_reducer import chunk_of
from tests.helpers.kernel_sources import changed
from tests.helpers.strategies import DRAWN_DTYPES, edge_arrays, examples
from tests.repeated.rounds import every_device
from tests.scale.edges import forest_of_edges, random_edges

N, M = 500, 6000


def passes_of(device: Device, dtype: str = "int32", n: int = N) -> EdgePasses:
    launch = Launcher(device, device.queue)
    return EdgePasses(
        n_vertices=n, dtype=np.dtype(dtype), launch=launch, rows=100, maximum=False
    )  # fmt: skip


def chunks_of(device: Device, edges: Any, size: int) -> list[EdgeChunk]:
    u, v, w = edges
    return [
        chunk_of(device, u[k : k + size], v[k : k + size], w[k : k + size], k)
        for k in range(0, u.size, size)
    ]


def ids_of(passes: EdgePasses) -> list[int]:
    return sorted(int(edge) for part in passes.end_pass() for edge in part.edge_ids)


@pytest.mark.parametrize("variant", every_device())
@examples(share=1 / 2)
@given(data=st.data())
def test_any_edges_in_any_chunks(variant: Device, data: st.DataObject) -> None:
    """Loops, parallel edges, special weights, ids of any order among the chunks."""
    edges = data.draw(edge_arrays(max_edges=400, dtypes=DRAWN_DTYPES))
    n, m = max(edges.n, 1), edges.u.size
    maximum, size = data.draw(st.booleans()), data.draw(st.integers(1, 500))
    weights = as_weights(edges.w)
    passes = EdgePasses(
        n_vertices=n, dtype=weights.dtype, launch=Launcher(variant, variant.queue),
        rows=data.draw(st.integers(1, 300)), maximum=maximum,
    )  # fmt: skip
    chunks = chunks_of(variant, (edges.u, edges.v, weights), size)
    data.draw(st.randoms()).shuffle(chunks)
    ids, found = np.arange(m) << 22 | 5, list[int]()  # as a caller may give them
    while not passes.is_done:
        for chunk in chunks:
            own = ids[chunk.first_id : chunk.first_id + chunk.size].view(np.uint64)
            passes.take(replace(chunk, ids=DeviceArray.from_host(own, variant)))
        found += ids_of(passes)
    right = forest_of_edges((edges.u, edges.v, edges.w), n, maximum=maximum)
    assert sorted(found) == sorted(ids[right.edge_ids].tolist())


def test_a_device_that_loses_edges(any_device: Device, tmp_path: Path) -> None:
    """Then passes would not end."""
    device = Device(any_device.cl_device, _trusted=True)
    lost = "500 components chose edges, and 0 of these are new"
    with changed(tmp_path, ("flags[i] = targets[v] != v", "flags[i] = false")):
        passes = passes_of(device)
        passes.take(chunk_of(device, *random_edges(N, M)))
        with pytest.raises(DeviceError, match=lost):
            list(passes.end_pass())


@pytest.mark.parametrize("n", [2, 300, 70_000, MAX_VERTICES])
@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_order_of_a_forest_is_that_of_the_ends(any_device: Device, n: int, dtype: str) -> None:
    rng = np.random.default_rng(n)
    ends = np.sort(rng.integers(0, n, (4000, 2)), axis=1).astype(np.uint32)
    ends = np.append(ends, np.array([[0, n - 1]], np.uint32), axis=0)
    u, v = rng.permutation(np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)).T.copy()
    weights, ids = rng.random(u.size).astype(dtype), rng.permutation(u.size) + (1 << 40)
    part = EdgePart(u=u, v=v, weights=weights, edge_ids=ids)
    found = in_canonical_order(part, n_vertices=n, launch=Launcher(any_device, any_device.queue))
    order = np.lexsort((v, u))
    for column, before in zip(found.columns, part.columns, strict=True):
        np.testing.assert_array_equal(column, before[order])
        assert column.dtype == before.dtype


@pytest.mark.parametrize(("dtype", "n_bytes"), [("u1", 25), ("f4", 28), ("i8", 36)])
def test_memory_of_a_vertex(dtype: str, n_bytes: int) -> None:
    """A label, five words of its best edge, six where weights have two, and the weight."""
    assert bytes_of_vertex(np.dtype(dtype)) == n_bytes


def test_order_of_no_edges(any_device: Device) -> None:
    none, launch = EdgePart.empty(np.dtype(np.float64)), Launcher(any_device, any_device.queue)
    assert in_canonical_order(none, n_vertices=5, launch=launch) is none
