"""Options of `prim`: how it finds the next edge, and how many trees grow at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clmst.algorithms.shared.options import check_alternatives

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
