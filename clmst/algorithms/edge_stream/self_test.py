"""The self-tests of streams of edges."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from clmst.algorithms.edge_stream.edges import EdgeChunk, EdgePart, joined
from clmst.algorithms.edge_stream.generated import GeneratedEdges
from clmst.algorithms.edge_stream.passes import EdgePasses, in_canonical_order
from clmst.algorithms.edge_stream.reducer import EdgeReducer
from clmst.core.graph import Graph
from clmst.core.known_graphs import Size, known_graph, weights_of
from clmst.core.kruskal import kruskal
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.kernel_family import Answer, Case
from clmst.runtime.launcher import Launcher

# Known graphs, and the edges of a chunk.
CHUNKED: tuple[tuple[Size, int], ...] = (("tiny", 7), ("small", 500), ("heavy", 1 << 14))
_MOST_PASSES = 32  # each halves the components of a graph of at most 2**32 vertices


def reductions(device: Device, case: Case) -> Iterator[Answer]:
    """Yield forests of known graphs whose edges come in many chunks.

    The device generates the edges; weights as words, which need no arithmetic of their kind. Of
    one graph the chunks come in reverse order: its parallel edges are not in the order of ids.
    """
    launch, maximum, dtype = Launcher(device, device.queue), bool(case.maximum), case.dtype

    for size, rows in CHUNKED:
        n = known_graph(size).ranks.n_vertices
        edges = _generated(size, dtype, device)
        reducer = EdgeReducer(
            n_vertices=n, dtype=dtype, launch=launch, capacity=n + 2 * rows, maximum=maximum
        )
        chunks = list(_chunks(edges, rows, launch))
        for chunk in reversed(chunks) if size == "small" else chunks:
            reducer.take(chunk)
        reducer.reduce(is_last=True)
        expected = _expected_ids(size, maximum=maximum)
        yield f"edges of a stream of the known graph {size!r}", reducer.forest().edge_ids, expected


def _generated(size: Size, dtype: np.dtype[Any], device: Device) -> GeneratedEdges:
    """Return a known graph's edges as the device generates them, weights as words of a dtype."""
    u, v, ranks = _shuffled(size)
    arrays = {
        "from": u.astype(np.uint32),
        "to": v.astype(np.uint32),
        "given": weights_of(ranks, dtype).view(f"u{dtype.itemsize}"),
    }
    edges = GeneratedEdges(
        n_vertices=known_graph(size).ranks.n_vertices, n_edges=u.size, u="from[id]", v="to[id]",
        weight="given[id]", weight_dtype=arrays["given"].dtype,
        arrays={name: array.dtype for name, array in arrays.items()},
    )  # fmt: skip
    return edges(**{name: DeviceArray.from_host(a, device) for name, a in arrays.items()})


def _chunks(edges: GeneratedEdges, rows: int, launch: Launcher) -> Iterator[EdgeChunk]:
    for begin in range(0, edges.n_edges, rows):
        chunk = edges.new_chunk(begin, min(rows, edges.n_edges - begin), launch.device)
        edges.generate(chunk, launch)
        yield chunk


def passes(device: Device, case: Case) -> Iterator[Answer]:
    """Yield forests of known graphs by passes over chunks of their edges."""
    launch, maximum, dtype = Launcher(device, device.queue), bool(case.maximum), case.dtype
    for size, rows in CHUNKED:
        chunks = list(_chunks(_generated(size, dtype, device), rows, launch))
        run = EdgePasses(
            n_vertices=known_graph(size).ranks.n_vertices, dtype=dtype, launch=launch, rows=rows,
            maximum=maximum,
        )  # fmt: skip
        found: list[EdgePart] = []
        for _ in range(_MOST_PASSES):
            for chunk in chunks:
                run.take(chunk)
            found += run.end_pass()
            if run.is_done:
                break
        ids = np.zeros(0, np.int64)
        if found:
            forest = in_canonical_order(joined(found), n_vertices=run.n_vertices, launch=launch)
            ids = forest.edge_ids
        expected = _expected_ids(size, maximum=maximum)
        yield f"edges of passes over the known graph {size!r}", ids, expected


@cache
def _shuffled(size: Size) -> tuple[Array, Array, Array]:
    """Return the ends and ranks of a known graph's edges in an order that filters meet."""
    u, v, ranks, _ = known_graph(size).ranks.edges()
    order = np.random.default_rng(u.size).permutation(u.size)
    return u[order], v[order], ranks[order]


@cache
def _expected_ids(size: Size, *, maximum: bool) -> Array:
    n = known_graph(size).ranks.n_vertices
    return kruskal(Graph.from_edges(*_shuffled(size), n_vertices=n), maximum=maximum).edge_ids
