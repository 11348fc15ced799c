"""That contestants give one forest: the first one's, or one that is known."""

from __future__ import annotations

import numpy as np

from clmst.algorithms.shared.solution import DeviceForest
from clmst.core.forest import Forest
from clmst.core.weight_keys import Array


class Agreement:
    """A forest that contestants must give, edge by edge.

    Parameters
    ----------
    whose : str
        Of whom the right forest is, as messages say it.
    forest : Forest, optional
        The right forest; that of the first call when left out.
    """

    def __init__(self, whose: str, forest: Forest | None = None) -> None:
        self.whose, self.forest = whose, forest

    def difference(self, found: Forest | DeviceForest) -> str:
        """Return "" if a forest is the right one, else what differs."""
        forest = found.to_host() if isinstance(found, DeviceForest) else found
        if self.forest is None:
            self.forest = forest
        differs = difference_of_edges(forest.edges, self.forest.edges)
        return f"a forest other than that of {self.whose}: {differs}" if differs else ""


def difference_of_edges(found: Array, right: Array) -> str:
    """Return "" if edges, or their numbers, are the right ones in order, else what differs."""
    if len(found) != len(right):
        return f"{len(found)} edges, not {len(right)}"
    at = np.flatnonzero((found != right).reshape(len(right), -1).any(axis=1))
    return f"edge {at[0]} is {found[at[0]]}, not {right[at[0]]}" if at.size else ""
