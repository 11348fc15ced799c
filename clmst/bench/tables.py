"""Tables of what was measured: as data, and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

from clmst.bench.grid import Column, Grid
from clmst.bench.measurement import SCOPE_TITLES, Measurement
from clmst.bench.results import Results


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of texts."""

    title: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    n_names: int = 1  # how many leading columns are names, flush left; the others are numbers
    notes: tuple[str, ...] = ()  # sentences below it

    def as_markdown(self) -> str:
        """Return the table as Markdown."""
        rules = ["---"] * self.n_names + ["---:"] * (len(self.headings) - self.n_names)
        lines = [self.headings, rules, *self.rows]
        body = "\n".join("| " + " | ".join(map(_escaped, line)) + " |" for line in lines)
        return "\n\n".join([f"### {self.title}", body, *self.notes])


def times(results: Results, scope: str, machine: str) -> Table | None:
    """Return medians and spreads in milliseconds, and ratios to the first contestant.

    As Tables 3 and 4 of SC '23. A ratio is a contestant's median over that of the first, so that
    above 1 the first is the faster one.
    """
    grid = Grid.of(results, "times", scope, machine)
    if grid is None:
        return None
    title = f"Times, {results.name_of(machine)}: {SCOPE_TITLES[scope]}"
    return _comparison(grid, title, [column.label for column in grid.columns])


def devices(results: Results, scope: str) -> list[Table]:
    """Return the same by device, a table for each of clmst's contestants that ran on several."""
    grid = Grid.of(results, "times", scope)
    tables = []
    for contestant in dict.fromkeys(c.contestant for c in grid.columns if c.ours) if grid else ():
        own = grid.ordered([contestant]) if grid else None
        if own is not None and len(own.columns) > 1:
            names = [results.name_of(column.machine) for column in own.columns]
            title = f"Devices side by side, {contestant}: {SCOPE_TITLES[scope]}"
            tables.append(_comparison(own, title, names))
    return tables


def _comparison(grid: Grid, title: str, names: Sequence[str]) -> Table:
    first, *others = grid.columns
    headings = ["graph", "vertices", "slots", f"{names[0]} ms", "spread"]
    for name in names[1:]:
        headings += [f"{name} ms", "spread", "ratio"]
    rows = []
    for graph in grid.graphs:
        row = [graph, *grid.sizes(graph), *_time_and_spread(grid.at(graph, first))]
        for column in others:
            row += _time_and_spread(grid.at(graph, column))
            row.append(_ratio(grid.ratios(column, first, [graph])))
        rows.append(tuple(row))
    for name, graphs in grid.subsets().items():
        common = grid.common(graphs)
        means = [name, "", "", _mean(grid.medians(first, common)), ""]
        for column in others:
            ratio = _ratio(grid.ratios(column, first, graphs))
            means += [_mean(grid.medians(column, common)), "", ratio]
        rows.append(tuple(means))
    notes = [*_meanings(grid, names), _note_on_means(grid)]
    if others:
        notes.append(
            f"A ratio is a time over that of {names[0]}; its means are over all graphs that both "
            "were timed on."
        )
    return Table(title=title, headings=tuple(headings), rows=rows, notes=tuple(notes))


def throughput(results: Results, machine: str) -> Table | None:
    """Return millions of slots and of edges a second, as Figures 3 and 4 of SC '23.

    The paper counts slots: its Table 2 lists both directions of an edge.
    """
    grid = Grid.of(results, "times", "solve", machine)
    if grid is None:
        return None
    counts = ("n_slots", "n_edges")
    rows = [
        (
            graph,
            *(
                _shown(grid.rates(column, count, [graph]))
                for column in grid.columns
                for count in counts
            ),
        )
        for graph in grid.graphs
    ]
    for name, graphs in grid.subsets().items():
        common = grid.common(graphs)
        means = (grid.rates(column, count, common) for column in grid.columns for count in counts)
        rows.append((name, *map(_shown, means)))
    pairs = [(f"{column.label} slots", "edges") for column in grid.columns]
    return Table(
        title=f"Throughput, {results.name_of(machine)}: millions a second, without transfers",
        headings=("graph", *(heading for pair in pairs for heading in pair)),
        rows=rows,
        notes=(
            "An edge has two slots, one for each direction; the SC '23 paper counts slots.",
            _note_on_means(grid),
        ),
    )


def memory(results: Results) -> Table | None:
    """Return the device memory of solves, the graph included, where they tell it."""
    with_memory = [
        one for one in results.of("times", scope="solve") if one.details.get("device_bytes")
    ]
    if not with_memory:
        return None
    rows = []
    for one in with_memory:
        facts, size = results.graphs[one.graph], one.details["device_bytes"]
        rows.append(
            (
                one.graph,
                _label(results, one),
                f"{size / 2**20:,.1f}",
                f"{size / max(facts['n_edges'], 1):.1f}",
                f"{size / max(facts['n_vertices'], 1):.1f}",
            )
        )
    return Table(
        title="Peak device memory of a solve, the graph included",
        headings=("graph", "contestant", "MiB", "bytes an edge", "bytes a vertex"),
        rows=rows,
        n_names=2,
    )


def growth(results: Results, experiment: str) -> Table | None:
    """Return times, and nanoseconds a slot, over growing random graphs (HPG '09, Figure 13)."""
    grid = Grid.of(results, experiment, "solve")
    if grid is None:
        return None
    by = {"scaling": "n", "degree": "degree"}[experiment]
    headings = ["vertices", "degree", "slots"]
    for column in grid.columns:
        headings += [f"{column.label} ms", "spread", "ns a slot"]
    rows = []
    for graph in sorted(grid.graphs, key=lambda one: grid.facts(one)[by]):
        facts = grid.facts(graph)
        row = [f"{facts['n']:,}", f"{facts['degree']}", f"{facts['n_slots']:,}"]
        for column in grid.columns:
            found = grid.at(graph, column)
            row += _time_and_spread(found)
            slots = max(facts["n_slots"], 1)
            row.append(f"{found.median * 1e9 / slots:.3f}" if found else "")
        rows.append(tuple(row))
    what = "number of vertices" if by == "n" else "average degree"
    return Table(
        title=f"Random graphs of growing {what}: {SCOPE_TITLES['solve']}",
        headings=tuple(headings),
        rows=rows,
        n_names=0,
    )


def list_of_graphs(results: Results) -> Table | None:
    """Return what the graphs are, and how their forests are known to be right."""
    if not results.graphs:
        return None
    rows = [
        (
            name,
            facts.get("stands_for") or facts.get("file", ""),
            facts["known_by"],
            f"{facts['n_vertices']:,}",
            f"{facts['n_slots']:,}",
            f"{facts['n_slots'] / max(facts['n_vertices'], 1):.1f}",
            f"{facts['n_vertices'] - facts['n_forest_edges']:,}",
            f"{facts['total_weight']:,}"
            if isinstance(facts["total_weight"], int)
            else f"{facts['total_weight']}",
        )
        for name, facts in results.graphs.items()
    ]
    return Table(
        title="Graphs",
        headings=(
            "graph", "stands for", "forest verified by", "vertices", "slots", "degree",
            "components", "total weight",
        ),
        rows=rows,
        n_names=3,
    )  # fmt: skip


def failures(results: Results) -> Table | None:
    """Return what was not timed, with the reason."""
    if not results.failures:
        return None
    rows = [
        (one.graph, one.experiment, _label(results, one), one.scope, one.status, one.remark)
        for one in results.failures
    ]
    headings = ("graph", "experiment", "contestant", "scope", "status", "reason")
    return Table(title="Not timed", headings=headings, rows=rows, n_names=6)


def digits(milliseconds: float) -> str:
    """Return a time with four significant digits at least."""
    decimals = max(0, 3 - math.floor(math.log10(max(milliseconds, 1e-6))))
    return f"{milliseconds:.{decimals}f}"


def spread(seconds: Sequence[float]) -> str:
    """Return the least and the greatest of some times, in milliseconds."""
    return f"{digits(min(seconds) * 1e3)}-{digits(max(seconds) * 1e3)}" if len(seconds) > 1 else ""


def median_and_range(milliseconds: Sequence[float]) -> str:
    """Return a median, and in brackets the least and the greatest; "" for no times."""
    if len(milliseconds) < 2:
        return digits(milliseconds[0]) if milliseconds else ""
    least, greatest = digits(min(milliseconds)), digits(max(milliseconds))
    return f"{digits(median(milliseconds))} ({least}-{greatest})"


def _time_and_spread(found: Measurement | None) -> list[str]:
    if found is None:
        return ["", ""]
    return [digits(found.median * 1e3), spread(found.seconds)]


def _shown(rates: Sequence[float]) -> str:
    """Return the geometric mean of rates in millions, with three significant digits at least."""
    if not rates:
        return ""
    rate = geometric_mean(rates) * 1e-6
    return f"{rate:,.{max(0, 2 - math.floor(math.log10(rate)))}f}"


def _mean(seconds: Sequence[float]) -> str:
    return digits(geometric_mean(seconds) * 1e3) if seconds else ""


def _ratio(ratios: Sequence[float]) -> str:
    return f"{geometric_mean(ratios):.2f}" if ratios else ""


def _note_on_means(grid: Grid) -> str:
    common = len(grid.common())
    return f"Means are over the {common} of {len(grid.graphs)} graphs that all were timed on."


def _meanings(grid: Grid, names: Sequence[str]) -> Iterator[str]:
    """Say which algorithms names of contestants meant, where they do not say it themselves."""
    for column, name in zip(grid.columns, names, strict=True):
        used = {
            str(one.details["algorithm"])
            for graph in grid.graphs
            if (one := grid.at(graph, column)) and "algorithm" in one.details
        }
        if used and used != {column.contestant.removeprefix("clmst ")}:
            where = "" if name == column.label else f" on {name}"
            yield f"{column.contestant} is {', '.join(sorted(used))}{where}."


def _label(results: Results, one: Measurement) -> str:
    return Column.of(results, one, is_alone=len(results.machines) == 1).label


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
