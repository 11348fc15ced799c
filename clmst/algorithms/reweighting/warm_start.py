"""Warm starts: solves that reuse what an earlier solve with similar weights has found out.

All edges are classified once: certainly in the forest, certainly not in it, or candidates. While
weights stay near the weights of the earlier solve, only the candidates are solved.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst import route
from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions
from clmst.algorithms.filter_boruvka.gpu import GpuRun, begin_candidates
from clmst.algorithms.filter_boruvka.workspace import Workspace
from clmst.algorithms.reweighting.sensitivity import VECTOR, ReferenceWeights
from clmst.algorithms.shared.solution import Solution
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

# A warm start reuses an earlier solve with similar weights, the reference. It is used if no weight
# has changed by more than _NEAR since then. The slack is how far weights may move before the edges
# are classified again. It is at most _FAR. Both constants are in octaves: a change by one octave
# doubles or halves a weight.
_NEAR, _FAR = 0.45, 0.5
# The slack (how far weights may move before the edges are classified again) as a multiple of the
# greatest change of a weight so far. _WIDE_MARGIN is used after the edges had to be classified
# again too soon, for example because weights change more and more.
_MARGIN, _WIDE_MARGIN = 1.1, 2.2
# A classification divides the edges into those that are certainly in the forest, those that are
# certainly not, and candidates. It must stay valid for this number of solves to save the time that
# it took.
_LASTING = 4
# If new weights are not near the reference weights (the weights of an earlier solve), the solver
# does not compare weights in the next few solves. The number of these solves doubles each time, up
# to this maximum.
_LONGEST_PAUSE = 64


class WarmStart:
    """Solver of one graph with changing weights, quicker if the weights are near earlier weights.

    A round becomes the *reference*: its weights, and the edges of its forest. If the weights of a
    later round are near the reference weights, the edges are classified once. The classification
    holds for all weights that are as near: certainly in the forest, certainly outside it, or
    candidates (:mod:`clmst.algorithms.reweighting.sensitivity`). From then on, a solve checks that
    no weight leaves its sensitivity interval, in which the classification is valid, and solves only
    the candidates. A weight that leaves its interval is a *violation*. Then the round is solved
    anew, and the next intervals may be wider. Forests are exact in any case. The edges of small
    graphs are not classified, because that does not pay, unless `always` is set.

    The graph must store each edge once, with the row of each CSR entry. The reference takes 4 bytes
    for each edge. The classification takes 17 more for each edge and 12 for each vertex. After it,
    28 bytes for each candidate and an eighth of a byte for each edge are kept.
    """

    def __init__(self, *, maximum: bool, always: bool = False) -> None:
        self.maximum, self._always = maximum, always
        self._reference: ReferenceWeights | None = None
        self._workspace: Workspace | None = None
        self._slack = 0
        self._memory: DeviceArray | None = None
        self._violations: DeviceArray
        self._served = 0  # number of solves that have used the present classification
        self._margin = _MARGIN
        self._pause = 0  # number of coming rounds in which weights are not compared
        self._next_pause = 1

    @property
    def is_ready(self) -> bool:
        """Whether edges are classified, so that the next round may solve only some of them."""
        return self._workspace is not None

    def begin(self, graph: DeviceGraph, launch: Launcher) -> GpuRun | None:
        """Start a solve of the candidate edges, without waiting.

        The candidates are all edges of which the reference weights do not show whether they are in
        the forest. Returns None if the edges have not been classified yet.
        """
        reference, word = self._reference, graph.weight_defines(maximum=self.maximum)
        if reference is not None and word != reference.word:
            self.forget()
        if self._reference is None or self._workspace is None:
            return None
        self._reference.verify(graph.weights, self._slack, self._violations.memory, launch)
        return begin_candidates(graph, self._workspace, launch)

    def end(self, run: GpuRun, launch: Launcher) -> dict[str, Any] | None:
        """Finish the solve of the candidates that :meth:`begin` has started, and return statistics.

        `run` is the result of :meth:`begin`. The call waits for the device. Returns None if a
        weight has left the interval in which the classification is valid, or if the solve has
        failed. The round must then be solved anew.
        """
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
        """Learn from a round that was solved anew, so that later rounds may be warm starts.

        The first round that was solved anew becomes the reference. Its weights and its forest are
        kept. If the weights of a later round are near these weights, each edge is classified as
        certainly in the forest, certainly not in it, or undecided. Then later rounds need to solve
        only the undecided edges. Nothing is learnt if the graph has so few edges that a warm start
        would not be faster (:mod:`clmst.route`). Nothing is learnt either if `solution` has a flag
        for each of the two directions of an edge, because `graph` stores each edge once. The call
        may block.
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
        """Forget the reference and the classification."""
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
        """Classify the edges of a graph by reference weights, if the present weights are near.

        `moved` is the greatest change of a weight since the reference, in steps on the logarithmic
        scale of `reference`. The call waits for the device. Returns False if the weights are not
        near, or if there are too many candidates, so that solving only them would not be faster.
        """
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
        """Pause the comparisons of weights for twice as many solves as after the last failure."""
        self._pause = self._next_pause
        self._next_pause = min(2 * self._next_pause, _LONGEST_PAUSE)
