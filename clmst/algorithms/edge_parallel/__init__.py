"""Borůvka's algorithm, in which every round goes over all edges of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord, check_alternatives

UnionFind: TypeAlias = Literal["atomic-half", "atomic-full", "locked"]
Schedule: TypeAlias = Literal["tiles", "static", "dynamic", "guided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeParallelOptions:
    """Options of `edge-parallel`, Borůvka's algorithm with every round over all edges.

    The options change how long a solve takes, never its result.

    Parameters
    ----------
    union_find : {"atomic-half", "atomic-full", "locked"}, default "atomic-half"
        How work-items find and merge disjoint sets at the same time. In "atomic-half", a find makes
        every second vertex on its path point to its grandparent, by compare-and-swap. In
        "atomic-full", it makes all vertices on its path point to the root, by compare-and-swap. In
        "locked", each find and each merge takes the same lock, so only one work-item at a time runs
        one of them. This is for comparison and for small graphs. It needs a device on which
        the work-item that has the lock keeps running while others wait for it, which OpenCL does
        not promise.
    schedule : {"tiles", "static", "dynamic", "guided"}, default "tiles"
        How a round divides the edges among work-groups. In "tiles", there are as many work-groups
        as the device can run, and each takes every k-th tile of the list of edges. The other three
        are the schedules of OpenMP that the paper compares, for one work-group per compute unit. In
        "static", each work-group takes one range of edges, and all ranges have the same length. In
        "dynamic", a work-group takes one edge for each of its work-items at a time, from an atomic
        counter. In "guided", it takes the edges that are left, divided by the number of
        work-groups, from an atomic counter.

    Raises
    ------
    InvalidArgumentError
        A value is not one of the choices.

    Notes
    -----
    With "locked", a solve raises :class:`~clmst.UnsupportedDeviceError` on a device that does not
    let the owner of the lock run.

    References
    ----------
    L. Ma, J. Wan, "Heterogeneous CPU-GPU Orchestration for Repeated Minimum Spanning Tree
    Computation", section 3.1.1, strategy MP, and Table 3.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [3, 1, 2])
    >>> options = clmst.EdgeParallelOptions(union_find="atomic-full")
    >>> clmst.minimum_spanning_forest(graph, options=options).total_weight
    3
    """

    union_find: UnionFind = "atomic-half"
    schedule: Schedule = "tiles"

    def __post_init__(self) -> None:
        check_alternatives(self, union_find=UnionFind, schedule=Schedule)


RECORD = AlgorithmRecord(
    name="edge-parallel",
    options=EdgeParallelOptions,
    purpose="every round over all edges, by disjoint sets; nothing compacted or filtered",
    good_for="to compare",
    rank=80,
    bytes_needed=(13, 10),
    takes_any_graph=True,
)
