"""What one stream leaves to the next."""

from __future__ import annotations

from dataclasses import dataclass

from clmst.scale.cycle_filter import CycleFilter
from clmst.scale.edge_part import EdgePart


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What one stream leaves to the next: the forest of all edges so far, and what else it had.

    Attributes
    ----------
    forest : EdgePart or None
    waiting : tuple of EdgePart
        Edges that wait for the next reduction.
    by_forest : CycleFilter or None
        Made of the forest, if that has paid.
    """

    forest: EdgePart | None
    waiting: tuple[EdgePart, ...]
    by_forest: CycleFilter | None

    @property
    def parts(self) -> list[EdgePart]:
        """The forest, if there is one, and what waits."""
        return [*self.waiting] if self.forest is None else [self.forest, *self.waiting]

    @property
    def size(self) -> int:
        """Number of edges."""
        return sum(part.size for part in self.parts)
