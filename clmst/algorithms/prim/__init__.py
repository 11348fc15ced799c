"""Prim's algorithm, one tree for each work-item or work-group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord, check_alternatives

if TYPE_CHECKING:
    from clmst.runtime.device_graph import DeviceGraph
    from clmst.runtime.policy import Policy

# "auto" takes prim where work-items are alone, on graphs of so many vertices that store both
# directions of their edges. Where each edge is stored once, prim needs the mirror first: half as
# many vertices, and so many edges. On two cores, Intel's runtime and PoCL alike, prim takes half
# the time of filter-boruvka on 4,096 vertices, and 1.2 to 1.5 times as long on 16,384; where edges
# are stored once, both take the same time on 4,096 vertices and 16,384 edges.
MOST_VERTICES, MOST_EDGES = 8192, 32768

Queue: TypeAlias = Literal["auto", "heap", "array"]
Components: TypeAlias = Literal["auto", "apart", "together"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimOptions:
    """Alternatives that change how long a solve takes, never its result.

    Attributes
    ----------
    queue : {"auto", "heap", "array"}
        What the lightest edge out of a tree is found with. "heap": an addressable heap of four
        children a node, a work-item a tree; O(m log n). "array": a look at every vertex, shared by
        a work-group a tree; O(n^2 + m). "auto": "array" for few vertices where work-groups have
        more than one work-item, else "heap".
    components : {"auto", "apart", "together"}
        "apart": the components are found first, by disjoint sets, and their trees grow at the same
        time. "together": one tree after the other. "auto": "apart" where there are vertices and
        compute units enough to be worth the search.
    """

    queue: Queue = "auto"
    components: Components = "auto"

    def __post_init__(self) -> None:
        check_alternatives(self, queue=Queue, components=Components)


def _rank(policy: Policy, graph: DeviceGraph | None) -> int:
    """Return the first rank for graphs that one work-item is soon done with, else the last."""
    if graph is None or policy.work_group_size > 1:
        return 90
    if graph.graph.is_symmetric:
        is_small = graph.n_vertices <= MOST_VERTICES
    else:
        is_small = 2 * graph.n_vertices <= MOST_VERTICES and graph.n_slots <= MOST_EDGES
    return 0 if is_small else 90


RECORD = AlgorithmRecord(
    name="prim",
    options=PrimOptions,
    purpose="trees that grow vertex by vertex, by a heap or an array",
    good_for="small graphs on CPUs",
    rank=_rank,
    bytes_needed=(48, 36),
    large_self_test="cpu",  # elsewhere a single work-item grows each tree, which takes a second
)
