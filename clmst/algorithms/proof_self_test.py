"""What a device must show before its proofs are believed: right claims pass, wrong ones do not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clmst.algorithms.proof import prove
from clmst.algorithms.solution import DeviceForest
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher


def claim_of(graph: DeviceGraph, slots: Array, *, maximum: bool) -> DeviceForest:
    """Return the claim that the edges in some slots are the forest of a graph."""
    ends = np.column_stack((graph.graph.rows[slots], graph.graph.indices[slots]))
    return _claim(graph, ends, slots, maximum=maximum)


def complete_claim_of(matrix: DeviceMatrix, ends: Array, *, maximum: bool) -> DeviceForest:
    """Return the claim that some pairs are the forest of a complete graph."""
    return _claim(matrix, ends, None, maximum=maximum)


def failure(graph: DeviceGraph, right: Array, *, maximum: bool) -> str | None:
    """Return what a device proves wrongly of a graph, given the slots of its forest; or None."""
    edges = graph.graph.edge_slots
    for name, slots in (("the forest", right), *_wrong(right, np.setdiff1d(edges, right))):
        if _is_proved(claim_of(graph, slots, maximum=maximum)) != (slots is right):
            return f"{name} was taken for {'wrong' if slots is right else 'right'}"
    return None


def complete_failure(matrix: DeviceMatrix, right: Array, *, maximum: bool) -> str | None:
    """Return what a device proves wrongly of a complete graph, given its forest; or None."""
    n = matrix.n_vertices
    numbers = right[:, 0].astype(np.int64) * n + right[:, 1]
    u, v = np.triu_indices(n, 1)
    wrong = _wrong(numbers, np.setdiff1d(u * n + v, numbers))
    for name, pairs in (("the forest", numbers), *wrong):
        ends = np.column_stack((pairs // n, pairs % n))
        if _is_proved(complete_claim_of(matrix, ends, maximum=maximum)) != (pairs is numbers):
            return f"{name} was taken for {'wrong' if pairs is numbers else 'right'}"
    return None


def _wrong(right: Array, others: Array) -> Iterator[tuple[str, Array]]:
    """Yield claims that are wrong, each in its own way."""
    if right.size:
        yield "a forest without its first edge", right[1:]
        yield "a forest without its last edge", right[:-1]
        yield "a forest with an edge twice", np.insert(right[:-1], 0, right[0])
    if others.size:
        yield "a forest and one edge more", np.sort(np.append(right, others[others.size // 2]))
    if right.size and others.size:
        for part in (1, 2, 3):
            other, gone = others[part * others.size // 4], part * right.size // 4
            yield "a forest with another edge", np.sort(np.append(np.delete(right, gone), other))


def _claim(
    graph: DeviceGraph | DeviceMatrix, ends: Array, slots: Array | None, *, maximum: bool
) -> DeviceForest:
    device, flat = graph.device, np.ascontiguousarray(ends, np.uint32).ravel()
    own = None
    if slots is not None:
        own = DeviceArray.from_host(slots.astype(np.uint32), device).memory
    return DeviceForest(
        graph=graph,
        n_edges=len(ends),
        slots=own,
        edges=DeviceArray.from_host(flat, device).memory,
        maximum=maximum,
    )


def _is_proved(claim: DeviceForest) -> bool:
    device = claim.graph.device
    return prove(claim, Launcher(device, device.queue)).ok
