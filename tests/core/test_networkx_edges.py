"""NetworkX graphs listed all at once: edge by edge what NetworkX itself lists."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest

from clmst.core.networkx_graphs import (
    attribute_values,
    exact_array,
    list_edges,
    list_slots,
    stores_its_edges,
)

NAMES: dict[str, Any] = {
    "in order": range(20),
    "reversed": range(19, -1, -1),
    "small": range(3, 63, 3),
    "large": range(10**18, 10**18 + 20),
    "negative": range(-5, 15),
    "floats": [float(k) for k in range(20)],
    "mixed": [("a", k) if k % 2 else f"b{k}" for k in range(20)],
}


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_edges_in_their_order(names: Any, kind: Any) -> None:
    """Integers are looked up in a table if they are small, other names in a dictionary."""
    G = kind(nx.gnm_random_graph(20, 60, seed=1))
    G.add_edge(3, 3, weight=0)
    if G.is_multigraph():
        G.add_edges_from([(4, 5, "b"), (5, 4, "a")])
    G = nx.relabel_nodes(G, dict(enumerate(names)))
    edges = list_edges(G)
    ends = [(edges.labels[u], edges.labels[v]) for u, v in zip(edges.u, edges.v, strict=True)]
    assert edges.labels == list(G)
    assert ends == [(u, v) for u, v, *_ in G.edges]
    assert all(x is y for x, (*_, y) in zip(edges.data, G.edges(data=True), strict=True))
    assert edges.keys == ([k for _, _, k in G.edges] if G.is_multigraph() else None)


def test_a_view_is_read_like_a_graph() -> None:
    G = nx.gnm_random_graph(20, 60, seed=1).subgraph(range(0, 20, 3))
    edges = list_edges(G)
    assert [(edges.labels[u], edges.labels[v]) for u, v in zip(edges.u, edges.v, strict=True)] == (
        list(G.edges)
    )


def test_an_arc_has_one_slot() -> None:
    labels, u, v = list_slots(nx.DiGraph([("a", "b"), ("b", "a"), ("c", "a")]))
    assert [(labels[i], labels[j]) for i, j in zip(u, v, strict=True)] == [
        ("a", "b"), ("b", "a"), ("c", "a"),
    ]  # fmt: skip


def test_attributes_that_are_missing_are_1() -> None:
    G = nx.Graph([(0, 1, {"weight": 5}), (1, 2)])
    assert attribute_values(list_edges(G), "weight")[0] == [5, 1]
    assert attribute_values(list_edges(G), None)[0] == [1, 1]


@pytest.mark.parametrize("last", [7, 7.5, 2**60, 2**70, True, np.int8(7), math.nan])
def test_attributes_of_more_than_one_block(last: Any) -> None:
    """Blocks of one dtype are put together; else all numbers are looked at together."""
    G = nx.path_graph(3001)
    for k, (_, _, data) in enumerate(G.edges(data=True)):
        data["weight"] = k if k < 2990 else last
    edges = list_edges(G)
    expected = [data["weight"] for *_, data in G.edges(data=True)]
    for _ in range(2):  # from the rows, then from what was kept
        values, array = attribute_values(edges, "weight")
        assert all(x is y for x, y in zip(values, expected, strict=True))
        whole = exact_array(expected)
        assert (array is None) == (whole is None)
        if array is not None and whole is not None:
            assert array.dtype == whole.dtype
            np.testing.assert_array_equal(array, whole)
    assert all(x is y for x, (*_, y) in zip(edges.data, G.edges(data=True), strict=True))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([True, False], np.bool_),
        ([True, 3, -(2**63)], np.int64),
        ([1, 0.5, 2**53, math.nan], np.float64),
        ([np.float32(0.1), np.float32(2)], np.float32),
        ([], np.int64),
    ],
)
def test_arrays_hold_numbers_exactly(values: list[Any], dtype: Any) -> None:
    array = exact_array(values)
    assert array is not None
    assert array.dtype == dtype
    np.testing.assert_array_equal(array, np.array(values, dtype))


@pytest.mark.parametrize(
    "values", [[2**63], [2**53 + 1, 0.5], [10**400, 0.5], ["1", "2"], [1, np.int8(1)], [1, None]]
)
def test_what_no_array_holds_exactly(values: list[Any]) -> None:
    assert exact_array(values) is None


def test_only_graphs_of_networkx_store_their_edges() -> None:
    assert stores_its_edges(nx.MultiDiGraph())
    assert stores_its_edges(nx.path_graph(3).subgraph([0, 1]))
    assert not stores_its_edges(object())
