"""Path maxima: what is found must be what a walk along the path finds."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from clmst.core.path_maxima import Hierarchy, components


def test_components_of_pairs() -> None:
    count, labels = components(5, np.array([0, 3]), np.array([2, 4]))
    assert count == 3
    assert labels.tolist() == [0, 1, 0, 2, 2]


@pytest.mark.parametrize("n", [2, 3, 40, 300])
def test_every_pair_of_random_trees(n: int) -> None:
    rng = np.random.default_rng(n)
    tree = nx.random_labeled_tree(n, seed=n)
    edges = rng.permutation(np.array(tree.edges))
    for rank, (u, v) in enumerate(edges.tolist()):
        tree[u][v]["rank"] = rank
    hierarchy = Hierarchy(n, edges[:, 0].copy(), edges[:, 1].copy())
    x, y = rng.integers(0, n, (2, 200))
    x, y = x[x != y], y[x != y]
    expected = [
        max(tree[a][b]["rank"] for a, b in nx.utils.pairwise(nx.shortest_path(tree, s, t)))
        for s, t in zip(x.tolist(), y.tolist(), strict=True)
    ]
    assert hierarchy.last_ranks(x, y).tolist() == expected
    # The bound by which most edges are settled is never too low.
    assert (np.maximum(hierarchy.reaches[x], hierarchy.reaches[y]) >= expected).all()


def test_no_edges() -> None:
    hierarchy = Hierarchy(3, np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert hierarchy.reaches.tolist() == [-1, -1, -1]
