"""The candidates of a graph: edges not known to be in the forest or out of it."""

from __future__ import annotations

from dataclasses import dataclass

from clmst.runtime.array import DeviceArray
from clmst.runtime.handles import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The graph of a larger graph's candidates; other edges are in the forest or out of it."""

    # What candidates join: vertices of the larger graph, or components of what is in for certain.
    n_vertices: int
    # Of uint64, one a candidate: the numbers of what it joins, one twice if it is never chosen.
    ends: DeviceArray
    # Of uint32: the candidates' slots in the larger graph; rising, if each is one edge.
    slots: DeviceArray
    # A bit a slot of the larger graph, set for edges of the forest and of degree-2 paths.
    kept: Memory
    # Of uint32: where in `slots` each candidate's degree-2 path begins, of which all but the
    # heaviest edge are in the forest, and where the last ends; None where each is one edge.
    starts: DeviceArray | None = None

    @property
    def n_edges(self) -> int:
        """Number of candidates, k."""
        return self.ends.size
