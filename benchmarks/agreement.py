"""Check that all contestants of a benchmark find the same forest."""

from __future__ import annotations

from typing import Literal

from clmst import DeviceForest, Forest
from clmst.bench.agreement import first_difference


class Agreement:
    """A forest that all contestants must find, edge by edge.

    By default it is the forest of the first call. `whose` names its owner in messages. `by` says
    what is compared. Edge ids distinguish parallel edges. Endpoints ("edges") also agree between
    contestants that get the graph in different forms.
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
        """Compare a forest with the right one.

        Returns "" if they agree, else the first difference.
        """
        forest = found.to_host() if isinstance(found, DeviceForest) else found
        if self.forest is None:
            self.forest = forest
        differs = first_difference(getattr(forest, self.by), getattr(self.forest, self.by))
        return f"a forest other than that of {self.whose}: {differs}" if differs else ""
