"""The agreement of contestants about a forest."""

from __future__ import annotations

from typing import Literal

from clmst import DeviceForest, Forest
from clmst.bench.agreement import first_difference


class Agreement:
    """A forest that contestants must give, edge by edge; by default that of the first call.

    `whose` names its owner in messages. Edge ids distinguish parallel edges; endpoints (`by` is
    "edges") also agree between contestants that get the graph in different forms.
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
        differs = first_difference(getattr(forest, self.by), getattr(self.forest, self.by))
        return f"a forest other than that of {self.whose}: {differs}" if differs else ""
