"""Prim's algorithm, in which each work-item or work-group grows a tree of its own."""

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
    """Options of `prim`, Prim's algorithm with one tree for each work-item or work-group.

    The options change how long a solve takes, never its result.

    Parameters
    ----------
    queue : {"auto", "heap", "array"}, default "auto"
        How the lightest edge out of a tree is found. "heap" keeps an addressable heap with four
        children for each node; one work-item grows a tree, in O(m log n). "array" looks at every
        vertex in each step; one work-group grows a tree, in O(n^2 + m). "auto" takes "array" for
        graphs of few vertices if work-groups have more than one work-item, else "heap".
    components : {"auto", "apart", "together"}, default "auto"
        Whether the trees of different components grow at the same time. "apart" first finds the
        components by disjoint sets, and then grows their trees at the same time. "together" grows
        one tree after the other. "auto" takes "apart" if there are so many vertices and compute
        units that the search for components is expected to save time.

    Raises
    ------
    InvalidArgumentError
        A value is not one of the choices.

    References
    ----------
    R. C. Prim, "Shortest connection networks and some generalizations", Bell System Technical
    Journal 36 (1957).

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [3, 1, 2])
    >>> options = clmst.PrimOptions(queue="heap")
    >>> clmst.minimum_spanning_forest(graph, options=options).total_weight
    3
    """

    queue: Queue = "auto"
    components: Components = "auto"

    def __post_init__(self) -> None:
        check_alternatives(self, queue=Queue, components=Components)


def _rank(policy: Policy, graph: DeviceGraph | None) -> int:
    """Return the place of "prim" in the order in which "auto" tries algorithms: 0 or 90.

    It is 0, the first place, if a single work-item of the device is expected to solve the graph
    quickest. `policy` has the size of the device's work-groups. None as `graph` stands for graphs
    in general, and gives 90.
    """
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
    large_self_test="cpu",  # on other devices one slow work-item grows each tree, for a second
)
