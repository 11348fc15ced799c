"""Edges stored once: for every way of input, weight k belongs to the edge that it names."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from clmst.core.csr import expand_rows
from clmst.core.graph import Graph
from clmst.core.topology import edges_once, endpoints, graph_of_matrix, weights_in_order
from tests.helpers.bounds import bounds
from tests.helpers.strategies import LAYOUTS, edge_arrays


@given(
    edges=edge_arrays(),
    layout=st.sampled_from(LAYOUTS),
    slots_a_run=st.sampled_from([1, 5, 1 << 18]),
)
def test_every_edge_once_in_canonical_order(edges: Any, layout: Any, slots_a_run: int) -> None:
    """A slot too many, or one out of order, and ties would be broken otherwise."""
    with bounds(topology_run=slots_a_run):
        once = edges_once(edges.graph(layout))
    canonical = edges.canonical()
    assert not once.is_symmetric
    assert once.n_slots == once.n_edges == len(canonical)
    np.testing.assert_array_equal(once.rows, expand_rows(once.indptr))
    assert once.indptr.dtype == once.indices.dtype == once.rows.dtype == np.uint32
    slots = list(zip(once.rows.tolist(), once.indices.tolist(), strict=True))
    assert slots == [(u, v) for u, v, _ in canonical]
    assert once.weights.nbytes == once.n_slots
    assert once.weights.strides == (0,)
    ends = endpoints(once)
    assert ends.shape == (once.n_input, 2)
    if layout in ("edges", "symmetrised"):
        assert once.n_input == edges.u.size
        positions = np.array([k for _, _, k in canonical], int)
        ids = np.arange(once.n_slots) if once.edge_ids is None else once.edge_ids
        np.testing.assert_array_equal(ids, positions)
        for k, (u, v) in enumerate(zip(edges.u.tolist(), edges.v.tolist(), strict=True)):
            assert tuple(ends[k]) == ((-1, -1) if u == v else (min(u, v), max(u, v)))
    else:
        assert once.edge_ids is None
        assert once.n_input == once.n_slots
        assert [tuple(pair) for pair in ends.tolist()] == slots


def test_callers_order_that_is_the_canonical_one() -> None:
    """Then weights need not be moved."""
    assert edges_once(Graph.from_edges([0, 0, 2], [1, 1, 1])).edge_ids is None
    assert edges_once(Graph.from_edges([0, 2, 0], [1, 1, 1])).edge_ids is not None
    assert edges_once(Graph.from_edges([0, 0, 1], [1, 2, 1])).edge_ids is not None  # a loop
    merged = Graph.from_edges([0, 1, 1], [1, 0, 2], [5, 4, 3], merge_parallel=True)
    assert endpoints(edges_once(merged)).tolist() == [[-1, -1], [0, 1], [1, 2]]


def test_graph_that_is_used_as_it_is_shares_its_arrays() -> None:
    graph = Graph.from_edges([0, 1], [1, 2])
    assert np.shares_memory(edges_once(graph).indices, graph.indices)


def test_edges_of_a_matrix_do_not_depend_on_its_weights() -> None:
    """One that is not symmetric has the same edges as one with the same entries that is."""
    rng = np.random.default_rng(1)
    present = rng.random((30, 30)) < 0.2
    present |= present.T
    values = rng.integers(1, 9, (30, 30))
    symmetric = sparse.csr_array(np.where(present, np.minimum(values, values.T), 0))
    unlike = sparse.csr_array(np.where(present, values, 0))
    edges = edges_once(graph_of_matrix(symmetric))
    again = edges_once(graph_of_matrix(unlike))
    np.testing.assert_array_equal(edges.indptr, again.indptr)
    np.testing.assert_array_equal(edges.indices, again.indices)
    for A in (symmetric, unlike):
        weights = weights_in_order(graph_of_matrix(A), edges)
        np.testing.assert_array_equal(weights, symmetric.toarray()[edges.rows, edges.indices])
