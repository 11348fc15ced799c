"""The measurements of an experiment as a grid: a row for each graph, a column for each contestant.

A contestant is an algorithm or program that is timed. Every table and figure shows a grid. Its
times, rates and ratios are arrays of shape (graphs, columns), with NaN where a measurement is
missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clmst.bench.results import Measurement, Results
from clmst.core.weight_keys import Array

MEAN = "geometric mean"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a grid: a contestant (an algorithm or program that is timed) on a machine."""

    machine: str
    contestant: str
    ours: bool
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The measurements of an experiment, from one machine or from all, as a table.

    It has a row for each graph and a column for each contestant, which is an algorithm or program
    that is timed. All times have the same `scope`, which says what they cover, such as "solve" for
    the solve alone.
    """

    results: Results
    scope: str
    machine: str | None
    graphs: list[str]  # the graphs that have a time, smallest first
    columns: list[Column]  # clmst's own first, then in the order of measurement
    cells: dict[tuple[str, str, str], Measurement]  # by graph, machine and contestant

    @classmethod
    def each(
        cls,
        results: Results,
        experiment: str,
        scopes: Iterable[str] = ("solve",),
        machines: Sequence[str | None] = (None,),
    ) -> Iterator[Grid]:
        """Yield a grid for each of `machines` and `scopes` with times of an experiment.

        A scope says what a time covers, such as the solve alone. None in place of a machine means
        all machines together. A machine and scope without times in `results` is left out.
        """
        order = list(results.machines)
        for machine in machines:
            for scope in scopes:
                every = results.of(experiment, scope=scope)
                every = [one for one in every if machine in (None, one.machine)]
                timed = [one for one in _of_the_same_turns(every) if one.is_ok]
                cells = {(one.graph, one.machine, one.contestant): one for one in timed}
                with_times = {key[1:] for key in cells}
                # The columns are in the order in which contestants were first measured. Failed
                # measurements count, too, so that a contestant that failed on the first graph keeps
                # its place.
                named = {(one.machine, one.contestant): one for one in every}
                columns = [
                    Column(
                        machine=one.machine,
                        contestant=one.contestant,
                        ours=one.ours,
                        label=results.label_of(one, is_alone=machine is not None),
                    )
                    for key, one in named.items()
                    if key in with_times
                ]
                columns.sort(key=lambda column: (not column.ours, order.index(column.machine)))
                graphs = [*dict.fromkeys(one.graph for one in timed)]
                graphs.sort(key=lambda name: results.graphs[name]["n_slots"])
                if timed:
                    yield cls(
                        results=results, scope=scope, machine=machine, graphs=graphs,
                        columns=columns, cells=cells,
                    )  # fmt: skip

    @property
    def machine_name(self) -> str:
        """The short name of the machine, or the names of all machines."""
        machines = self.results.machines if self.machine is None else [self.machine]
        return ", ".join(map(self.results.name_of, machines))

    def ordered(self, contestants: Sequence[str]) -> Grid:
        """Return the grid with only the columns of these contestants, in this order.

        Contestants are the algorithms and programs that were timed.
        """
        columns = [c for name in contestants for c in self.columns if c.contestant == name]
        return replace(self, columns=columns)

    def by_device(self) -> Iterator[tuple[str, Grid]]:
        """Yield each contestant of clmst that ran on several machines, with a grid of its own.

        A contestant of clmst is an algorithm with its options.

        This grid has a column for each of the machines.
        """
        for contestant in dict.fromkeys(one.contestant for one in self.columns if one.ours):
            own = self.ordered([contestant])
            if len(own.columns) > 1:
                names = [self.results.name_of(column.machine) for column in own.columns]
                columns = [replace(c, label=n) for c, n in zip(own.columns, names, strict=True)]
                yield contestant, replace(own, columns=columns)

    def at(self, graph: str, column: Column) -> Measurement | None:
        """Return the measurement of a graph and a column, or None if it is missing."""
        return self.cells.get((graph, column.machine, column.contestant))

    def facts(self, name: str) -> Array:
        """Return a fact of each graph by its name, such as "n_slots", as an array."""
        return np.array([self.results.graphs[graph][name] for graph in self.graphs])

    @property
    def seconds(self) -> Array:
        """The median times in seconds, shape (graphs, columns)."""
        rows = ([self.at(graph, column) for column in self.columns] for graph in self.graphs)
        return np.array([[one.median if one else np.nan for one in row] for row in rows])

    def rates(self, count: str = "n_slots") -> Array:
        """Return the throughput of each contestant (column) on each graph (row).

        The throughput is in slots (CSR entries) per second, or in edges per second if `count` is
        "n_edges". For a graph without edges the result is NaN.
        """
        counts = self.facts(count)
        return np.where(counts, counts, np.nan)[:, None] / self.seconds

    @property
    def is_common(self) -> Array:
        """Mask of the graphs on which all contestants have times."""
        return np.asarray(~np.isnan(self.seconds).any(axis=1))

    def subsets(self) -> dict[str, Array]:
        """Return masks of the graphs over which means are taken, by the name of the mean.

        One mean is over all graphs. If some graphs are not connected, another mean is over the
        connected graphs. The ECL-MST paper also has a mean over connected graphs, because some
        programs only find trees.
        """
        connected = self.facts("n_vertices") - self.facts("n_forest_edges") == 1
        subsets = {MEAN: np.ones_like(connected)}
        if connected.any() and not connected.all():
            subsets[f"{MEAN}, connected"] = connected
        return subsets


def means(values: Array) -> Array:
    """Return the geometric mean of each column of `values`, ignoring NaNs.

    The mean of a column that has only NaNs is NaN.
    """
    with np.errstate(invalid="ignore"):
        logs = np.log(values)
        return np.asarray(np.exp(np.nansum(logs, axis=0) / (~np.isnan(logs)).sum(axis=0)))


def _of_the_same_turns(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Return the measurements that were timed in the same run as clmst's own on the same graph.

    Measurements of other runs are left out, because their times are not comparable. An interrupted
    run may leave new times of outside programs beside older times of clmst.
    """
    turns = {(one.machine, one.graph): one.benchmark for one in measurements if one.ours}
    return [
        one
        for one in measurements
        if one.benchmark == turns.get((one.machine, one.graph), one.benchmark)
    ]
