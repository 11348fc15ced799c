"""What "auto" means: the quickest algorithm of a graph's size and layout on a device's shape."""

from __future__ import annotations

import numpy as np
import pytest

import clmst
from clmst import Graph
from clmst.algorithms.solving import choose
from clmst.core.errors import InvalidArgumentError
from clmst.runtime.device import Device
from clmst.runtime.policy import CPU
from tests.helpers.bounds import bounds
from tests.helpers.forests import assert_same_forest
from tests.helpers.variants import GPU_SHAPE

pytestmark = pytest.mark.usefixtures("in_steps")


def ring(n: int = 30) -> Graph:
    """Return a ring of n vertices and n edges."""
    return Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n, np.arange(n))


@pytest.mark.parametrize(("n", "is_small"), [(63, True), (64, True), (65, False)])
@pytest.mark.parametrize("bound", ["prim_vertices", "prim_edges"])
def test_small_graphs_are_for_one_work_item(
    any_device: Device, n: int, is_small: bool, bound: str
) -> None:
    """Where both directions are stored, vertices count; else half of them, and edges too."""
    device = any_device.with_policy(CPU)
    graph, both = ring(n), ring(n).symmetrised()
    counts = {"prim_vertices": both, "prim_edges": graph}
    with bounds(**{"prim_vertices": 1 << 20, "prim_edges": 1 << 20} | {bound: 64}):
        forest = clmst.minimum_spanning_forest(counts[bound], device=device)
        assert (forest.stats["algorithm"] == "prim") == is_small
        assert_same_forest(forest, clmst.kruskal(counts[bound]))
        if bound == "prim_vertices":
            assert clmst.minimum_spanning_forest(graph, device=device).stats["algorithm"] != "prim"
            half = clmst.minimum_spanning_forest(ring((n + 1) // 2), device=device)
            assert (half.stats["algorithm"] == "prim") == is_small
        else:
            assert clmst.minimum_spanning_forest(both, device=device).stats["algorithm"] == "prim"


@bounds(prim_edges=0)
def test_large_graphs(any_device: Device) -> None:
    """What is quickest there goes by the shape of kernels, not by who made the device."""
    alone, shaped = (any_device.with_policy(one) for one in (CPU, GPU_SHAPE))
    assert choose("auto", alone)[0] == "filter-boruvka"
    for device, shape in ((alone, "cpu"), (shaped, "gpu")):
        stats = clmst.minimum_spanning_forest(ring(9), device=device).stats
        assert (stats["algorithm"], stats["shape"]) == ("filter-boruvka", shape)


@bounds(filter_boruvka_vertices=8, prim_vertices=0)
def test_graphs_that_links_are_too_short_for(any_device: Device) -> None:
    for n, is_ecl in ((8, False), (9, True)):
        chosen = clmst.minimum_spanning_forest(ring(n), device=any_device).stats["algorithm"]
        assert (chosen == "ecl") == is_ecl
    message = "the graph has 9 vertices; 'filter-boruvka' takes at most 8, 'ecl' more"
    with pytest.raises(InvalidArgumentError, match=message):
        clmst.minimum_spanning_forest(ring(9), algorithm="filter-boruvka", device=any_device)
