"""Tables of measurements, as data and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from clmst.bench.grid import Grid, means
from clmst.bench.results import SCOPE_TITLES, Results
from clmst.core.weight_keys import Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table whose cells are texts."""

    title: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    n_names: int = 1  # leading columns that hold names; all others hold numbers
    notes: tuple[str, ...] = ()  # sentences below the table

    def as_markdown(self) -> str:
        """Return the table as Markdown, with its title and notes."""
        rules = ["---"] * self.n_names + ["---:"] * (len(self.headings) - self.n_names)
        lines = [self.headings, rules, *self.rows]
        escaped = ([cell.replace("|", "\\|") for cell in line] for line in lines)
        body = "\n".join(f"| {' | '.join(line)} |" for line in escaped)
        return "\n\n".join([f"### {self.title}", body, *self.notes])


# -------------------------------------------------------------------- views of a grid


def texts(values: Array, text: Callable[[float], str], masks: Iterable[Array] = ()) -> list[Any]:
    """Format the numbers of an array of shape (rows, columns), and return rows of texts.

    The function `text` formats a number. NaN becomes "". Each of `masks` selects rows, and adds a
    row with the geometric mean of these rows in each column.
    """
    rows = np.vstack([values, *(means(values[mask]) for mask in masks)])
    return [["" if math.isnan(value) else text(value) for value in row] for row in rows.tolist()]


def table_of(
    grid: Grid, facts: Mapping[str, Iterable[str]], blocks: Mapping[str, list[Any]], **rest: Any
) -> Table:
    """Make a table that has columns of facts, and then several columns for each contestant.

    A contestant is an algorithm or program that was timed.

    `facts` maps headings to columns of texts. `blocks` maps a heading to rows of texts, which have
    a text for each contestant. Each block gives a column for each contestant, except that "ratio"
    has none for the first contestant, to which ratios refer. In a heading ``{}`` is replaced by the
    name of the contestant. `rest` are further fields of :class:`Table`.
    """
    shown = [
        (heading.format(column.label), [row[number] for row in texts])
        for number, column in enumerate(grid.columns)
        for heading, texts in blocks.items()
        if number or heading != "ratio"
    ]
    headings = *facts, *(heading for heading, _ in shown)
    columns = *facts.values(), *(texts for _, texts in shown)
    return Table(headings=headings, rows=[*zip_longest(*columns, fillvalue="")], **rest)


def times(grid: Grid) -> Table:
    """Make a table of medians and spreads in milliseconds, and ratios to the first contestant.

    `grid` has the times. The table is like Tables 3 and 4 of SC '23. A ratio is a contestant's
    median divided by the median of the first contestant, so above 1 the first contestant is faster.
    """
    return _comparison(grid, f"Times, {grid.machine_name}: {SCOPE_TITLES[grid.scope]}")


def devices(grid: Grid) -> list[Table]:
    """Make a table for each of clmst's contestants that ran on several devices.

    `grid` has the measurements. A table has the contestant's times, with a column for each device.
    """
    return [
        _comparison(own, f"Devices side by side, {contestant}: {SCOPE_TITLES[grid.scope]}")
        for contestant, own in grid.by_device()
    ]


def _comparison(grid: Grid, title: str) -> Table:
    seconds, subsets = grid.seconds, grid.subsets()
    notes = [*_meanings(grid), _note_on_means(grid)]
    if len(grid.columns) > 1:
        notes.append(
            f"A ratio is a time over that of {grid.columns[0].label}; its means are over all "
            "graphs that both were timed on."
        )
    names = {"graph": [*grid.graphs, *subsets]}
    names |= {"vertices": _counts(grid, "n_vertices"), "slots": _counts(grid, "n_slots")}
    values = {
        "{} ms": texts(seconds * 1e3, digits, _common(grid, subsets)),
        "spread": _ranges(grid),
        "ratio": texts(seconds / seconds[:, :1], "{:.2f}".format, subsets.values()),
    }
    return table_of(grid, names, values, title=title, notes=tuple(notes))


def throughput(grid: Grid) -> Table:
    """Make a table of the throughput, like Figures 3 and 4 of the ECL-MST paper (SC '23).

    `grid` has the measurements. The throughput is in millions of slots (CSR entries) per second,
    and in millions of edges per second. The paper counts slots: its Table 2 lists both directions
    of an edge.
    """
    subsets = grid.subsets()
    masks = _common(grid, subsets)
    values = {
        "{} slots": texts(grid.rates() * 1e-6, _three_digits, masks),
        "edges": texts(grid.rates("n_edges") * 1e-6, _three_digits, masks),
    }
    return table_of(
        grid, {"graph": [*grid.graphs, *subsets]}, values,
        title=f"Throughput, {grid.machine_name}: millions a second, without transfers",
        notes=(
            "An edge has two slots, one for each direction; the SC '23 paper counts slots.",
            _note_on_means(grid),
        ),
    )  # fmt: skip


def growth(grid: Grid, by: str) -> Table:
    """Make a table of times of random graphs of growing size, and times per slot (CSR entry).

    `grid` has the measurements. `by` is "n" if the number of vertices grows, or "degree" if the
    average degree grows. Figure 13 of Vineet et al. (HPG '09) shows times of growing random graphs.
    """
    grid = replace(grid, graphs=[grid.graphs[k] for k in np.argsort(grid.facts(by), kind="stable")])
    per_slot = grid.seconds * 1e9 / np.maximum(grid.facts("n_slots"), 1)[:, None]
    what = "number of vertices" if by == "n" else "average degree"
    names = {"vertices": _counts(grid, "n"), "degree": map(str, grid.facts("degree"))}
    values = {"{} ms": texts(grid.seconds * 1e3, digits), "spread": _ranges(grid)}
    return table_of(
        grid, {**names, "slots": _counts(grid, "n_slots")},
        {**values, "ns a slot": texts(per_slot, "{:.3f}".format)},
        title=f"Random graphs of growing {what}: {SCOPE_TITLES[grid.scope]}", n_names=0,
    )  # fmt: skip


# ------------------------------------------------------------------ views of all results


def memory(results: Results) -> Table:
    """Make a table of the peak device memory of solves, including the memory of the graph.

    Only results in which the memory was measured have a row.
    """
    rows = []
    for one in results.of("times", scope="solve"):
        if size := one.details.get("device_bytes"):
            facts = results.graphs[one.graph]
            per_item = (size / max(facts[count], 1) for count in ("n_edges", "n_vertices"))
            sizes = f"{size / 2**20:,.1f}", *(f"{each:.1f}" for each in per_item)
            rows.append((one.graph, results.label_of(one), *sizes))
    return Table(
        title="Peak device memory of a solve, the graph included",
        headings=("graph", "contestant", "MiB", "bytes an edge", "bytes a vertex"),
        rows=rows,
        n_names=2,
    )


def list_of_graphs(results: Results) -> Table:
    """Make a table of all graphs: their sizes, and how the right forest of each was verified."""
    rows = []
    for name, facts in results.graphs.items():
        n, slots, weight = facts["n_vertices"], facts["n_slots"], facts["total_weight"]
        rows.append((
            name,
            facts.get("stands_for") or facts.get("file", ""),
            facts["known_by"],
            f"{n:,}",
            f"{slots:,}",
            f"{slots / max(n, 1):.1f}",
            f"{n - facts['n_forest_edges']:,}",
            f"{weight:,}" if isinstance(weight, int) else f"{weight}",
        ))  # fmt: skip
    return Table(
        title="Graphs",
        headings=(
            "graph", "stands for", "forest verified by", "vertices", "slots", "degree",
            "components", "total weight",
        ),
        rows=rows,
        n_names=3,
    )  # fmt: skip


def failures(results: Results) -> Table:
    """Make a table of the measurements without times, and of the reasons why they have none."""
    return Table(
        title="Not timed",
        headings=("graph", "experiment", "contestant", "scope", "status", "reason"),
        rows=[
            (one.graph, one.experiment, results.label_of(one), one.scope, one.status, one.remark)
            for one in results.failures
        ],
        n_names=6,
    )


# --------------------------------------------------------------------------- numbers


def digits(milliseconds: float) -> str:
    """Format milliseconds with at least four significant digits."""
    decimals = max(0, 3 - math.floor(math.log10(max(milliseconds, 1e-6))))
    return f"{milliseconds:.{decimals}f}"


def spread(times: Sequence[float], unit: float = 1.0) -> str:
    """Format the minimum and the maximum of some times, multiplied by `unit`."""
    return f"{digits(min(times) * unit)}-{digits(max(times) * unit)}"


def _ranges(grid: Grid) -> list[list[str]]:
    """Format the range of times, in milliseconds, of each graph (row) and contestant (column).

    `grid` has the times. The text is "" if there is a single time, or none.
    """
    rows = ([grid.at(graph, column) for column in grid.columns] for graph in grid.graphs)
    return [
        [spread(one.seconds, 1e3) if one and one.seconds[1:] else "" for one in row] for row in rows
    ]


def _three_digits(rate: float) -> str:
    """Format a rate with at least three significant digits."""
    return f"{rate:,.{max(0, 2 - math.floor(math.log10(rate)))}f}"


def _counts(grid: Grid, fact: str) -> list[str]:
    return [f"{count:,}" for count in grid.facts(fact).tolist()]


def _common(grid: Grid, subsets: Mapping[str, Array]) -> list[Array]:
    """Return, for each subset of the graphs, a mask of those on which all contestants have times.

    `grid` has the times, and `subsets` has masks of graphs.
    """
    return [chosen & grid.is_common for chosen in subsets.values()]


def _note_on_means(grid: Grid) -> str:
    common = grid.is_common.sum()
    return f"Means are over the {common} of {len(grid.graphs)} graphs that all were timed on."


def _meanings(grid: Grid) -> Iterator[str]:
    """Yield a note for each column whose name does not say which algorithm ran, such as "auto".

    `grid` has the columns.
    """
    for column in grid.columns:
        found = (grid.at(graph, column) for graph in grid.graphs)
        used = {
            str(one.details["algorithm"]) for one in found if one and "algorithm" in one.details
        }
        if used and used != {column.contestant.removeprefix("clmst ")}:
            where = f" on {column.label}" if grid.machine is None else ""
            yield f"{column.contestant} is {', '.join(sorted(used))}{where}."
