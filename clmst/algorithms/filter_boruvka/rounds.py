"""The loop of filter-boruvka, which the kernels for CPUs and those for GPUs have in common.

The edges are divided by weight into windows. Each window is solved in a phase of its own, the
lightest first, by rounds of Borůvka's algorithm: every supervertex, a set of vertices that have
been joined, chooses its lightest edge, and the edges are contracted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions
from clmst.algorithms.shared.progress import check_halved
from clmst.algorithms.shared.solution import Solution
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph

# Two counts, for example of edges: before a round, and after it.
Change: TypeAlias = tuple[int, int]


class FilterBoruvkaRun(ABC):
    """One solve: the loop of the algorithm, whose steps a subclass implements.

    There is a subclass for CPUs, where a work-group has one work-item, and one for GPUs.
    `full_capacity` says whether the worklists can hold all edges, and `finer` whether there are
    more windows (ranges of weights) than usual. If a solve has been given up, `full_capacity` and
    `finer` say what the next attempt needs.
    """

    graph: DeviceGraph
    options: FilterBoruvkaOptions
    in_forest: DeviceArray
    n_phases: int  # number of phases, one for each window
    full_capacity: bool
    finer: bool
    given_up = False

    def solution(self, **more: Any) -> Solution:
        """Return the forest as a :class:`Solution`.

        `more` are further fields of the solution, such as `stats`.
        """
        return Solution(graph=self.graph, in_forest=self.in_forest, **more)

    def solve(self) -> bool:
        """Enqueue the solve. Return False if it was given up and has to be done again.

        A subclass may also wait for the device.
        """
        self.enqueue()
        return not self.given_up

    def enqueue(self) -> None:
        """Enqueue the solve: Borůvka's algorithm on one range of weights after another.

        The call blocks wherever the host has to read how many edges, or sets of joined vertices
        (supervertices), remain.
        """
        self._prepare()
        for phase in range(self.n_phases):
            self._filter(phase)
            depth = self._first_depth(phase)
            while not self.given_up and self._choose(phase, depth):
                self._contract(phase, depth)
                depth += 1
            if self.given_up:
                return
            if phase + 1 < self.n_phases:
                self._settle(phase)
        self._finish()

    @abstractmethod
    def _prepare(self) -> None:
        """Enqueue the preparations of a solve.

        The kernels clear the flags of the forest's edges and the counts of all rounds, and find the
        weight at which each window ends.
        """

    @abstractmethod
    def _filter(self, phase: int) -> None:
        """Enqueue kernels that write the edges of a window of weights to the worklist.

        `phase` is the number of the window, which is a range of weights. The worklist is an array
        of the undecided edges. Edges within a component are left out. The kernels also begin to
        find the lightest edge of each component.
        """

    @abstractmethod
    def _first_depth(self, phase: int) -> int:
        """Return the depth at which the first worklist of a phase is, which is 0 or 1.

        The depth is the number of contractions since the beginning of the phase. It is 1 if
        :meth:`_filter` has contracted the graph once already.
        """

    @abstractmethod
    def _choose(self, phase: int, depth: int) -> bool:
        """Enqueue kernels that add supervertices' lightest edges to the forest and link their ends.

        A supervertex is a component that has become one vertex. A phase solves one window of the
        weights, and `depth` is the number of contractions so far in the phase. Returns False if the
        phase is finished, so that no contraction must follow.
        """

    @abstractmethod
    def _contract(self, phase: int, depth: int) -> None:
        """Enqueue kernels that write the edges between the new supervertices to the next worklist.

        A worklist is an array of the undecided edges.

        The new supervertices are the components that the chosen edges have joined. `depth` is the
        number of contractions so far in the phase, which solves one window of the weights. The
        kernels also begin to find the lightest edge of each new supervertex.
        """

    @abstractmethod
    def _settle(self, phase: int) -> None:
        """Find the component of every original vertex, after all contractions of a phase.

        A phase solves one window of the weights.
        """

    @abstractmethod
    def _finish(self) -> None:
        """Write one flag for each slot (CSR entry), set for the edges of the forest."""

    @abstractmethod
    def stats(self) -> dict[str, Any]:
        """Return the statistics of the solve, which become ``Forest.stats``."""

    def _check_round(self, phase: int, depth: int, vertices: Change, edges: Change) -> None:
        """Check how many vertices and edges a round has left, and give up a slow solve.

        The round is number `depth` of the phase (window) number `phase`. `vertices` and `edges` are
        the numbers of vertices and edges before and after the round. If more windows of weights
        would be faster, the solve is given up and has to be done again with more windows. Raises
        DeviceError if the numbers are impossible.
        """
        device = self.graph.device
        check_halved("filter-boruvka", device, depth + 1, vertices=vertices, edges=edges)
        may_be_finer = not self.finer and self.options.targets is None
        if may_be_finer and vertices[1] and 0 < phase == self.n_phases - 1:
            rounds = depth - self._first_depth(phase)
            self.finer = self.given_up = self._wants_finer(rounds, vertices, edges)

    def _wants_finer(self, rounds: int, vertices: Change, edges: Change) -> bool:
        """Return whether more windows of weights would be faster, judged by one round.

        The round belongs to the last window. If it has removed few edges, all further rounds would
        go over many edges again. `rounds` is the number of rounds that the last window has had
        before this round. `vertices` and `edges` are the numbers before and after this round.
        """
        return False
