"""Graphs from every source, and every way in which a source can be wrong."""

from __future__ import annotations

import pickle
import re
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from clmst.core.errors import InvalidGraphError
from clmst.core.from_scipy import SparseFormat
from clmst.core.graph import Graph
from clmst.core.graph_checks import MAX_SLOTS, MAX_VERTICES, check_size
from tests.helpers.strategies import LAYOUTS, EdgeArrays, edge_arrays


def triples(graph: Graph) -> list[tuple[int, int, Any]]:
    u, v, w, _ = graph.edges()
    return list(zip(u.tolist(), v.tolist(), w.tolist(), strict=True))


def attributes_of(graph: Graph) -> dict[str, Any]:
    return {name: getattr(graph, name) for name in Graph.__dataclass_fields__}


def assert_canonical(graph: Graph) -> None:
    """Rows sorted, both directions stored if and only if it says so, ids distinct and in range."""
    n, m = graph.n_vertices, graph.n_slots
    assert graph.indptr.dtype == graph.indices.dtype == np.uint32
    assert graph.weights.shape == graph.indices.shape
    assert (int(graph.indptr[0]), int(graph.indptr[-1])) == (0, m)
    slots = list(zip(graph.rows.tolist(), graph.indices.tolist(), strict=True))
    assert slots == sorted(slots)
    assert m == 0 or int(graph.indices.max()) < n
    upper = [(i, j) for i, j in slots if i < j]
    assert [(i, j) for i, j in sorted((j, i) for i, j in slots if i > j)] == (
        upper if graph.is_symmetric else []
    )
    ids = graph.edges()[3]
    assert np.unique(ids).size == ids.size == graph.n_edges == len(upper)
    assert ids.size == 0 or 0 <= ids.min() <= ids.max() < graph.n_input


# ------------------------------------------------------------------ edge arrays


@given(edge_arrays())
def test_from_edges_orders_by_endpoints_then_input_position(raw: EdgeArrays) -> None:
    """Edge order is the tie rule: a parallel edge out of place would change forests."""
    graph = raw.graph()
    assert_canonical(graph)
    u, v, w, ids = graph.edges()
    assert list(zip(u.tolist(), v.tolist(), ids.tolist(), strict=True)) == raw.canonical()
    np.testing.assert_array_equal(w, raw.w[ids])
    assert w.dtype == raw.w.dtype
    assert (graph.n_vertices, graph.n_input) == (raw.n, raw.u.size)


@given(edge_arrays())
def test_merge_parallel_keeps_the_lightest_and_then_the_first(raw: EdgeArrays) -> None:
    merged = Graph.from_edges(raw.u, raw.v, raw.w, n_vertices=raw.n, merge_parallel=True)
    assert_canonical(merged)
    best: dict[tuple[int, int], int] = {}
    for u, v, k in raw.canonical():
        if (u, v) not in best or raw.w[k] < raw.w[best[u, v]]:
            best[u, v] = k
    assert merged.edges()[3].tolist() == [best[pair] for pair in sorted(best)]
    np.testing.assert_array_equal(merged.edges()[2], raw.w[list(merged.edges()[3])])


def test_from_edges_defaults() -> None:
    graph = Graph.from_edges([0, 5], [1, 2])
    assert graph.n_vertices == 6
    assert triples(graph) == [(0, 1, 1), (2, 5, 1)]
    assert repr(graph) == "Graph(n_vertices=6, n_edges=2, weights=uint8)"


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8"])
def test_endpoints_of_every_integer_dtype(dtype: str) -> None:
    u, v = np.array([3, 0, 2], dtype), np.array([1, 2, 2], np.int64)
    graph = Graph.from_edges(u, v, [7, 8, 9], n_vertices=300)  # which not every dtype has
    assert triples(graph) == [(0, 2, 8), (1, 3, 7)]


@pytest.mark.parametrize("dtype", [">i2", ">i8", ">u4", ">f2", ">f4", ">f8"])
def test_foreign_byte_order_becomes_native(dtype: str) -> None:
    """Keys are made of raw bits: swapped bytes would order the edges wrongly."""
    w = np.array([256, 1], dtype)
    for graph in (Graph.from_edges([0, 1], [1, 2], w), Graph.from_csr([0, 1, 2, 2], [1, 2], w)):
        assert graph.weights.dtype.isnative
        assert triples(graph) == [(0, 1, 256), (1, 2, 1)]


def test_strided_input_is_read_as_it_looks() -> None:
    ends, w = np.array([[0, 1], [1, 2], [0, 2]]), np.arange(6.0)
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], w[::2])
    assert triples(graph) == [(0, 1, 0.0), (0, 2, 4.0), (1, 2, 2.0)]
    assert graph.weights.flags.c_contiguous


def test_coordinates_are_kept() -> None:
    graph = Graph.from_edges([0], [1], coordinates=[[0, 1], [2, 3]])
    assert graph.coordinates is not None
    assert graph.coordinates.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert graph.symmetrised().coordinates is graph.coordinates


# --------------------------------------------------------------------- SciPy


def upper_csr() -> sparse.csr_array:
    return sparse.csr_array(
        (np.array([5.0, 0.0, 2.0]), np.array([1, 2, 2], np.int32), np.array([0, 2, 3, 3], np.int32))
    )


def test_upper_csr_is_used_as_it_is() -> None:
    """A copy would double the memory of a large graph."""
    A = upper_csr()
    graph = Graph.from_scipy(A)
    assert not graph.is_symmetric
    assert graph.edge_ids is None
    for ours, theirs in (
        (graph.indptr, A.indptr),
        (graph.indices, A.indices),
        (graph.weights, A.data),
    ):
        assert np.shares_memory(ours, theirs)
    assert triples(graph) == [(0, 1, 5.0), (0, 2, 0.0), (1, 2, 2.0)]


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
def test_symmetric_csr_is_used_as_it_is(index_dtype: type) -> None:
    A = sparse.csr_array(np.array([[9, 4, 0], [4, 0, 3], [0, 3, 0]]))
    A.indptr, A.indices = A.indptr.astype(index_dtype), A.indices.astype(index_dtype)
    graph = Graph.from_scipy(A)
    assert graph.is_symmetric
    assert graph.edge_ids is None
    assert np.shares_memory(graph.weights, A.data)
    assert np.shares_memory(graph.indices, A.indices) == (index_dtype == np.int32)
    assert triples(graph) == [(0, 1, 4), (1, 2, 3)]
    assert A.data[graph.edges()[3]].tolist() == [4, 3]
    assert (graph.n_edges, graph.n_slots, graph.n_input) == (2, 5, 5)


@given(edge_arrays(), st.sampled_from(["csr", "csc", "coo", "lil", "dok"]))
def test_any_matrix_means_the_lesser_of_both_slots(raw: EdgeArrays, form: SparseFormat) -> None:
    """Structure below, above, on both sides of the diagonal or neither; every format."""
    weights = raw.w.astype("f4") if raw.w.dtype == np.float16 else raw.w  # SciPy lacks float16
    entries = {(i, j): w for i, j, w in zip(raw.u.tolist(), raw.v.tolist(), weights, strict=True)}
    coo: Any = sparse.coo_array(
        (
            np.array(list(entries.values()), weights.dtype),
            (
                np.array([i for i, _ in entries], np.int64),
                np.array([j for _, j in entries], np.int64),
            ),
        ),
        shape=(raw.n, raw.n),
    )
    expected: dict[tuple[int, int], Any] = {}
    for (i, j), w in entries.items():
        if i != j:
            pair = min(i, j), max(i, j)
            expected[pair] = min(expected.get(pair, w), w)
    given = coo.asformat(form)
    graph = Graph.from_scipy(given)
    assert_canonical(graph)
    assert triples(graph) == [(*pair, expected[pair].item()) for pair in sorted(expected)]
    as_csr = sparse.csr_array(given)
    rows = np.repeat(np.arange(raw.n), np.diff(as_csr.indptr))
    u, v, w, ids = graph.edges()
    assert as_csr.data[ids].tolist() == w.tolist()
    for a, b, k in zip(u.tolist(), v.tolist(), ids.tolist(), strict=True):
        assert {int(rows[k]), int(as_csr.indices[k])} == {a, b}
        if entries.get((a, b)) == expected[a, b]:  # on a tie the upper slot
            assert rows[k] == a


def test_unsorted_rows_are_sorted_without_touching_the_input() -> None:
    A = sparse.csr_array((np.array([1, 2, 3]), np.array([2, 1, 2]), np.array([0, 2, 3, 3])))
    graph = Graph.from_scipy(A)
    assert triples(graph) == [(0, 1, 2), (0, 2, 1), (1, 2, 3)]
    assert graph.edges()[3].tolist() == [1, 0, 2]
    assert A.indices.tolist() == [2, 1, 2]
    assert_canonical(graph)


def test_duplicate_slots_of_a_sorted_csr_are_parallel_edges() -> None:
    graph = Graph.from_csr([0, 2, 2], [1, 1], [5, 3])
    assert triples(graph) == [(0, 1, 5), (0, 1, 3)]
    mirrored = Graph.from_csr([0, 2, 4], [1, 1, 0, 0], [5, 3, 5, 3])
    assert mirrored.is_symmetric
    assert triples(mirrored) == triples(graph)


def test_duplicates_of_a_coo_matrix_add_up_as_in_scipy() -> None:
    A = sparse.coo_array((np.array([5, 3]), (np.array([0, 0]), np.array([1, 1]))), shape=(2, 2))
    assert triples(Graph.from_scipy(A)) == [(0, 1, 8)]


def test_mirrored_duplicates_of_other_weights_are_merged() -> None:
    graph = Graph.from_csr([0, 2, 4], [1, 1, 0, 0], [5, 3, 3, 5])
    assert triples(graph) == [(0, 1, 3)]
    assert graph.edges()[3].tolist() == [1]


def test_unused_elements_after_the_last_entry_are_ignored() -> None:
    A = upper_csr()
    A.data, A.indices = np.append(A.data, np.nan), np.append(A.indices, np.int32(0))
    graph = Graph.from_scipy(A)
    assert graph.n_slots == 3
    assert np.shares_memory(graph.weights, A.data)


@pytest.mark.parametrize("form", ["bsr", "dia"])
def test_padding_zeros_are_no_edges(form: SparseFormat) -> None:
    """BSR pads its blocks: its zeros taken for edges would make a forest of nothing."""
    A: Any = sparse.csr_array(np.kron([[0, 1], [1, 0]], np.diag([3, 4]))).asformat(form)
    assert triples(Graph.from_scipy(A)) == [(0, 2, 3), (1, 3, 4)]


def test_minus_zero_opposite_zero_is_symmetric() -> None:
    graph = Graph.from_csr([0, 1, 2], [1, 0], [0.0, -0.0])
    assert graph.is_symmetric
    assert triples(graph) == [(0, 1, 0.0)]


# ----------------------------------------------------------------- NetworkX


def test_from_networkx_numbers_vertices_and_edges_in_their_order() -> None:
    G = nx.Graph()
    G.add_nodes_from(["isolated", "c"])
    G.add_edge("a", "b", weight=2.5)
    G.add_edge("c", "a", weight=-1.0)
    graph = Graph.from_networkx(G)
    assert list(graph.vertex_labels or ()) == ["isolated", "c", "a", "b"]
    edges = list(G.edges)
    named = {
        frozenset((list(G)[u], list(G)[v])): (w, edges[k])
        for u, v, w, k in zip(*(x.tolist() for x in graph.edges()), strict=True)
    }
    assert {pair: w for pair, (w, _) in named.items()} == {
        frozenset("ab"): 2.5,
        frozenset("ac"): -1.0,
    }
    assert all(frozenset(edge) == pair for pair, (_, edge) in named.items())


def test_from_networkx_multigraph_keeps_parallel_edges_and_loops_out() -> None:
    G = nx.MultiGraph([(0, 1, {"cost": 3}), (1, 0, {"cost": 2}), (1, 1, {"cost": 0}), (1, 2)])
    graph = Graph.from_networkx(G, weight="cost")
    assert triples(graph) == [(0, 1, 3), (0, 1, 2), (1, 2, 1)]  # 1 where it is missing
    assert triples(Graph.from_networkx(G, weight=None)) == [(0, 1, 1), (0, 1, 1), (1, 2, 1)]


def test_from_networkx_takes_what_a_graph_says_rather_than_what_it_stores() -> None:
    class Absent(nx.Graph):  # type: ignore[misc]
        """A graph of the edges that are not stored."""

        @property
        def edges(self) -> Any:
            return nx.complement(nx.Graph(self._adj)).edges

    assert triples(Graph.from_networkx(Absent([(0, 1), (1, 2)]))) == [(0, 2, 1)]


@pytest.mark.parametrize("weight", ["x", None, 1j, [1, 2], 2**70])
def test_from_networkx_wants_numbers(weight: object) -> None:
    G = nx.Graph()
    G.add_edge("a", "b", weight=1)
    G.add_edge("b", "c", weight=weight)
    with pytest.raises(InvalidGraphError, match=r"weights .*must be"):
        Graph.from_networkx(G)


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_from_networkx_refuses_directed_graphs(kind: Any) -> None:
    with pytest.raises(InvalidGraphError, match=r"is directed; .* needs an undirected"):
        Graph.from_networkx(kind([(0, 1)]))


def test_integers_among_floats_are_not_rounded() -> None:
    """NumPy would store 2**53 + 1 as 2**53, and another edge might win."""
    G = nx.Graph()
    G.add_edge(0, 1, weight=2**53 + 1)
    G.add_edge(1, 2, weight=0.5)
    builds: list[Callable[[], Graph]] = [
        lambda: Graph.from_networkx(G),
        lambda: Graph.from_edges([0, 1], [1, 2], [2**53 + 1, 0.5]),
        lambda: Graph.from_csr([0, 1, 2, 2], [1, 2], [2**53 + 1, 0.5]),
    ]
    for build in builds:
        with pytest.raises(InvalidGraphError, match=r"weight 0 is 9007199254740993 .* must share"):
            build()
    G[0][1]["weight"] = 2**53
    assert Graph.from_networkx(G).weights.tolist() == [2.0**53, 0.5]


# ------------------------------------------------------------------ derivation


@given(edge_arrays(), st.sampled_from(LAYOUTS))
def test_every_layout_has_the_edges_and_symmetrised_changes_none(
    raw: EdgeArrays, layout: Any
) -> None:
    graph = raw.graph(layout)
    assert_canonical(graph)
    assert graph.weights.dtype == raw.w.dtype
    assert triples(graph) == [(u, v, raw.w[k].item()) for u, v, k in raw.canonical()]
    both = graph.symmetrised()
    assert_canonical(both)
    assert both.is_symmetric
    for before, after in zip(graph.edges(), both.edges(), strict=True):
        np.testing.assert_array_equal(before, after)
    assert (both.n_vertices, both.n_edges) == (graph.n_vertices, graph.n_edges)
    assert both.n_input == graph.n_input
    assert both.symmetrised() is both


@given(edge_arrays(), st.sampled_from(LAYOUTS))
def test_mirrored_slots_carry_the_weight_and_id_of_their_edge(raw: EdgeArrays, layout: Any) -> None:
    """Device rounds pick an edge from either end: both must name the same edge."""
    graph = raw.graph(layout).symmetrised()
    slot_ids = np.arange(graph.n_slots) if graph.edge_ids is None else graph.edge_ids
    rows = zip(
        graph.rows.tolist(),
        graph.indices.tolist(),
        graph.weights.tolist(),
        slot_ids.tolist(),
        strict=True,
    )
    upper: list[tuple[Any, ...]] = []
    lower: list[tuple[Any, ...]] = []
    for i, j, w, k in rows:
        if i != j:
            (upper if i < j else lower).append((min(i, j), max(i, j), w, k))
    lower.sort(key=lambda e: e[:2])  # stable: parallel edges stay in their order
    if graph.edge_ids is None:
        upper, lower = [e[:3] for e in upper], [e[:3] for e in lower]  # a slot is its own id
    assert upper == lower


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_edges(n: int, layout: Any) -> None:
    empty = np.zeros(0, np.int64)
    graph = EdgeArrays(n, empty, empty, np.zeros(0, np.float32)).graph(layout)
    assert (graph.n_vertices, graph.n_edges, graph.n_slots) == (n, 0, 0)
    assert graph.weights.dtype == np.float32
    assert triples(graph.symmetrised()) == []


def test_no_edges_from_every_source() -> None:
    assert Graph.from_edges([], [], []).n_vertices == 0
    assert Graph.from_csr([0, 0, 0], [], []).n_vertices == 2
    assert Graph.from_scipy(sparse.csr_array((0, 0))).n_vertices == 0
    assert Graph.from_scipy(sparse.coo_array((3, 3))).n_vertices == 3
    assert Graph.from_networkx(nx.Graph()).n_vertices == 0
    assert Graph.from_networkx(nx.empty_graph(4)).n_vertices == 4


def test_replace_shares_what_it_keeps() -> None:
    graph = Graph.from_edges([0], [1], [2.0])
    named = graph.replace(vertex_labels=["a", "b"])
    assert named.vertex_labels == ["a", "b"]
    assert named.weights is graph.weights
    assert graph.vertex_labels is None


# ------------------------------------------------------------------- bad input

nan = float("nan")
no_dtype = "they must be one of bool, int8-64, uint8-64, float16, float32, float64"
BAD_INPUT: list[tuple[str, tuple[Any, ...], str]] = [
    ("scipy", (sparse.csr_array((2, 3)),),
     "the matrix is 2 x 3; an adjacency matrix must be square"),
    ("scipy", (np.eye(2),),
     "from_scipy was given ndarray; it takes a scipy.sparse matrix or array"),
    ("scipy", (sparse.coo_array(np.ones(3)),),
     "the array has 1 dimension; an adjacency matrix has 2"),
    ("scipy", (sparse.csr_array(np.eye(2, dtype=complex)),),
     "the matrix has dtype complex128; weights must be bool, int, uint or float"),
    ("scipy", (sparse.coo_array((2**40, 2**40)),),
     "the graph has 1099511627776 vertices; there may be 0 to 2**32 - 2 = 4294967294"),
    ("csr", ([0, 1, 1], [1], np.ones(1, np.longdouble)), no_dtype),
    ("csr", ([0, 1, 1], [2], [1.0]),
     "indices[0] is 2 in a graph of 2 vertices; it must be below 2"),
    ("csr", ([0, 3, 3], [1, -3, -9], [1.0, 2.0, 3.0]),
     "indices[1] is -3; vertex numbers must not be negative"),
    ("csr", ([0, 2, 1, 2], [1, 2], [1.0, 2.0]),
     "indptr falls from 2 to 1 at row 1; it must not decrease"),
    ("csr", ([0, -1, 2], [1, 1], [1.0, 2.0]),
     "indptr falls from 0 to -1 at row 0; it must not decrease"),
    ("csr", ([1, 2, 2], [1, 1], [1.0, 2.0]), "indptr[0] is 1; it must be 0"),
    ("csr", ([0, 1, 1], [1, 1], [1.0, 2.0]),
     "indptr[-1] is 1 but indices has 2 entries; they must be equal"),
    ("csr", ([0, 1, 3], [1, 1], [1.0, 2.0]),
     "indptr[-1] is 3 but indices has 2 entries; they must be equal"),
    ("csr", ([], [], []), "indptr has 0 entries for 0 rows; it must have 1"),
    ("csr", ([0.0, 1.0, 1.0], [1], [1.0]),
     "indptr has dtype float64; it must have an integer dtype"),
    ("csr", ([0, 1, 1], [[1]], [[1.0]]), "indices has 2 dimensions; it must have one"),
    ("csr", ([0, 2, 2], [1, 1], [1.0]),
     "indices has shape (2,) but weights has shape (1,); they must be equal"),
    ("csr", ([0, 2, 3, 3], [1, 2, 2], [1.0, 2.0, nan]),
     "the weight of edge 2 (1, 2) is NaN; weights must be ordered"),
    ("csr", ([0, 1, 1], [1], [1j]), no_dtype),
    ("edges", ([0, 1], [1], [1, 1]), "u has 2 entries but v has 1; they must be equal"),
    ("edges", ([0, 1], [1, 2], [1]),
     "u and v have 2 entries but w has shape (1,); there must be one weight an edge"),
    ("edges", ([0], [1], 5),
     "u and v have 1 entries but w has shape (); there must be one weight an edge"),
    ("edges", ([0], [1], [[5]]),
     "u and v have 1 entries but w has shape (1, 1); there must be one weight an edge"),
    ("edges", ([0, 1, 2], [1, 4, 8], [1, 1, 1], 3),
     "v[1] is 4 in a graph of 3 vertices; it must be below 3"),
    ("edges", ([0, -2], [1, 2], [1, 1]), "u[1] is -2; vertex numbers must not be negative"),
    ("edges", ([0.0], [1.0], [1]), "u has dtype float64; it must have an integer dtype"),
    ("edges", ([False], [True], [1]), "u has dtype bool; it must have an integer dtype"),
    ("edges", ([[0, 1]], [[1, 2]], [1, 1]), "u has 2 dimensions; it must have one"),
    ("edges", ([0, 7], [1, 3], np.array([1, nan], "f2")),
     "the weight of edge 1 (7, 3) is NaN; weights must be ordered"),
    ("edges", ([0, 2], [1, 2], [1.0, nan]),
     "the weight of edge 1 (2, 2) is NaN; weights must be ordered"),
    ("edges", ([0], [1], [None]), no_dtype),
    ("edges", ([0, 1], [1, 2], [1, 10**30]), f"weight 1 is {10**30}; {no_dtype}"),
    ("edges", ([0], [1], ["1"]), no_dtype),
    ("edges", ([0], [1], np.ones(1, "m8[s]")), no_dtype),
    ("edges", ([0], [1], [1], 2**32 - 1),
     "the graph has 4294967295 vertices; there may be 0 to 2**32 - 2 = 4294967294"),
    ("edges", ([], [], [], -1),
     "the graph has -1 vertices; there may be 0 to 2**32 - 2 = 4294967294"),
    ("networkx", (nx.Graph([("a", "b"), ("b", "c", {"weight": nan})]),),
     "the weight of edge 1 ('b', 'c') is NaN; weights must be ordered"),
]  # fmt: skip
BAD_CALLS: list[tuple[Callable[[], object], str]] = [
    (
        lambda: Graph.from_edges([30, 70], [10, 30], [1.0, nan], relabel=True),
        "the weight of edge 1 (70, 30) is NaN; weights must be ordered",
    ),
    (
        lambda: Graph.from_edges([0], [1], coordinates=[[0, 1]]),
        "coordinates have shape (1, 2); they must be (2, 2)",
    ),
    (
        lambda: Graph(
            **{
                **attributes_of(Graph.from_edges([0, 1], [1, 2])),
                "weights": np.array([1, nan]),
                "vertex_labels": ("a", "b", "c"),
            }
        ),
        "the weight of edge 1 ('b', 'c') is NaN; weights must be ordered",
    ),
    *((partial(getattr(Graph, f"from_{door}"), *given), fact) for door, given, fact in BAD_INPUT),
]


@pytest.mark.parametrize(("call", "message"), BAD_CALLS, ids=[fact for _, fact in BAD_CALLS])
def test_bad_input_is_one_error_with_fact_and_rule(
    call: Callable[[], object], message: str
) -> None:
    """Anything that got past here would end in a wrong forest or a crash on a device."""
    with pytest.raises(InvalidGraphError, match=re.escape(message)) as caught:
        call()
    assert caught.value.__context__ is None


def test_size_limits_are_exact() -> None:
    check_size(MAX_VERTICES, MAX_SLOTS)
    rule = "4294967296 stored edges; one device takes up to .*, and clmst.stream_min.* any"
    with pytest.raises(InvalidGraphError, match=rule):
        check_size(0, MAX_SLOTS + 1)


@pytest.mark.parametrize(
    ("u", "v", "merge_parallel", "kept"),
    [
        ([5, 3, 0], [1, 2, 9], False, [2, 0, 1]),
        ([0, 1, 2], [1, 2, 9], True, [0, 1, 2]),  # in order
        ([5, 1, 0], [1, 5, 9], False, [2, 0, 1]),  # parallel
        ([5, 1, 0], [1, 5, 9], True, [2, 1]),
        ([5, 1, 0], [1, 1, 9], True, [2, 0]),  # a loop
        ([], [], True, []),
    ],
)
def test_few_edges_of_many_vertices(
    u: list[int], v: list[int], merge_parallel: bool, kept: list[int]
) -> None:
    """Only the indptr has memory for each vertex, and that before parallel edges are merged."""
    n, weights = 1 << 22, np.array([3.0, 2.0, 1.0])[: len(u)]
    tracemalloc.start()
    try:
        graph = Graph.from_edges(u, v, weights, n_vertices=n, merge_parallel=merge_parallel)
        assert graph.indptr.size == n + 1
        made = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        edges = graph.edges()
        listed = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert made < (2.2 if len(kept) < len(u) else 1.4) * 4 * n
    assert listed < 1.5 * 4 * n  # a byte a row, beside the graph
    assert graph.n_vertices == n
    for array, again in zip(edges, graph.symmetrised().edges(), strict=True):
        np.testing.assert_array_equal(array, again)
    found = [array.tolist() for array in edges]
    lesser = [min(u[k], v[k]) for k in kept]
    greater = [max(u[k], v[k]) for k in kept]
    assert found == [lesser, greater, weights[kept].tolist() if kept else [], kept]


def test_a_pickled_list_of_edges_stays_a_list() -> None:
    """Its arrays are not computed for that. Once they are computed, they are pickled."""
    ends = np.array([[2, 0], [0, 1], [1, 2], [0, 2]])
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], [3.0, 1.0, 2.0, 2.5], coordinates=ends[:3])
    before = pickle.loads(pickle.dumps(graph))
    assert "indices" not in vars(graph).keys() | vars(before).keys()
    assert before.coordinates.tolist() == ends[:3].tolist()
    u, v, weights, ids = graph.edges()
    after = pickle.loads(pickle.dumps(graph))
    assert "indices" in vars(after)
    for one in (before, after):
        for found, right in zip(one.edges(), (u, v, weights, ids), strict=True):
            assert found.tolist() == right.tolist()
            assert found.dtype == right.dtype
        assert one.n_input == 4
