"""Borůvka's rounds over all edges of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord, check_alternatives

UnionFind: TypeAlias = Literal["atomic-half", "atomic-full", "locked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeParallelOptions:
    """Alternatives that change how long a solve takes, never its result.

    Attributes
    ----------
    union_find : {"atomic-half", "atomic-full", "locked"}
        How finds and merges share the sets. "atomic-half": a find lets each second vertex on its
        path point to its grandparent, by compare-and-swap. "atomic-full": it lets all of them point
        to the root, by compare-and-swap. "locked": one lock of the whole device is taken around
        every find and every merge, so that one work-item at a time does any: for comparison, and
        for small graphs. It needs a device on which the work-item that has the lock runs on while
        others keep trying, which OpenCL does not promise; on one that does not let it, the solve
        ends with an :class:`UnsupportedDeviceError`.

    Raises
    ------
    InvalidArgumentError
        A value that is none of these.
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
