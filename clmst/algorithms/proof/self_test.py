"""Self-tests of proofs: a device must prove right forests, and must refute wrong forests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from clmst.algorithms.points_self_test import VERTICES, complete_graph
from clmst.algorithms.proof.prove import prove
from clmst.algorithms.self_test import SIZES
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.known_graphs import known_graph
from clmst.core.kruskal import kruskal
from clmst.core.paths import Hierarchy
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.kernel_family import Answer, Case
from clmst.runtime.launcher import Launcher


def claim_of(
    graph: DeviceGraph | DeviceMatrix, ends: Array, slots: Array | None = None, *, maximum: bool
) -> DeviceForest:
    """Make a DeviceForest of some edges, which claims that these are the forest of `graph`.

    `ends` has the ends of the edges, shape (k, 2), and `slots` their CSR entries, or None for a
    complete graph, which has none. `maximum` says whether the claim is about the maximum forest.
    """
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


def of_graph(
    graph: DeviceGraph, right: Array, *, maximum: bool, exchanges: int = 3
) -> Iterator[Answer]:
    """Let the device prove the right forest of a graph, and try to prove several wrong ones.

    `right` has the CSR entries of the right forest, which is a maximum forest if `maximum` is true.
    `exchanges` is the number of wrong forests in which one edge is replaced. For each claimed
    forest, yields its name, whether the device proves it, and whether it is right.
    """
    host = graph.graph
    others = np.setdiff1d(host.edge_slots, right)

    def ends_of(slots: Array) -> Array:
        return np.column_stack((host.rows[slots], host.indices[slots]))

    for name, slots in _claims(right, others, ends_of, host.n_vertices, exchanges):
        claim = claim_of(graph, ends_of(slots), slots, maximum=maximum)
        yield name, _is_proved(claim), slots is right


def of_matrix(
    matrix: DeviceMatrix, right: Array, *, maximum: bool, exchanges: int = 3
) -> Iterator[Answer]:
    """Let the device prove the right tree of a complete graph, and try to prove wrong ones.

    `matrix` has the graph. `right` has the ends of the edges of the right tree, which is a maximum
    tree if `maximum` is true. `exchanges` is the number of wrong trees in which one edge is
    replaced. For each claimed tree, yields its name, whether the device proves it, and whether it
    is right.
    """
    n = matrix.n_vertices

    def ends_of(pairs: Array) -> Array:
        return np.column_stack((pairs // n, pairs % n))

    numbers = right[:, 0].astype(np.int64) * n + right[:, 1]
    u, v = np.triu_indices(n, 1)
    others = np.setdiff1d(u * n + v, numbers)
    for name, pairs in _claims(numbers, others, ends_of, n, exchanges):
        claim = claim_of(matrix, ends_of(pairs), maximum=maximum)
        yield name, _is_proved(claim), pairs is numbers


def _claims(
    right: Array, others: Array, ends_of: Callable[[Array], Array], n: int, exchanges: int
) -> Iterator[tuple[str, Array]]:
    """Yield names and edges of claimed forests: first the right one, then wrong ones.

    `right` has the numbers of the right forest's edges, and `others` the numbers of all other edges
    of the graph of `n` vertices. `ends_of` returns the two ends of edges, given their numbers.
    Each wrong forest has another kind of fault. In `exchanges` of them, one edge is replaced by
    another edge of a cycle, so the claimed edges still span the graph.
    """
    yield "the forest", right
    if right.size:
        yield "a forest without its first edge", right[1:]
        yield "a forest without its last edge", right[:-1]
    if right.size > 1:
        yield "a forest with an edge twice", np.insert(right[:-1], 0, right[0])
    if others.size:
        a, b = ends_of(right).astype(np.int64).T
        chosen = others[np.arange(exchanges + 1) * others.size // (exchanges + 1)]
        x, y = ends_of(chosen).astype(np.int64).T
        on_path = Hierarchy(n, a, b).last_ranks(x, y)  # the ranks of some edges of the paths
        beside = (on_path[0] + right.size // 2) % right.size
        yield "a forest with a cycle", np.sort(np.append(np.delete(right, beside), chosen[0]))
        for other, gone in zip(chosen[1:], on_path[1:], strict=True):
            yield "a forest with another edge", np.sort(np.append(np.delete(right, gone), other))


def _is_proved(claim: DeviceForest) -> bool:
    device = claim.graph.device
    return prove(claim, Launcher(device, device.queue)).ok


def known_graphs(device: Device, case: Case) -> Iterator[Answer]:
    """Let a device prove right and wrong forests of known graphs, to test its proofs.

    The device must prove each right forest, and must refute each wrong one. Yields triples: a
    description, whether the device has proved the forest, and whether it is right.

    `case` has the dtype of the weights. It also says whether the forests are maximum spanning
    forests, and whether the graphs store both directions of each edge.
    """
    for size in SIZES:
        known, maximum = known_graph(size), bool(case.maximum)
        graph = known.weighted(case.dtype, symmetric=bool(case.symmetric))
        ids, edges = graph.edge_ids, graph.edge_slots
        chosen = known.forest(maximum=maximum).edge_ids
        right = edges[np.isin(edges if ids is None else ids[edges], chosen)]
        for claim in of_graph(DeviceGraph.upload(graph, device), right, maximum=maximum):
            yield f"the proof of {claim[0]} of the known graph {size!r}", *claim[1:]


def complete_graphs(device: Device, case: Case) -> Iterator[Answer]:
    """Let a device prove right and wrong trees of known complete graphs, to test its proofs.

    `case` says whether the graphs are matrices or points, and whether maximum trees are wanted.
    Yields triples: a description, whether the device has proved the tree, and whether it is right.
    """
    for n in VERTICES:
        graph, maximum = complete_graph(n, case), bool(case.maximum)
        right = kruskal(graph.to_graph(), maximum=maximum).edges
        for claim in of_matrix(DeviceMatrix.upload(graph, device), right, maximum=maximum):
            yield f"the proof of {claim[0]} of {n} known vertices", *claim[1:]
