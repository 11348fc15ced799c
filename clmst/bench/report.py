"""The report of results: all tables in order, and figures.

Here are the tables of `ecl`: what each optimisation gains, beside the paper's figures (SC '23,
Table 5), and the effect of the seed of the filter's sample (Figures 6 and 7).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import geometric_mean

import numpy as np

from clmst.algorithms.ecl.options import EclOptions
from clmst.algorithms.ecl.solve import FILTER_TARGET
from clmst.bench import tables
from clmst.bench.grid import MEAN, Grid
from clmst.bench.measurement import SCOPES
from clmst.bench.results import Results
from clmst.bench.tables import Table, digits

STEPS = tuple(title for title, _ in EclOptions.ablation())
# How much longer the paper's RTX 3080 Ti takes with each further optimisation gone, as section 5.3
# states it, from geometric means over the nine connected inputs.
PAPER = (0.27, 0.09, 0.30, 0.58, 0.62, 0.33, -0.06, 0.40)


def all_tables(results: Results) -> list[Table]:
    """Return every table for which there is something."""
    found: list[Table | None] = []
    for machine in results.machines:
        found += [tables.times(results, scope, machine) for scope in SCOPES]
        found += [tables.throughput(results, machine), ablation(results, machine)]
        found += [seeds(results, machine)]
    for scope in SCOPES:
        found += tables.devices(results, scope)
    found += [tables.memory(results)]
    found += [tables.growth(results, "scaling"), tables.growth(results, "degree")]
    found += [tables.list_of_graphs(results), tables.failures(results)]
    return [table for table in found if table is not None]


def as_markdown(results: Results) -> str:
    """Return machines and tables as Markdown."""
    machines = "\n".join(f"* {machine}" for machine in results.machines)
    return "\n\n".join([machines, *(table.as_markdown() for table in all_tables(results))])


def draw_all(results: Results, folder: Path) -> list[Path]:
    """Draw every figure for which there is something, by Matplotlib; return the files."""
    from clmst.bench import figures

    return [path for draw in figures.FIGURES for path in draw(results, folder)]


# ------------------------------------------------------------------------ ablation


def ablation(results: Results, machine: str) -> Table | None:
    """Return times in milliseconds by step, and the cost of each step over the one before."""
    grid = Grid.of(results, "ablation", "solve", machine)
    if grid is None:
        return None
    grid = grid.ordered(STEPS)
    steps = [column.contestant for column in grid.columns]
    rows = []
    for graph in grid.graphs:
        cells = [grid.at(graph, column) for column in grid.columns]
        rows.append((graph, *(digits(one.median * 1e3) if one else "" for one in cells)))
    summary, notes = _summary(grid) if len(steps) == len(STEPS) else ([], [])
    return Table(
        title=f"Ablation of ecl, ms: {results.name_of(machine)}",
        headings=("graph", *steps),
        rows=[*rows, *summary],
        notes=tuple(notes),
    )


def _summary(grid: Grid) -> tuple[list[tuple[str, ...]], list[str]]:
    """Return the rows of means and effects, and remarks on them."""
    rows: list[tuple[str, ...]] = []
    notes = [f"Means and effects are over {len(grid.common())} of {len(grid.graphs)} graphs."]
    found: list[float] = []
    for name, graphs in grid.subsets().items():
        if not (common := grid.common(graphs)):
            continue
        means = [geometric_mean(grid.medians(column, common)) for column in grid.columns]
        found = [later / earlier - 1 for earlier, later in pairwise(means)]
        rows += [
            (name, *(digits(mean * 1e3) for mean in means)),
            (name.replace(MEAN, "effect"), "", *(f"{effect:+.0%}" for effect in found)),
        ]
        notes.append(f"All steps together cost {means[-1] / means[0]:.1f} x: {name}.")
    if found:
        same = [(ours > 0) == (theirs > 0) for ours, theirs in zip(found, PAPER, strict=True)]
        rows += [
            ("paper's effect", "", *(f"{effect:+.0%}" for effect in PAPER)),
            ("same sign", "", *("yes" if each else "no" for each in same)),
        ]
        notes.append(
            "An effect is the time beside that of the column before; the paper's are over "
            "connected graphs. The line above them has the same sign in "
            f"{sum(same)} of {len(PAPER)} steps."
        )
    return rows, notes


# --------------------------------------------------------------------------- seeds


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """One graph under many seeds."""

    graph: str
    samples: int  # size of the sample
    rates: list[float]  # slots a second, the median of each seed
    # By how much the number of light edges exceeds its target, as a share of the target, for each
    # seed with which the filter was at work.
    distances: list[float]


def spreads(results: Results, machine: str) -> Iterator[Spread]:
    """Yield the spread of every graph that has slots, and size of sample."""
    grid = Grid.of(results, "seeds", "solve", machine)
    if grid is None:
        return
    for graph in grid.graphs:
        facts = grid.facts(graph)
        if not facts["n_slots"]:
            continue  # there is no throughput without work
        of_graph = [one for column in grid.columns if (one := grid.at(graph, column))]
        target = FILTER_TARGET * max(facts["n_vertices"], 1)
        for samples in dict.fromkeys(one.details["samples"] for one in of_graph):
            own = [one for one in of_graph if one.details["samples"] == samples]
            light = [one.details["light_edges"] for one in own if "light_edges" in one.details]
            yield Spread(
                graph=graph,
                samples=samples,
                rates=[facts["n_slots"] / one.median for one in own],
                distances=[edges / target - 1 for edges in light],
            )


def seeds(results: Results, machine: str) -> Table | None:
    """Return quartiles of throughput, and of the distance from the filter's target."""
    rows = []
    for one in spreads(results, machine):
        rates = np.quantile(one.rates, (0, 0.25, 0.5, 0.75, 1)) * 1e-6
        far = np.quantile(one.distances, (0, 0.5, 1)) if one.distances else ()
        facts = one.graph, f"{one.samples:,}", f"{len(one.rates)}"
        shown = [f"{distance:+.0%}" for distance in far] or ["", "", "no filter"]
        most = f"{rates[4] / rates[0]:.2f}"
        rows.append((*facts, *(f"{rate:,.0f}" for rate in rates), most, *shown))
    if not rows:
        return None
    quartiles = ("least", "1st quartile", "median", "3rd quartile", "most", "most/least")
    return Table(
        title=f"Seeds of ecl, millions of slots a second: {results.name_of(machine)}",
        headings=("graph", "samples", "seeds", *quartiles, "target: least", "median", "most"),
        rows=rows,
        notes=(
            f"The target of the filter is {FILTER_TARGET:g} light edges a vertex; the last columns "
            "say by how much the seeds exceed it.",
        ),
    )
