"""The union of parts' forests: lists merged into canonical order, rows found, forests mapped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device, Graph
from clmst.algorithms.reweighting.union import Union
from clmst.core import topology
from clmst.core.weight_keys import EncodedWeights, Encoding
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

Array = Any


def host(memory: Any, size: int, dtype: Any, device: Device) -> Array:
    values = np.empty(size, dtype)
    if size:
        Launcher(device, device.queue).read(memory, values)
    return values


@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "i8"])
@pytest.mark.parametrize("lengths", [(3000, 1, 0, 700), (0, 0), (5000,), (1023, 1025)])
def test_merge(device: Device, dtype: str, lengths: tuple[int, ...]) -> None:
    """Of lists however their slots are mixed; again with other lengths in the same room."""
    rng = np.random.default_rng(0)
    n, m = 2000, 9000
    u, v = rng.integers(0, n - 7, (2, 2 * m))  # the last rows are empty
    edges = topology.edges_once(Graph.from_edges(u, v, n_vertices=n))
    union = Union(edges, [max(length, 1) for length in lengths], device)
    launch, queue = Launcher(device, device.queue), device.new_queue()
    encoding = Encoding(dtype=np.dtype(dtype), stored=np.dtype(dtype))
    union.lists.widen(encoding.word)
    for used in (lengths, tuple(length // 2 for length in lengths)):
        chosen = rng.choice(edges.n_slots, sum(used), replace=False).astype(np.uint32)
        words = rng.integers(0, 200, edges.n_slots).astype(dtype).view(encoding.word)
        begin = 0
        for number, length in enumerate(used):
            slots = np.sort(chosen[begin : begin + length])
            union.lists.receive(number, slots, words[slots], queue)
            begin += length
        graph = union.merge(used, encoding, launch)
        k, expected = sum(used), np.sort(chosen)
        assert (graph.n_vertices, graph.n_slots) == (n, k)
        np.testing.assert_array_equal(host(union._slots, k, np.uint32, device), expected)
        np.testing.assert_array_equal(
            host(graph.weights, k, encoding.word, device), words[expected]
        )
        np.testing.assert_array_equal(
            host(graph.indices, k, np.uint32, device), edges.indices[expected]
        )
        counts = np.bincount(edges.rows[expected], minlength=n)
        np.testing.assert_array_equal(
            host(graph.indptr, n + 1, np.uint32, device), np.concatenate([[0], np.cumsum(counts)])
        )


@pytest.mark.parametrize("numbered", [False, True])
def test_list_of_a_part(any_device: Device, numbered: bool) -> None:
    """The slots of a part become the whole graph's, and take their words along."""
    rng = np.random.default_rng(1)
    edges = topology.edges_once(Graph.from_edges(np.arange(500), np.arange(500) + 1))
    union = Union(edges, [300, 90], any_device)
    launch = Launcher(any_device, any_device.queue)
    numbers = np.sort(rng.choice(500, 200, replace=False)).astype(np.uint32)
    weights = rng.integers(0, 99, 200).astype(np.uint32)
    chosen = np.sort(rng.choice(200, 80, replace=False)).astype(np.uint32)
    encoding = Encoding(dtype=np.dtype("u4"), stored=np.dtype("u4"))
    union.lists.widen(encoding.word)

    class Part:
        pass

    part: Any = Part()
    part.encoded = EncodedWeights(encoding=encoding, source=weights)
    part.weights = DeviceArray.from_host(weights, any_device).memory
    union.lists.list_forest(
        1,
        DeviceArray.from_host(chosen, any_device),
        part,
        launch,
        k=80,
        numbers=DeviceArray.from_host(numbers, any_device).memory if numbered else None,
        first=250,
    )
    slots, words = np.empty(80, np.uint32), np.empty(80, np.uint32)
    union.lists.read(1, slots, words, launch)
    np.testing.assert_array_equal(slots, numbers[chosen] if numbered else chosen + 250)
    np.testing.assert_array_equal(words, weights[chosen])
