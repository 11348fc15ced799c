"""Dense parts of cores: components, whose edges are counted, at every threshold."""

from __future__ import annotations

import hypothesis.strategies as st
import networkx as nx
import numpy as np
from hypothesis import given

from clmst.core import clusters, topology
from clmst.core.graph import Graph
from tests.cores import peel
from tests.strategies import edge_arrays


@given(data=st.data())
def test_every_threshold_has_its_components(data: st.DataObject) -> None:
    """Of the vertices with that core number, numbered by their least ones, as NetworkX has them."""
    edges = topology.edges_once(data.draw(edge_arrays()).graph())
    cores = peel(edges)
    thresholds = sorted(data.draw(st.sets(st.integers(1, 6), min_size=1)))
    every = clusters.of_cores(edges, cores, thresholds)
    for least, found in zip(thresholds, every, strict=True):
        pairs = zip(edges.rows.tolist(), edges.indices.tolist(), strict=True)
        inside = [(u, v) for u, v in pairs if min(cores[u], cores[v]) >= least]
        graph = nx.MultiGraph(inside)
        graph.add_nodes_from(np.flatnonzero(cores >= least).tolist())
        expected = sorted(map(sorted, nx.connected_components(graph)))
        assert [np.flatnonzero(found.labels == k).tolist() for k in range(found.sizes.size)] == (
            expected
        )
        assert found.sizes.tolist() == [len(one) for one in expected]
        assert found.edges.tolist() == [graph.subgraph(one).number_of_edges() for one in expected]
        assert np.count_nonzero(found.labels < 0) == np.count_nonzero(cores < least)


def test_dense_parts_that_edges_join() -> None:
    """Hundreds of edges between two dense parts leave them two; they count in neither."""
    rng = np.random.default_rng(4)
    u, v = np.triu_indices(120, 1)
    kept = rng.random(u.size) < 0.6
    u, v = u[kept], v[kept]
    a, b = rng.integers(0, 120, (2, 300))
    ends = np.concatenate([u, u + 120, a]), np.concatenate([v, v + 120, b + 120])
    names = rng.permutation(300)
    edges = topology.edges_once(Graph.from_edges(names[ends[0]], names[ends[1]], n_vertices=300))
    first, second = clusters.of_cores(edges, peel(edges), [3, 40])
    assert first.sizes.tolist() == [240]
    assert second.sizes.tolist() == [120, 120]
    assert second.edges.tolist() == [u.size, u.size]
    assert set(second.labels[names[:120]]) ^ set(second.labels[names[120:240]]) == {0, 1}
    assert (second.labels[names[240:]] == -1).all()
