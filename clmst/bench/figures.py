"""Figures of the measurements of ``clmst bench``: bars, boxes and lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from clmst.bench.canvas import GRID, STYLES, legend_below, panels, plain_ticks, style
from clmst.bench.grid import Grid, means
from clmst.bench.report import STEPS, spreads
from clmst.bench.results import SCOPE_TITLES, Results
from clmst.core.errors import optional_import
from clmst.core.weight_keys import Array

_HEIGHT = 4.8
_MEAN = "geometric\nmean"
# The axis of throughput is logarithmic if the maximum is more than this many times the minimum.
_WIDE = 100
_BOXES = {
    "seeds": "throughput over seeds of its sample",
    "thresholds": "how far filters are from their target",
}
_THROUGHPUTS = {"solve": "throughput", "transfers": "throughput_transfers"}


def draw_all(results: Results, folder: Path) -> Iterator[Path]:
    """Draw every figure that the results have data for, and yield the paths of the files.

    There are bars of the throughput:

    * of all contestants, that is, of all algorithms and programs (SC '23, Figures 3 and 4);
    * of one algorithm of clmst on all devices on which it ran, if these are several;
    * of `ecl` with fewer and fewer optimisations (SC '23, Figure 5).

    Box plots show how results of `ecl` vary with the seed of its random sample (Figures 6 and 7):
    the throughput, and how far the number of light edges is from its target. Lines show how times
    grow with the number of vertices and with the average degree (HPG '09, Figure 13).
    """
    machines = list(results.machines)

    def file(name: str, grid: Grid) -> Path:
        number = ""
        if len(machines) > 1 and grid.machine is not None:
            number = f"_{machines.index(grid.machine) + 1}"
        return folder / f"{name}{number}.png"

    for grid in Grid.each(results, "times", _THROUGHPUTS, machines):
        path = file(_THROUGHPUTS[grid.scope], grid)
        yield _bars(path, grid, f"{grid.machine_name}: {SCOPE_TITLES[grid.scope]}")
    for grid in Grid.each(results, "times", _THROUGHPUTS):
        for contestant, own in islice(grid.by_device(), 1):
            path = file(f"devices_{_THROUGHPUTS[grid.scope]}", grid)
            yield _bars(path, own, f"{contestant}: {SCOPE_TITLES[grid.scope]}")
    for grid in Grid.each(results, "ablation", machines=machines):
        title = f"{grid.machine_name}: ecl with fewer and fewer optimisations"
        yield _bars(file("ablation", grid), grid.ordered(STEPS), title, ramp="cividis")
    for name, what in _BOXES.items():
        for grid in Grid.each(results, "seeds", machines=machines):
            found = {
                (graph, samples): rates * 1e-6 if name == "seeds" else distances * 100
                for graph, samples, rates, distances in spreads(grid)
            }
            if values := {of: numbers for of, numbers in found.items() if numbers.size}:
                yield _boxes(file(name, grid), grid, values, what)
    for experiment, fact, label in (
        ("scaling", "n", "vertices"), ("degree", "degree", "average degree"),
    ):  # fmt: skip
        for grid in Grid.each(results, experiment):
            yield _growth(file(experiment, grid), grid, fact, label)


def _growth(path: Path, grid: Grid, fact: str, label: str) -> Path:
    """Draw a line for each compared program, by the size of graphs.

    Returns the path of the figure.

    One panel has the time, the other the time per slot (CSR entry). `fact` is the name of the fact
    about graphs that is on the x axis, such as "n", and `label` the label of this axis. `grid` has
    the times.
    """
    title = f"{grid.machine_name}: time of a solve on random graphs, by {label}"
    sizes, slots = grid.facts(fact), np.maximum(grid.facts("n_slots"), 1)
    order = np.argsort(sizes, kind="stable")
    with panels(path, 2, (10, _HEIGHT), title=title) as (total, each):
        for number, (column, seconds) in enumerate(zip(grid.columns, grid.seconds.T, strict=True)):
            own = order[~np.isnan(seconds[order])]
            look = {"label": column.label, "markersize": 5, **style(number)}
            total.plot(sizes[own], seconds[own] * 1e3, **look)
            each.plot(sizes[own], seconds[own] * 1e9 / slots[own], **look)
        for axes, what in ((total, "milliseconds"), (each, "nanoseconds a slot")):
            _sizes_axis(axes, sorted(set(sizes.tolist())))
            axes.set_yscale("log")
            plain_ticks(axes.yaxis, (1, 2, 5))
            axes.set_xlabel(label)
            axes.set_ylabel(what)
            axes.grid(**GRID)
        legend_below(total)
    return path


def _sizes_axis(axes: Any, sizes: Sequence[int]) -> None:
    """Make the x axis logarithmic, with labels at the sizes that were measured."""
    axes.set_xscale("log", base=2)
    labels = [
        f"2$^{{{size.bit_length() - 1}}}$"
        if size >= 1024 and size.bit_count() == 1
        else f"{size:,}"
        for size in sizes
    ]
    axes.set_xticks(sizes, labels)
    axes.tick_params(axis="x", which="minor", bottom=False)


def _bars(path: Path, grid: Grid, title: str, *, ramp: str = "") -> Path:
    """Draw a group of bars for each graph, and one for the means. Returns the path of the figure.

    The height of a bar is in millions of slots (CSR entries) per second. `grid` has the times. Each
    of its columns gives a bar in every group. `ramp` is the name of one of Matplotlib's colour
    maps, from which the bars get their colours, or "" for the usual colours.
    """
    groups, heights = grid.graphs, grid.rates() * 1e-6
    has_mean = grid.is_common.any()
    if has_mean:
        groups, heights = [*groups, _MEAN], np.vstack([heights, means(heights[grid.is_common])])
    n_bars = len(grid.columns)
    width = 0.84 / n_bars
    with panels(path, 1, _size(len(groups), n_bars), title=title) as (axes,):
        colors = [style(number)["color"] for number in range(n_bars)]
        if ramp:
            shades = optional_import("matplotlib", extra="plot").colormaps[ramp]
            colors = [shades(step / max(n_bars - 1, 1)) for step in range(n_bars)]
        for number, (column, color) in enumerate(zip(grid.columns, colors, strict=True)):
            at = np.flatnonzero(~np.isnan(heights[:, number]))
            shift = (number - (n_bars - 1) / 2) * width
            axes.bar(at + shift, heights[at, number], width, label=column.label, color=color)
        drawn = heights[~np.isnan(heights)]
        if drawn.size and drawn.max() > _WIDE * drawn.min():
            axes.set_yscale("log")
            axes.set_ylim(bottom=drawn.min() / 2)
            plain_ticks(axes.yaxis, (1, 3))
        if has_mean:
            axes.axvline(len(groups) - 1.5, color="#999999", linewidth=0.8, linestyle=":")
        _name_groups(axes, groups)
        if all(grid.results.graphs[graph].get("stands_for") for graph in grid.graphs):
            axes.set_xlabel("surrogates: generated graphs of the kinds of the papers' inputs")
        axes.set_ylabel("millions of slots a second")
        legend_below(axes, columns=5 if len(groups) > 8 else 3)
    return path


def _boxes(path: Path, grid: Grid, values: dict[tuple[str, int], Array], what: str) -> Path:
    """Draw a box plot for each graph and sample size, with whiskers to the extremes.

    `values` has the numbers of each box plot, by graph and sample size. `what` says, for the title,
    what these numbers are. Returns the path of the figure.
    """
    graphs = list(dict.fromkeys(graph for graph, _ in values))
    sizes = list(dict.fromkeys(samples for _, samples in values))
    width = 0.7 / len(sizes)
    title = f"{grid.machine_name}: ecl, {what}"
    with panels(path, 1, _size(len(graphs), 2), title=title) as (axes,):
        for number, samples in enumerate(sizes):
            own = [graph for graph in graphs if (graph, samples) in values]
            shift = (number - (len(sizes) - 1) / 2) * width
            color = STYLES[number]["color"]
            drawn = axes.boxplot(
                [values[graph, samples] for graph in own],
                positions=[graphs.index(graph) + shift for graph in own], widths=width * 0.85,
                whis=(0, 100), patch_artist=True, manage_ticks=False,
                boxprops={"facecolor": color, "edgecolor": color, "alpha": 0.55},
                whiskerprops={"color": color}, capprops={"color": color},
                medianprops={"color": "black", "linewidth": 1.2},
            )  # fmt: skip
            drawn["boxes"][0].set_label(f"{samples:,} samples")
        _name_groups(axes, graphs)
        if path.name.startswith("seeds"):
            axes.set_ylabel("millions of slots a second")
            axes.set_ylim(bottom=0)
        else:
            axes.axhline(0, color="#555555", linewidth=1)
            axes.set_ylabel("light edges above the target, %")
        legend_below(axes)
    return path


def _name_groups(axes: Any, names: Sequence[str]) -> None:
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.tick_params(axis="x", length=0)
    if axes.get_yscale() == "linear":
        plain_ticks(axes.yaxis)
    axes.grid(axis="y", **GRID)


def _size(groups: int, bars: int) -> tuple[float, float]:
    """Return the size of a figure, (width, height) in inches, for the number of groups of bars.

    `bars` is the number of bars in a group.
    """
    return (min(max(5.0, 1.2 + groups * max(0.5, 0.14 * bars)), 18.0), _HEIGHT)
