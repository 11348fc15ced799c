"""Dense parts: half of all pairs, whatever joins them, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst.core import clusters, topology
from clmst.core.graph import Graph
from tests.helpers.cores import peel

Array = Any


def planted(
    sizes: tuple[int, ...], density: float, between: int = 300
) -> tuple[Graph, list[Array]]:
    """Return a graph with parts of a density, edges anywhere, and the vertices of each part."""
    rng, n = np.random.default_rng(4), sum(sizes) + 60
    ends, begin, names = [rng.integers(0, n, (2, 300))], 0, rng.permutation(n)
    for size in sizes:
        pairs = np.stack(np.triu_indices(size, 1))
        ends.append(pairs[:, rng.random(pairs.shape[1]) < density] + begin)
        begin += size
    u, v = names[np.concatenate(ends, axis=1)]
    edges = topology.edges_once(Graph.from_edges(u, v, n_vertices=n))
    return edges, np.split(names[: sum(sizes)], np.cumsum(sizes)[:-1])


@pytest.mark.parametrize("density", [0.6, 0.8, 1.0])
def test_dense_parts_that_edges_join(density: float) -> None:
    """Hundreds of edges between them leave them apart; each vertex is in at most one."""
    edges, parts = planted((120, 90, 60), density)
    found = clusters.dense_parts(edges, peel(edges), least=50, most=1000)
    assert found.count == 3
    labels = [set(found.labels[part].tolist()) for part in parts]
    assert sorted(labels, key=min) == [{0}, {1}, {2}]
    assert np.count_nonzero(found.labels >= 0) == 270


@pytest.mark.parametrize(
    ("density", "least", "most"), [(0.4, 50, 1000), (0.8, 121, 1000), (0.8, 50, 59)]
)
def test_what_is_no_dense_part(density: float, least: int, most: int) -> None:
    """Less than half of all pairs, too few vertices, or more than a matrix may have."""
    edges, _ = planted((120, 90, 60), density)
    found = clusters.dense_parts(edges, peel(edges), least=least, most=most)
    assert found.count == 0
    assert (found.labels == -1).all()


def test_graphs_without_edges() -> None:
    for n in (0, 5):
        edges = topology.edges_once(Graph.from_edges([], [], n_vertices=n))
        assert clusters.dense_parts(edges, peel(edges), least=1, most=9).labels.tolist() == [-1] * n
