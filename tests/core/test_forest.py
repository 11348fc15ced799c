"""Attributes of forests, and their conversion for other libraries."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst.core.errors import InvalidArgumentError, InvalidForestError
from clmst.core.forest import Forest, exact_sum
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from tests.helpers.strategies import WEIGHT_DTYPES, graphs, special_weights, weight_arrays

INF = math.inf


def forest(n: int, edges: list[tuple[int, int]], weights: Any, **more: Any) -> Forest:
    return Forest(
        n_vertices=n,
        edges=np.array(edges, np.int32).reshape(-1, 2),
        weights=np.asarray(weights),
        edge_ids=np.arange(len(edges)),
        **more,
    )


# --------------------------------------------------------------------- totals


@pytest.mark.parametrize("dtype", WEIGHT_DTYPES, ids=str)
@given(data=st.data())
def test_sums_are_exact_or_correctly_rounded(dtype: np.dtype[Any], data: st.DataObject) -> None:
    """NumPy's own sum of the greatest integers wraps round without a word."""
    for weights in (np.repeat(special_weights(dtype), 7), data.draw(weight_arrays(30, [dtype]))):
        finite = weights[np.isfinite(weights)]
        exact = sum(map(Fraction, finite.tolist()), Fraction(0))
        try:
            expected = exact if dtype.kind != "f" else float(exact)
        except OverflowError:
            expected = INF if exact > 0 else -INF
        total = exact_sum(finite)
        assert total == expected
        assert type(total) is (float if dtype.kind == "f" else int)


@pytest.mark.parametrize(
    ("weights", "dtype", "total"),
    [
        ([], "f8", 0.0),
        ([0.1] * 10, "f8", 1.0),  # 0.9999999999999999 when added up one by one
        ([1e100, 1.0, -1e100], "f8", 1.0),
        ([1e308, 1e308, -1e308], "f8", 1e308),  # a partial sum overflows, the sum does not
        ([1.7e308, 1.7e308], "f8", INF),
        ([-1.7e308, -1.7e308], "f8", -INF),
        ([1.0, INF], "f8", INF),
        ([1e308, 1e308, -INF], "f8", -INF),  # an overflow on the way must not meet the infinity
        ([INF, 1.0, -INF], "f2", math.nan),
        ([1.0] * 3000, "f2", 3000.0),
        ([3e38] * 10, "f4", 10 * float(np.float32(3e38))),
    ],
)
def test_float_sums_of_extremes(weights: list[float], dtype: str, total: float) -> None:
    np.testing.assert_equal(exact_sum(np.array(weights, dtype)), total)


# ------------------------------------------------------------------ attributes


def test_counts_total_and_repr() -> None:
    f = forest(5, [(0, 1), (1, 4)], np.array([2, -7], np.int8))
    assert (f.n_edges, f.n_components, f.total_weight) == (2, 3, -5)
    assert repr(f) == ("Forest(minimum, n_vertices=5, n_edges=2, n_components=3, total_weight=-5)")
    assert repr(forest(1, [], [], maximum=True)).startswith("Forest(maximum, n_vertices=1")


@given(graphs(max_edges=20))
def test_labels_number_the_components_by_least_vertex(graph: Graph) -> None:
    labels = kruskal(graph).labels
    G = nx.empty_graph(graph.n_vertices)
    G.add_edges_from(zip(*(x.tolist() for x in graph.edges()[:2]), strict=True))
    expected = np.zeros(graph.n_vertices, np.int32)
    for k, component in enumerate(sorted(nx.connected_components(G), key=min)):
        expected[list(component)] = k
    assert labels.tolist() == expected.tolist()
    assert kruskal(graph).n_components == nx.number_connected_components(G)


# ----------------------------------------------------------------- conversions


@given(graphs())
def test_to_scipy_stores_each_edge_once_with_its_weight(graph: Graph) -> None:
    """Zeros stay explicit: an edge of weight zero is an edge."""
    f = kruskal(graph)
    A = f.to_scipy()
    assert A.has_sorted_indices
    assert A.dtype == (np.float32 if f.weights.dtype == np.float16 else f.weights.dtype)
    coo = A.tocoo()
    np.testing.assert_array_equal(np.column_stack(coo.coords), f.edges)
    np.testing.assert_array_equal(coo.data, f.weights)


@given(st.integers(-(2**63), 2**63 - 1))
def test_weights_of_other_libraries_are_exact(weight: int) -> None:
    f = forest(4, [(0, 3), (1, 2)], np.array([0, weight]))
    tree = f.to_networkx()
    assert [type(w) for *_, w in tree.edges(data="weight")] == [int, int]
    assert [w for *_, w in tree.edges(data="weight")] == [0, weight]
    assert Graph.from_scipy(f.to_scipy()).edges()[2].tolist() == [0, weight]


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (np.array([7, 8, 9]), [7, 8, 9]),
        (np.array(["a", "b", "c"]), ["a", "b", "c"]),
        (np.array([[0, 0], [0, 1], [1, 0]]), [(0, 0), (0, 1), (1, 0)]),
        ([[0, [1]], [2], []], [(0, (1,)), (2,), ()]),
        (range(5, 8), [5, 6, 7]),
    ],
)
def test_labels_become_names_of_networkx(labels: Any, names: list[Any]) -> None:
    """Arrays and lists are not hashable; tuples are."""
    graph = Graph.from_edges([0, 0, 1], [1, 2, 2], [1, 2, 3]).replace(vertex_labels=labels)
    tree = kruskal(graph).to_networkx()
    assert list(tree.nodes) == names
    assert set(map(frozenset, tree.edges)) == {
        frozenset((names[0], names[1])),
        frozenset((names[0], names[2])),
    }


@pytest.mark.parametrize(
    ("labels", "rule"),
    [([{}, 1, 2], "is not hashable"), ([1, 1, 2], "3 vertices have 2 different labels")],
)
def test_labels_that_networkx_cannot_have(labels: Any, rule: str) -> None:
    graph = Graph.from_edges([0, 0, 1], [1, 2, 2], [1, 2, 3]).replace(vertex_labels=labels)
    with pytest.raises(InvalidArgumentError, match=rule):
        kruskal(graph).to_networkx()


@pytest.mark.parametrize(
    "changes",
    [
        {"edges": np.array([[0, 1]])},
        {"edges": np.array([[0, 1], [0, 3]])},
        {"edges": np.array([[0, 1], [0, -1]])},
        {"edges": np.array([[0.0, 1.0], [0.0, 2.0]])},
        {"weights": np.ones((2, 1))},
    ],
)
def test_arrays_of_no_forest(changes: dict[str, Any]) -> None:
    """Only verify takes whatever there is."""
    forest = kruskal(Graph.from_edges([0, 0, 1], [1, 2, 2], [1, 2, 3]))
    fields = {name: getattr(forest, name) for name in forest.__dataclass_fields__}
    wrong = Forest(**(fields | changes))
    for use in (wrong.to_scipy, wrong.to_networkx, lambda: wrong.labels):
        with pytest.raises(InvalidForestError):
            use()


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_to_networkx_keeps_attributes(kind: Any) -> None:
    """Attributes of graph, nodes and edges are kept.

    Of parallel edges, the chosen edge's are kept.
    """
    G = kind(name="towns")
    G.add_node("b", size=7)
    G.add_edges_from(
        [
            ("b", "a", {"cost": 3.0, "road": "A1"}),
            ("a", "c", {"cost": 1, "road": "A2"}),
            ("c", "b", {"cost": np.float32(2), "road": "A3", "weight": "none"}),
            ("d", "d", {"cost": 0}),
            ("d", "b", {"road": "A4"}),  # whose weight is 1
        ]
    )
    if kind is nx.MultiGraph:
        G.add_edge("a", "c", cost=0.5, road="A5")
        G.add_edge("a", "c", cost=0.75, road="A6")
    tree = kruskal(Graph.from_networkx(G, weight="cost")).to_networkx()
    assert type(tree) is nx.Graph
    assert tree.graph == {"name": "towns"}
    assert tree.nodes["b"] == {"size": 7}
    expected = nx.minimum_spanning_tree(G, weight="cost")
    given = {frozenset(one[:2]): one[-1] for one in expected.edges(data=True)}
    given[frozenset("db")]["cost"] = 1
    assert {frozenset((a, b)): data for a, b, data in tree.edges(data=True)} == given
    assert type(tree["b"]["c"]["cost"]) is np.float32
    tree["b"]["c"]["road"] = tree.nodes["b"]["size"] = "changed"
    assert "changed" not in [*nx.get_edge_attributes(G, "road").values(), G.nodes["b"]["size"]]


def test_to_networkx_puts_weights_where_it_is_told() -> None:
    G = nx.Graph([(0, 1, {"cost": 3})])
    found = kruskal(Graph.from_networkx(G, weight="cost"))
    assert found.to_networkx("w").edges[0, 1] == {"cost": 3, "w": 3}
    ones = kruskal(Graph.from_networkx(G, weight=None))
    assert ones.to_networkx().edges[0, 1] == {"cost": 3}
    assert ones.to_networkx("w").edges[0, 1] == {"cost": 3, "w": 1}


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_to_networkx_of_a_graph_that_has_changed(kind: Any) -> None:
    """Attributes are the graph's present ones; nodes and edges must be there still."""
    G = kind([(0, 1), (1, 2)])
    found = kruskal(Graph.from_networkx(G))
    G.nodes[0]["late"] = True
    assert found.to_networkx().nodes[0] == {"late": True}
    without = pickle.loads(pickle.dumps(found))
    assert without == found
    assert without.to_networkx().edges[0, 1] == {"weight": 1}
    assert without.to_networkx().nodes[0] == {}
    G.remove_edge(1, 2)
    with pytest.raises(InvalidArgumentError, match=r"the NetworkX graph has no \(1, 2\) any more"):
        found.to_networkx()
    G.remove_node(2)
    with pytest.raises(InvalidArgumentError, match="the NetworkX graph has no 2 any more"):
        found.to_networkx()
