"""Verification: it must pass the one right forest and name what is wrong with any other."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clmst.core.errors import InvalidForestError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.core.verification import Verification
from clmst.core.verify import verify
from tests.helpers.strategies import WEIGHT_DTYPES, graphs

# A square 0-1-2-3 with a diagonal 0-2, a pendant 4, and an isolated vertex 5.
SQUARE = Graph.from_edges(
    [3, 0, 1, 2, 0, 2, 4], [0, 1, 2, 3, 2, 4, 4], [4, 1, 2, 3, 9, 5, 0], n_vertices=6
)


def forest_of(graph: Graph, ids: list[int], *, maximum: bool = False) -> Forest:
    """Return the edges with these ids as a forest, in canonical order."""
    u, v, w, all_ids = graph.edges()
    chosen = np.flatnonzero(np.isin(all_ids, ids))
    return Forest(
        n_vertices=graph.n_vertices,
        edges=np.column_stack((u, v))[chosen].astype(np.int32),
        weights=w[chosen],
        edge_ids=all_ids[chosen],
        maximum=maximum,
    )


def only_problem(graph: Graph, forest: Forest) -> str:
    result = verify(graph, forest)
    assert not result
    assert not result.ok
    assert (result.n_problems, len(result.problems)) == (1, 1)
    return result.problems[0]


# ------------------------------------------------------------- right or wrong


@pytest.mark.parametrize("maximum", [False, True])
@given(graphs(max_vertices=60, max_edges=200))
def test_the_forest_of_the_oracle_passes(maximum: bool, graph: Graph) -> None:
    result = verify(graph, kruskal(graph, maximum=maximum))
    assert result == Verification(problems=(), n_problems=0)
    assert result
    result.raise_if_invalid()


@pytest.mark.parametrize("maximum", [False, True])
@given(graphs(max_vertices=8, max_edges=14), st.integers(0, 2**32 - 1))
def test_of_all_spanning_forests_only_one_passes(maximum: bool, graph: Graph, seed: int) -> None:
    """The heart of it: any spanning forest at all, right in every other respect."""
    order = np.random.default_rng(seed).permutation(graph.n_slots).astype(float)
    ids = kruskal(Graph.from_csr(graph.indptr, graph.indices, order)).edges
    # Of parallel edges any may stand in for the pair, so ties between them are covered too.
    u, v, _, all_ids = graph.edges()
    picked = []
    for a, b in ids.tolist():
        candidates = all_ids[(u == a) & (v == b)]
        picked.append(int(candidates[seed % candidates.size]))
    forest = forest_of(graph, picked, maximum=maximum)
    right = kruskal(graph, maximum=maximum)
    result = verify(graph, forest)
    assert result.ok == (forest.edge_ids.tolist() == right.edge_ids.tolist())
    if not result.ok:
        same_weights = np.array_equal(np.sort(forest.weights), np.sort(right.weights))
        assert ("where weights tie" in result.problems[0]) == same_weights


@settings(max_examples=20)
@given(graphs(min_vertices=500, max_vertices=3000, max_edges=9000), st.booleans())
def test_one_wrong_exchange_in_a_large_forest_is_found(graph: Graph, maximum: bool) -> None:
    """Deep hierarchies: an edge left out stands in for one on its path, and is always to blame."""
    forest = kruskal(graph, maximum=maximum)
    assert verify(graph, forest)
    u, v, _, ids = graph.edges()
    others = np.flatnonzero(~np.isin(ids, forest.edge_ids))
    assume(others.size)
    other = int(others[others.size // 2])
    at = first_on_path(forest, int(u[other]), int(v[other]))
    kept = np.append(np.delete(forest.edge_ids, at), ids[other])
    result = verify(graph, forest_of(graph, kept.tolist(), maximum=maximum))
    assert not result
    intruder = f"than edge id {ids[other]} (", f"left out for edge id {ids[other]} ("
    assert all(any(name in problem for name in intruder) for problem in result.problems)


def first_on_path(forest: Forest, start: int, end: int) -> int:
    """Return the position in `forest` of the first edge on the way from `start` to `end`."""
    first, second = nx.shortest_path(forest.to_networkx(), start, end)[:2]
    pair = [min(first, second), max(first, second)]
    return int(np.flatnonzero((forest.edges == pair).all(axis=1))[0])


@pytest.mark.parametrize("weights", ["rising", "falling", "equal"])
@pytest.mark.parametrize("shape", ["path", "star"])
def test_long_paths_and_stars(weights: str, shape: str) -> None:
    """One edge from end to end of a chain that Borůvka hooks in one round, or of a star."""
    n = 3000
    u = np.zeros(n - 1, np.int64) if shape == "star" else np.arange(n - 1)
    rising = np.arange(n - 1)
    tree = {"rising": rising, "falling": rising[::-1], "equal": np.full(n - 1, 5)}[weights]
    for closing in (tree.max() - 1, tree.max(), tree.max() + 1):
        graph = Graph.from_edges(
            np.append(u, n - 2 if shape == "star" else 0),
            np.append(np.arange(1, n), n - 1),
            np.append(tree, closing),
        )
        is_right = kruskal(graph).n_edges - 1 == kruskal(graph).edge_ids.max()
        assert verify(graph, forest_of(graph, list(range(n - 1)))).ok == is_right
    assert is_right  # the last closing edge is heavier than all


# --------------------------------------------------------------- corruptions


def _other(w: Any) -> Any:
    return np.where(w == 0, 1, 0).astype(w.dtype)


def _put(array: Any, k: int | tuple[int, int], value: Any) -> Any:
    changed = array.copy()
    changed[k] = value
    return changed


def with_rows(f: Forest, rows: Any) -> Forest:
    """Return a forest of some edges of another one."""
    return replace(f, edges=f.edges[rows], weights=f.weights[rows], edge_ids=f.edge_ids[rows])


Corruption = Callable[[Forest, int], Forest]
CORRUPTIONS: dict[str, tuple[Corruption, str]] = {
    "an edge dropped": (
        lambda f, k: with_rows(f, np.delete(np.arange(f.n_edges), k)),
        "joins two trees of the forest",
    ),
    "an edge twice": (
        lambda f, k: with_rows(f, np.insert(np.arange(f.n_edges), k, k)),
        "stands in the forest twice; ids must be distinct",
    ),
    "another weight": (
        lambda f, k: replace(f, weights=_put(f.weights, k, _other(f.weights[k]))),
        r"weighs .* in the graph but .* in the forest; they must be equal",
    ),
    "weights rounded": (
        lambda f, k: replace(f, weights=f.weights.astype(np.longdouble)),
        r"have dtype \w+ but those of the graph \w+; they must be equal",
    ),
    "an id too great": (
        lambda f, k: replace(f, edge_ids=_put(f.edge_ids.astype(np.int64), k, 2**62)),
        r"edge_ids\[\d+\] is 4611686018427387904; it must be at least 0 and below",
    ),
    "an id below zero": (
        lambda f, k: replace(f, edge_ids=_put(f.edge_ids, k, -1)),
        r"edge_ids\[\d+\] is -1; it must be at least 0",
    ),
    "an edge turned round": (
        lambda f, k: replace(f, edges=_put(f.edges, k, f.edges[k, ::-1])),
        "both must name the same endpoints, the lesser first",
    ),
    "an edge elsewhere": (
        lambda f, k: replace(f, edges=_put(f.edges, (k, 1), f.n_vertices)),
        r"stands in the forest as \(\d+, \d+\)",
    ),
    "a vertex more": (
        lambda f, k: replace(f, n_vertices=f.n_vertices + 1),
        r"the forest has \d+ vertices but the graph has \d+; they must be equal",
    ),
    "fewer weights": (
        lambda f, k: replace(f, weights=f.weights[1:]),
        r"have shapes .*; they must be \(k, 2\), \(k,\) and \(k,\)",
    ),
    "fewer ids": (lambda f, k: replace(f, edge_ids=f.edge_ids[1:]), "have shapes"),
    "flat edges": (lambda f, k: replace(f, edges=f.edges.ravel()), "have shapes"),
    "ids of floats": (
        lambda f, k: replace(f, edge_ids=f.edge_ids.astype(float)),
        "edge_ids has dtype float64; it must be an integer dtype",
    ),
    "edges of floats": (
        lambda f, k: replace(f, edges=f.edges.astype(float)),
        "edges has dtype float64; it must be an integer dtype",
    ),
}


@pytest.mark.parametrize("name", CORRUPTIONS)
@settings(max_examples=25)
@given(graphs(min_vertices=3, max_edges=30), st.integers(0, 2**32), st.booleans())
def test_no_corrupt_forest_passes(name: str, graph: Graph, k: int, maximum: bool) -> None:
    corrupt, message = CORRUPTIONS[name]
    forest = kruskal(graph, maximum=maximum)
    assume(forest.n_edges)
    result = verify(graph, corrupt(forest, k % forest.n_edges))
    assert not result.ok
    assert re.search(message, result.problems[0])
    with pytest.raises(InvalidForestError, match=message):
        result.raise_if_invalid()


@given(graphs(min_vertices=3, max_edges=30), st.integers(0, 2**32))
def test_rows_out_of_order_do_not_pass(graph: Graph, k: int) -> None:
    """to_scipy and labels rely on the canonical order."""
    forest = kruskal(graph)
    assume(forest.n_edges > 1)
    order = np.arange(forest.n_edges)
    k %= forest.n_edges - 1
    order[[k, k + 1]] = order[[k + 1, k]]
    shuffled = with_rows(forest, order)
    ids = shuffled.edge_ids
    assert only_problem(graph, shuffled) == (
        f"edge id {ids[k + 1]} stands behind edge id {ids[k]}; the edges of a forest must stand "
        "in the canonical order of the graph"
    )


@pytest.mark.parametrize("dtype", [d for d in WEIGHT_DTYPES if d.kind == "f"], ids=str)
def test_nan_is_no_weight(dtype: np.dtype[Any]) -> None:
    graph = Graph.from_edges([0], [1], np.ones(1, dtype))
    forest = replace(kruskal(graph), weights=np.full(1, np.nan, dtype))
    assert "weighs 1.0 in the graph but nan in the forest" in only_problem(graph, forest)


@given(graphs(min_vertices=3, max_edges=30), st.integers(0, 2**32))
def test_the_id_of_another_edge_does_not_pass(graph: Graph, k: int) -> None:
    forest = kruskal(graph)
    assume(forest.n_edges)
    at = k % forest.n_edges
    for wrong in range(graph.n_input):
        if wrong != forest.edge_ids[at]:
            result = verify(graph, replace(forest, edge_ids=_put(forest.edge_ids, at, wrong)))
            assert not result


# ------------------------------------------------------------------- messages


def test_a_cycle_is_named() -> None:
    message = only_problem(SQUARE, forest_of(SQUARE, [0, 1, 2, 3, 5]))
    assert re.fullmatch(
        r"edge id [0123] \(\d, \d\) closes a cycle in the forest; a forest has none", message
    )


def test_two_parallel_edges_are_a_cycle() -> None:
    graph = Graph.from_edges([0, 1, 1], [1, 0, 2], [1, 2, 1])
    assert only_problem(graph, forest_of(graph, [0, 1, 2])).startswith(
        "edge id 1 (0, 1) closes a cycle"
    )


def test_a_cycle_and_a_gap_of_the_right_size_are_both_named() -> None:
    """The right number of edges is not enough to be a forest."""
    result = verify(SQUARE, forest_of(SQUARE, [0, 1, 2, 3]))
    assert result.n_problems == 2
    assert "closes a cycle" in result.problems[0]
    assert result.problems[1] == (
        "edge id 5 (2, 4) of the graph joins two trees of the forest; a spanning forest has one "
        "tree for each component of the graph"
    )


def test_a_better_edge_is_named_with_the_one_it_replaces() -> None:
    assert only_problem(SQUARE, forest_of(SQUARE, [0, 1, 3, 5])) == (
        "edge id 2 (1, 2) of weight 2 is left out but is lighter than edge id 0 (0, 3) of weight "
        "4 on the path between its ends; it must take the place of that edge"
    )
    assert only_problem(SQUARE, forest_of(SQUARE, [0, 1, 4, 5], maximum=True)) == (
        "edge id 2 (1, 2) of weight 2 is left out but is heavier than edge id 1 (0, 1) of weight "
        "1 on the path between its ends; it must take the place of that edge"
    )


def test_a_tie_is_called_a_tie() -> None:
    graph = Graph.from_edges([0, 1, 0], [1, 2, 2], [7, 7, 7])
    assert only_problem(graph, forest_of(graph, [0, 1])) == (
        "edge id 2 (0, 2) is left out for edge id 1 (1, 2) on the path between its ends, and both "
        "weigh 7; where weights tie, the edge first in canonical order must be taken: by lesser "
        "end, greater end, then position in the input"
    )


def test_ids_that_name_no_edge() -> None:
    """Self-loops, mirrored slots and merged parallel edges have positions but are not edges."""
    loop = replace(kruskal(SQUARE), edge_ids=np.array([1, 2, 3, 6]))
    assert "edge_ids[3] is 6, which is no edge of the graph" in only_problem(SQUARE, loop)
    mirrored = Graph.from_csr([0, 1, 2], [1, 0], [5, 5])
    forest = replace(kruskal(mirrored), edge_ids=np.array([1]))
    assert "or the second direction of an edge" in only_problem(mirrored, forest)
    merged = Graph.from_edges([0, 1], [1, 0], [5, 3], merge_parallel=True)
    forest = replace(kruskal(merged), edge_ids=np.array([0]))
    assert "a merged parallel edge" in only_problem(merged, forest)


def test_a_handful_is_described_and_all_are_counted() -> None:
    n = 100
    graph = Graph.from_edges(range(n - 1), range(1, n), np.arange(n - 1))
    result = verify(graph, forest_of(graph, []))
    assert result.n_problems == n - 1
    assert len(result.problems) == 5
    with pytest.raises(InvalidForestError, match=r"^edge id 0 \(0, 1\) .* \(and 98 more\)$"):
        result.raise_if_invalid()
