"""Graphs on a device: which bounds and macros they give to algorithms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst import Device, DeviceGraph, Graph, InvalidArgumentError, InvalidGraphError
from clmst.core.arguments import unchecked
from tests.helpers.strategies import WEIGHT_DTYPES


def test_bounds_count_edges_once(any_device: Device) -> None:
    """However a graph is stored, it has the same bound and so the same filter and capacity."""
    graph = Graph.from_edges([0, 0, 1, 3], [1, 2, 2, 3], [5, 6, 7, 8], n_vertices=5)
    for stored in (graph, graph.symmetrised()):
        resident = DeviceGraph.upload(stored, any_device)
        assert (resident.n_vertices, resident.edge_bound) == (5, 3)
        assert resident.average_degree == 6 / 5
        assert resident.n_slots == stored.n_slots
    loops = Graph.from_scipy(sparse.csr_array(np.ones((3, 3))))
    assert loops.is_symmetric
    assert DeviceGraph.upload(loops, any_device).edge_bound >= loops.n_edges


def test_one_slot_too_many_on_a_device(any_device: Device) -> None:
    """Kernels would count 2**32 slots as none; who has so many learns what takes them."""
    indptr = clmst.DeviceArray.from_host(np.zeros(2, np.uint32), any_device)
    slots = unchecked(
        clmst.DeviceArray, device=any_device, dtype=np.dtype(np.uint32), size=2**32,
        memory=indptr.memory, base=indptr.memory, offset=0,
    )  # fmt: skip
    with pytest.raises(InvalidGraphError, match="stream_minimum_spanning_forest any number"):
        DeviceGraph.from_arrays(indptr, slots, slots)


@pytest.mark.parametrize("dtype", WEIGHT_DTYPES, ids=str)
def test_macros_of_weights(any_device: Device, dtype: np.dtype) -> None:
    """Extremes, which nothing can narrow, keep their dtype's own width."""
    if dtype.kind == "f":
        weights = np.array([np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal], dtype)
    else:
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        weights = np.array([least, most], dtype)
    resident = DeviceGraph.upload(Graph.from_edges([0, 1], [1, 2], weights), any_device)
    assert resident.weight_defines(maximum=False) == {
        "WEIGHT_BITS": 8 * dtype.itemsize,
        "WEIGHT_KIND": {"b": 0, "u": 0, "i": 1, "f": 2}[dtype.kind],
        "WEIGHT_DESCENDING": 0,
    }


def test_resident_graph_brings_its_device(any_device: Device) -> None:
    """Asking for another one must not move the graph unheard; its own one may be named."""
    graph = clmst.generate("random", n=50, seed=1)
    default = clmst.to_device(graph)
    clmst.minimum_spanning_forest(default, device=default.device.name)
    resident = clmst.to_device(graph, any_device)
    forest = clmst.minimum_spanning_forest(resident, device=any_device)
    assert forest.stats["device"] == any_device.description
    with pytest.raises(InvalidArgumentError, match="leave device out"):
        clmst.minimum_spanning_forest(resident, device=any_device.forcing_off("lanes"))
    name = clmst.get_device().name
    named = clmst.minimum_spanning_forest(clmst.to_device(graph, name), device=name)
    assert named == forest
