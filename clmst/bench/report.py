"""Make all tables of the benchmark's results, and put them in order.

The tables of two experiments with `ecl` are made in this module. "ablation" shows how much each
optimisation gains, here and in the ECL-MST paper (SC '23, Table 5). "seeds" shows the effect of the
seed of the filter's random sample (Figures 6 and 7).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from clmst.algorithms.ecl import EclOptions
from clmst.bench import tables
from clmst.bench.grid import MEAN, Grid, means
from clmst.bench.results import SCOPES, Results
from clmst.bench.tables import Table, digits
from clmst.core.weight_keys import Array

STEPS = tuple(title for title, _ in EclOptions.ablation())
FILTER_TARGET = EclOptions().filter_factor / 2  # light edges per vertex
# What the removal of each optimisation of ECL-MST costs, according to section 5.3 of its paper
# (Fallin et al., SC '23). Optimisations are removed one after the other, in this order. Each number
# is the fraction by which the time on an RTX 3080 Ti increases with the removal. The numbers follow
# from geometric means over the nine connected inputs.
PAPER = (0.27, 0.09, 0.30, 0.58, 0.62, 0.33, -0.06, 0.40)


def all_tables(results: Results) -> list[Table]:
    """Return all tables that have rows, made from the results.

    If several tables have the same note, only the first table keeps it.
    """
    views: tuple[tuple[str, Sequence[str], Callable[[Grid], Table]], ...] = (
        ("times", SCOPES, tables.times),
        ("times", ("solve",), tables.throughput),
        ("ablation", ("solve",), ablation),
        ("seeds", ("solve",), seeds),
    )
    found = [
        view(grid)
        for machine in results.machines
        for experiment, scopes, view in views
        for grid in Grid.each(results, experiment, scopes, [machine])
    ]
    for grid in Grid.each(results, "times", SCOPES):
        found += tables.devices(grid)
    found.append(tables.memory(results))
    found += [tables.growth(grid, "n") for grid in Grid.each(results, "scaling")]
    found += [tables.growth(grid, "degree") for grid in Grid.each(results, "degree")]
    found += [tables.list_of_graphs(results), tables.failures(results)]
    return [*_with_notes_once(table for table in found if table.rows)]


def _with_notes_once(found: Iterable[Table]) -> Iterator[Table]:
    known: set[str] = set()
    for table in found:
        yield replace(table, notes=tuple(note for note in table.notes if note not in known))
        known.update(table.notes)


def as_markdown(results: Results) -> str:
    """Return the machines and all tables as Markdown."""
    machines = "\n".join(f"* {machine}" for machine in results.machines)
    return "\n\n".join([machines, *(table.as_markdown() for table in all_tables(results))])


def ablation(grid: Grid) -> Table:
    """Make a table of the times of `ecl` with fewer and fewer optimisations.

    `grid` has the times. Rows below the times have the effect of each step, which removes one
    optimisation.
    """
    grid = grid.ordered(STEPS)
    summary, notes = _summary(grid) if len(grid.columns) == len(STEPS) else ([], [])
    table = tables.table_of(
        grid,
        {"graph": grid.graphs},
        {"{}": tables.texts(grid.seconds * 1e3, digits)},
        title=f"Ablation of ecl, ms: {grid.machine_name}",
    )
    return replace(table, rows=[*table.rows, *summary], notes=tuple(notes))


def _summary(grid: Grid) -> tuple[list[tuple[str, ...]], list[str]]:
    """Return table rows with means and effects, and notes on these rows.

    `grid` has the times of `ecl`, with a column for each step, in which one more optimisation is
    removed. The effect of a step is the relative change of the mean time.
    """
    rows: list[tuple[str, ...]] = []
    notes = [f"Means and effects are over {grid.is_common.sum()} of {len(grid.graphs)} graphs."]
    for name, chosen in grid.subsets().items():
        if not (common := chosen & grid.is_common).any():
            continue
        mean = means(grid.seconds[common])
        found = mean[1:] / mean[:-1] - 1
        rows += [
            (name, *map(digits, mean * 1e3)),
            (name.replace(MEAN, "effect"), "", *(f"{effect:+.0%}" for effect in found)),
        ]
        notes.append(f"All steps together cost {mean[-1] / mean[0]:.1f} x: {name}.")
    if rows:
        same = (found > 0) == (np.array(PAPER) > 0)
        rows += [
            ("paper's effect", "", *(f"{effect:+.0%}" for effect in PAPER)),
            ("same sign", "", *("yes" if each else "no" for each in same)),
        ]
        notes.append(
            "An effect is the time beside that of the column before; the paper's are over "
            "connected graphs. The line above them has the same sign in "
            f"{same.sum()} of {len(PAPER)} steps."
        )
    return rows, notes


def spreads(grid: Grid) -> Iterator[tuple[str, int, Array, Array]]:
    """Yield how results of `ecl` vary with the seed: (graph, sample size, rates, distances).

    The seed determines a random sample, from which `ecl` chooses which light edges to solve first.
    Rates are in slots (CSR entries) per second, one for each seed, from median times. A distance
    says by what fraction the number of light edges exceeds its target. There is a distance for each
    seed with which light edges were solved first. Graphs without slots are left out. `grid` has the
    measurements.
    """
    for graph, rates in zip(grid.graphs, grid.rates(), strict=True):
        found = [grid.at(graph, column) for column in grid.columns]
        target = FILTER_TARGET * max(grid.results.graphs[graph]["n_vertices"], 1)
        sizes = [one.details["samples"] if one else None for one in found]
        light = [one.details.get("light_edges", np.nan) if one else np.nan for one in found]
        distances = np.array(light) / target - 1
        for samples in dict.fromkeys(size for size in sizes if size is not None):
            own = np.array([size == samples for size in sizes]) & ~np.isnan(rates)
            if own.any():  # the throughput of a graph without slots is NaN
                yield graph, samples, rates[own], distances[own & ~np.isnan(distances)]


def seeds(grid: Grid) -> Table:
    """Make a table that shows how results of `ecl` vary with the seed of its random sample.

    For each graph, it has quartiles of the throughput, and the range of another number: how far the
    number of light edges is from its target. `grid` has the measurements.
    """
    rows = []
    for graph, samples, rates, distances in spreads(grid):
        quartiles = np.quantile(rates, (0, 0.25, 0.5, 0.75, 1)) * 1e-6
        most = f"{quartiles[4] / quartiles[0]:.2f}"
        far = np.quantile(distances, (0, 0.5, 1)) if distances.size else ()
        shown = [f"{each:+.0%}" for each in far] or ["", "", "no filter"]
        facts = graph, f"{samples:,}", f"{rates.size}"
        rows.append((*facts, *(f"{rate:,.0f}" for rate in quartiles), most, *shown))
    names = ("least", "1st quartile", "median", "3rd quartile", "most", "most/least")
    return Table(
        title=f"Seeds of ecl, millions of slots a second: {grid.machine_name}",
        headings=("graph", "samples", "seeds", *names, "target: least", "median", "most"),
        rows=rows,
        notes=(
            f"The target of the filter is {FILTER_TARGET:g} light edges a vertex; the last columns "
            "say by how much the seeds exceed it.",
        ),
    )
