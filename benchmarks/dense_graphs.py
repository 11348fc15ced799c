"""Random graphs of every density, as rows, as matrices, and with each edge stored once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

import clmst

# A graph, and the probability with which each pair of its vertices is an edge.
OfDensity = tuple[float, clmst.Graph]


def complete_graphs(sizes: Iterable[int]) -> Iterator[OfDensity]:
    """Yield a complete graph of each size."""
    for n in sizes:
        yield 1.0, random_rows(n, 1.0, seed=n)


def density_graphs(n: int, probabilities: Iterable[float]) -> Iterator[OfDensity]:
    """Yield a graph of each density."""
    for probability in probabilities:
        yield probability, random_rows(n, probability, seed=round(1e6 * probability))


def random_rows(n: int, probability: float, seed: int) -> clmst.Graph:
    """Return a graph of n vertices in which each pair is an edge with a probability; symmetric."""
    rng = np.random.default_rng(seed)
    words = np.frombuffer(rng.bytes(4 * n * n), np.uint32) >> 2
    weights = words.view(np.int32).reshape(n, n)
    mirror(weights)
    chosen = np.ones((n, n), bool)
    if probability < 1:
        for row in chosen:
            np.less(rng.random(n, np.float32), probability, out=row)
        mirror(chosen)
    np.fill_diagonal(chosen, False)
    lengths = np.count_nonzero(chosen, axis=1)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32)
    indices = np.concatenate([np.flatnonzero(row).astype(np.uint32) for row in chosen])
    kept = weights[chosen]
    return clmst.Graph(
        indptr=indptr,
        indices=indices,
        weights=kept,
        is_symmetric=True,
        edge_ids=None,
        n_input=indices.size,
    )


def mirror(matrix: np.ndarray) -> None:
    """Copy what is above the diagonal below it, by blocks that stay in cache."""
    n, side = len(matrix), 512
    for low in range(0, n, side):
        block = matrix[low : low + side, low : low + side]
        block[...] = np.triu(block) + np.triu(block, 1).T
        for high in range(low + side, n, side):
            beyond = matrix[low : low + side, high : high + side]
            matrix[high : high + side, low : low + side] = beyond.T


def matrix_of(graph: clmst.Graph) -> np.ndarray:
    """Return the matrix of a complete graph; its diagonal is zero."""
    n = graph.n_vertices
    matrix = np.zeros((n, n), graph.weights.dtype)
    matrix[~np.eye(n, dtype=bool)] = graph.weights
    return matrix


def edges_once(graph: clmst.Graph) -> clmst.Graph:
    """Return a symmetric graph with each of its edges stored once."""
    is_upper = graph.indices > graph.rows
    lengths = np.bincount(graph.rows[is_upper], minlength=graph.n_vertices)
    return clmst.Graph(
        indptr=np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32),
        indices=graph.indices[is_upper],
        weights=graph.weights[is_upper],
        is_symmetric=False,
        edge_ids=None,
        n_input=int(lengths.sum()),
    )
