"""What a device must show before it is trusted with matrices of equal weights."""

from __future__ import annotations

import numpy as np

from clmst.algorithms.equal_weights.solve import solved
from clmst.core.graph import Graph
from clmst.core.known_graphs import known_graph
from clmst.core.kruskal import forest_positions, kruskal
from clmst.runtime.device import Device


def equal_weights_failure(device: Device) -> str | None:
    """Return whether a forest is wrong, or a fault was not seen, or None."""
    for size in ("tiny", "small"):
        for symmetric in (False, True):
            graph = known_graph(size).simple(np.dtype(np.uint8), symmetric=symmetric)
            # The vertices numbered from the other end: rows fall, and entries change sides.
            lengths = np.diff(graph.indptr.astype(np.int64))[::-1]
            indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
            indices = graph.n_vertices - 1 - graph.indices[::-1].astype(np.int64)
            ones = np.ones(indices.size, np.uint8)
            expected = kruskal(Graph.from_csr(indptr, indices, ones))
            by_entry = forest_positions(graph.n_vertices, indptr, indices, ones)
            for dtype in (np.int32, np.int64):
                found = solved(indptr.astype(dtype), indices.astype(dtype), device)
                if found is None:
                    return "a sound matrix was found faulty"
                if not np.array_equal(found[0], expected.edge_ids):
                    return f"edges came out wrong for the known graph {size!r}"
                first = solved(indptr.astype(dtype), indices.astype(dtype), device, by_entry=True)
                if first is None or not np.array_equal(first[0], by_entry):
                    return f"first entries came out wrong for the known graph {size!r}"
            faulty = indices.copy()
            faulty[indices.size // 2] = graph.n_vertices
            if solved(indptr, faulty, device) is not None:
                return "a matrix with a column outside was found sound"
    return None
