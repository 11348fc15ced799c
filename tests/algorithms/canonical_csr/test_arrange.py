"""Lists of edges that a device brings into order: the same forests as of the host's order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clmst
from clmst import Device, Graph, InvalidGraphError
from clmst.algorithms.canonical_csr import arrange
from clmst.core.graph import DeferredGraph
from clmst.core.weight_keys import Encoding
from clmst.runtime.array import DeviceArray
from clmst.runtime.transfer import Staging, StagingShape
from tests.faults.injection import inject, launches
from tests.helpers.bounds import bounds
from tests.helpers.capabilities import with_capabilities
from tests.helpers.forests import assert_forests, assert_same_arrays, assert_same_forest, solve
from tests.helpers.strategies import DRAWN_DTYPES, WEIGHT_DTYPES, EdgeArrays, edge_arrays


@pytest.fixture(autouse=True)
def of_any_size(in_steps: None) -> Iterator[None]:
    with bounds(arranged_from=1):
        yield


def random_edges(n: int, m: int, dtype: Any = np.float64, seed: int = 1) -> EdgeArrays:
    """Return edges with loops, parallel edges and ties."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n, (2, m))
    v[::11] = u[::11]
    weights = rng.integers(0, 2 if np.dtype(dtype).kind == "b" else 50, m).astype(dtype)
    return EdgeArrays(n, u, v, weights)


def is_untouched(graph: Graph) -> bool:
    """Return whether the host has made nothing of a list of edges yet."""
    return isinstance(graph, DeferredGraph) and graph.edge_list is not None


def assert_arranged(device: Device, *edges: Any, **options: Any) -> None:
    """Check that the device makes the arrays that the host makes, and the oracle's forests."""
    expected, given = Graph.from_edges(*edges, **options), Graph.from_edges(*edges, **options)
    resident = clmst.to_device(given, device)
    assert is_untouched(given)
    assert_same_arrays(resident, expected)
    assert_forests(resident, None, expected)
    for verify in (False, True):
        assert_forests(given, device, expected, verify=verify)
    assert is_untouched(given)


@given(raw=edge_arrays(dtypes=DRAWN_DTYPES), merge_parallel=st.booleans())
def test_any_edges(device: Device, raw: EdgeArrays, merge_parallel: bool) -> None:
    if raw.u.size == 0:
        return
    assert_arranged(device, raw.u, raw.v, raw.w, n_vertices=raw.n, merge_parallel=merge_parallel)


@pytest.mark.parametrize("dtype", WEIGHT_DTYPES, ids=str)
def test_weights_of_every_dtype(device: Device, dtype: np.dtype) -> None:
    raw = random_edges(300, 2000, dtype)
    for merge_parallel in (False, True):
        assert_arranged(
            device, raw.u, raw.v, raw.w, n_vertices=raw.n, merge_parallel=merge_parallel
        )


@pytest.mark.parametrize("of_v", ["i1", "u4", "i8", ">i4"])
@pytest.mark.parametrize("of_u", ["u1", "i4", "u8"])
def test_ends_of_every_dtype(device: Device, of_u: str, of_v: str) -> None:
    raw = random_edges(100, 700)
    assert_arranged(device, raw.u.astype(of_u), raw.v.astype(of_v), raw.w)


def test_strided_arrays_and_no_weights(device: Device) -> None:
    table = np.random.default_rng(2).integers(0, 90, (800, 3))
    assert_arranged(device, table[:, 0], table[:, 2], table[:, 1])
    assert_arranged(device, table[:, 0], table[:, 1])


def test_edges_in_order_need_no_sort(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph.from_edges(*random_edges(200, 900)[1:])
    u, v, weights, _ = graph.edges()
    assert_arranged(device, v, u, weights)
    order = np.random.default_rng(3).permutation(u.size)
    sorts = inject(monkeypatch, "kernel")
    sorts.let_fail(launches("split"), AssertionError("sorts"))
    clmst.to_device(Graph.from_edges(v, u, weights), device)
    with pytest.raises(AssertionError, match="sorts"):
        clmst.to_device(Graph.from_edges(v[order], u[order], weights[order]), device)


def test_positions_beside_keys(device: Device) -> None:
    """Of more than 64 bits a key and a position do not share a word."""
    raw = random_edges(700, 3000)
    ends = [DeviceArray.from_host(end.astype(np.uint32), device) for end in (raw.u, raw.v)]
    encoding = Encoding(dtype=raw.w.dtype, stored=raw.w.dtype)
    for lightest in (False, True):
        expected = Graph.from_edges(*raw[1:], n_vertices=raw.n, merge_parallel=lightest)
        weights = DeviceArray.from_host(raw.w, device)
        work = arrange.Arrangement(raw.n, weights, encoding, word_bits=20)
        work.pair_edges(*ends)
        assert_same_arrays(work.graph(lightest=lightest), expected)


def test_labels_and_coordinates_stay(device: Device) -> None:
    u, v, w = np.array([70, 70, 9]), np.array([9, 4, 4]), np.array([3, 1, 2])
    graph = Graph.from_edges(u, v, w, relabel=True, coordinates=np.zeros((3, 2)))
    forest = clmst.minimum_spanning_forest(graph, device=device)
    assert forest.vertex_labels == (4, 9, 70)
    assert forest.edge_ids.tolist() == [2, 1]
    assert clmst.to_device(graph, device).graph.coordinates is graph.coordinates


def test_many_parallel_edges(device: Device) -> None:
    """More of them than a work-item compares: the host merges them."""
    m = 3000
    weights = np.random.default_rng(5).permutation(m)
    graph = Graph.from_edges(np.zeros(m, int), np.ones(m, int), weights, merge_parallel=True)
    for maximum in (False, True):
        forest = solve(graph, device, maximum=maximum)
        assert forest.edge_ids.tolist() == [int(np.argmin(weights))]


def test_an_end_that_has_become_none(device: Device) -> None:
    """The graph reads the caller's arrays when it is solved; the device looks again."""
    for values, message in (
        ((50, 10**12), "v[5] is 1000000000000 in a graph of 100 vertices; it must be below 100"),
        ((50, 100), "v[5] is 100 in a graph of 100 vertices; it must be below 100"),
        ((50, -1), "v[5] is -1; vertex numbers must not be negative"),
    ):
        raw = random_edges(100, 400)
        raw.v[5] = values[0]
        graph = Graph.from_edges(raw.u, raw.v, raw.w, n_vertices=100)
        raw.v[5] = values[1]
        with pytest.raises(InvalidGraphError) as caught:
            clmst.minimum_spanning_forest(graph, device=device)
        assert str(caught.value) == message
        with pytest.raises(InvalidGraphError):
            assert graph.indptr is None


def test_arrays_may_change_once_they_are_on_the_device(device: Device) -> None:
    raw = random_edges(100, 400)
    expected = clmst.kruskal(Graph.from_edges(raw.u.copy(), raw.v.copy(), raw.w.copy()))
    resident = clmst.to_device(Graph.from_edges(raw.u, raw.v, raw.w), device)
    raw.u[:], raw.v[:], raw.w[:] = 0, 0, 0
    assert_same_forest(clmst.minimum_spanning_forest(resident), expected)


def test_forests_by_staging(any_device: Device) -> None:
    """Threads take weights and ids of what has come, while the solve holds the device's lock."""
    device = with_capabilities(any_device, host_arrays="copied")
    device.staging = Staging(device.queue, shape=StagingShape(from_bytes=1))
    raw = random_edges(300, 2000)
    assert_arranged(device, raw.u, raw.v, raw.w)


def test_few_edges_are_the_hosts(device: Device) -> None:
    raw = random_edges(100, 400)
    for least in (400, 401):
        graph = Graph.from_edges(raw.u, raw.v, raw.w)
        with bounds(arranged_from=least):
            clmst.minimum_spanning_forest(graph, device=device)
        assert is_untouched(graph) == (least == 400)


def test_threads_make_the_arrays_once() -> None:
    raw = random_edges(1000, 20000)
    graph = Graph.from_edges(raw.u, raw.v, raw.w)
    other = graph.replace(vertex_labels=range(graph.n_vertices))
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda g: found.append(g.indices), args=(g,))
        for g in (graph, other) * 4
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len({id(one) for one in found}) == 1


def test_other_weights_are_not_the_callers(device: Device) -> None:
    """A graph whose attributes were replaced differs from the list that it was made from."""
    raw = random_edges(100, 400)
    u, v = np.arange(99), np.arange(1, 100)
    path = Graph.from_edges(np.append(u, 0), np.append(v, 99), np.arange(100.0))
    other = path.replace(weights=-np.arange(100.0))
    forest = clmst.minimum_spanning_forest(other, device=device)
    assert forest.weights.min() == -99
    assert_same_forest(forest, clmst.kruskal(other))
    graph = Graph.from_edges(raw.u, raw.v, raw.w, n_vertices=100)
    assert_same_forest(
        clmst.minimum_spanning_forest(graph.symmetrised(), device=device), clmst.kruskal(graph)
    )


def test_other_ids_are_not_positions(device: Device) -> None:
    """Those of a masked array are cells, though its edges are a list."""
    cells = np.ma.masked_equal(np.kron(np.eye(3, dtype=int), np.full((4, 4), 5)), 0)
    forest = clmst.minimum_spanning_forest(cells, device=device)
    assert forest.edge_ids.tolist() == [0, 1, 2, 38, 39, 40, 60, 61, 62]
