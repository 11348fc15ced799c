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

# The sizes of the known graphs that the test streams, each with the number of edges of a chunk.
CHUNKED: tuple[tuple[Size, int], ...] = (("tiny", 7), ("small", 500), ("heavy", 1 << 14))
_MOST_PASSES = 32  # since each pass halves the components, of which there are less than 2**32


def reductions(device: Device, case: Case) -> Iterator[Answer]:
    """Let a device reduce known graphs whose edges arrive in many chunks, to test it.

    `case` has the dtype of weights, and says whether maximum forests are wanted. The chunks of one
    graph arrive in reverse order, so its parallel edges are not in the order of ids. Yields
    triples: a description, the edge ids of the device's forest, and the right ones.
    """
    for size, rows, chunks, given in _streams(device, case):
        reducer = EdgeReducer(capacity=given["n_vertices"] + 2 * rows, **given)
        for chunk in reversed(chunks) if size == "small" else chunks:
            reducer.take(chunk)
        reducer.reduce(is_last=True)
        right = _expected_ids(size, maximum=bool(case.maximum))
        yield f"edges of a stream of the known graph {size!r}", reducer.forest().edge_ids, right


def passes(device: Device, case: Case) -> Iterator[Answer]:
    """Let a device find the forests of known graphs by passes over chunks of edges, to test it.

    `case` has the dtype of weights, and says whether maximum forests are wanted. Yields triples: a
    description, the edge ids of the device's forest, and the right ones.
    """
    for size, rows, chunks, given in _streams(device, case):
        run = EdgePasses(rows=rows, **given)
        found = [EdgePart.empty(case.dtype)]
        for _ in range(_MOST_PASSES):
            for chunk in chunks:
                run.take(chunk)
            found += run.end_pass()
            if run.is_done:
                break
        forest = in_canonical_order(
            joined(found), n_vertices=run.n_vertices, launch=given["launch"]
        )
        right = _expected_ids(size, maximum=bool(case.maximum))
        yield f"edges of passes over the known graph {size!r}", forest.edge_ids, right


def _streams(
    device: Device, case: Case
) -> Iterator[tuple[Size, int, list[EdgeChunk], dict[str, Any]]]:
    """Yield each known graph as chunks of edges on the device.

    `case` has the dtype of weights, and says whether maximum forests are wanted. Yields the name of
    the graph, the maximum number of edges of a chunk, the chunks, and the arguments with which
    :class:`EdgeReducer` or :class:`EdgePasses` is made.
    """
    launch = Launcher(device, device.queue)
    for size, rows in CHUNKED:
        edges, chunks = _generated(size, case.dtype, device), list[EdgeChunk]()
        for begin in range(0, edges.n_edges, rows):
            chunks.append(edges.new_chunk(begin, min(rows, edges.n_edges - begin), device))
            edges.generate(chunks[-1], launch)
        yield size, rows, chunks, {
            "n_vertices": edges.n_vertices, "dtype": case.dtype, "launch": launch,
            "maximum": bool(case.maximum),
        }  # fmt: skip


def _generated(size: Size, dtype: np.dtype[Any], device: Device) -> GeneratedEdges:
    """Return the edges of a known graph, with weights of a dtype, as edges that a device generates.

    `size` names the graph. The weights are generated as unsigned integers with the same bits, which
    need no arithmetic.
    """
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


@cache
def _shuffled(size: Size) -> tuple[Array, Array, Array]:
    """Return the ends u and v and the ranks of the edges of a known graph, in a random order.

    `size` names the graph. The rank of an edge is its position by weight. In a random order, many
    edges can be filtered out.
    """
    u, v, ranks, _ = known_graph(size).ranks.edges()
    order = np.random.default_rng(u.size).permutation(u.size)
    return u[order], v[order], ranks[order]


@cache
def _expected_ids(size: Size, *, maximum: bool) -> Array:
    """Return the ids of the edges of the minimum (or maximum) forest of a known graph.

    `size` names the graph.
    """
    n = known_graph(size).ranks.n_vertices
    return kruskal(Graph.from_edges(*_shuffled(size), n_vertices=n), maximum=maximum).edge_ids
