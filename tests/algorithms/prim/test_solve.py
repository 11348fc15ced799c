"""Prim's algorithm: its alternatives, its order, its bounded launches, and what it refuses."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

import numpy as np
import pytest

import clmst
from clmst import Device, EclOptions, Graph, PrimOptions
from clmst.algorithms.prim import trees as prim_trees
from clmst.algorithms.prim.mirror import rows_of
from clmst.algorithms.prim.options import Components, Queue
from clmst.algorithms.prim.trees import SortedRows, grow
from clmst.core.errors import InvalidArgumentError
from clmst.core.weight_keys import Array, encode
from clmst.runtime.launcher import Launcher
from tests.forests import assert_same_forest

ALTERNATIVES = [
    PrimOptions(queue=queue, components=components)
    for queue, components in product(get_args(Queue), get_args(Components))
]
alternatives = pytest.mark.parametrize(
    "options", ALTERNATIVES, ids=lambda options: f"{options.queue}-{options.components}"
)
queues = pytest.mark.parametrize("queue", ["heap", "array"])


def many_components(blocks: int = 40, size: int = 12) -> Graph:
    """Return components of several sizes with ties, loops and parallel edges, names shuffled."""
    rng = np.random.default_rng(6)
    n = blocks * size
    u = rng.integers(0, n, 5 * n)
    v = u // size * size + rng.integers(0, size, 5 * n)
    names = rng.permutation(n + 7)  # of which seven have no edge
    return Graph.from_edges(names[u], names[v], rng.integers(0, 9, u.size), n_vertices=n + 7)


def star(n: int) -> Graph:
    """Return a star, whose hub has a row of n - 1 slots, each edge twice."""
    leaves = np.tile(np.arange(1, n), 2)
    weights = np.random.default_rng(2).integers(0, 99, leaves.size)
    return Graph.from_edges(np.zeros(leaves.size, int), leaves, weights)


def solve(
    graph: Graph, device: Device, options: PrimOptions, *, profile: bool = False
) -> clmst.Forest:
    return clmst.minimum_spanning_forest(
        graph, algorithm="prim", device=device, options=options, profile=profile
    )


# ------------------------------------------------------------------------- alternatives


@alternatives
def test_every_alternative(device: Device, options: PrimOptions) -> None:
    """They change how long a solve takes, never its result."""
    graph = many_components()
    for maximum in (False, True):
        function = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
        forest = function(graph, algorithm="prim", device=device, options=options)
        assert_same_forest(forest, clmst.kruskal(graph, maximum=maximum))


def test_patches_are_the_components(any_device: Device) -> None:
    """Apart, every component has a worker; together, one has them all."""
    graph = many_components()
    apart = solve(graph, any_device, PrimOptions(components="apart"))
    together = solve(graph, any_device, PrimOptions(components="together"))
    assert apart.stats["patches"] == apart.n_components == clmst.kruskal(graph).n_components
    assert together.stats["patches"] == 1


def test_components_are_looked_for_where_workers_are_many(device: Device) -> None:
    """Small graphs, and few cores, do without."""
    few = device.policy.work_group_size == 1 and device.capabilities.compute_units < 8
    n = prim_trees.APART_VERTICES
    for size, apart in ((n - 1, False), (n, not few)):
        u = np.arange(0, size - 1, 2)
        graph = Graph.from_edges(u, u + 1, np.ones(u.size), n_vertices=size)
        forest = solve(graph, device, PrimOptions())
        assert forest.stats["patches"] == (forest.n_components if apart else 1)


def test_queue_is_chosen_by_shape(device: Device) -> None:
    """A work-group looks at few vertices at once; a lone work-item has a heap."""
    shared = "array" if device.policy.work_group_size > 1 else "heap"
    u = np.arange(50)
    tree = Graph.from_edges(u, u + 1, u)
    assert solve(tree, device, PrimOptions()).stats["queue"] == shared
    n = prim_trees.ARRAY_VERTICES + 1
    large = Graph.from_edges(u, u + 1, u, n_vertices=n)
    assert solve(large, device, PrimOptions()).stats["queue"] == "heap"
    parallel = Graph.from_edges(np.zeros(1000, int), np.ones(1000, int), np.arange(1000))
    assert solve(parallel, device, PrimOptions()).stats["queue"] == "heap"


# ------------------------------------------------------------------------------- order


@queues
@pytest.mark.parametrize(
    "weights", [np.zeros(1, np.int32), np.array([0.0, -0.0]), np.array([2**64 - 1], np.uint64)],
    ids=["zero", "both zeros", "greatest"],
)  # fmt: skip
def test_ties_go_by_edge_id(device: Device, queue: Any, weights: np.ndarray) -> None:
    """With one weight everywhere, the order of edge ids alone decides."""
    rng = np.random.default_rng(8)
    u, v = rng.integers(0, 60, (2, 500))
    graph = Graph.from_edges(u, v, rng.choice(weights, 500), n_vertices=62)
    forest = solve(graph, device, PrimOptions(queue=queue))
    assert_same_forest(forest, clmst.kruskal(graph))


@queues
@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_keys_at_both_ends(device: Device, queue: Any, dtype: type) -> None:
    """The keys that stand for vertices in no tree, and in one, are weights like any other."""
    rng = np.random.default_rng(9)
    u, v = rng.integers(0, 50, (2, 300))
    ends: Array = np.array([0, np.iinfo(dtype).max], dtype)
    graph = Graph.from_edges(u, v, rng.choice(ends, 300), n_vertices=52)
    for maximum in (False, True):
        function = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
        forest = function(graph, device=device, options=PrimOptions(queue=queue))
        assert_same_forest(forest, clmst.kruskal(graph, maximum=maximum))


@queues
def test_parallel_edges(device: Device, queue: Any) -> None:
    """Of those of one weight the first belongs to the forest, whichever end comes first."""
    rng = np.random.default_rng(10)
    u, v = rng.integers(0, 6, (2, 900))
    graph = Graph.from_edges(u, v, rng.integers(0, 3, 900), n_vertices=6)
    forest = solve(graph, device, PrimOptions(queue=queue))
    assert_same_forest(forest, clmst.kruskal(graph))


# ---------------------------------------------------------------------------- launches


@alternatives
@pytest.mark.parametrize("steps", [1, 40, 1000])
def test_launches_are_bounded(
    any_device: Device, monkeypatch: pytest.MonkeyPatch, options: PrimOptions, steps: int
) -> None:
    """Work goes on where the launch before left off, in the middle of a row as well."""
    monkeypatch.setattr(prim_trees, "STEPS_A_LAUNCH", steps)
    graph = many_components(blocks=4)
    forest = solve(graph, any_device, options)
    assert_same_forest(forest, clmst.kruskal(graph))
    assert forest.stats["growing_launches"] > (1 if steps < 1000 else 0)


@queues
def test_bounded_launches_in_every_variant(
    device: Device, monkeypatch: pytest.MonkeyPatch, queue: Any
) -> None:
    """What a worker keeps between launches is its own."""
    monkeypatch.setattr(prim_trees, "STEPS_A_LAUNCH", 30)
    graph = many_components()
    options = PrimOptions(queue=queue, components="apart")
    forest = solve(graph, device, options)
    assert_same_forest(forest, clmst.kruskal(graph))
    assert forest.stats["growing_launches"] > 1


def test_a_launch_ends_in_the_middle_of_a_row(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a hub would have a launch for as long as its row is."""
    graph, steps = star(2000), 100
    monkeypatch.setattr(prim_trees, "STEPS_A_LAUNCH", steps)
    forest = solve(graph, any_device, PrimOptions(queue="heap"))
    assert_same_forest(forest, clmst.kruskal(graph))
    slots, taken = 2 * graph.n_edges, graph.n_vertices
    assert slots / steps <= forest.stats["growing_launches"] <= 2 + (slots + 17 * taken) / steps


def test_a_small_solve_is_a_few_launches(any_device: Device) -> None:
    """Whether a launch was enough is known before: nothing is read back but what gathers."""
    graph = many_components().symmetrised()
    options = PrimOptions(queue="heap", components="together")
    forest = solve(graph, any_device, options, profile=True)
    assert forest.stats["growing_launches"] == 1
    profile = forest.stats["profile"]
    assert {name for name in profile if name.startswith("prim")} == {
        "prim_initialise", "prim_heap_grow", "prim_mark_edges",
    }  # fmt: skip
    assert profile["(read back)"].launches == 1
    assert list(forest.stats["phases"]) == ["plant trees", "grow trees", "mark edges"]


# -------------------------------------------------------------------------- the trees


@queues
def test_trees_are_rooted(device: Device, queue: Any) -> None:
    """Following parents ends at the one root of each component."""
    graph = many_components().symmetrised()
    on_device = clmst.to_device(graph, device)
    rows = SortedRows(
        n=graph.n_vertices,
        n_slots=graph.n_slots,
        indptr=on_device.indptr,
        indices=on_device.indices,
        weights=on_device.weights,
        defines=on_device.weight_defines(maximum=False),
    )
    with device.lock:
        options = PrimOptions(queue=queue)
        trees = grow(rows, Launcher(device, device.queue), options)
        parents = trees.parents.to_host().astype(np.int64)
    roots = np.arange(graph.n_vertices)
    is_root = parents == 2**32 - 1
    above = np.where(is_root, roots, parents)
    for _ in range(graph.n_vertices.bit_length()):
        above = above[above]
    assert is_root[above].all()
    forest = clmst.kruskal(graph)
    assert is_root.sum() == forest.n_components
    for component in range(forest.n_components):
        assert np.unique(above[forest.labels == component]).size == 1


@pytest.mark.parametrize("dtype", [np.bool_, np.uint16, np.int32, np.float64], ids=str)
def test_mirrored_rows_are_those_of_the_host(device: Device, dtype: type) -> None:
    """Loops apart, which the host leaves out: sorted, and parallel edges in their order."""
    rng = np.random.default_rng(13)
    u, v = rng.integers(0, 40, (2, 300))
    u, v = u[u != v], v[u != v]
    graph = Graph.from_edges(u, v, rng.integers(0, 2, u.size).astype(dtype), n_vertices=45)
    resident = clmst.to_device(graph, device)
    with device.lock:
        rows_of(resident, Launcher(device, device.queue), maximum=False)
        (kept,) = resident.derived.values()
        indptr, indices, weights = (array.to_host() for array in kept)
    expected = graph.symmetrised()
    np.testing.assert_array_equal(indptr, expected.indptr)
    np.testing.assert_array_equal(indices, expected.indices)
    np.testing.assert_array_equal(weights, encode(expected.weights).bits)


def test_mirrored_rows_are_kept_with_the_graph(any_device: Device) -> None:
    """A graph that stores its edges once is mirrored for the first solve only."""
    graph = many_components()
    resident = clmst.to_device(graph, any_device)
    for maximum, mirrored in ((False, True), (True, False)):
        function = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
        forest = function(resident, algorithm="prim", profile=True)
        assert_same_forest(forest, clmst.kruskal(graph, maximum=maximum))
        assert ("mirror rows" in forest.stats["phases"]) == mirrored


# ----------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"queue": "stack"}, "queue is 'stack'; it must be one of 'auto', 'heap', 'array'"),
        ({"components": "all"}, "components is 'all'; it must be one of 'auto', 'apart'"),
    ],
)
def test_unknown_alternatives(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        PrimOptions(**arguments)


def test_options_of_another_algorithm(any_device: Device) -> None:
    with pytest.raises(InvalidArgumentError, match="'prim' takes a PrimOptions"):
        solve(star(3), any_device, EclOptions())  # type: ignore[arg-type]


def test_options_tell_the_algorithm(any_device: Device) -> None:
    forest = clmst.minimum_spanning_forest(star(9), device=any_device, options=PrimOptions())
    assert forest.stats["algorithm"] == "prim"
