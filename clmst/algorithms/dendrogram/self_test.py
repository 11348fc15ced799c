"""What a device must show before it is trusted with dendrograms."""

from __future__ import annotations

import numpy as np

from clmst.algorithms.dendrogram.merge import Merges, merge, rising_order
from clmst.algorithms.families import FEW_VERTICES
from clmst.core.known_graphs import known_graph
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device


def dendrogram_failure(device: Device, case: object) -> str | None:
    """Return what a device gets wrong of the known graphs' dendrograms, or None."""
    few = case == FEW_VERTICES
    for size in ("tiny", "small"):
        forest = known_graph(size).forest(maximum=False)
        order = np.argsort(forest.weights, kind="stable")
        by_device_from = len(order) + 1 if few else 1
        found_order = rising_order(forest.weights, device, by_device_from=by_device_from)
        if not np.array_equal(found_order, order):
            return f"edges of the known graph {size!r} were sorted wrongly"
        for name, given in (("forest", order), ("forest in another order", order[::-1])):
            expected = merge_by_host(forest.n_vertices, forest.edges, given)
            found = merge(forest.n_vertices, forest.edges, given, device, few=few)
            for part in ("children", "sizes"):
                if not np.array_equal(getattr(found, part), getattr(expected, part)):
                    return f"the {part} came out wrong for the {name} of the known graph {size!r}"
    return None


def merge_by_host(n: int, edges: Array, order: Array) -> Merges:
    """Return what :func:`merge` must return, by disjoint sets in Python. O(n log n)."""
    parent, sizes = list(range(n + len(order))), [1] * n
    children = np.zeros((len(order), 2), np.uint32)

    def top(node: int) -> int:
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    for position, edge in enumerate(order.tolist()):
        pair = sorted(top(end) for end in edges[edge].tolist())
        children[position] = pair
        parent[pair[0]] = parent[pair[1]] = n + position
        sizes.append(sizes[pair[0]] + sizes[pair[1]])
    return Merges(children=children, sizes=np.array(sizes[n:], np.uint32))
