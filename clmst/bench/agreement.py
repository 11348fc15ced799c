"""The check that contestants give the same forest: the first one's, or a known one."""

from __future__ import annotations

from typing import Literal

import numpy as np

from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.forest import Forest
from clmst.core.weight_keys import Array


class Agreement:
    """A forest that contestants must give, edge by edge.

    Parameters
    ----------
    whose : str
        Whose forest is the right one, for messages.
    forest : Forest, optional
        The right forest; by default that of the first call.
    by : {"edge_ids", "edges"}
        What is compared. Ids distinguish parallel edges; endpoints also agree between contestants
        that get the graph in different forms.
    """

    def __init__(
        self,
        whose: str,
        forest: Forest | None = None,
        *,
        by: Literal["edge_ids", "edges"] = "edge_ids",
    ) -> None:
        self.whose, self.forest, self.by = whose, forest, by

    def difference(self, found: Forest | DeviceForest) -> str:
        """Return "" if a forest is the right one, else what differs."""
        forest = found.to_host() if isinstance(found, DeviceForest) else found
        if self.forest is None:
            self.forest = forest
        differs = _difference(getattr(forest, self.by), getattr(self.forest, self.by))
        return f"a forest other than that of {self.whose}: {differs}" if differs else ""


def _difference(found: Array, right: Array) -> str:
    if len(found) != len(right):
        return f"{len(found)} edges, not {len(right)}"
    at = np.flatnonzero((found != right).reshape(len(right), -1).any(axis=1))
    return f"edge {at[0]} is {found[at[0]]}, not {right[at[0]]}" if at.size else ""
