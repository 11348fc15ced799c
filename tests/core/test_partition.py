"""Parts of a graph: every edge in one of them, in the whole graph's order."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from clmst.core import partition, topology
from clmst.core.clusters import Clusters
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.core.partition import Part
from tests.helpers.strategies import LAYOUTS, edge_arrays

Array = Any


def slots_of(part: Part) -> Array:
    """Return the whole graph's slots of a part."""
    if part.slots is not None:
        return part.slots
    return np.arange(part.n_edges) + part.first_slot


def check_parts(edges: Graph, parts: list[Part], weights: Array) -> None:
    """Assert that parts are what they should be, and that their forests hold the whole one's."""
    slots = [slots_of(part) for part in parts]
    assert np.array_equal(np.sort(np.concatenate(slots)), np.arange(edges.n_slots))
    ids = np.arange(edges.n_slots) if edges.edge_ids is None else edges.edge_ids
    found = []
    for part, places in zip(parts, slots, strict=True):
        graph = part.graph
        assert (np.diff(places.astype(np.int64)) > 0).all()
        assert graph.n_input == part.last - part.first
        own = np.arange(graph.n_slots) if graph.edge_ids is None else graph.edge_ids
        assert np.array_equal(own + part.first, ids[places])
        # Numbers of vertices rise with the whole graph's.
        pairs = np.unique(np.stack([np.concatenate([graph.rows, graph.indices]),
                                    np.concatenate([edges.rows[places], edges.indices[places]])]),
                          axis=1)  # fmt: skip
        assert (np.diff(pairs.astype(np.int64), axis=1) > 0).all()
        mine = graph.replace(weights=weights[part.first : part.last][own], edge_ids=None)
        forest = kruskal(mine)
        assert forest.n_edges <= part.forest_capacity
        found.append(places[forest.edge_ids])
    whole = kruskal(edges.replace(weights=weights[ids], edge_ids=None)).edge_ids
    assert set(whole.tolist()) <= set(np.concatenate(found).tolist())


@given(data=st.data())
def test_parts_hold_the_forest(data: st.DataObject) -> None:
    """Whatever the graph, its layout and the cut; parts without an edge, and without a vertex."""
    drawn = data.draw(edge_arrays())
    edges = topology.edges_once(drawn.graph(data.draw(st.sampled_from(LAYOUTS))))
    weights = np.random.default_rng(0).integers(0, 5, edges.n_input)
    cuts = data.draw(st.lists(st.integers(0, edges.n_input), max_size=3))
    check_parts(edges, partition.by_ranges(edges, [0, *sorted(cuts), edges.n_input]), weights)
    count = data.draw(st.integers(0, 3))
    n, rng = edges.n_vertices, np.random.default_rng(data.draw(st.integers(0, 99)))
    labels = rng.integers(-1, count, n).astype(np.int32)
    *dense, rest = partition.by_clusters(edges, Clusters(labels=labels, count=count))
    check_parts(edges, [*dense, rest], weights)
    here, there = labels[edges.rows], labels[edges.indices]
    for number, part in enumerate(dense):
        assert part.n_edges == np.count_nonzero((here == number) & (there == number))
    check_parts(edges, [partition.whole(edges)], weights)


def test_ranges_begin_where_devices_want_it() -> None:
    """At multiples of RANGE_STEP, and never beyond the end."""
    assert partition.range_bounds([0.5, 0.5], 4096) == [0, 2048, 4096]
    assert partition.range_bounds([0.3, 0.3, 0.4], 5000) == [0, 1536, 3072, 5000]
    assert partition.range_bounds([0.1, 0.9], 1000) == [0, 0, 1000]
    assert partition.range_bounds([0.9, 0.1], 700) == [0, 512, 700]
    assert partition.range_bounds([1.0], 7) == [0, 7]
    assert partition.range_bounds([0.5, 0.5], 0) == [0, 0, 0]
    u, v = np.triu_indices(100, 1)
    edges = topology.edges_once(Graph.from_edges(u, v, n_vertices=200))
    labels = np.r_[np.full(50, -1), np.zeros(50), np.full(100, -1)].astype(np.int32)
    dense, rest = partition.by_clusters(edges, Clusters(labels=labels, count=1))
    first = slots_of(dense)[0]
    assert dense.first == first // partition.RANGE_STEP * partition.RANGE_STEP > 0
    assert (dense.last, rest.first) == (edges.n_input, 0)


def test_consecutive_slots_take_no_memory() -> None:
    """Where edges are in the caller's order a part is a piece of it; few vertices, few numbers."""
    path = np.arange(1000)
    edges = topology.edges_once(Graph.from_edges(path, path + 1))
    first, second = partition.by_ranges(edges, [0, 700, 1000])
    assert first.slots is None
    assert second.first_slot == 700
    assert second.graph.edge_ids is None
    assert (first.graph.n_vertices, second.graph.n_vertices) == (701, 301)
