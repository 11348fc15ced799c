"""The gain of each optimisation of `ecl`, beside the paper's figures (SC '23, Table 5)."""

from __future__ import annotations

from itertools import pairwise
from statistics import geometric_mean

from clmst.algorithms.ecl.options import EclOptions
from clmst.bench.grid import MEAN, Grid
from clmst.bench.results import Results
from clmst.bench.tables import Table, digits

STEPS = tuple(title for title, _ in EclOptions.ablation())
# How much longer the paper's RTX 3080 Ti takes with each further optimisation gone, as section 5.3
# states it, from geometric means over the nine connected inputs.
PAPER = (0.27, 0.09, 0.30, 0.58, 0.62, 0.33, -0.06, 0.40)


def table(results: Results, machine: str) -> Table | None:
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
        found = effects(means)
        rows += [
            (name, *(digits(mean * 1e3) for mean in means)),
            (name.replace(MEAN, "effect"), "", *(f"{effect:+.0%}" for effect in found)),
        ]
        notes.append(f"All steps together cost {means[-1] / means[0]:.1f} x: {name}.")
    if found:
        same = agreement(found)
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


def effects(means: list[float]) -> list[float]:
    """Return by how much each mean exceeds the one before, as a share of that."""
    return [later / earlier - 1 for earlier, later in pairwise(means)]


def agreement(found: list[float]) -> list[bool]:
    """Return which effects have the sign of the paper's."""
    return [(ours > 0) == (theirs > 0) for ours, theirs in zip(found, PAPER, strict=True)]
