"""Borůvka's algorithm, in which every round goes over all edges of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord, check_alternatives

UnionFind: TypeAlias = Literal["atomic-half", "atomic-full", "locked"]


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

    Raises
    ------
    InvalidArgumentError
        The value is not one of the choices.

    Notes
    -----
    With "locked", a solve raises :class:`~clmst.UnsupportedDeviceError` on a device that does not
    let the owner of the lock run.

    References
    ----------
    L. Ma, J. Wan, "Heterogeneous CPU-GPU Orchestration for Repeated Minimum Spanning Tree
    Computation", section 3.1.1, strategy MP.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [3, 1, 2])
    >>> options = clmst.EdgeParallelOptions(union_find="atomic-full")
    >>> clmst.minimum_spanning_forest(graph, options=options).total_weight
    3
    """

    union_find: UnionFind = "atomic-half"

    def __post_init__(self) -> None:
        check_alternatives(self, union_find=UnionFind)


RECORD = AlgorithmRecord(
    name="edge-parallel",
    options=EdgeParallelOptions,
    purpose="every round over all edges, by disjoint sets; nothing compacted or filtered",
    good_for="to compare",
    rank=80,
    bytes_needed=(13, 10),
    takes_any_graph=True,
)
