"""Measurements of an experiment as a grid: graphs down, contestants across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clmst.bench.measurement import Measurement
from clmst.bench.results import Results

MEAN = "geometric mean"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A contestant on a machine."""

    machine: str
    contestant: str
    ours: bool
    label: str  # its label, with the machine if there are several

    @classmethod
    def of(cls, results: Results, one: Measurement, *, is_alone: bool) -> Column:
        """Return the column of a measurement, among those of one machine or of several."""
        name = one.contestant if is_alone else f"{one.contestant}, {results.name_of(one.machine)}"
        return cls(machine=one.machine, contestant=one.contestant, ours=one.ours, label=name)


def _of_the_same_turns(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Return what was timed by the same turns: of each graph those of clmst's own contestants.

    A run that was broken off leaves peers of its turns beside contestants of earlier ones.
    """
    turns = {(one.machine, one.graph): one.benchmark for one in measurements if one.ours}
    return [
        one
        for one in measurements
        if one.benchmark == turns.get((one.machine, one.graph), one.benchmark)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Measurements of an experiment."""

    results: Results
    graphs: list[str]  # graphs with a time, the smallest first
    columns: list[Column]  # clmst's own first, in the order they were measured
    cells: dict[tuple[str, Column], Measurement]  # what was timed, by graph and column

    @classmethod
    def of(
        cls, results: Results, experiment: str, scope: str, machine: str | None = None
    ) -> Grid | None:
        """Return the grid of an experiment, of one machine if given; None if it is empty."""
        is_alone = machine is not None or len(results.machines) == 1
        every = [
            one for one in results.of(experiment, scope=scope) if machine in (None, one.machine)
        ]
        timed = [one for one in _of_the_same_turns(every) if one.is_ok]
        if not timed:
            return None
        cells = {(one.graph, Column.of(results, one, is_alone=is_alone)): one for one in timed}
        with_times, order = {column for _, column in cells}, list(results.machines)
        # A contestant that failed on the first graph stays before those that were named after it.
        named = dict.fromkeys(Column.of(results, one, is_alone=is_alone) for one in every)
        columns = sorted(
            (column for column in named if column in with_times),
            key=lambda column: (not column.ours, order.index(column.machine)),
        )
        names = sorted(
            dict.fromkeys(one.graph for one in timed),
            key=lambda name: results.graphs[name]["n_slots"],
        )
        return cls(results=results, graphs=names, columns=columns, cells=cells)

    def ordered(self, contestants: Sequence[str]) -> Grid:
        """Return the same grid with the columns of these contestants, in this order."""
        columns = [c for name in contestants for c in self.columns if c.contestant == name]
        return Grid(results=self.results, graphs=self.graphs, columns=columns, cells=self.cells)

    def at(self, graph: str, column: Column) -> Measurement | None:
        """Return the measurement of a cell."""
        return self.cells.get((graph, column))

    def facts(self, graph: str) -> dict[str, Any]:
        """Return the facts of a graph."""
        return self.results.graphs[graph]

    def sizes(self, graph: str) -> tuple[str, str]:
        """Return the numbers of vertices and slots as a table shows them."""
        facts = self.facts(graph)
        return f"{facts['n_vertices']:,}", f"{facts['n_slots']:,}"

    def common(self, graphs: Sequence[str] | None = None) -> list[str]:
        """Return those of some graphs, or of all, that all contestants were timed on."""
        return [
            graph
            for graph in (self.graphs if graphs is None else graphs)
            if all((graph, column) in self.cells for column in self.columns)
        ]

    def subsets(self) -> dict[str, list[str]]:
        """Return the graphs that means are over, by the name of the mean.

        All of them; and the connected ones if they are others, as in the paper, some of whose
        contestants find trees only.
        """
        connected = [graph for graph in self.graphs if self._is_connected(graph)]
        subsets = {MEAN: self.graphs}
        if connected and connected != self.graphs:
            subsets[f"{MEAN}, connected"] = connected
        return subsets

    def _is_connected(self, graph: str) -> bool:
        facts = self.facts(graph)
        return bool(facts["n_vertices"] - facts["n_forest_edges"] == 1)

    def medians(self, column: Column, graphs: Sequence[str]) -> list[float]:
        """Return the median seconds on these graphs, as far as there are any."""
        return [one.median for graph in graphs if (one := self.at(graph, column))]

    def ratios(
        self, column: Column, first: Column, graphs: Sequence[str] | None = None
    ) -> list[float]:
        """Return how many times as long as `first` a contestant takes, where both were timed."""
        return [
            one.median / base.median
            for graph in (self.graphs if graphs is None else graphs)
            if (one := self.at(graph, column)) and (base := self.at(graph, first))
        ]

    def rates(self, column: Column, count: str, graphs: Sequence[str]) -> list[float]:
        """Return slots or edges a second on these graphs, where there are times and any of them.

        `count` is the fact that counts them: "n_slots" or "n_edges".
        """
        return [
            self.facts(graph)[count] / one.median
            for graph in graphs
            if (one := self.at(graph, column)) and self.facts(graph)[count]
        ]
