"""The self-tests of kernels that take the arrays of matrices and lists of edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from clmst.algorithms.canonical_csr.arrange import Arrangement, ranks_of, uploaded
from clmst.algorithms.csr_validation import check as csr_validation
from clmst.algorithms.shared.self_test_cases import APART, PACKED, RANKS
from clmst.core.canonical import canonicalise, stable_order
from clmst.core.deferred_graph import EdgeList
from clmst.core.graph import DeferredGraph, Graph
from clmst.core.known_graphs import Size, known_graph, weights_of
from clmst.core.kruskal import entries_of_matrix, forest_of_matrix, forest_positions, kruskal
from clmst.core.weight_keys import EncodedWeights, Encoding
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.kernel_family import Answer, Case

# Kernels that sort edges either pack the sort key of an edge and its position into one word
# (PACKED), or keep them in two arrays (APART). For each of these ways: the size of the graph with
# which it is tested, and the maximum number of bits of a word for both. With 0 bits, key and
# position never share a word. Both graphs have more edges than one work-group sorts at a time,
# because shorter lists are never sorted on a device.
_ORDERED: dict[str, tuple[Size, int]] = {PACKED: ("heavy", 64), APART: ("small", 0)}
SMALL: tuple[Size, ...] = ("tiny", "small")
_NAMES = ("indptr", "indices", "weights", "edge_ids")


def validation(device: Device, case: Case) -> Iterator[Answer]:
    """Test that the check of a matrix on the device accepts a valid matrix and refuses faulty ones.

    `case` has the dtype of the weights. Yields triples: a description, what the device has found,
    and what is right. The caller compares the last two.
    """
    for symmetric in (False, True):
        graph = known_graph("large").simple(case.dtype, symmetric=symmetric)
        found = csr_validation.check(DeviceGraph.upload(graph, device))
        way = None if found is None else found.graph.is_symmetric
        yield "the check of a sound matrix", way == symmetric, True
    for name, faulty in _faulty(graph):
        found = csr_validation.check(DeviceGraph.upload(faulty, device))
        yield f"the check of a matrix with {name}", found is None, True


def small(device: Device, case: Case) -> Iterator[Answer]:
    """Solve small matrices and lists of edges, valid and faulty, to test a device.

    `case` has the dtype of the weights, and says whether maximum forests are wanted. Yields
    triples: a description, the device's result and the right result.
    """
    from clmst.algorithms.small_matrix.solve import solve_matrix, solved_list

    maximum = bool(case.maximum)
    for size in SMALL:
        for symmetric in (False, True):
            graph = known_graph(size).simple(case.dtype, symmetric=symmetric)
            forest = solve_matrix(_Matrix(graph), device, case)
            edges = () if forest is None else forest.edges
            yield f"edges of {size!r}", edges, kruskal(graph, maximum=maximum).edges
        for wide in (False, True):
            listed = _shuffled(size, case.dtype, np.int64 if wide else np.int32)
            of_list = solved_list(listed, device, case)
            of_host = kruskal(DeferredGraph.of_edges(listed), maximum=maximum)
            places = () if of_list is None else of_list[0]
            yield f"edges of a list of {size!r}", places, of_host.edge_ids
    listed.u[listed.size // 2] = listed.n_vertices
    yield "a list with an end outside", solved_list(listed, device, case) is None, True
    for name, other in _faulty(graph):
        matrix = _Matrix(other)
        known = forest_of_matrix(matrix, maximum=maximum)
        yield f"a matrix with {name}", solve_matrix(matrix, device, case) == known, True
        if known is not None:
            slots = entries_of_matrix(matrix, maximum=maximum)
            by_slot = solve_matrix(matrix, device, case, by_slot=True)
            found = None if by_slot is None else by_slot.edge_ids
            yield f"slots of a matrix with {name}", () if found is None else found, slots


def equal_weights(device: Device, _: object) -> Iterator[Answer]:
    """Solve matrices of equal weights, valid and faulty, to test a device.

    Yields triples: a description, the device's result and the right result.
    """
    from clmst.algorithms.equal_weights.solve import solved

    for size in SMALL:
        for symmetric in (False, True):
            graph = known_graph(size).simple(np.dtype(np.uint8), symmetric=symmetric)
            # Number the vertices in the opposite order. Then the columns of each row descend, and
            # entries above the diagonal come below it.
            lengths = np.diff(graph.indptr.astype(np.int64))[::-1]
            indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
            indices = graph.n_vertices - 1 - graph.indices[::-1].astype(np.int64)
            ones = np.ones(indices.size, np.uint8)
            expected = kruskal(Graph.from_csr(indptr, indices, ones)).edge_ids
            first = forest_positions(graph.n_vertices, indptr, indices, ones)
            for dtype, by_entry in product((np.int32, np.int64), (False, True)):
                arrays = (indptr.astype(dtype), indices.astype(dtype))
                found = solved(*arrays, device, by_entry=by_entry)
                slots = () if found is None else found[0]
                yield f"edges of {size!r}", slots, first if by_entry else expected
            faulty = indices.copy()
            faulty[indices.size // 2] = graph.n_vertices
            found = solved(indptr, faulty, device)
            yield "the check of a matrix with a column outside", found is None, True


class _Matrix:
    """The arrays of a graph as the attributes of a SciPy CSR matrix: indptr, indices, data, shape.

    The values are not checked, so that kernels can be tested with faulty matrices.
    """

    def __init__(self, graph: Graph) -> None:
        self.indptr, self.indices = graph.indptr.view(np.int32), graph.indices.view(np.int32)
        self.data = graph.weights
        self.shape = (graph.n_vertices, graph.n_vertices)


def _faulty(graph: Graph) -> Iterator[tuple[str, Graph]]:
    """Yield copies of a symmetric matrix with one fault each, as (name of the fault, copy)."""
    for slot in (0, graph.n_slots - 1):
        weights = graph.weights.copy()
        weights[slot] = weights.max() if weights[slot] != weights.max() else weights.min()
        yield "another weight in one direction", graph.replace_unchecked(weights=weights)
    columns = graph.indices.copy()
    columns[graph.n_slots // 2] = graph.n_vertices
    yield "a column outside", graph.replace_unchecked(indices=columns)
    starts = graph.indptr.copy()
    starts[graph.n_vertices // 3] += 1
    yield "a slot in another row", graph.replace_unchecked(indptr=starts)


def canonical_order(device: Device, case: Case) -> Iterator[Answer]:
    """Let a device bring a known graph into canonical order, to test it.

    `case` has the dtype of the weights, and says which kernels are tested. The graph is given as a
    shuffled list of edges and as a matrix. Yields triples: the name of an array, the array that the
    device has built, and the expected array.
    """
    size, word_bits = _ORDERED.get(case.variant, ("small", 0))
    given = _shuffled(size, case.dtype, np.int64)
    if case.variant == RANKS:
        expected = np.empty(given.size, np.uint32)
        expected[stable_order(given.weights)] = np.arange(given.size)
        yield "ranks of weights", ranks_of(*uploaded(device, given.weights)), expected
        return
    encoding = Encoding(dtype=case.dtype, stored=case.dtype)
    for merged in (False, True):
        edges = replace(given, merge_parallel=merged)
        on_device = uploaded(device, edges.u, edges.v, edges.weights)
        work = Arrangement(edges.n_vertices, on_device[2], encoding, word_bits=word_bits)
        work.pair_edges(*on_device[:2])
        found = work.graph(lightest=merged)
        yield from _arrays("edges", found, *map(edges.canonical.get, _NAMES))
    yield from _canonical_slots(edges, device, encoding, word_bits)


def _shuffled(size: Size, dtype: np.dtype[Any], of_ends: Any) -> EdgeList:
    """Return the edges of a known graph in random order, with every seventh made a self-loop.

    `size` chooses the graph. `dtype` is the dtype of the weights, and `of_ends` the dtype of the
    ends of the edges.
    """
    graph = known_graph(size).ranks
    u, v, ranks, _ = graph.edges()
    order = np.random.default_rng(u.size).permutation(u.size)
    u, v = u[order].astype(of_ends), v[order].astype(of_ends)
    u[::7] = v[::7]  # loops
    return EdgeList(
        u=u, v=v, weights=weights_of(ranks[order], dtype), n_vertices=graph.n_vertices,
        merge_parallel=False,
    )  # fmt: skip


def _canonical_slots(
    edges: EdgeList, device: Device, encoding: Encoding, word_bits: int
) -> Iterator[Answer]:
    """Let a device bring a matrix with descending columns into canonical order, to test it.

    The matrix has both directions of the edges of a list. `encoding` says how weights are stored,
    and `word_bits` how many bits a word has for the sort key and the position of an edge together.
    Yields triples: a description, the device's result and the right result.
    """
    order = np.lexsort((edges.v, edges.u)[::-1])[::-1]
    order = order[np.argsort(edges.v[order], kind="stable")]
    indptr = np.searchsorted(edges.v[order], np.arange(edges.n_vertices + 1)).astype(np.uint32)
    indices, weights = edges.u[order].astype(np.uint32), edges.weights[order]
    matrix = Graph.unchecked(
        indptr=indptr, indices=indices, weights=weights, is_symmetric=True, edge_ids=None,
        n_input=indices.size,
    )  # fmt: skip
    words = EncodedWeights(source=weights.view(encoding.word), encoding=encoding)
    given = uploaded(device, weights)[0]
    work = Arrangement(edges.n_vertices, given, encoding, word_bits=word_bits)
    work.pair_slots(DeviceGraph.of_keys(matrix, words, device, wait=True))
    found = work.graph(lightest=True)
    right = canonicalise(indptr, indices, weights)
    yield from _arrays("slots", found, *map(right.get, _NAMES))


def _arrays(what: str, found: DeviceGraph | None, *expected: object) -> Iterator[Answer]:
    yield f"{what}: the list itself", found is not None, True
    assert found is not None
    for name, right in zip(_NAMES, expected, strict=True):
        yield f"{name} of {what}", getattr(found.graph, name), right
