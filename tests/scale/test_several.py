"""Several devices: the forest of one, edge by edge, whatever the parts."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import clmst
from clmst import Device, DeviceGraph, DeviceParts, Graph
from clmst.algorithms.registry import ALGORITHMS
from clmst.core.errors import (
    DeviceError,
    InvalidArgumentError,
    InvalidForestError,
    OutOfDeviceMemoryError,
)
from clmst.core.known_graphs import known_graph
from tests.faults.injection import inject
from tests.helpers.forests import solve
from tests.helpers.kernel_sources import COARSE_KEYS, changed
from tests.helpers.matrices import matrix_of_density
from tests.repeated.device_sets import every_device_set
from tests.runtime.test_transfer import pinned
from tests.scale.edges import ALL_DTYPES, random_edges


def graph_of(n: int = 90, m: int = 1500, **given: Any) -> Graph:
    """Return a graph with many ties, parallel edges, loops and isolated vertices."""
    return Graph.from_edges(*random_edges(n, m, n_weights=3, **given), n_vertices=n + 4)


@every_device_set()
@pytest.mark.parametrize("maximum", [False, True], ids=["minimum", "maximum"])
def test_forest_is_that_of_one_device(devices: list[Device], maximum: bool) -> None:
    """Ties go by edge ids, which parts must not change; and the graph's parts can be solved again.

    One part, two, or three.
    """
    graph = graph_of()
    right = clmst.kruskal(graph, maximum=maximum)
    for count in range(1, len(devices) + 1):
        forest = solve(graph, None, maximum=maximum, devices=devices[:count])
        assert forest == right
        alone = solve(graph, devices[0], maximum=maximum)
        assert forest.edge_ids.dtype == alone.edge_ids.dtype
        np.testing.assert_array_equal(forest.labels, right.labels)
    parts = clmst.to_devices(graph, devices)
    for _ in range(2):
        assert solve(parts, None, maximum=maximum) == right


@every_device_set("two", "copying")
@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_weights_of_all_dtypes_stay_exact(devices: list[Device], dtype: str) -> None:
    """Weights of 64 bits that 32 do not hold, and such that are narrowed for all parts alike."""
    graph = graph_of(dtype=dtype)
    assert clmst.minimum_spanning_forest(graph, devices=devices) == clmst.kruskal(graph)
    if np.dtype(dtype).itemsize == 8:
        spread = graph.weights * np.asarray(3, dtype) ** 22
        wide = graph.replace_unchecked(weights=spread + np.asarray(graph.weights != 0, dtype))
        assert clmst.minimum_spanning_forest(wide, devices=devices) == clmst.kruskal(wide)


@every_device_set("two", "three", "copying")
@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 0), (5, 0), (2, 1), (3, 2), (4, 3)])
def test_more_devices_than_edges(devices: list[Device], n: int, m: int) -> None:
    """A device without a row gets no part. The first device always gets one."""
    rows = np.arange(m)
    graph = Graph.from_edges(rows, rows + 1, np.ones(m), n_vertices=n)
    parts = clmst.to_devices(graph, devices)
    assert 1 <= len(parts.parts) <= max(m, 1)
    assert clmst.minimum_spanning_forest(parts) == clmst.kruskal(graph)


@every_device_set("two", "copying")
def test_edge_ids_are_those_of_the_caller(devices: list[Device]) -> None:
    """Symmetric matrices, upper triangles, lists in any order, labels."""
    random = np.random.default_rng(3)
    upper = scipy.sparse.triu(matrix_of_density(70, density=0.2, seed=3), 1)
    upper.data[:] = random.integers(1, 4, upper.data.size)
    graphs = [Graph.from_scipy(upper.tocsr()), Graph.from_scipy((upper + upper.T).tocsr())]
    graphs.append(known_graph("small").weighted(np.dtype(np.float32), symmetric=True))
    for graph in graphs:
        one = clmst.minimum_spanning_forest(graph, device=devices[0])
        several_ = clmst.minimum_spanning_forest(graph, devices=devices)
        assert several_ == one
        assert several_.edge_ids.dtype == one.edge_ids.dtype
    nx = pytest.importorskip("networkx")
    named = nx.relabel_nodes(nx.gnm_random_graph(30, 80, seed=1), str)
    assert clmst.minimum_spanning_forest(named, devices=devices).vertex_labels == list(named)


def upper_part(graph: Graph, device: Device, first: int, end: int) -> DeviceGraph:
    """Return some rows of an upper triangle as a graph of arrays that are on a device."""
    starts = np.clip(graph.indptr, graph.indptr[first], graph.indptr[end])
    rows = slice(int(starts[0]), int(starts[-1]))
    arrays = (starts - starts[0], graph.indices[rows], graph.weights[rows])
    return DeviceGraph.from_arrays(*(clmst.DeviceArray.from_host(a, device) for a in arrays))


def simple_graph(n: int = 80) -> Graph:
    random = np.random.default_rng(5)
    upper = scipy.sparse.triu(matrix_of_density(n, density=0.3, seed=5), 1)
    upper.data = random.integers(1, 4, upper.data.size).astype(np.int32)
    return Graph.from_scipy(upper.tocsr())


@every_device_set("two", "three", "copying")
def test_parts_that_devices_made(devices: list[Device]) -> None:
    """Ids count through all parts; a part without a slot changes nothing."""
    graph = simple_graph()
    n = graph.n_vertices
    bounds = [0, *([20, 20][: len(devices) - 1]), n]
    made = [
        upper_part(graph, device, first, end)
        for device, first, end in zip(devices, bounds[:-1], bounds[1:], strict=True)
    ]
    parts = DeviceParts.of_graphs(made)
    assert parts.n_slots == graph.n_slots
    assert parts.first_rows == tuple(bounds[:-1])
    of_host = clmst.to_devices(graph, devices)
    assert DeviceParts.of_graphs(of_host.parts).first_rows == of_host.first_rows
    assert clmst.minimum_spanning_forest(parts) == clmst.kruskal(graph)
    with pytest.raises(InvalidArgumentError, match="needs the whole graph on the host"):
        clmst.minimum_spanning_forest(parts, verify=True)


@every_device_set("two")
def test_parts_of_no_graph_are_refused(devices: list[Device]) -> None:
    graph = simple_graph()
    first, second = devices
    low, high = upper_part(graph, first, 0, 30), upper_part(graph, second, 30, graph.n_vertices)
    overlapping = upper_part(graph, second, 29, graph.n_vertices)
    floats = graph.replace_unchecked(weights=graph.weights.astype(np.float32))
    both = clmst.to_device(graph.symmetrised(), second)
    wrong = [
        ([low, overlapping], r"part 1 begins in row 29, .* up to 29"),
        ([high, low], "must follow the rows of the part before it"),
        ([low, upper_part(floats, second, 30, graph.n_vertices)], "must be stored alike"),
        ([low, upper_part(simple_graph(40), second, 30, 40)], "has 40 vertices and part 0 has 80"),
        ([low, both], "part 1 stores edges in both directions"),
        ([low, upper_part(graph, first, 30, graph.n_vertices)], "is among the devices twice"),
        ([], "there must be one at least"),
    ]
    for parts, message in wrong:
        with pytest.raises((clmst.InvalidGraphError, InvalidArgumentError), match=message):
            DeviceParts.of_graphs(parts)


@every_device_set("two")
def test_what_several_devices_do_not_take(devices: list[Device]) -> None:
    """One clear error each."""
    graph = graph_of()
    one = clmst.to_device(graph, devices[0])
    parts = clmst.to_devices(graph, devices)
    dense = np.array([[0.0, 1.0], [1.0, 0.0]])
    both = clmst.EclOptions(single_direction=False)
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (graph, {"devices": []}, "devices is empty"),
        (graph, {"devices": 7}, "must be a sequence of devices"),
        (graph, {"devices": [devices[0], devices[0]]}, "is among the devices twice"),
        (graph, {"devices": [devices[0], "no such device"]}, "no device matches"),
        (graph, {"devices": devices, "device": devices[0]}, "give one of the two"),
        (graph, {"devices": devices, "keep_on_device": True}, "keep_on_device is True"),
        (graph, {"devices": devices, "profile": True}, "profile is True"),
        (graph, {"devices": devices, "options": both}, "each edge once"),
        (dense, {"devices": devices}, "which one device solves"),
        (one, {"devices": devices}, "the graph is on"),
        (one, {"devices": devices[1:]}, "the graph is on"),
        (parts, {"devices": devices[:1]}, "the graph is on"),
        (parts, {"device": devices[0]}, "the graph is on"),
        (parts, {"keep_on_device": True}, "keep_on_device is True"),
    ]
    for given, named, message in wrong:
        with pytest.raises(InvalidArgumentError, match=message):
            clmst.minimum_spanning_forest(given, **named)
    with pytest.raises(InvalidArgumentError, match=r"is on .* already"):
        clmst.to_devices(one, devices)
    assert clmst.minimum_spanning_forest(one, devices=devices[:1]) == clmst.kruskal(graph)
    assert clmst.minimum_spanning_forest(parts, devices=devices[::-1]) == clmst.kruskal(graph)


@every_device_set("two")
def test_every_algorithm_solves_parts(devices: list[Device]) -> None:
    graph = graph_of()
    for algorithm in ALGORITHMS:
        forest = clmst.minimum_spanning_forest(graph, devices=devices, algorithm=algorithm)
        assert forest == clmst.kruskal(graph)
        assert {one["algorithm"] for one in forest.stats["solves"][:2]} == {algorithm}


@every_device_set("two")
def test_a_forest_is_proved_on_request(devices: list[Device], tmp_path: Path) -> None:
    graph = Graph.from_edges(*random_edges(90, 1500, n_weights=1000))
    forest = clmst.minimum_spanning_forest(graph, devices=devices, verify=True)
    assert forest.stats["proof"]["where"] == "host"
    with changed(tmp_path, COARSE_KEYS):
        wrong = [one.forcing_off() for one in devices]
        assert clmst.minimum_spanning_forest(graph, devices=wrong, algorithm="ecl") != forest
        with pytest.raises(InvalidForestError):
            clmst.minimum_spanning_forest(graph, devices=wrong, algorithm="ecl", verify=True)


@every_device_set("two", "three")
@pytest.mark.parametrize(
    ("kind", "expected"), [("allocate", OutOfDeviceMemoryError), ("copy", DeviceError)]
)
def test_a_device_that_fails_is_named(
    devices: list[Device], kind: str, expected: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others finish what they do; then all can be used again."""
    graph, failing = graph_of(), len(devices) - 1
    parts = clmst.to_devices(graph, devices)
    with monkeypatch.context() as patch:
        inject(patch, kind, devices[failing]).arm(0)
        with pytest.raises(expected, match=rf"device {failing} of the solve, .*") as raised:
            clmst.minimum_spanning_forest(parts)
    assert type(raised.value) is expected
    assert clmst.minimum_spanning_forest(parts) == clmst.kruskal(graph)


@every_device_set("two")
def test_threads_that_name_devices_in_any_order(devices: list[Device]) -> None:
    """Locks are taken in one order, so that nobody waits for ever."""
    graph = graph_of()
    right = clmst.kruskal(graph)

    def solve(number: int) -> bool:
        order = devices if number % 2 else devices[::-1]
        return clmst.minimum_spanning_forest(graph, devices=order) == right

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(solve, range(12)))


def test_queues_of_one_context(any_device: Device) -> None:
    """The driver copies by itself; two queues of one device stand for two devices."""
    import pyopencl as cl

    queues = [cl.CommandQueue(any_device.context, any_device.cl_device) for _ in range(2)]
    devices = [Device(q.device, queue=q, without=any_device.without, _trusted=True) for q in queues]
    devices[1] = devices[1].forcing_off("int64-atomics")
    graph = graph_of()
    forest = clmst.minimum_spanning_forest(graph, devices=devices)
    assert forest == clmst.kruskal(graph)
    way = "host" if any_device.capabilities.host_arrays == "copied" else "driver"
    assert [one["way"] for one in forest.stats["moves"]] == [way]


def in_pinned_memory(graph: Graph, device: Device) -> Graph:
    """Return a graph whose columns and weights OpenCL has mapped."""
    arrays = {}
    for name in ("indices", "weights"):
        array = getattr(graph, name)
        arrays[name] = pinned(device, array.size, array.dtype)
        arrays[name][:] = array
    return graph.replace_unchecked(**arrays)


@every_device_set("copying")
@pytest.mark.parametrize("is_pinned", [False, True])
def test_uploads_take_turns_unless_memory_is_pinned(
    devices: list[Device], monkeypatch: pytest.MonkeyPatch, is_pinned: bool
) -> None:
    """In turns, the first one's solve begins before the last is there.

    Of pinned memory each part waits for the other to begin.
    """
    graph, copied, before = graph_of(), [0, 0], list[int]()
    both, solving = threading.Barrier(2), threading.Event()

    def copies(number: int, *_: Any) -> bool:
        copied[number] += 1
        if copied[number] == 1 and is_pinned:
            both.wait(timeout=30)
        elif copied[number] == 1 and copied[1 - number]:
            before.append(copied[1 - number])
            assert solving.wait(timeout=30)
        return False

    def launches(kernel: Any, *_: Any) -> bool:
        if kernel.function_name != "parts_begin_rows":
            solving.set()
        return False

    given = in_pinned_memory(graph, devices[0]) if is_pinned else graph
    clmst.minimum_spanning_forest(given, devices=devices)  # devices are tried, programs are built
    for number, device in enumerate(devices):
        inject(monkeypatch, "copy", device).let_fail(partial(copies, number))
        inject(monkeypatch, "kernel", device).let_fail(launches)
    assert clmst.minimum_spanning_forest(given, devices=devices) == clmst.kruskal(graph)
    assert min(copied) > 0
    assert is_pinned or before[0] >= 3  # the arrays of a part
