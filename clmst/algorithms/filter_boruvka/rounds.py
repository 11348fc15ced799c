"""Borůvka's rounds, light edges first: the loop that both shapes of kernels share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions
from clmst.algorithms.shared.progress import check_halved
from clmst.algorithms.shared.solution import Solution
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph

# Two counts: before a round and after it.
Change: TypeAlias = tuple[int, int]


class FilterBoruvkaRun(ABC):
    """One solve: the loop of the algorithm, whose steps a subclass implements.

    There is a subclass for each shape of kernels. `full_capacity` is whether the worklists can hold
    all edges, `finer` whether there are more windows than usual. If a solve has been given up, they
    say what the next attempt needs.
    """

    graph: DeviceGraph
    options: FilterBoruvkaOptions
    in_forest: DeviceArray
    n_phases: int  # one for each window
    full_capacity: bool
    finer: bool
    given_up = False

    def solution(self, **more: Any) -> Solution:
        """Return the solution of the solve, with further fields from `more`."""
        return Solution(graph=self.graph, in_forest=self.in_forest, **more)

    def solve(self) -> bool:
        """Enqueue the solve and wait for it; return False if it has to be done again."""
        self.enqueue()
        return not self.given_up

    def enqueue(self) -> None:
        """Enqueue the solve: Borůvka's algorithm on one window after another.

        It blocks wherever a step has to read counts.
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
        """Clear flags and counts, and set the ends of the windows."""

    @abstractmethod
    def _filter(self, phase: int) -> None:
        """List the edges of a window that join two components, and reserve the lightest of each."""

    @abstractmethod
    def _first_depth(self, phase: int) -> int:
        """Return the depth of the supervertices that the listed edges join.

        A depth is the number of contractions since the beginning of the phase.
        """

    @abstractmethod
    def _choose(self, phase: int, depth: int) -> bool:
        """Add each supervertex's lightest edge to the forest, and link the two ends of that edge.

        Return False if, as far as the host knows, no edge is left to contract along.
        """

    @abstractmethod
    def _contract(self, phase: int, depth: int) -> None:
        """List the edges between the new supervertices, and reserve the lightest of each."""

    @abstractmethod
    def _settle(self, phase: int) -> None:
        """Find the component of every vertex after a phase."""

    @abstractmethod
    def _finish(self) -> None:
        """Store the flags of the forest."""

    @abstractmethod
    def stats(self) -> dict[str, Any]:
        """Return the statistics of the solve."""

    def _check_round(self, phase: int, depth: int, vertices: Change, edges: Change) -> None:
        """Check the counts of a round, and give the solve up if more windows would pay.

        Raises DeviceError if the counts are impossible.
        """
        device = self.graph.device
        check_halved("filter-boruvka", device, depth + 1, vertices=vertices, edges=edges)
        may_be_finer = not self.finer and self.options.targets is None
        if may_be_finer and vertices[1] and 0 < phase == self.n_phases - 1:
            rounds = depth - self._first_depth(phase)
            self.finer = self.given_up = self._wants_finer(rounds, vertices, edges)

    def _wants_finer(self, rounds: int, vertices: Change, edges: Change) -> bool:
        """Return whether more windows would pay, judged by a round of the last window.

        `rounds` is the number of rounds of that window before this one. `vertices` and `edges` are
        the counts before and after it.
        """
        return False
