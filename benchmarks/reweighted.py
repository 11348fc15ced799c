"""One graph under weights that change: what benchmarks of repeated solves have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

import clmst
from clmst.bench.contestants import as_matrix
from clmst.core import csr
from clmst.generators.surrogates import SURROGATES

CLUSTERED = "clustered"


def load(name: str) -> clmst.Graph:
    """Return the graph that a surrogate graph's name, ``clustered``, or a file means; symmetric."""
    if name in SURROGATES:
        graph = SURROGATES[name].load()
    elif name == CLUSTERED:
        graph = clmst.generate(name)
    else:
        graph = clmst.Graph.read(name)
    return graph.symmetrised()


class Reweighted:
    """A symmetric graph without loops, and matrices of it under other weights.

    Attributes
    ----------
    graph : Graph
    own : ndarray, shape (m,)
        The weights that it came with, one an edge in canonical order.
    """

    def __init__(self, graph: clmst.Graph) -> None:
        self.graph = graph
        self.own = graph.edges()[2]
        is_upper = graph.indices > graph.rows
        edges = np.cumsum(is_upper, dtype=np.uint32) - np.uint32(1)
        slots = np.arange(graph.n_slots, dtype=np.uint32)
        # In the transpose, the slot (i, j) holds what the graph has in the slot (j, i).
        mirrored = csr.transpose(graph.indptr, graph.indices, slots)[2]
        self._edges = np.where(is_upper, edges, edges[mirrored])  # of each slot

    def matrix(self, weights: np.ndarray) -> Any:
        """Return the SciPy matrix that has these weights, one an edge in canonical order."""
        return as_matrix(self.graph.replace(weights=weights[self._edges]))

    def permuted(self, number: int) -> np.ndarray:
        """Return one of many permutations of the graph's own weights."""
        return np.random.default_rng(number).permutation(self.own)

    def near(self, share: float, number: int) -> np.ndarray:
        """Return one of many weights that differ from the own ones by up to a share of them."""
        by = np.random.default_rng(number).uniform(-share, share, self.own.size)
        return (self.own * (1 + by)).astype(self.own.dtype)
