"""What "auto" means: the algorithms by their ranks, whose figures are in ``docs/algorithms.md``."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.registry import ALGORITHMS
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph


def quickest(device: Device, graph: DeviceGraph | None = None) -> str:
    """Return the name of the algorithm that is the quickest, as far as is known.

    Complete graphs, which have no edges listed, do not come here: dense solves them.

    Parameters
    ----------
    device : Device
    graph : DeviceGraph, optional
        A large sparse one when left out.
    """
    policy, n_vertices = device.policy, 0 if graph is None else graph.n_vertices
    best, least = "", None
    for record in ALGORITHMS.values():  # one plain loop: every solve pays for it
        rank = record.rank
        if rank is None:
            continue
        if not isinstance(rank, int):
            rank = rank(policy, graph)
        if (least is None or rank < least) and record.takes(device, n_vertices):
            best, least = record.name, rank
    return best


def in_order(device: Device, graph: DeviceGraph) -> Iterator[str]:
    """Yield the algorithms that "auto" may be, the quickest first."""
    best = quickest(device, graph)
    yield best
    ranks = [(one.rank_for(device.policy, graph), one) for one in ALGORITHMS.values()]
    taken = [
        (k, one.name) for k, one in ranks if k is not None and one.takes(device, graph.n_vertices)
    ]
    for _, name in sorted(taken):
        if name != best:
            yield name
