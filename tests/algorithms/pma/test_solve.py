"""PMA: the size of its trees, its workers, and what races may change."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, Forest, Graph, PmaOptions
from clmst.algorithms.pma.solve import chosen_gamma, lanes_for
from clmst.core.errors import InvalidArgumentError
from tests.helpers import forests
from tests.helpers.forests import assert_same_forest, parallel_edges
from tests.helpers.variants import GPU_SHAPE

VARIANTS = ("min", "sort", "hybrid")


def solve(graph: Any, device: Device | None, **options: Any) -> Forest:
    return forests.solve(graph, device, options=PmaOptions(**options))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("gamma", [2, 3, np.int64(31), 302, 10**6])
def test_extremes_of_gamma(device: Device, variant: str, gamma: int) -> None:
    """From Borůvka's one edge a vertex to Prim's algorithm by a single worker.

    Workers race for vertices, and who wins differs from run to run; the forest must not.
    """
    graph = parallel_edges()
    resident, expected = clmst.to_device(graph, device), clmst.kruskal(graph)
    for _ in range(4):
        forest = solve(resident, None, variant=variant, gamma=gamma)
        assert_same_forest(forest, expected)
    levels = zip(forest.stats["gammas"], forest.stats["vertices"], strict=True)
    assert all(used == max(min(gamma, n), 2) for used, n in levels)
    if gamma >= graph.n_vertices:  # one tree a component
        assert forest.stats["rounds"] == 1


@pytest.mark.parametrize("variant", VARIANTS)
def test_workers_of_lanes(device: Device, variant: str) -> None:
    """A lane group finds what a work-item finds; rows shorter and longer than it has lanes."""
    rng = np.random.default_rng(8)
    n, m = 400, 3000
    u, v = np.concatenate([rng.integers(0, n, (2, m)), [np.zeros(n, int), np.arange(n)]], axis=1)
    graph = Graph.from_edges(u, v, rng.integers(0, 99, m + n), n_vertices=n)
    if lanes_for(device.capabilities, device.policy) == 1:
        with pytest.raises(InvalidArgumentError, match=r"workers is 'lanes'; .* lacks lanes that"):
            solve(graph, device, workers="lanes")
        return
    for gamma, remove_parallel in product((2, 12, 100, n), (True, False)):
        how = {"variant": variant, "gamma": gamma, "remove_parallel": remove_parallel}
        forest = solve(graph, device, workers="lanes", **how)
        assert set(forest.stats["lanes"]) == {device.capabilities.lane_width}
        assert_same_forest(forest, clmst.kruskal(graph))


def test_long_rows_are_for_lanes(any_device: Device) -> None:
    """Work-items do the first level of a sparse graph, and lane groups of a dense one."""
    shaped = any_device.with_policy(GPU_SHAPE)
    widest = lanes_for(shaped.capabilities, shaped.policy)
    for kind, n, lanes in (("path", 500, 1), ("complete", 50, widest)):
        graph = clmst.generate(kind, n=n)
        assert solve(graph, shaped).stats["lanes"][0] == lanes
        assert solve(graph, shaped, workers="items").stats["lanes"][0] == 1
        most = lanes_for(any_device.capabilities, any_device.policy)
        assert solve(graph, any_device).stats["lanes"][0] == min(lanes, most)


@pytest.mark.slow
def test_larger_trees_leave_fewer(any_device: Device) -> None:
    """Figure 8 of the paper: the first level unites more vertices than Borůvka's does."""
    graph = clmst.generate("random", n=5000, average_degree=20.0, seed=1)
    left = [solve(graph, any_device, gamma=gamma).stats["vertices"][1] for gamma in (2, 10, 100)]
    stats = forests.solve(graph, any_device, algorithm="boruvka").stats
    assert stats["vertices"][1] > left[1] > left[2]
    assert left[0] > left[1]


def test_parallel_edges_go_or_stay(any_device: Device) -> None:
    """Without their removal the second level carries them all."""
    graph = parallel_edges(n=2000, m=60000)
    gone, kept = (
        solve(graph, any_device, gamma=20, remove_parallel=remove).stats for remove in (True, False)
    )
    assert gone["rounds"] > 1
    assert kept["rounds"] > 1
    assert gone["entries"][1] <= gone["vertices"][1] * (gone["vertices"][1] - 1)
    assert kept["entries"][1] > 4 * gone["entries"][1]


def test_gamma_follows_the_degree(any_device: Device) -> None:
    """Larger trees on denser levels, within bounds, but workers for every compute unit."""
    n = 10**6
    chosen = [chosen_gamma(n, degree * n, any_device) for degree in (0, 2, 8, 16, 64, 10**6)]
    assert chosen == sorted(chosen)
    assert 2 <= chosen[0] < chosen[2] < chosen[3] < chosen[-1] < 1000
    shaped = any_device.with_policy(GPU_SHAPE)
    for n in (1000, 10000):
        workers = n // chosen_gamma(n, n * n, shaped)
        assert workers >= min(n // 8, 16 * shaped.capabilities.compute_units)


def test_steps_are_timed(any_device: Device) -> None:
    """A profile tells growing trees from contracting them."""
    options = PmaOptions(gamma=5)
    forest = forests.solve(parallel_edges(), any_device, options=options, profile=True)
    phases = forest.stats["phases"]
    assert {"list rows", "grow trees", "remove cycles", "remove duplicates"} <= phases.keys()
    assert phases["grow trees"].milliseconds > 0
    assert "pma_grow_trees" in forest.stats["profile"]
