"""What a device must show before it brings edges into canonical order."""

from __future__ import annotations

import numpy as np

from clmst.algorithms.canonical_csr.arrange import Arrangement, ranks_of, uploaded
from clmst.algorithms.families import CsrValidationCase
from clmst.core.canonical import canonicalise
from clmst.core.edge_list import EdgeList
from clmst.core.graph import Graph
from clmst.core.known_graphs import Size, dtype_of, known_graph, weights_of
from clmst.core.weight_keys import Array, EncodedWeights, Encoding
from clmst.core.weight_order import stable_order
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph

# Graphs, and bits for a key and a position: of the first they do not suffice.
_SIZES: tuple[tuple[Size, int], ...] = (("tiny", 0), ("heavy", 64))
_NAMES = ("indptr", "indices", "weights", "edge_ids")


def canonical_csr_failure(device: Device, case: CsrValidationCase) -> str | None:
    """Return what a device gets wrong of the known graphs' edges in another order, or None."""
    dtype = dtype_of(case.bits, case.kind)
    for size, word_bits in _SIZES:
        u, v, ranks, _ = known_graph(size).ranks.edges()
        order = np.random.default_rng(u.size).permutation(u.size)
        u, v, weights = u[order], v[order], weights_of(ranks[order], dtype)
        u[::7] = v[::7]  # loops
        n = known_graph(size).ranks.n_vertices
        for is_merged in (False, True):
            edges = EdgeList(u=u, v=v, weights=weights, n_vertices=n, merge_parallel=is_merged)
            if not _is_right(edges, device, word_bits):
                return f"edges came out in another order for the known graph {size!r}"
        if not _is_right_of_slots(edges, device, word_bits):
            return f"slots came out in another order for the known graph {size!r}"
        if dtype != np.float16 and not _has_right_ranks(weights, device):
            return f"weights were sorted wrongly for the known graph {size!r}"
    return None


def _is_right(edges: EdgeList, device: Device, word_bits: int) -> bool:
    """Return whether a device makes what the host makes of a list of edges."""
    ends = (one.astype(np.int64) for one in (edges.u, edges.v))
    u, v, weights = uploaded(device, *ends, edges.weights)
    work = Arrangement(edges.n_vertices, weights, _encoding(edges.weights), word_bits=word_bits)
    work.pair_edges(u, v)
    found = work.graph(lightest=edges.merge_parallel, n_input=edges.size)
    expected = edges.canonical
    return found is not None and all(
        np.array_equal(getattr(found.graph, name), expected[name]) for name in _NAMES
    )


def _is_right_of_slots(edges: EdgeList, device: Device, word_bits: int) -> bool:
    """Return whether a device makes what the host makes of a matrix with falling columns."""
    order = np.lexsort((edges.v, edges.u)[::-1])[::-1]
    order = order[np.argsort(edges.v[order], kind="stable")]
    indptr = np.searchsorted(edges.v[order], np.arange(edges.n_vertices + 1)).astype(np.uint32)
    indices, weights = edges.u[order].astype(np.uint32), edges.weights[order]
    matrix = Graph.unchecked(
        indptr=indptr, indices=indices, weights=weights, is_symmetric=True, edge_ids=None,
        n_input=indices.size,
    )  # fmt: skip
    encoding = _encoding(weights)
    words = EncodedWeights(bits=weights.view(encoding.word), encoding=encoding)
    given = uploaded(device, weights)[0]
    work = Arrangement(edges.n_vertices, given, encoding, word_bits=word_bits)
    work.pair_slots(DeviceGraph.of_keys(matrix, words, device, wait=True))
    found = work.graph(lightest=True, n_input=indices.size)
    expected = canonicalise(indptr, indices, weights)
    return found is not None and all(
        np.array_equal(getattr(found.graph, mine), getattr(expected, theirs))
        for mine, theirs in zip(_NAMES, ("indptr", "indices", "weights", "positions"), strict=True)
    )


def _has_right_ranks(weights: Array, device: Device) -> bool:
    """Return whether a device ranks weights by (weight, position)."""
    expected = np.empty(weights.size, np.uint32)
    expected[stable_order(weights)] = np.arange(weights.size)
    return np.array_equal(ranks_of(*uploaded(device, weights)).to_host(), expected)


def _encoding(weights: Array) -> Encoding:
    return Encoding(dtype=weights.dtype, stored=weights.dtype)
