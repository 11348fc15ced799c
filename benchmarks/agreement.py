"""Check that all programs which a benchmark compares (contestants) find the same forest."""

from __future__ import annotations

from typing import Literal

from clmst import DeviceForest, Forest
from clmst.bench.agreement import first_difference


class Agreement:
    """A forest that all programs in a benchmark (contestants) must find, edge by edge.

    By default it is the first forest that is passed to :meth:`difference`. `whose` is the name of
    the contestant that found it, for messages. `by` says whether edge ids or endpoints ("edges")
    are compared. Ids distinguish parallel edges. Endpoints are needed if contestants get the graph
    in different forms, in which an edge has different ids.
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
        """Compare the forest `found` with the one that all compared programs must find.

        Returns "" if they have the same edges, and otherwise a text with the first difference.
        """
        forest = found.to_host() if isinstance(found, DeviceForest) else found
        if self.forest is None:
            self.forest = forest
        differs = first_difference(getattr(forest, self.by), getattr(self.forest, self.by))
        return f"a forest other than that of {self.whose}: {differs}" if differs else ""
