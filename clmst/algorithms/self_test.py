"""The self-tests of algorithms, core numbers and dendrograms.

Each test yields triples: a description, the device's result and the right result. The caller
compares the last two.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.shared.self_test_cases import FEW_VERTICES
from clmst.algorithms.shared.solution import forest_of
from clmst.core.known_graphs import Size, known_forest, known_graph
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.kernel_family import Answer, Case
from clmst.runtime.launcher import Launcher

SIZES: tuple[Size, ...] = ("tiny", "small", "large")


def forests(algorithm: str, device: Device, case: Case) -> Iterator[Answer]:
    """Test an algorithm: solve known graphs, and yield edge ids and ends beside the right ones.

    `case` has the dtype of the weights and the options, and says whether maximum forests are
    wanted. The order of a forest's edges must be the order of the graph. The largest graph is left
    out if the algorithm would be slow on it, or if the case has options. Yields triples: a
    description, the device's result and the right result.
    """
    where = ALGORITHMS[algorithm].large_self_test
    takes_large = where == "always" or (where == "cpu" and device.capabilities.kind == "cpu")
    for size in SIZES[: 3 if takes_large and not case.option_text else 2]:
        known, launch = known_graph(size), Launcher(device, device.queue)
        maximum = bool(case.maximum)
        graph = known.weighted(case.dtype, symmetric=bool(case.symmetric))
        resident = DeviceGraph.upload(graph, device)
        solve = ALGORITHMS[algorithm].solve
        solution = solve(resident, launch, maximum=maximum, options=case.options)
        forest = forest_of(solution, launch, algorithm=algorithm, maximum=maximum).to_host()
        expected = known.forest(maximum=maximum)
        yield f"edges of the known graph {size!r}", forest.edge_ids, expected.edge_ids
        yield f"ends of edges of the known graph {size!r}", forest.edges, expected.edges


def core_numbers(device: Device, _: object) -> Iterator[Answer]:
    """Yield, for each known graph, a description, the device's core numbers and the right ones."""
    from clmst.algorithms.k_core import core_numbers as k_core

    for size in SIZES:
        known = known_graph(size)
        for symmetric in (False, True):
            graph = known.weighted(np.dtype(np.uint8), symmetric=symmetric)
            resident = DeviceGraph.upload(graph, device)
            cores, _ = k_core.core_numbers(resident, Launcher(device, device.queue))
            yield f"core numbers of the known graph {size!r}", cores, known.core_numbers


def dendrograms(device: Device, case: object) -> Iterator[Answer]:
    """Test the kernels of dendrograms on known forests.

    Yields triples: a description, the device's result and the right result. The results are the
    sorted order of the edges, the children and sizes of all merges, and one condensed tree, which
    belongs to a further tree of 300 vertices. `case` says whether one work-item or many merge.
    """
    from clmst.algorithms.dendrogram.condense import condense, merge_and_condense
    from clmst.algorithms.dendrogram.merge import merge, rising_order

    is_serial, launch = case == FEW_VERTICES, Launcher(device, device.queue)
    for size in SIZES[:2]:
        (n, edges, ranks), of = known_forest(size), f"of the known forest {size!r}"
        order = np.argsort(ranks, kind="stable")
        found_order = rising_order(ranks, launch, by_device=not is_serial)
        yield f"places of sorted edges {of}", found_order.to_host(), order
        ends = DeviceArray.from_host(edges.astype(np.uint32).ravel(), device)
        for given in (order, order[::-1]):
            given_order = DeviceArray.from_host(given.astype(np.uint32), device)
            merges = merge(n, ends, given_order, launch, serial=is_serial)
            right_children, right_sizes = merge_by_host(n, edges, given)
            children = merges.children.to_host().reshape(-1, 2)
            yield f"children in the dendrogram {of}", children, right_children
            yield f"sizes in the dendrogram {of}", merges.sizes.to_host(), right_sizes
    n, child = 300, np.arange(1, 300)
    edges = np.stack([child * 7919 % 257 % child, child], axis=1)
    order = np.argsort(child * 101 % 307, kind="stable")
    ends, places = (
        DeviceArray.from_host(a.astype(np.uint32).ravel(), device) for a in (edges, order)
    )
    heights = DeviceArray.from_host(np.arange(1, n, dtype=np.float64), device)
    if is_serial:
        found = merge_and_condense(edges, np.arange(1, n, dtype=np.float64), order, 3, launch)
    else:
        found = condense(merge(n, ends, places, launch, serial=False), heights, 3, launch)
    leaves = condense_by_host(n, *merge_by_host(n, edges, order), 3)
    expected = 1 / (order[leaves] + 1.0)
    yield "densities in the condensed tree of 300 vertices", found.point_lambda, expected


def condense_by_host(n: int, children: Array, sizes: Array, least: int) -> Array:
    """Find, for each vertex, the merge at which the vertex leaves its last cluster in HDBSCAN.

    `children` and `sizes` describe the merges of `n` vertices. `least` is the minimum size of a
    cluster. Merges are visited from the root down, on the host, in O(n) time.
    """
    leaves = np.empty(n + len(children), np.int64)
    leaves[-1] = -1  # -1 marks the node of a merge that is still in a cluster
    for merge in range(len(children) - 1, -1, -1):
        for node in children[merge]:
            is_small = node < n or sizes[node - n] < least
            leaves[node] = (
                (merge if leaves[n + merge] < 0 else leaves[n + merge]) if is_small else -1
            )
    return leaves[:n]


def merge_by_host(n: int, edges: Array, order: Array) -> tuple[Array, Array]:
    """Compute the children and the size of every merge in Python, for comparison with a device.

    `n` is the number of vertices. `edges` has the two ends of each edge, and `order` lists the
    edges from the lightest to the heaviest. Uses disjoint sets, in O(n log n) time.
    """
    parent, sizes = list(range(n + len(order))), [1] * n
    children = np.zeros((len(order), 2), np.uint32)

    def top(node: int) -> int:
        """Find the root of a node, and shorten the path from the node to the root."""
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    for position, edge in enumerate(order.tolist()):
        pair = sorted(top(end) for end in edges[edge].tolist())
        children[position] = pair
        parent[pair[0]] = parent[pair[1]] = n + position
        sizes.append(sizes[pair[0]] + sizes[pair[1]])
    return children, np.array(sizes[n:], np.uint32)
