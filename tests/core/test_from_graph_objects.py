"""Graphs of igraph and rustworkx, which are found by what they have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.runtime.device import Device
from tests.misuse.look_alikes import LooksLikeIgraph, LooksLikeRustworkx

EDGES = [(0, 1), (0, 2), (1, 2), (1, 2), (2, 3)]
WEIGHTS = [2.0, 3.0, 4.0, 1.0, 1.0]


def an_igraph(**attributes: Any) -> Any:
    igraph = pytest.importorskip("igraph")
    return igraph.Graph(n=5, edges=EDGES, edge_attrs=attributes or {"weight": WEIGHTS})


def a_rustworkx(weights: list[Any] | None = None) -> Any:
    rustworkx = pytest.importorskip("rustworkx")
    G = rustworkx.PyGraph()
    G.add_nodes_from("abcde")
    G.add_edges_from([(u, v, w) for (u, v), w in zip(EDGES, weights or WEIGHTS, strict=True)])
    return G


def looks_like_igraph(weights: list[Any], names: list[str] | None = None) -> Any:
    """Return a stand-in for an igraph.Graph, so that reading is tested without igraph."""
    return LooksLikeIgraph(EDGES, weights, names=names, n=5)


def looks_like_rustworkx(data: list[Any]) -> Any:
    """Return a stand-in for a rustworkx.PyGraph from which one node and two edges were removed."""
    return LooksLikeRustworkx(
        [(1, 2), (1, 2), (2, 4)], data, nodes=[0, 1, 2, 4], edge_indices=[2, 3, 4]
    )


@pytest.mark.parametrize(
    ("weights", "dtype"),
    [
        ([2.5, 0.5, 1.0], "f8"), ([3, 1, 2], "i8"), ([True, False, True], "?"),
        ([3, 0.5, True], "f8"),
        (np.array([3, 1, 2], np.float32).tolist(), "f8"), (list(np.array([3, 1, 2], "f4")), "f4"),
        (list(np.array([3, 1, 2], "u1")), "u1"), ([np.float32(3), 1, 2.0], "f8"),
    ],
)  # fmt: skip
def test_weights_are_read_with_their_dtype(weights: list[Any], dtype: str) -> None:
    """Numbers of one type are read at once, mixed ones one by one, and both exactly."""
    edges = [(0, 1), (0, 1), (1, 2)]
    for G in (LooksLikeIgraph(edges, weights, n=3), looks_like_rustworkx(weights)):
        forest = clmst.kruskal(G)
        assert forest.weights.dtype == dtype
        assert forest.weights.tolist() == [weights[1], weights[2]]
        assert forest.edge_ids.tolist() == ([1, 2] if G.__class__ is LooksLikeIgraph else [3, 4])


@pytest.mark.parametrize("wrong", [float("nan"), None, "7", 1j, 2**70, [2**53 + 1, 0.5]])
def test_weights_that_no_dtype_holds_are_refused(wrong: Any) -> None:
    weights = [1.5, *wrong] if isinstance(wrong, list) else [1.5, 2.5, wrong]
    for G in (LooksLikeIgraph([(0, 1)] * 3, weights, n=3), looks_like_rustworkx(weights)):
        with pytest.raises(InvalidGraphError, match="weight"):
            clmst.kruskal(G)


def test_edges_that_are_no_pairs_are_refused() -> None:
    with pytest.raises(InvalidGraphError, match="an edge that is not a pair of vertices"):
        Graph.from_igraph(LooksLikeIgraph([(0, 1, 2), (0,)], [1.0, 2.0], n=3))


def test_the_shape_of_an_igraph_is_enough() -> None:
    G = looks_like_igraph(WEIGHTS, names=list("abcde"))
    forest = clmst.kruskal(G)
    assert forest.edge_ids.tolist() == [0, 3, 4]
    assert forest.total_weight == 4.0
    assert forest.vertex_labels == ("a", "b", "c", "d", "e")
    assert forest.verify(G)


def test_a_weight_that_is_no_number_is_named_by_its_vertices() -> None:
    for wrong in (None, "7", float("nan"), 1j):
        G = looks_like_igraph([2.0, wrong, 4.0, 1.0, 1.0], names=list("abcde"))
        with pytest.raises(InvalidGraphError, match=r"the weight of edge 1 \('a', 'c'\) is"):
            Graph.from_igraph(G)


def test_igraph_2628_networkit_1344_ids_of_the_edges_chosen(any_device: Device) -> None:
    """A forest says which of the caller's edges it took, parallel ones told apart."""
    G = an_igraph()
    forest = clmst.minimum_spanning_forest(G, device=any_device)
    assert forest.edge_ids.tolist() == [0, 3, 4]
    assert sum(G.es[k]["weight"] for k in forest.edge_ids.tolist()) == forest.total_weight == 4.0
    assert forest.total_weight == sum(G.spanning_tree(weights="weight").es["weight"])
    assert forest.verify(G)


def test_igraph_names_and_attributes() -> None:
    G = an_igraph(length=[5, 4, 3, 2, 1])
    assert Graph.from_igraph(G).weights.tolist() == [1] * 5
    assert sorted(Graph.from_igraph(G, weight="length").weights.tolist()) == [1, 2, 3, 4, 5]
    with pytest.raises(InvalidGraphError, match="no edge has the attribute 'cost'; there are len"):
        Graph.from_igraph(G, weight="cost")
    G.vs["name"] = ["a", "b", "c", "d", "e"]
    assert Graph.from_igraph(G, weight=None).vertex_labels == ("a", "b", "c", "d", "e")
    with pytest.raises(InvalidGraphError, match="igraph graph is directed"):
        clmst.kruskal(G.as_directed())


def test_rustworkx_edges_keep_their_indices(any_device: Device) -> None:
    """Nodes and edges that were removed leave gaps in the numbers, which results have too."""
    G = a_rustworkx()
    forest = clmst.minimum_spanning_forest(G, device=any_device)
    assert forest.edge_ids.tolist() == [0, 3, 4]
    G.remove_node(0)
    forest = clmst.minimum_spanning_forest(G, device=any_device)
    assert forest.edge_ids.tolist() == [3, 4]
    assert forest.vertex_labels == (1, 2, 3, 4)
    assert [G.get_edge_data_by_index(k) for k in forest.edge_ids.tolist()] == [1.0, 1.0]
    assert forest.verify(G)


def test_rustworkx_data_of_edges() -> None:
    assert Graph.from_rustworkx(a_rustworkx([None] * 5)).weights.tolist() == [1] * 5
    G = a_rustworkx([{"cost": k} for k in range(5)])
    with pytest.raises(InvalidGraphError, match=r"the weight of edge 0 \(0, 1\) is \{'cost': 0\}"):
        clmst.kruskal(G)
    weights = Graph.from_rustworkx(G, weight_fn=lambda data: data["cost"]).weights
    assert sorted(weights.tolist()) == [0, 1, 2, 3, 4]
    with pytest.raises(KeyError):
        Graph.from_rustworkx(G, weight_fn=lambda data: data["price"])
    with pytest.raises(InvalidArgumentError, match="weight_fn is 'cost'; it must be callable"):
        Graph.from_rustworkx(G, weight_fn="cost")  # type: ignore[arg-type]
    rustworkx = pytest.importorskip("rustworkx")
    with pytest.raises(InvalidGraphError, match="rustworkx graph is directed"):
        clmst.kruskal(G.to_directed())
    assert clmst.kruskal(rustworkx.PyGraph()).n_vertices == 0


@pytest.mark.parametrize("method", ["from_igraph", "from_rustworkx"])
def test_other_objects_are_refused(method: str) -> None:
    with pytest.raises(InvalidGraphError, match=f"{method} was given ndarray; it takes"):
        getattr(Graph, method)(np.zeros((2, 2)))


def test_an_object_that_only_looks_like_one_is_an_error_of_clmst() -> None:
    G = looks_like_igraph(WEIGHTS[:3])
    with pytest.raises(InvalidGraphError):
        Graph.from_igraph(G)
    broken = looks_like_igraph(WEIGHTS)
    broken.vcount = lambda: 1 // 0
    with pytest.raises(InvalidGraphError, match="cannot be read"):
        clmst.kruskal(broken)
