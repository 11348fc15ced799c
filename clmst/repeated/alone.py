"""One of several devices at the whole of every solve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clmst.algorithms.shared.solution import DeviceForest
from clmst.core.weight_keys import Array, Encoding
from clmst.repeated.failure import failures_of
from clmst.repeated.held import HeldRounds
from clmst.repeated.intake import HostChange
from clmst.repeated.plan import Plan
from clmst.repeated.turns import Turns
from clmst.repeated.whole import Brought, Needs, give_part, whole_of
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher


class Alone:
    """A device that does all by itself, in the form that several have.

    Parameters
    ----------
    plan : Plan
        Of one device.
    maximum, warm_start : bool
        As of :class:`clmst.RepeatedSolver`.
    """

    def __init__(self, plan: Plan, *, maximum: bool, warm_start: bool) -> None:
        task, self.device = plan.last, plan.device
        with failures_of(self.device):
            self.turns = Turns(
                plan.edges,
                self.device,
                algorithm=task.algorithm,
                options=task.options,
                maximum=maximum,
                warm_start=warm_start,
                make=HeldRounds,
            )
        self._edges = plan.edges
        self._steps = self.turns.steps(keep_on_device=True)

    def close(self) -> None:
        """Let go of all memory."""
        self.turns.close()

    @property
    def encoding(self) -> Encoding | None:
        """How the present weights are encoded; None if there are none."""
        present = self.turns.opened().present
        return None if present is None else present.encoding

    @property
    def needs(self) -> Needs:
        """Which weights each device takes."""
        return [(self.device, [(0, self._edges.n_input)])]

    def new_queues(self) -> list[Any]:
        """Return a queue to bring weights by."""
        return [self.device.new_queue()]

    def bring(self, weights: Any, queues: Sequence[Any]) -> Brought:
        """Check weights by edge, and bring them to the device; waits."""
        whole = whole_of(weights, self._edges.n_input, self.needs, keeps=True)
        with failures_of(self.device):
            span = (0, self._edges.n_input)
            rounds = self.turns.opened()
            assert isinstance(rounds, HeldRounds)
            given = give_part(whole, span, rounds, queues[0])
            rounds.hold(given)
            queues[0].finish()
        return Brought(whole=whole, givens=[[given]])

    def let_go(self, brought: Brought) -> None:
        """Let go of weights that were brought: nobody will solve or read them any more."""
        if not self.turns.is_closed:
            rounds = self.turns.opened()
            assert isinstance(rounds, HeldRounds)
            rounds.let_go(brought.givens[0][0])

    def forget(self) -> None:
        """Have no weights."""
        self._steps.forget()

    def present_weights(self) -> Array:
        """Read the weights of the last round; 0 where the device has none."""
        rounds, device = self.turns.opened(), self.device
        assert rounds.present is not None
        encoding = rounds.present.encoding
        weights = np.zeros(self._edges.n_input, encoding.dtype)
        with failures_of(device), device.lock:
            words = rounds.graph(Launcher(device, device.queue)).encoded.words()
        ids = self._edges.edge_ids
        weights[slice(None) if ids is None else ids] = encoding.decode(words)
        return weights

    def solve(self, weights: Any, *, profile: bool) -> DeviceForest:
        """Solve under weights by edge."""
        with failures_of(self.device):
            return self._told(self.turns.solve(weights, profile=profile, keep_on_device=True))

    def solve_brought(self, brought: Brought) -> DeviceForest:
        """Solve under weights that have been brought."""
        with failures_of(self.device):
            return self._told(self._steps.solve(brought.givens[0][0]))

    def update(self, change: HostChange, *, profile: bool) -> DeviceForest:
        """Solve with some of the present weights changed."""
        with failures_of(self.device):
            forest = self.turns.update(
                change.ids, change.values, profile=profile, keep_on_device=True
            )
            return self._told(forest)

    def _told(self, forest: Any) -> DeviceForest:
        """Return a forest that is still on the device, and tells the strategy."""
        assert isinstance(forest, DeviceForest)
        return forest.with_stats({**forest.stats, "strategy": "alone"})


def on_host(array: DeviceArray) -> Array:
    """Copy what a device has to the host, and wait."""
    with failures_of(array.device), array.device.lock:
        return array.to_host()
