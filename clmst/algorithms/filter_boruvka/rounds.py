"""Borůvka's rounds, light edges first: the loop that both shapes of kernels have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions
from clmst.algorithms.shared.progress import check_halved
from clmst.algorithms.shared.solution import Solution
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph

# A number before a round, and after it.
Change: TypeAlias = tuple[int, int]


class FilterBoruvkaRun(ABC):
    """One solve: the algorithm, of which a shape of kernels has the steps.

    `full_capacity` and `finer` say whether worklists hold all edges and there are more windows than
    usual; once a solve has been given up, whether that has to be so when it is done again.
    """

    graph: DeviceGraph
    options: FilterBoruvkaOptions
    in_forest: DeviceArray
    n_phases: int  # one a window
    full_capacity: bool
    finer: bool
    given_up = False

    def solution(self, **more: Any) -> Solution:
        """Return the solution, and what it says about itself."""
        return Solution(graph=self.graph, in_forest=self.in_forest, **more)

    def solve(self) -> bool:
        """Enqueue the solve, and wait; return False if it has to be done again."""
        self.enqueue()
        return not self.given_up

    def enqueue(self) -> None:
        """Enqueue the solve: Borůvka's algorithm, light edges first."""
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
        """Clear flags and counts; set the ends of windows."""

    @abstractmethod
    def _filter(self, phase: int) -> None:
        """List the edges of a window that join two components; reserve the lightest of each."""

    @abstractmethod
    def _first_depth(self, phase: int) -> int:
        """Return the depth of the supervertices that the listed edges join."""

    @abstractmethod
    def _choose(self, phase: int, depth: int) -> bool:
        """Put each supervertex' lightest edge into the forest, and hook it along that edge.

        Return False if no edge is left to contract along, as far as the host knows.
        """

    @abstractmethod
    def _contract(self, phase: int, depth: int) -> None:
        """List the edges between what the chosen ones join; reserve the lightest of each."""

    @abstractmethod
    def _settle(self, phase: int) -> None:
        """Let every vertex know the component that a phase leaves it in."""

    @abstractmethod
    def _finish(self) -> None:
        """Store the flags of the forest."""

    @abstractmethod
    def stats(self) -> dict[str, Any]:
        """Return what the solve tells about its work."""

    def _check_round(self, phase: int, depth: int, vertices: Change, edges: Change) -> None:
        """Check the counts of a round; give the solve up where more windows would pay."""
        device = self.graph.device
        check_halved("filter-boruvka", device, depth + 1, vertices=vertices, edges=edges)
        may_be_finer = not self.finer and self.options.targets is None
        if may_be_finer and vertices[1] and 0 < phase == self.n_phases - 1:
            rounds = depth - self._first_depth(phase)
            self.finer = self.given_up = self._wants_finer(rounds, vertices, edges)

    def _wants_finer(self, rounds: int, vertices: Change, edges: Change) -> bool:
        """Return whether more windows would pay, by what a round of the last one left."""
        return False
