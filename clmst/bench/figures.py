"""Pictures of what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any, TypeAlias

from clmst.bench.canvas import GRID, STYLES, legend_below, panels, plain_ticks, style
from clmst.bench.grid import Grid
from clmst.bench.measurement import SCOPE_TITLES
from clmst.bench.report import STEPS, spreads
from clmst.bench.results import Results
from clmst.core.errors import optional_import

Draw: TypeAlias = Callable[[Results, Path], Iterator[Path]]

_HEIGHT = 4.8
_MEAN = "geometric\nmean"
# A throughput is drawn on a logarithmic axis where contestants are further apart than this.
_WIDE = 100
_THROUGHPUTS = {"solve": "throughput", "transfers": "throughput_transfers"}


def throughput(results: Results, folder: Path) -> Iterator[Path]:
    """Draw a bar for every contestant on every graph (SC '23, Figures 3 and 4)."""
    for number, machine in enumerate(results.machines):
        for scope, name in _THROUGHPUTS.items():
            grid = Grid.of(results, "times", scope, machine)
            if grid is not None:
                path = folder / f"{name}{_suffix(results, number)}.png"
                labels = [column.label for column in grid.columns]
                title = f"{results.name_of(machine)}: {SCOPE_TITLES[scope]}"
                yield _bars(path, grid, labels, title=title)


def devices(results: Results, folder: Path) -> Iterator[Path]:
    """Draw a bar for every device on every graph, for clmst's first contestant on several."""
    for scope, name in _THROUGHPUTS.items():
        grid = Grid.of(results, "times", scope)
        for column in grid.columns if grid else ():
            own = grid.ordered([column.contestant]) if grid and column.ours else None
            if own is not None and len(own.columns) > 1:
                labels = [results.name_of(each.machine) for each in own.columns]
                title = f"{column.contestant}: {SCOPE_TITLES[scope]}"
                yield _bars(folder / f"devices_{name}.png", own, labels, title=title)
                break


def ablation(results: Results, folder: Path) -> Iterator[Path]:
    """Draw the throughput of every step on every graph (SC '23, Figure 5)."""
    for number, machine in enumerate(results.machines):
        grid = Grid.of(results, "ablation", "solve", machine)
        if grid is None:
            continue
        grid = grid.ordered(STEPS)
        labels = [column.contestant for column in grid.columns]
        shades = optional_import("matplotlib", extra="plot").colormaps["cividis"]
        colors = [shades(step / max(len(labels) - 1, 1)) for step in range(len(labels))]
        path = folder / f"ablation{_suffix(results, number)}.png"
        title = f"{results.name_of(machine)}: ecl with fewer and fewer optimisations"
        yield _bars(path, grid, labels, colors, title=title)


def seeds(results: Results, folder: Path) -> Iterator[Path]:
    """Draw boxes for each graph and size of sample (SC '23, Figures 6 and 7).

    First of throughput, then of how far the filter's thresholds are from their target.
    """
    yield from _of_seeds(results, folder / "seeds", "throughput over seeds of its sample")
    yield from _of_seeds(results, folder / "thresholds", "how far filters are from their target")


def _of_seeds(results: Results, path: Path, what: str) -> Iterator[Path]:
    for number, machine in enumerate(results.machines):
        values = {}
        for one in spreads(results, machine):
            of_rates = [1e-6 * rate for rate in one.rates]
            of_targets = [100 * distance for distance in one.distances]
            values[one.graph, one.samples] = of_rates if path.name == "seeds" else of_targets
        values = {of: numbers for of, numbers in values.items() if numbers}
        if values:
            size = _size(len({graph for graph, _ in values}), 2)
            title = f"{results.name_of(machine)}: ecl, {what}"
            file = path.with_name(f"{path.name}{_suffix(results, number)}.png")
            with panels(file, 1, size, title=title) as (axes,):
                _boxes(axes, values)
                if path.name == "seeds":
                    axes.set_ylabel("millions of slots a second")
                    axes.set_ylim(bottom=0)
                else:
                    axes.axhline(0, color="#555555", linewidth=1)
                    axes.set_ylabel("light edges above the target, %")
                legend_below(axes)
            yield file


def growth(results: Results, folder: Path) -> Iterator[Path]:
    """Draw time over the number of vertices and over the average degree (HPG '09, Figure 13)."""
    yield from _growth(results, folder, "scaling", "n", "vertices")
    yield from _growth(results, folder, "degree", "degree", "average degree")


FIGURES: Sequence[Draw] = (throughput, devices, ablation, seeds, growth)


def _growth(
    results: Results, folder: Path, experiment: str, fact: str, label: str
) -> Iterator[Path]:
    grid = Grid.of(results, experiment, "solve")
    if grid is None:
        return
    path = folder / f"{experiment}.png"
    names = ", ".join(map(results.name_of, results.machines))
    title = f"{names}: time of a solve on random graphs, by {label}"
    with panels(path, 2, (10, _HEIGHT), title=title) as (total, each):
        for number, column in enumerate(grid.columns):
            points = sorted(
                (grid.facts(graph)[fact], one.median, grid.facts(graph)["n_slots"])
                for graph in grid.graphs
                if (one := grid.at(graph, column))
            )
            at = [x for x, _, _ in points]
            look = {"label": column.label, "markersize": 5, **style(number)}
            total.plot(at, [seconds * 1e3 for _, seconds, _ in points], **look)
            per_slot = [seconds * 1e9 / max(slots, 1) for _, seconds, slots in points]
            each.plot(at, per_slot, **look)
        for axes, what in ((total, "milliseconds"), (each, "nanoseconds a slot")):
            _sizes_axis(axes, sorted({grid.facts(graph)[fact] for graph in grid.graphs}))
            axes.set_yscale("log")
            plain_ticks(axes.yaxis, (1, 2, 5))
            axes.set_xlabel(label)
            axes.set_ylabel(what)
            axes.grid(**GRID)
        legend_below(total)
    yield path


def _sizes_axis(axes: Any, sizes: Sequence[int]) -> None:
    """Make a horizontal axis of powers of two, labelled at the sizes that were measured."""
    axes.set_xscale("log", base=2)
    labels = [
        f"2$^{{{size.bit_length() - 1}}}$"
        if size >= 1024 and size.bit_count() == 1
        else f"{size:,}"
        for size in sizes
    ]
    axes.set_xticks(sizes, labels)
    axes.tick_params(axis="x", which="minor", bottom=False)


def _bars(
    path: Path, grid: Grid, labels: Sequence[str], colors: Sequence[Any] = (), *, title: str
) -> Path:
    """Draw groups of bars, in millions of slots a second, and a group of their means."""
    common = grid.common()
    groups = [*grid.graphs, _MEAN] if common else grid.graphs
    members = [[graph] for graph in grid.graphs] + ([common] if common else [])
    width = 0.84 / len(labels)
    heights: list[float] = []
    with panels(path, 1, _size(len(groups), len(labels)), title=title) as (axes,):
        for number, column in enumerate(grid.columns):
            rates = [grid.rates(column, "n_slots", graphs) for graphs in members]
            bars = {k: geometric_mean(rate) * 1e-6 for k, rate in enumerate(rates) if rate}
            shift = (number - (len(labels) - 1) / 2) * width
            color = colors[number] if colors else style(number)["color"]
            at = [k + shift for k in bars]
            axes.bar(at, list(bars.values()), width, label=labels[number], color=color)
            heights += bars.values()
        if heights and max(heights) > _WIDE * min(heights):
            axes.set_yscale("log")
            axes.set_ylim(bottom=min(heights) / 2)
            plain_ticks(axes.yaxis, (1, 3))
        if common:
            axes.axvline(len(groups) - 1.5, color="#999999", linewidth=0.8, linestyle=":")
        _name_groups(axes, groups)
        axes.set_ylabel("millions of slots a second")
        legend_below(axes, columns=5 if len(groups) > 8 else 3)
    return path


def _boxes(axes: Any, values: dict[tuple[str, int], list[float]]) -> None:
    """Draw a box for each graph and size of sample, whiskers to the extremes."""
    graphs = list(dict.fromkeys(graph for graph, _ in values))
    sizes = list(dict.fromkeys(samples for _, samples in values))
    width = 0.7 / len(sizes)
    for number, samples in enumerate(sizes):
        own = [graph for graph in graphs if (graph, samples) in values]
        shift = (number - (len(sizes) - 1) / 2) * width
        color = STYLES[number]["color"]
        drawn = axes.boxplot(
            [values[graph, samples] for graph in own],
            positions=[graphs.index(graph) + shift for graph in own],
            widths=width * 0.85,
            whis=(0, 100),
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": color, "edgecolor": color, "alpha": 0.55},
            whiskerprops={"color": color},
            capprops={"color": color},
            medianprops={"color": "black", "linewidth": 1.2},
        )
        drawn["boxes"][0].set_label(f"{samples:,} samples")
    _name_groups(axes, graphs)


def _name_groups(axes: Any, names: Sequence[str]) -> None:
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.tick_params(axis="x", length=0)
    if axes.get_yscale() == "linear":
        plain_ticks(axes.yaxis)
    axes.grid(axis="y", **GRID)


def _size(groups: int, bars: int) -> tuple[float, float]:
    """Return inches in which groups of bars are neither thin nor fat."""
    return (min(max(5.0, 1.2 + groups * max(0.5, 0.14 * bars)), 18.0), _HEIGHT)


def _suffix(results: Results, number: int) -> str:
    """Return what tells the files of several machines apart."""
    return f"_{number + 1}" if len(results.machines) > 1 else ""
