"""Prim's algorithm, one tree for each work-item or work-group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

if TYPE_CHECKING:
    from clmst.runtime.device_graph import DeviceGraph
    from clmst.runtime.policy import Policy


def _rank(policy: Policy, graph: DeviceGraph | None) -> int:
    """Return the first rank for graphs that one work-item is soon done with, else the last."""
    if graph is None:
        return 90
    if graph.graph.is_symmetric:
        is_small = graph.n_vertices <= policy.prim_vertices
    else:
        is_small = (
            2 * graph.n_vertices <= policy.prim_vertices and graph.n_slots <= policy.prim_edges
        )
    return 0 if is_small else 90


RECORD = AlgorithmRecord(
    name="prim",
    purpose="trees that grow vertex by vertex, by a heap or an array",
    good_for="small graphs on CPUs",
    rank=_rank,
    bytes_needed=(48, 36),
    large_self_test="cpu",  # elsewhere a single work-item grows each tree, which takes a second
)
