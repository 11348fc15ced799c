"""Warm starts: solves that reuse the classification of edges while weights stay near."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst import route
from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions
from clmst.algorithms.filter_boruvka.gpu import GpuRun
from clmst.algorithms.filter_boruvka.gpu_launches import begin_candidates
from clmst.algorithms.filter_boruvka.workspace import Workspace
from clmst.algorithms.reweighting.sensitivity import VECTOR, ReferenceWeights
from clmst.algorithms.shared.solution import Solution
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

# Octaves: the greatest move between two rounds for which intervals pay; the greatest slack.
_NEAR, _FAR = 0.45, 0.5
# What is prepared for, as a multiple of how far weights have gone: at first, and once that did not
# last, as where weights wander ever farther.
_MARGIN, _WIDE_MARGIN = 1.1, 2.2
# Solves that what was prepared has to last for, so that the time it took is saved.
_LASTING = 4
# Rounds without a look at how near weights are, at most: twice as many after each that was in vain.
_LONGEST_PAUSE = 64


class WarmStart:
    """Solves of one graph, of which those under weights near earlier ones are quicker.

    A round becomes the *reference*: its weights, and which edges are in its forest. If the weights
    of a later round are near, the edges are classified once for weights that near: in the forest,
    out of it, or candidates (:mod:`clmst.algorithms.reweighting.sensitivity`). From then on a solve
    checks that no weight leaves its sensitivity interval, and solves the candidates only. A weight
    that leaves it is a *violation*: the round is solved anew, and the next intervals may be wider.
    Forests are exact in any case. Graphs that are too small for it to pay have none, unless
    `always`.

    Each edge is stored once, with the row of each slot: 4 bytes an edge for the reference; during
    the classification 17 more an edge and 12 a vertex; then 28 a candidate, and an eighth an edge.
    """

    def __init__(self, *, maximum: bool, always: bool = False) -> None:
        self.maximum, self._always = maximum, always
        self._reference: ReferenceWeights | None = None
        self._workspace: Workspace | None = None
        self._slack = 0
        self._memory: DeviceArray | None = None
        self._violations: DeviceArray
        self._served = 0  # solves with this classification
        self._margin = _MARGIN
        self._pause = 0  # rounds to come without a look
        self._next_pause = 1

    def begin(self, graph: DeviceGraph, launch: Launcher) -> GpuRun | None:
        """Enqueue a solve of the candidates if there is a classification; do not wait."""
        reference, word = self._reference, graph.weight_defines(maximum=self.maximum)
        if reference is not None and word != reference.word:
            self.forget()
        if self._reference is None or self._workspace is None:
            return None
        self._reference.verify(graph.weights, self._slack, self._violations.memory, launch)
        return begin_candidates(graph, self._workspace, launch)

    def end(self, run: GpuRun, launch: Launcher) -> dict[str, Any] | None:
        """Return the statistics of a solve that was begun, or None at a violation; wait."""
        if launch.read_word(self._violations.memory):
            self._workspace = None
            if self._served < _LASTING:
                self._margin = _WIDE_MARGIN
                self._wait_longer()
            return None
        if not run.is_done():
            return None
        self._served += 1
        if self._served == _LASTING:
            self._next_pause = 1
        remaining = run.workspace.candidates
        assert remaining is not None, "the run is of candidates"
        counts = {
            "edges": remaining.n_edges,
            "vertices": remaining.n_vertices,
            "solves": self._served,
        }
        return {**run.stats(), "warm_start": counts}

    def learn(self, graph: DeviceGraph, solution: Solution, launch: Launcher) -> None:
        """Learn from a round that was solved anew: make it the reference, or classify its edges.

        Nothing is learnt of a solution that was found in both directions of edges.
        """
        one_launch = graph.device.policy.resident_groups_per_compute_unit > 0
        pays = self._always or route.has_warm_starts(graph.n_slots, one_launch=one_launch)
        if graph.n_slots < VECTOR or not pays or solution.in_forest.size != graph.n_slots:
            return
        if self._pause:
            self._pause -= 1
        elif self._reference is None:
            self._record(graph, solution, launch)
        else:
            moved = self._reference.farthest(graph.weights, launch)
            if not self._classify(self._reference, moved, graph, launch):
                self.forget()
                self._wait_longer()

    def forget(self) -> None:
        """Forget all rounds."""
        self._reference = self._workspace = None

    def _record(self, graph: DeviceGraph, solution: Solution, launch: Launcher) -> None:
        if self._memory is None:
            self._memory = DeviceArray.empty(graph.n_slots, np.uint32, graph.device)
            self._violations = DeviceArray.empty(1, np.uint32, graph.device)
        self._reference = ReferenceWeights(
            graph, solution.in_forest, launch, maximum=self.maximum, records=self._memory
        )

    def _classify(
        self, reference: ReferenceWeights, moved: int, graph: DeviceGraph, launch: Launcher
    ) -> bool:
        """Settle edges for weights that move as far, if that leaves few; return whether it does."""
        if moved > _NEAR * reference.octave:
            return False
        slack = min(int(self._margin * moved) + 1, int(_FAR * reference.octave))
        candidates = reference.classify(graph, slack, launch)
        if not route.warm_start_pays(candidates.n_edges, graph.n_slots):
            return False
        self._workspace = Workspace(
            graph,
            launch,
            maximum=self.maximum,
            options=FilterBoruvkaOptions(),
            candidates=candidates,
        )
        self._slack, self._served = slack, 0
        launch.fill(self._violations.memory, 0, 1)
        return True

    def _wait_longer(self) -> None:
        """Double the number of rounds before the next look."""
        self._pause = self._next_pause
        self._next_pause = min(2 * self._next_pause, _LONGEST_PAUSE)
