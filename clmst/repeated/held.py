"""Prepared graphs whose weights stay readable after a round that a device did not finish."""

from __future__ import annotations

from clmst.algorithms.reweighting.repeated import Given, Rounds
from clmst.core.graph import Graph
from clmst.runtime.device import Device


class HeldRounds(Rounds):
    """Rounds, whose stages can be held: nothing else is brought to them until they are let go.

    Parameters
    ----------
    edges, device
        As of :class:`clmst.algorithms.reweighting.repeated.Rounds`.
    """

    def __init__(self, edges: Graph, device: Device) -> None:
        self._held: set[int] = set()  # stages, by what they are
        super().__init__(edges, device)

    def put_back(self, given: Given) -> None:
        """Take back the stage of weights, unless it is held."""
        if id(given.stage) not in self._held:
            super().put_back(given)

    def hold(self, given: Given) -> None:
        """Keep the stage of weights, if it has one, until :meth:`let_go`."""
        if given.stage is not None:
            self._held.add(id(given.stage))

    def let_go(self, given: Given) -> None:
        """Take back the stage of weights, if it has one, as :meth:`put_back`."""
        self._held.discard(id(given.stage))
        super().put_back(given)
