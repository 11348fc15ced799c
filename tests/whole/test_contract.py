"""The contract that every algorithm keeps on every device: the same edge set as the oracle's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import clmst
from clmst import Device, Forest, Graph
from clmst.algorithms.solving import most_vertices
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.core.weight_keys import Array
from tests.helpers import forests
from tests.helpers.forests import assert_same_forest
from tests.helpers.settings import SETTINGS
from tests.helpers.strategies import EXHAUSTIVE, WEIGHT_DTYPES, graphs
from tests.helpers.variants import Variant, first_optimised, is_native, unoptimised

pytestmark = pytest.mark.parametrize("setting", SETTINGS)


def solve(graph: Graph, setting: str, device: Device, *, maximum: bool = False) -> Forest:
    """Solve on the device."""
    return forests.solve(graph, device, maximum=maximum, **SETTINGS[setting])


# A weight is a dtype, and whether the maximum is wanted; each is a program to build, or several.
# How weights become keys is the same code in every variant. All of them run on the best device with
# its own settings, and each dtype in one order on the others, whose compilers differ. What a
# variant changes (shape, lanes, atomics) depends on the width of keys and reservations: there, one
# dtype of each width runs. `test_any_graph` takes one dtype of each width on each device, except in
# exhaustive runs, and in all runs `test_ten_runs_of_every_weight` takes each dtype.
EVERY_WEIGHT = tuple(product(WEIGHT_DTYPES, (False, True)))
ONE_OF_EACH_DTYPE = tuple((dtype, k % 2 == 1) for k, dtype in enumerate(WEIGHT_DTYPES))
ONE_OF_EACH_WIDTH = tuple(
    (dtype, maximum)
    for dtype, maximum in ONE_OF_EACH_DTYPE
    if dtype in (np.uint8, np.float32, np.float64)
)


def weights_of(device: Device) -> tuple[tuple[np.dtype, bool], ...]:
    """Return the weights that run on a device in its variant."""
    if not is_native(device):
        return ONE_OF_EACH_WIDTH
    return EVERY_WEIGHT if device is first_optimised()[0].device else ONE_OF_EACH_DTYPE


def compiled_for(device: Device, dtype: np.dtype[Any], *, maximum: bool) -> Device:
    """Return a device that compiles with optimisation for one dtype of each width only.

    What else differs between dtypes is a few operations on integers that make keys of weights.
    """
    is_usual = not is_native(device) or (dtype, maximum) in ONE_OF_EACH_WIDTH
    return device if is_usual else unoptimised(device)


@pytest.mark.covering("setting platform", "setting work_groups", "setting without")
@given(data=st.data())
def test_any_graph(setting: str, device: Device, data: st.DataObject) -> None:
    """Ties, loops, parallel edges, isolated vertices, every layout, and dtypes of every width.

    The standard run takes every setting on every driver, in both shapes, and without each
    capability. It takes keys of 32 bits and of 64, which differ in how edges are reserved, on all
    drivers. It takes shorter keys on the first driver only, where lanes are not forced off.
    """
    some = weights_of(device) if EXHAUSTIVE else ONE_OF_EACH_WIDTH
    is_first = device.platform == first_optimised()[0].device.platform
    if not (EXHAUSTIVE or (is_first and "lanes" not in device.without)):
        some = ONE_OF_EACH_WIDTH[-2:]
    dtype, maximum = data.draw(st.sampled_from(some))
    graph = data.draw(graphs(dtypes=[dtype]))
    expected = clmst.kruskal(graph, maximum=maximum)
    device = compiled_for(device, dtype, maximum=maximum)
    assert_same_forest(solve(graph, setting, device, maximum=maximum), expected)


def random_edges(n: int, m: int, dtype: np.dtype[Any], seed: int) -> tuple[Array, Array, Array]:
    """Return random endpoints and weights of any bit pattern but NaN, some of them tied."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, n, (2, m))
    pool = np.array([False, True])
    if dtype.kind != "b":
        pool = np.frombuffer(rng.bytes(m // 2 * dtype.itemsize), dtype)
        pool = pool[pool == pool] if dtype.kind == "f" else pool  # noqa: PLR0124 - NaN is not itself
    return u, v, rng.choice(pool, m)


def _weights_of_runs() -> Iterator[object]:
    """Yield a variant, a dtype and an order for each case of ten runs.

    The first driver's device as it is always runs each dtype in one order. Each other variant
    always runs one dtype of 32 bits and one of 64, which differ in how edges are reserved. The rest
    is for exhaustive runs.
    """
    for variant in first_optimised():
        is_first = variant.device is first_optimised()[0].device
        always = ONE_OF_EACH_DTYPE if is_first else ONE_OF_EACH_WIDTH[-2:]
        for dtype, maximum in weights_of(variant.device):
            name = f"{variant.name}-{dtype}-{'max' if maximum else 'min'}"
            marks = [] if (dtype, maximum) in always else [pytest.mark.exhaustive]
            yield pytest.param(variant, dtype, maximum, id=name, marks=marks)


@pytest.mark.covering("setting platform", "setting work_groups", "variant dtype maximum")
@pytest.mark.parametrize(("variant", "dtype", "maximum"), _weights_of_runs())
def test_ten_runs_of_every_weight(
    setting: str, variant: Variant, dtype: np.dtype, maximum: bool
) -> None:
    """A race or an order of arrival that shows would differ between runs.

    In other variants than devices as they are, whose code is slow, the graph is smaller. There a
    work-group has 64 work-items, so that this one, too, fills hundreds of them.

    The standard run takes every setting on every driver and in both shapes, and every weight of a
    variant.
    """
    large = is_native(variant.device) and setting != "dense"  # which has a cell for each pair
    n, m = (2000, 13000) if large else (1000, 6500)
    u, v, w = random_edges(n, m, dtype, seed=7)
    graph = Graph.from_edges(u, v, w, n_vertices=n + 100)
    expected = clmst.kruskal(graph, maximum=maximum)
    device = compiled_for(variant.device, dtype, maximum=maximum)
    for _ in range(10):
        forest = solve(graph, setting, device, maximum=maximum)
        assert_same_forest(forest, expected)


# Weights of tests below that do not depend on the dtype. `test_any_graph` and
# `test_resident_graph_and_forest` take it, too, so that all of them share programs: to build these
# takes most of the time of this file. The first of the two takes the maximum of this dtype.
SHARED_DTYPE = np.float64

TILES = sorted({k + d for k in (32, 64, 128, 256, 1024, 2048) for d in (-1, 0, 1)})


@pytest.mark.covering("setting device", "device n", "setting n")
@pytest.mark.parametrize("n", [1, 2, 3, 5, *TILES])
def test_sizes_around_tiles(setting: str, device: Device, n: int) -> None:
    """Sizes at which a tile, a work-group, a lane group or the stage is just filled or not.

    The standard run takes every size on every variant, and every size in every setting.
    """
    rng = np.random.default_rng(n)
    u = np.arange(n)
    w = rng.integers(0, 9, n).astype(SHARED_DTYPE)
    graph = Graph.from_edges(u, (u + 1) % n, w, n_vertices=n)
    assert_same_forest(
        solve(graph, setting, device, maximum=True), clmst.kruskal(graph, maximum=True)
    )


def chain(n: int, weights: str, order: str) -> Graph:
    """Return a path of `n` vertices."""
    names = np.arange(n)
    if order == "shuffled":
        names = np.random.default_rng(1).permutation(n)
    w = {"rising": np.arange(n - 1), "falling": np.arange(n - 1)[::-1], "equal": np.ones(n - 1)}
    return Graph.from_edges(names[:-1], names[1:], w[weights].astype(np.float32))


@pytest.mark.slow
@pytest.mark.covering(
    "setting platform", "setting work_groups", "setting weights", "setting order",
    "device weights", "device order",
)  # fmt: skip
@pytest.mark.parametrize("weights", ["rising", "falling", "equal"])
@pytest.mark.parametrize("order", ["in order", "shuffled"])
def test_long_chain_is_not_quadratic(
    setting: str, device: Device, weights: str, order: str
) -> None:
    """A path of 2**18 vertices: chasing it naively takes 2**35 steps, and this test times out.

    In other variants than devices as they are, whose code is slow, it has 2**15 vertices: 2**29
    steps, of several nanoseconds each. There the processor time has a limit; a solve takes a tenth
    of it.

    The standard run takes every setting on every driver and in both shapes. It takes the three
    kinds of weights and both orders for every setting and for every variant.
    """
    n = 1 << 18
    if n > most_vertices(SETTINGS[setting]["algorithm"], device):
        with pytest.raises(OutOfDeviceMemoryError, match=f"{n} x {n} cells .* needs"):
            solve(chain(n, weights, order), setting, device)
        return
    n = n if is_native(device) else 1 << 15
    graph = chain(n, weights, order)
    # This builds programs. Longer paths take other ones, which must not be built in what is timed.
    solve(chain(1 << 10, weights, order) if is_native(device) else graph, setting, device)
    start = time.process_time()
    forest = solve(graph, setting, device)
    assert is_native(device) or time.process_time() - start < 1.5
    assert forest.n_components == 1
    np.testing.assert_array_equal(np.sort(forest.edge_ids), np.arange(n - 1))


@cache
def hub_with_a_long_row(n: int) -> tuple[Graph, Forest]:
    """Return a graph and its forest."""
    rng = np.random.default_rng(5)
    hub, leaf = np.zeros(n, int), np.arange(n)
    u = np.concatenate([hub, rng.integers(0, n, 3 * n)])
    v = np.concatenate([leaf, rng.integers(0, n, 3 * n)])
    w = rng.integers(0, 50, 4 * n).astype(SHARED_DTYPE)
    graph = Graph.from_edges(u, v, w).symmetrised()
    return graph, clmst.kruskal(graph, maximum=True)


@pytest.mark.covering("setting platform", "setting work_groups")
def test_hub_with_a_long_row(setting: str, device: Device) -> None:
    """A row longer than any tile or stage, beside rows of one slot."""
    # `dense` has a cell for each pair.
    graph, expected = hub_with_a_long_row(3000 if setting == "dense" else 20000)
    assert_same_forest(solve(graph, setting, device, maximum=True), expected)


@pytest.mark.covering("setting platform", "setting work_groups")
def test_filter_leaves_a_component_for_the_second_phase(setting: str, device: Device) -> None:
    """Dense blocks of light edges joined by heavy ones: sets rest in phase one, and go on."""
    rng = np.random.default_rng(11)
    blocks, size = 40, 50
    u, v = rng.integers(0, size, (2, blocks * 600))
    base = np.repeat(np.arange(blocks) * size, 600)
    far = rng.integers(0, blocks * size, (2, 400))
    w = np.concatenate([rng.integers(0, 1000, u.size), rng.integers(5000, 6000, 400)])
    graph = Graph.from_edges(
        np.concatenate([u + base, far[0]]),
        np.concatenate([v + base, far[1]]),
        w.astype(SHARED_DTYPE),
    )
    assert_same_forest(solve(graph, setting, device), clmst.kruskal(graph))


@pytest.mark.covering("setting platform", "setting work_groups", "setting graph", "device graph")
@pytest.mark.parametrize(
    "graph",
    [(0, ()), (1, ()), (7, ()), (1, (0,)), (3, (0, 2, 2))],
    ids=["empty", "one vertex", "no edges", "one loop", "only loops"],
)
def test_graphs_without_edges(
    setting: str, device: Device, graph: tuple[int, tuple[int, ...]]
) -> None:
    """A correct, empty forest of a graph with a number of vertices and loops at some of them."""
    n, loops = graph
    without_edges = Graph.from_edges([*loops], [*loops], np.ones(len(loops)), n_vertices=n)
    forest = solve(without_edges, setting, device)
    assert_same_forest(forest, clmst.kruskal(without_edges))
    assert forest.edges.shape == (0, 2)
    assert forest.labels.tolist() == list(range(n))


@pytest.mark.covering("setting platform", "setting work_groups")
def test_resident_graph_and_forest(setting: str, device: Device) -> None:
    """A graph on the device serves several solves; a forest kept there is the same forest."""
    graph = Graph.from_edges(*random_edges(500, 3000, np.dtype(np.float64), seed=2))
    resident = clmst.to_device(graph, device)
    for maximum in (False, True):
        function = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
        kept = function(resident, keep_on_device=True, **SETTINGS[setting])
        expected = clmst.kruskal(graph, maximum=maximum)
        assert kept.n_edges == expected.n_edges
        assert_same_forest(kept.to_host(), expected)
