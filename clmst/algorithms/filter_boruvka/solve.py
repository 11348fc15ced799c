"""filter-boruvka: Borůvka's rounds, light edges first, in the shape of a GPU or of a CPU.

Source: Borůvka's algorithm with the filter of V. Osipov, P. Sanders, J. Singler, "The
Filter-Kruskal Minimum Spanning Tree Algorithm", ALENEX '09. The edges are cut into windows, light
ones first; a phase contracts the graph along the edges of one window. The steps are in ``gpu.py``
and ``cpu.py``; ``docs/inside_algorithms.md`` explains them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

from clmst.algorithms import filter_boruvka
from clmst.algorithms.filter_boruvka.options import FilterBoruvkaOptions
from clmst.algorithms.shared.options import options_for
from clmst.algorithms.shared.progress import check_halved
from clmst.algorithms.shared.solution import Solution, new_flags
from clmst.core.errors import InvalidArgumentError
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher

# A number before a round, and after it.
Change: TypeAlias = tuple[int, int]


def solve(graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: Any = None) -> Solution:
    """Solve by filter-boruvka; see :class:`FilterBoruvkaOptions`.

    Notes
    -----
    O((n + m) log n) work in O(log n) rounds. In the shape of a GPU, what a solve needs beside the
    graph is kept with it for the next: at most 24 bytes an edge and 35 a vertex for 32-bit weights
    (``stats`` has the sum). Where a worklist turns out too small, or light edges do not go first in
    a graph of many edges, worklists are as large as the graph.
    """
    options = options_for("filter-boruvka", FilterBoruvkaOptions, options)
    if graph.n_vertices > filter_boruvka.MAX_VERTICES:
        raise InvalidArgumentError(
            f"the graph has {graph.n_vertices} vertices; 'filter-boruvka' takes at most "
            f"{filter_boruvka.MAX_VERTICES}, 'ecl' more"
        )
    shape = options.shape_under(graph.device.policy)
    if graph.n_slots == 0:
        stats = {"shape": shape, "rounds": 0, "worklist_sizes": [], "device_bytes": 0}
        return Solution(graph=graph, in_forest=new_flags(0, graph.device), stats=stats)
    full_capacity = finer = False
    while True:
        run: FilterBoruvkaRun = _module_of(shape).new_run(
            graph, launch, maximum=maximum, options=options, full_capacity=full_capacity,
            finer=finer,
        )  # fmt: skip
        if run.solve():
            return run.solution(stats=run.stats())
        full_capacity, finer = run.full_capacity, run.finer
        del run  # the next one may need its memory


def begin(
    graph: DeviceGraph,
    launch: Launcher,
    *,
    maximum: bool,
    options: Any = None,
    verdict: Memory | None = None,
) -> Solution | None:
    """Enqueue a solve in one launch; as :class:`Begin`, else as :func:`solve`."""
    options = options_for("filter-boruvka", FilterBoruvkaOptions, options)
    shape = options.shape_under(graph.device.policy)
    if shape == "cpu" or not graph.n_slots:
        return None
    found: Solution | None = _module_of(shape).begin(
        graph, launch, maximum=maximum, options=options, verdict=verdict
    )
    return found


@cache
def _module_of(shape: str) -> Any:
    """Return the module of a shape: only that one is loaded, once."""
    return import_module(f"clmst.algorithms.filter_boruvka.{shape}")


class FilterBoruvkaRun(ABC):
    """One solve: the algorithm, of which a shape of kernels has the steps.

    `full_capacity` and `finer` say whether worklists hold all edges and there are more windows than
    usual; once a solve has failed, whether that has to be so when it is done again.
    """

    graph: DeviceGraph
    options: FilterBoruvkaOptions
    in_forest: DeviceArray
    n_phases: int  # one a window
    full_capacity: bool
    finer: bool

    def solution(self, **told: Any) -> Solution:
        """Return the solution, and what it tells about itself."""
        return Solution(graph=self.graph, in_forest=self.in_forest, **told)

    def solve(self) -> bool:
        """Enqueue the solve, and wait; return False if it has to be done again."""
        return self.enqueue()

    def enqueue(self) -> bool:
        """Enqueue the solve; return False where it was given up."""
        self._prepare()
        for phase in range(self.n_phases):  # light edges first
            self._filter(phase)
            if not self._contract_window(phase):
                return False
            if phase + 1 < self.n_phases:
                self._settle(phase)
        self._finish()
        return True

    def _contract_window(self, phase: int) -> bool:
        """Contract the graph along a window's edges; return False where it was given up."""
        depth = first = self._first_depth(phase)
        may_be_finer = not self.finer and self.options.targets is None
        may_be_finer &= 0 < phase == self.n_phases - 1
        while self._has_edges(phase, depth):
            vertices, edges = self._choose_and_contract(phase, depth)
            check_halved(
                "filter-boruvka", self.graph.device, depth + 1, vertices=vertices, edges=edges
            )
            if not vertices[1]:
                break
            if may_be_finer and self._wants_finer(depth - first, vertices, edges):
                self.finer = True
                return False
            depth += 1
        return not self._has_overflowed()

    @abstractmethod
    def _prepare(self) -> None:
        """Clear flags and counts; set the ends of windows."""

    @abstractmethod
    def _filter(self, phase: int) -> None:
        """List the edges of a window that join two components; reserve the lightest of each."""

    @abstractmethod
    def _first_depth(self, phase: int) -> int:
        """Return the depth of the supervertices that the listed edges join."""

    def _has_edges(self, phase: int, depth: int) -> bool:
        """Return whether another round is due, as far as the host knows."""
        return True

    @abstractmethod
    def _choose_and_contract(self, phase: int, depth: int) -> tuple[Change, Change]:
        """Put each supervertex' lightest edge into the forest, and contract along these edges.

        Returns the numbers of vertices and of edges, which it waits for.
        """

    def _wants_finer(self, rounds: int, vertices: Change, edges: Change) -> bool:
        """Return whether more windows would pay, by what a round of the last one left."""
        return False

    def _has_overflowed(self) -> bool:
        """Return whether a worklist is known to have lost edges."""
        return False

    @abstractmethod
    def _settle(self, phase: int) -> None:
        """Let every vertex know the component that a phase leaves it in."""

    @abstractmethod
    def _finish(self) -> None:
        """Store the flags of the forest."""

    @abstractmethod
    def stats(self) -> dict[str, Any]:
        """Return what the solve tells about its work."""
