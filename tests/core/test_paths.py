"""Parents and paths of forests, and the greatest edges on paths."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clmst
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.paths import Hierarchy
from tests.helpers.strategies import EdgeArrays, edge_arrays


@given(raw=edge_arrays(min_vertices=1), draw=st.data())
def test_paths_and_parents_are_those_of_networkx(raw: EdgeArrays, draw: st.DataObject) -> None:
    """The one path of a tree, nothing between trees; a parent is one edge nearer to the root."""
    forest = clmst.kruskal(raw.graph())
    tree = forest.to_networkx()
    vertices = st.integers(0, raw.n - 1)
    u, v = draw.draw(vertices), draw.draw(vertices)
    expected = nx.shortest_path(tree, u, v) if nx.has_path(tree, u, v) else []
    assert forest.path(u, v) == expected
    assert forest.path(v, u) == expected[::-1]
    roots = {min(members): members for members in nx.connected_components(tree)}
    parents = [-1] * raw.n
    for root in roots:
        for parent, child in nx.bfs_edges(tree, root):
            parents[child] = parent
    assert forest.parents().tolist() == parents


def test_a_long_path_needs_no_recursion() -> None:
    n = 50_000
    forest = clmst.kruskal(Graph.from_edges(np.arange(n - 1), np.arange(1, n)))
    assert forest.path(n - 1, 0) == list(range(n))[::-1]
    assert forest.parents()[1:].tolist() == list(range(n - 1))
    forest.parents()[:] = 7  # a copy
    assert forest.parents()[0] == -1


def test_vertices_are_named_as_the_caller_does() -> None:
    G = nx.Graph()
    G.add_weighted_edges_from([("a", "b", 1), ("b", "c", 2), ("a", "c", 3), ("d", "e", 1)])
    forest = clmst.kruskal(G)
    assert forest.path("a", "c") == ["a", "b", "c"]
    assert forest.path("a", "a") == ["a"]
    assert forest.path("a", "e") == []
    again = pickle.loads(pickle.dumps(forest))
    assert again == forest
    assert again.path("c", "a") == ["c", "b", "a"]
    strangers: tuple[object, ...] = ("z", 0, [], {})
    for stranger in strangers:
        with pytest.raises(InvalidArgumentError, match=r"u is .*one of the vertex_labels"):
            forest.path(stranger, "a")
    for number, wrong in product((3, -1), ("u", "v")):
        with pytest.raises(InvalidArgumentError, match=f"{wrong} is {number}"):
            clmst.kruskal(np.ones((3, 3))).path(**{"u": 0, "v": 1, wrong: number})


# ------------------------------------------------------------------------------ equality


def test_equal_forests_are_equal_wherever_they_come_from(any_device: object) -> None:
    """Devices and the oracle number in other integer types, which does not count."""
    graph = clmst.generate("road", n=200, seed=3)
    one, other = clmst.kruskal(graph), clmst.minimum_spanning_forest(graph, device=any_device)
    assert one.stats != other.stats
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other}) == 1
    assert one != clmst.kruskal(graph, maximum=True)
    assert one != 5


def test_whatever_differs_makes_forests_unequal() -> None:
    def forest(**changes: Any) -> Forest:
        given: dict[str, Any] = {
            "n_vertices": 3,
            "edges": np.array([[0, 1], [1, 2]]),
            "weights": np.array([1, 2]),
            "edge_ids": np.array([0, 1]),
            "vertex_labels": ["a", "b", (1, 2)],
        }
        return Forest(**{**given, **changes})

    assert forest() == forest(stats={"rounds": 3}, vertex_labels=["a", "b", [1, 2]])
    for changes in (
        {"n_vertices": 4, "vertex_labels": None},
        {"edges": np.array([[0, 1], [0, 2]])},
        {"weights": np.array([1, 3])},
        {"weights": np.array([1.0, 2.0])},
        {"edge_ids": np.array([0, 2])},
        {"maximum": True},
        {"vertex_labels": None},
        {"vertex_labels": ["a", "b", "c"]},
    ):
        assert forest() != forest(**changes)


def test_a_forest_on_a_device_is_shown_in_one_line(any_device: object) -> None:
    found = clmst.minimum_spanning_forest(
        clmst.generate("road", n=200, seed=3), device=any_device, keep_on_device=True
    )
    assert repr(found).startswith(
        f"DeviceForest(minimum, n_vertices={found.graph.n_vertices}, n_edges={found.n_edges}, "
    )
    assert len(repr(found)) < 200


def test_scipy_18494_raft_2706_networkit_1068_the_same_tree_and_which_it_is(
    any_device: object,
) -> None:
    """Equal weights have one answer, however often it is asked for; it says which tree it is."""
    graph = clmst.Graph.from_edges([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3], [5, 5, 5, 5, 5, 5])
    for solve in (clmst.minimum_spanning_forest, clmst.maximum_spanning_forest):
        found = {solve(graph, device=any_device) for _ in range(5)}
        assert len(found) == 1
        (one,) = found
        assert one.edge_ids.tolist() == [0, 1, 2]
        assert one.maximum == (solve is clmst.maximum_spanning_forest)
        assert ("maximum" if one.maximum else "minimum") in repr(one)


@pytest.mark.parametrize("n", [1, 2, 3, 40, 300])
def test_every_pair_of_random_trees(n: int) -> None:
    rng = np.random.default_rng(n)
    tree = nx.random_labeled_tree(n, seed=n)
    edges = rng.permutation(np.array(tree.edges, np.int64).reshape(-1, 2))
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
