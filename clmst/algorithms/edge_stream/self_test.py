"""What a device must show before it is trusted with streams of edges."""

from __future__ import annotations

from functools import cache

import numpy as np

from clmst.algorithms.choosing import choose
from clmst.algorithms.edge_stream.canonical_order import in_canonical_order
from clmst.algorithms.edge_stream.edges import EdgeChunk
from clmst.algorithms.edge_stream.generated import GeneratedEdges
from clmst.algorithms.edge_stream.passes import EdgePasses
from clmst.algorithms.edge_stream.reducer import Columns
from clmst.algorithms.edge_stream.stream import EdgeStream
from clmst.algorithms.families import Case
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import forest_of
from clmst.core.graph import Graph
from clmst.core.known_graphs import Size, dtype_of, known_graph, weights_of
from clmst.core.kruskal import kruskal
from clmst.core.weight_keys import Array
from clmst.primitives.element import check_supported
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

_MOST_PASSES = 32  # each halves the components of a graph of at most 2**32 vertices


def edge_stream_failure(device: Device, case: Case) -> str | None:
    """Return what a device gets wrong of the known graphs' edges in many chunks, or None."""
    launch, maximum = Launcher(device, device.queue), case.maximum
    dtype = dtype_of(case.bits, case.kind)
    check_supported(dtype, device)  # the reason in words, before a compiler has its own

    def solve(graph: DeviceGraph) -> DeviceForest:
        name, found = choose("auto", device, graph, options=None, maximum=maximum)
        solution = found(graph, launch, maximum=maximum, options=None)
        return forest_of(solution, launch, algorithm=name, maximum=maximum)

    for size, chunk in (("tiny", 7), ("small", 500), ("heavy", 1 << 14)):
        n = known_graph(size).ranks.n_vertices
        u, v, ranks = _shuffled(size)
        expected = _expected_ids(size, maximum=maximum)
        arrays = {
            "from": u.astype(np.uint32),
            "to": v.astype(np.uint32),
            "given": weights_of(ranks, dtype),
        }
        edges = GeneratedEdges(
            n_vertices=n, n_edges=u.size, u="from[id]", v="to[id]", weight="given[id]",
            weight_dtype=dtype, arrays={name: array.dtype for name, array in arrays.items()},
        )  # fmt: skip
        edges = edges(**{name: DeviceArray.from_host(a, device) for name, a in arrays.items()})
        stream = EdgeStream(
            edges, launch, capacity=n + 2 * chunk, chunk=chunk, maximum=maximum, solve=solve
        )
        while stream.n_left:
            stream.step()
        stream.reduce()
        if not np.array_equal(stream.columns()[3], expected):
            return f"edges came out wrong for a stream of the known graph {size!r}"
    return None


def edge_passes_failure(device: Device, case: Case) -> str | None:
    """Return what passes get wrong of the known graphs' edges in many chunks, or None."""
    launch, dtype = Launcher(device, device.queue), dtype_of(case.bits, case.kind)
    for size, rows in (("tiny", 7), ("small", 500), ("heavy", 1 << 14)):
        u, v, ranks = _shuffled(size)
        columns = u.astype(np.uint32), v.astype(np.uint32), weights_of(ranks, dtype)
        chunks = [
            EdgeChunk(u=a, v=b, weights=w, first_id=begin)
            for begin in range(0, u.size, rows)
            for a, b, w in [
                [DeviceArray.from_host(c[begin : begin + rows], device) for c in columns]
            ]
        ]
        passes = EdgePasses(
            n_vertices=known_graph(size).ranks.n_vertices, dtype=dtype, launch=launch, rows=rows,
            maximum=case.maximum,
        )  # fmt: skip
        found: list[Columns] = []
        for _ in range(_MOST_PASSES):
            for chunk in chunks:
                passes.take(chunk)
            found += passes.end_pass()
            if passes.is_done:
                break
        ids = np.zeros(0, np.int64)
        if found:
            u, v, weights, ids = (np.concatenate(one) for one in zip(*found, strict=True))
            *_, ids = in_canonical_order(
                (u, v, weights, ids), n_vertices=passes.n_vertices, launch=launch
            )
        if not np.array_equal(ids, _expected_ids(size, maximum=case.maximum)):
            return f"edges came out wrong for passes over the known graph {size!r}"
    return None


@cache
def _shuffled(size: Size) -> tuple[Array, Array, Array]:
    """Return the ends and ranks of a known graph's edges in an order that filters meet."""
    u, v, ranks, _ = known_graph(size).ranks.edges()
    order = np.random.default_rng(u.size).permutation(u.size)
    return u[order], v[order], ranks[order]


@cache
def _expected_ids(size: Size, *, maximum: bool) -> Array:
    """Return the ids of the forest's edges in canonical order."""
    n = known_graph(size).ranks.n_vertices
    return kruskal(Graph.from_edges(*_shuffled(size), n_vertices=n), maximum=maximum).edge_ids
