"""Prim's algorithm, one tree for each work-item or work-group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord, check_alternatives
from clmst.route import prefers_prim

if TYPE_CHECKING:
    from clmst.runtime.device_graph import DeviceGraph
    from clmst.runtime.policy import Policy

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
    """Return the first rank for graphs that one work-item soon ends, else the last."""
    is_first = graph is not None and prefers_prim(
        alone=policy.work_group_size == 1, n_vertices=graph.n_vertices, n_slots=graph.n_slots,
        symmetric=graph.graph.is_symmetric,
    )  # fmt: skip
    return 0 if is_first else 90


RECORD = AlgorithmRecord(
    name="prim",
    options=PrimOptions,
    purpose="trees that grow vertex by vertex, by a heap or an array",
    good_for="small graphs on CPUs",
    rank=_rank,
    bytes_needed=(48, 36),
    large_self_test="cpu",  # elsewhere a single work-item grows each tree, which takes a second
)
