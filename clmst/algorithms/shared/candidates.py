"""The candidates of a graph: edges not known to be in the forest or out of it."""

from __future__ import annotations

from dataclasses import dataclass

from clmst.runtime.array import DeviceArray
from clmst.runtime.handles import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The graph of a larger graph's candidates; other edges are in the forest or out of it.

    Attributes
    ----------
    n_vertices : int
        What candidates join: vertices of the larger graph, or components of what is in for certain.
    ends : DeviceArray of uint64, shape (k,)
        Two words each: the numbers of what a candidate joins, the same one if it is never chosen.
    slots : DeviceArray of uint32
        The candidates' slots in the larger graph; rising, if each is one edge.
    kept : device buffer of uint32
        A bit a slot of the larger graph, set for edges of the forest and of degree-2 paths.
    starts : DeviceArray of uint32, shape (k + 1,), optional
        Where among `slots` each candidate's degree-2 path begins, of which all but the heaviest are
        in the forest; None where each is one edge.
    """

    n_vertices: int
    ends: DeviceArray
    slots: DeviceArray
    kept: Memory
    starts: DeviceArray | None = None

    @property
    def n_edges(self) -> int:
        """Number of candidates, k."""
        return self.ends.size
