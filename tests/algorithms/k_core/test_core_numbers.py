"""Core numbers: what they are, in how few rounds and reads, and what is taken for a graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

import clmst
from clmst import (
    DenseGraph,
    Device,
    DeviceArray,
    Graph,
    InvalidArgumentError,
    InvalidGraphError,
    Points,
)
from clmst.algorithms.k_core import core_numbers as k_core
from clmst.runtime.launcher import Launcher, Profile
from tests.helpers.bounds import bounds
from tests.helpers.cores import peel
from tests.helpers.strategies import edge_arrays, graphs
from tests.helpers.variants import is_native


def solve(graph: Graph, device: Device, profile: Profile | None = None) -> tuple[DeviceArray, int]:
    queue = device.queue if profile is None else device.profiling_queue
    resident = clmst.to_device(graph, device)
    return k_core.core_numbers(resident, Launcher(device, queue, profile))


def assert_cores(graph: Graph, device: Device, expected: np.ndarray) -> list[int]:
    """Check both ways of storing a graph; return their rounds."""
    rounds = []
    for stored in (graph, graph.symmetrised()):
        numbers, count = solve(stored, device)
        np.testing.assert_array_equal(numbers.to_host(), expected)
        rounds.append(count)
    return rounds


def looped_rows() -> Graph:
    """Return a graph that stores its edges once, in rows with loops."""
    rng = np.random.default_rng(4)
    low, high = np.sort(rng.integers(0, 300, (2, 1500)), axis=0)
    low, high = np.concatenate([[low, high], np.tile(np.arange(0, 300, 3), (2, 3))], axis=1)
    order = np.lexsort((high, low))
    graph = Graph.from_csr(np.searchsorted(low[order], np.arange(301)), high[order], order)
    assert not graph.is_symmetric
    assert graph.n_edges < graph.n_slots
    return graph


def ring_with_tails(n: int) -> Graph:
    """Return a ring, with a vertex hung on every third."""
    third, ring = np.arange(0, n, 3), np.arange(n)
    u = np.concatenate([ring, third])
    return Graph.from_edges(u, np.concatenate([(ring + 1) % n, n + np.arange(third.size)]))


def wheel_with_tails(n: int) -> Graph:
    """Return a wheel, whose hub has more slots than are gone through at a time."""
    rim = np.arange(1, n + 1)
    tails = np.stack([rim[::2], n + 1 + np.arange(rim[::2].size)])
    ends: Any = [[rim, np.zeros(n, int)], [rim, rim % n + 1], tails]
    return Graph.from_edges(*np.concatenate(ends, axis=1))


def star_of_paths(n: int) -> Graph:
    """Return paths of two from one vertex, which brings down thousands at once."""
    leaves = np.arange(1, n)
    ends: Any = [[np.zeros(n - 1, int), leaves], [leaves, n + leaves - 1]]
    return Graph.from_edges(*np.concatenate(ends, axis=1))


def ring_of_cliques(*sizes: int) -> Graph:
    """Return cliques, each joined to the next by an edge."""
    first = np.concatenate([[0], np.cumsum(sizes)])
    pairs = [np.stack(np.triu_indices(size, 1)) + at for at, size in zip(first, sizes)]  # noqa: B905
    bridges = np.stack([first[:-1], np.roll(first[:-1], -1)])
    u, v = np.concatenate([*pairs, bridges], axis=1)
    return Graph.from_edges(u, v)


def random_graph(n: int, m: int, seed: int) -> Graph:
    u, v = np.random.default_rng(seed).integers(0, n, (2, m))
    return Graph.from_edges(u, v, n_vertices=n, merge_parallel=True)


# --------------------------------------------------------------------------- numbers


@given(data=st.data())
def test_any_graph(device: Device, data: st.DataObject) -> None:
    """Loops, parallel edges, isolated vertices, every layout."""
    graph = data.draw(graphs(max_vertices=40, max_edges=150, dtypes=[np.dtype(np.uint8)]))
    cores = clmst.core_numbers(graph, device=device)
    assert cores.dtype == np.uint32
    np.testing.assert_array_equal(cores, peel(graph))


@given(edges=edge_arrays(max_vertices=60, max_edges=400, dtypes=[np.dtype(np.int32)]))
def test_simple_graph_as_networkx(device: Device, edges: Any) -> None:
    """In every form of a simple graph, the numbers equal NetworkX's."""
    graph = Graph.from_edges(edges.u, edges.v, edges.w, edges.n, merge_parallel=True)
    u, v, _, _ = graph.edges()
    peer = nx.empty_graph(edges.n)
    peer.add_edges_from(zip(u.tolist(), v.tolist(), strict=True))
    numbers = nx.core_number(peer)
    expected = np.array([numbers[vertex] for vertex in range(edges.n)], np.uint32)
    ones = np.ones(u.size)  # SciPy's sums leave zeros out
    upper = sparse.coo_array((ones, (u, v)), shape=(edges.n, edges.n)).tocsr()
    for given_as in (graph, upper, upper + upper.T, upper.T.tocoo(), peer):
        np.testing.assert_array_equal(clmst.core_numbers(given_as, device=device), expected)


child = np.arange(1, 1 << 13)
GRAPHS: dict[str, Callable[[], Graph]] = {
    **{  # lists and shares of every length
        f"ring of {n}": partial(ring_with_tails, n)
        for n in (1, 2, 63, 64, 65, 1023, 1024, 1025, 4097)
    },
    **{f"no edges, {n}": partial(Graph.from_edges, [], [], n_vertices=n) for n in (0, 1, 5, 2000)},
    # Short runs of columns and long ones; levels close together, each of which sets off others.
    **{f"degree {d}": partial(random_graph, 6000, 3000 * d, d) for d in (3, 30)},
    "degree 300": partial(random_graph, 600, 90_000, 300),
    "looped rows": looped_rows,
    "wheel": partial(wheel_with_tails, 6000),
    "star of paths": partial(star_of_paths, 9000),
    "binary tree": partial(Graph.from_edges, child, (child - 1) // 2),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_graph(device: Device, name: str) -> None:
    graph = GRAPHS[name]()
    assert_cores(graph, device, peel(graph))


def test_loops_do_not_count_and_parallel_edges_do(device: Device) -> None:
    u, v = np.array([[0, 0, 0, 1, 1, 2, 3, 3], [0, 1, 1, 2, 0, 2, 3, 3]])
    graph = Graph.from_edges(u, v, n_vertices=5)
    assert_cores(graph, device, np.array([3, 3, 1, 0, 0], np.uint32))
    indptr, indices = np.array([0, 2, 4, 4]), np.array([0, 1, 0, 1])  # loops stay in the rows
    looped = Graph.from_csr(indptr, indices, np.ones(4))
    assert looped.n_slots == 4
    assert clmst.core_numbers(looped, device=device).tolist() == [1, 1, 0]
    upper = Graph.from_csr([0, 3, 5, 5], [0, 0, 1, 1, 1], np.ones(5))
    assert (upper.is_symmetric, upper.n_slots) == (False, 5)
    assert clmst.core_numbers(upper, device=device).tolist() == [1, 1, 0]


# ---------------------------------------------------------------------------- rounds


def test_one_level_is_not_read(device: Device) -> None:
    """A complete graph is peeled by its degrees: neither its rows nor their mirror is made."""
    graph = Graph.from_edges(*np.triu_indices(150, 1))
    for stored in (graph, graph.symmetrised()):
        profile = Profile()
        numbers, rounds = solve(stored, device, profile)
        assert (numbers.to_host() == 149).all()
        assert rounds == 1
        kernels = set(profile.summary())
        assert "k_core_take_level" in kernels
        assert not [name for name in kernels if "peel" in name or "mirror" in name]


def test_levels_without_vertices_are_passed_over(device: Device) -> None:
    """Three levels out of four hundred take a round or two each, and one that finds the end."""
    sizes = (4, 60, 400)
    expected = np.repeat([3, 59, 399], sizes).astype(np.uint32)
    rounds = assert_cores(ring_of_cliques(*sizes), device, expected)
    assert max(rounds) <= 2 * len(sizes) + 1


def test_path_takes_no_round_a_vertex(device: Device) -> None:
    """Who brings a neighbour to the level peels it, for thousands of vertices in a launch."""
    n = 30_000
    rng = np.random.default_rng(0)
    names = rng.permutation(n)
    graph = Graph.from_edges(names[:-1], names[1:])
    rounds = assert_cores(graph, device, np.ones(n, np.uint32))
    assert max(rounds) <= n // k_core.GROUP_BUDGET + 4


@pytest.mark.parametrize(("room", "budget"), [(1, 10**6), (4096, 1), (3, 40)])
def test_cascades_are_left_to_the_next_round(device: Device, room: int, budget: int) -> None:
    """Without room or time to go on with, vertices are shared out anew; nobody is lost."""
    graph = random_graph(3000, 12_000, 5)
    path = Graph.from_edges(np.arange(999), np.arange(1, 1000))
    budgets = {"k_core_serial_budget": budget, "k_core_group_budget": min(budget, 3)}
    with bounds(k_core_capacity=room, **budgets):
        cut = assert_cores(graph, device, peel(graph))
        assert_cores(path, device, np.ones(1000, np.uint32))
    if is_native(device):
        assert max(cut) >= max(assert_cores(graph, device, peel(graph)))


def test_graph_stays_as_it_was(device: Device) -> None:
    """The same resident graph gives the same numbers again, and its forest."""
    graph = random_graph(2000, 9000, 7)
    resident = clmst.to_device(graph, device)
    before = clmst.core_numbers(resident)
    forest = clmst.minimum_spanning_forest(resident)
    np.testing.assert_array_equal(clmst.core_numbers(resident), before)
    np.testing.assert_array_equal(forest.edge_ids, clmst.kruskal(graph).edge_ids)


# ----------------------------------------------------------------------------- input


def test_complete_graphs(any_device: Device) -> None:
    """A graph without edges needs no peeling."""
    weights = np.ones((7, 7))
    points = Points(np.arange(14.0).reshape(7, 2))
    for graph in (weights, DenseGraph(weights), points, clmst.to_device(points, any_device)):
        assert clmst.core_numbers(graph).tolist() == [6] * 7
    assert clmst.core_numbers(np.ones((0, 0))).tolist() == []
    assert clmst.core_numbers(points.to_graph(), device=any_device).tolist() == [6] * 7
    masked = np.ma.masked_equal(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), 0)
    assert clmst.core_numbers(masked, device=any_device).tolist() == [1, 1, 1]


def test_bad_input_is_refused(any_device: Device) -> None:
    with pytest.raises(InvalidGraphError, match="directed"):
        clmst.core_numbers(nx.DiGraph([(0, 1)]))
    with pytest.raises(InvalidGraphError, match="the graph is of type str; it must be"):
        clmst.core_numbers("graph")
    resident = clmst.to_device(random_graph(5, 5, 1), any_device)
    with pytest.raises(InvalidArgumentError, match="already"):
        clmst.core_numbers(resident, device=any_device.forcing_off("int64-atomics"))
    for graph in (random_graph(5, 5, 1), np.ones((2, 2))):
        with pytest.raises(InvalidArgumentError, match="no such machine"):
            clmst.core_numbers(graph, device="no such machine")
