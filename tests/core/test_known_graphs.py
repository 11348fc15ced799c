"""Known graphs: every part is there, and weights of every dtype order as ranks do."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import clmst
from clmst.core.known_graphs import KnownGraph, Size, known_forest, known_graph, weights_of
from clmst.core.weight_keys import WeightKind, encode, order_keys
from clmst.runtime.kernel_family import Case

WORDS = [
    (bits, kind)
    for kind in ("unsigned", "signed", "float")
    for bits in (8, 16, 32, 64)
    if (kind, bits) != ("float", 8)
]


@pytest.mark.parametrize(("bits", "kind"), WORDS)
def test_weights_order_as_ranks(bits: int, kind: WeightKind) -> None:
    """In words of that width, which the device gets; neighbours differ in the last bits."""
    ranks = np.repeat(np.arange(128, dtype=np.uint8), 2)
    weights = weights_of(ranks, Case(bits, kind).dtype)
    encoded = encode(weights)
    assert (8 * encoded.bits.dtype.itemsize, encoded.kind) == (bits, kind)
    keys = order_keys(weights)
    assert np.array_equal(keys[::2], keys[1::2])
    assert (keys[2::2] > keys[:-2:2]).all()
    if bits > 16:
        shared = keys[2::2] >> 8 == keys[:-2:2] >> 8
        assert shared.any()
    if kind == "float":
        assert np.isinf(weights).sum() == 4
        assert np.signbit(weights[weights == 0]).tolist() == [True, False]


@pytest.mark.parametrize("maximum", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("bits", "kind"), WORDS)
def test_one_forest_serves_every_dtype(
    bits: int, kind: WeightKind, symmetric: bool, maximum: bool
) -> None:
    known = known_graph("small")
    graph = known.weighted(Case(bits, kind).dtype, symmetric=symmetric)
    assert graph.is_symmetric == symmetric
    forest = clmst.kruskal(graph, maximum=maximum)
    assert np.array_equal(forest.edge_ids, known.forest(maximum=maximum).edge_ids)


def test_sizes() -> None:
    """The large one reaches every launch shape."""
    sizes = [known_graph(size).ranks.n_vertices for size in ("tiny", "small", "heavy", "large")]
    assert sizes[0] < 100 < sizes[1] < sizes[2] < 1 << 17 < sizes[3]
    heavy = known_graph("heavy").simple(np.dtype(np.uint8), symmetric=True)
    assert heavy.n_slots > 12 * heavy.n_vertices


def test_what_there_is() -> None:
    """Parallel edges, hubs, long chains, vertices without an edge, many components."""
    graph = known_graph("large").ranks
    u, v, weights, _ = graph.edges()
    degrees = np.bincount(u, minlength=graph.n_vertices) + np.bincount(
        v, minlength=graph.n_vertices
    )
    assert ((u[1:] == u[:-1]) & (v[1:] == v[:-1])).sum() > 100
    assert np.sort(degrees)[-2:].min() > 10_000
    assert (degrees == 0).sum() >= 3
    assert known_graph("large").forest(maximum=False).n_components > 100
    chain = slice(65536, 65536 + 16383)
    first = np.flatnonzero((u >= chain.start) & (u < chain.stop) & (v == u + 1))
    assert (np.diff(weights[first].astype(int)) >= 0).all()
    assert np.unique(weights[first]).size > 100


def test_simple_graphs_and_their_core_numbers() -> None:
    """There are no parallel edges, and core numbers equal NetworkX's."""
    graph = known_graph("small").simple(np.dtype(np.uint8), symmetric=False)
    u, v, _, _ = graph.edges()
    plain = nx.empty_graph(graph.n_vertices)
    plain.add_edges_from(zip(u.tolist(), v.tolist(), strict=True))
    assert plain.number_of_edges() == u.size
    found = KnownGraph(name="simple", ranks=graph).core_numbers
    assert found.tolist() == [*nx.core_number(plain).values()]


@pytest.mark.parametrize("size", ["tiny", "small"])
def test_a_known_forest_has_no_cycle(size: Size) -> None:
    """Its trees are a random one, a star, four paths, and isolated vertices."""
    n, edges, ranks = known_forest(size)
    forest = nx.Graph()
    forest.add_nodes_from(range(n))
    forest.add_edges_from(edges.tolist())
    assert nx.is_forest(forest)
    assert forest.number_of_edges() == len(edges) == len(ranks)
    sizes = sorted(len(tree) for tree in nx.connected_components(forest))
    assert sizes[:3] == [1, 1, 1]
    assert len(sizes) == 3 + 6
    assert max(dict(forest.degree()).values()) >= sizes[3] - 1
