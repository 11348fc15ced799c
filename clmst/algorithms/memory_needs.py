"""How much device memory algorithms need, for the error that says that there is too little."""

from __future__ import annotations

from clmst.core.errors import OutOfDeviceMemoryError
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import gigabytes

# Bytes a vertex and an edge at the peak of a solve, beside the graph itself; weights of 32 bits.
# The larger of what edges stored once and twice take, on random graphs of average degree 2 to 32:
# tests/algorithms/test_memory_needs.py measures them anew. "dense" counts cells and has its own
# error.
NEEDS: dict[str, tuple[int, int]] = {
    "boruvka": (0, 107),
    "ecl": (20, 34),
    "edge-parallel": (13, 10),
    "filter-boruvka": (78, 64),  # (47, 33) where light edges are as few as it expects
    "lone-boruvka": (40, 22),
    "pma": (0, 83),
    "prim": (48, 36),
    "prim-boruvka": (0, 107),
}
# Those that take any graph in reasonable time.
_OFFERED = ("lone-boruvka", "filter-boruvka", "ecl", "edge-parallel")


def bytes_needed(algorithm: str, n_vertices: int, n_edges: int) -> int:
    """Return about how many bytes a solve needs at its peak, beside the graph itself."""
    a_vertex, an_edge = NEEDS[algorithm]
    return a_vertex * n_vertices + an_edge * n_edges


def with_needs(
    error: OutOfDeviceMemoryError, graph: DeviceGraph, algorithm: str
) -> OutOfDeviceMemoryError:
    """Return an error that also says what the whole solve needs, and what would fit."""
    if algorithm not in NEEDS:
        return error
    n, m = graph.n_vertices, graph.edge_bound
    needed = bytes_needed(algorithm, n, m)
    word = graph.encoded.encoding.word.itemsize
    stored = 4 * (n + 1) + (4 + word) * graph.n_slots
    memory = graph.device.capabilities.global_memory
    told = [
        str(error),
        f"{algorithm!r} needs about {gigabytes(needed)} for {n} vertices and {m} edges, beside "
        f"{gigabytes(stored)} for the graph",
    ]
    if needed + stored > memory:
        told.append(
            f"a graph of this average degree fits with up to {m * memory // (needed + stored)} "
            "edges or so"
        )
    least = min(_OFFERED, key=lambda name: bytes_needed(name, n, m))
    if bytes_needed(least, n, m) < needed:
        told.append(f"{least!r} needs least, about {gigabytes(bytes_needed(least, n, m))}")
    return OutOfDeviceMemoryError("; ".join(told))
