"""What "auto" means: the rule, whose figures are in ``docs/algorithms.md``."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.shared import links
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.policy import Policy


def quickest(device: Device, graph: DeviceGraph | None = None) -> str:
    """Return the name of the algorithm that is the quickest, as far as is known.

    Complete graphs, which have no edges listed, do not come here: dense solves them.

    Parameters
    ----------
    device : Device
    graph : DeviceGraph, optional
        A large sparse one when left out.
    """
    if graph is not None and graph.n_vertices > links.MAX_VERTICES:
        return "ecl"
    if graph is not None and _is_for_one(graph, device.policy):
        return "prim"
    return "lone-boruvka" if device.policy.work_group_size == 1 else "filter-boruvka"


# What follows where the quickest is refused, in this order: by the figures in docs/algorithms.md.
_ORDER = (
    "lone-boruvka",
    "filter-boruvka",
    "ecl",
    "prim-boruvka",
    "boruvka",
    "pma",
    "edge-parallel",
    "prim",
)


def in_order(device: Device, graph: DeviceGraph) -> Iterator[str]:
    """Yield the algorithms that "auto" may be, the quickest first."""
    best = quickest(device, graph)
    yield best
    for name in _ORDER:
        if name != best and not (name in links.LIMITED and graph.n_vertices > links.MAX_VERTICES):
            yield name


def _is_for_one(graph: DeviceGraph, tuning: Policy) -> bool:
    """Whether one work-item is done with a graph before several have begun."""
    if graph.graph.is_symmetric:
        return graph.n_vertices <= tuning.prim_vertices
    return 2 * graph.n_vertices <= tuning.prim_vertices and graph.n_slots <= tuning.prim_edges
