"""Pictures of PMA's experiments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmst.bench.canvas import GRID, legend_below, panels, plain_ticks, style

if TYPE_CHECKING:
    from benchmarks.pma import Point

FIRST_LEVEL = "first level alone"  # what no solver is, in the table


def draw(points: Sequence[Point], folder: Path, device: str, unit: str) -> None:
    """Draw ``pma_table.png``, ``pma_gamma.png`` ...: those of which there are points."""
    ways: dict[str, Callable[[Sequence[Point], Path, str, str], None]] = {
        "table": draw_table,
        "gamma": draw_gamma,
        "parallel": partial(draw_over_degrees, legend="parallel edges"),
        "reduction": draw_reduction,
        "workers": partial(draw_over_degrees, legend="trees grown by"),
    }
    for name, way in ways.items():
        own = [point for point in points if point.experiment == name]
        if own:
            way(own, folder / f"pma_{name}.png", device, unit)


def draw_table(points: Sequence[Point], path: Path, device: str, unit: str) -> None:
    """Draw every contestant's time as a multiple of Borůvka's, a row a graph."""
    graphs = names_of(points, "graph")
    base = {p.graph: p.median for p in points if p.contestant == "boruvka"}
    size, title = (9, 1.6 + 0.3 * len(graphs)), f"How many times as fast as boruvka, {device}"
    with panels(path, 1, size, title=title) as (panel,):
        solvers = [name for name in names_of(points, "contestant") if name != FIRST_LEVEL]
        for number, name in enumerate(solvers):
            own = [point for point in points if point.contestant == name]
            panel.plot(
                [base[p.graph] / p.median for p in own],
                [graphs.index(p.graph) for p in own],
                linestyle="",
                markersize=7,
                label=name,
                **style(number),
            )
        panel.set_xscale("log")
        plain_ticks(panel.xaxis, (1, 2, 3, 5))
        panel.set_xlabel(f"time of boruvka / time, both in {unit}")
        panel.set_yticks(range(len(graphs)), graphs)
        panel.invert_yaxis()
        panel.grid(**GRID)
        legend_below(panel, columns=5)


def draw_gamma(points: Sequence[Point], path: Path, device: str, unit: str) -> None:
    """Draw times over gamma, a panel a graph; a line stands where gamma is by itself."""
    graphs = names_of(points, "graph")
    size, title = (3.3 * len(graphs), 4.2), f"pma: time over the size of trees, gamma; {device}"
    with panels(path, len(graphs), size, title=title) as axes:
        for panel, graph in zip(axes, graphs, strict=True):
            here = [point for point in points if point.graph == graph]
            lines(panel, here)
            panel.axvline(here[0].default, color="#999999", linestyle=":", label="gamma by default")
            sizes = f"{here[0].n_vertices:,} vertices, {here[0].n_edges:,} edges"
            panel.set_title(f"{graph}\n{sizes}", fontsize=9)
            panel.set_xscale("log", base=2)
            panel.set_xticks([2, 8, 32, 128], ["2", "8", "32", "128"])
            panel.set_xlabel("gamma")
            panel.set_ylim(bottom=0)
        axes[0].set_ylabel(unit)
        legend_below(axes[0], columns=4)


def draw_over_degrees(
    points: Sequence[Point], path: Path, device: str, unit: str, *, legend: str
) -> None:
    """Draw times over the average degree."""
    title = f"pma: random graphs of {points[0].n_vertices:,} vertices, {device}"
    with panels(path, 1, (6.5, 4.2), title=title) as (panel,):
        lines(panel, points)
        panel.set_xlabel("average degree")
        panel.set_ylabel(unit)
        panel.set_ylim(bottom=0)
        panel.figure.legend(loc="outside lower center", title=legend, ncols=2, frameon=False)


def draw_reduction(points: Sequence[Point], path: Path, device: str, _: str) -> None:
    """Draw the share of vertices that the first level unites, a group of bars a graph."""
    graphs, names = names_of(points, "graph"), names_of(points, "contestant")
    width = 0.8 / len(names)
    title = f"Vertices that the first level unites, {device}"
    with panels(path, 1, (8, 4.2), title=title) as (panel,):
        for number, name in enumerate(names):
            own = [point for point in points if point.contestant == name]
            left = (number - (len(names) - 1) / 2) * width
            bars = panel.bar(
                [graphs.index(p.graph) + left for p in own],
                [p.median for p in own],
                width=0.9 * width,
                label=name,
                color=style(number)["color"],
            )
            panel.bar_label(bars, fmt="%.1f", fontsize=7)
        panel.set_xticks(range(len(graphs)), graphs)
        panel.set_ylabel("vertices united by the first level, %")
        panel.grid(axis="y", **GRID)
        legend_below(panel, columns=4)


def lines(panel: Any, points: Sequence[Point]) -> None:
    """Draw a line of medians for each contestant, within the band from least to most."""
    for number, name in enumerate(names_of(points, "contestant")):
        own = [point for point in points if point.contestant == name]
        xs, look = [p.x for p in own], style(number)
        panel.plot(xs, [p.median for p in own], label=name, markersize=5, **look)
        low, high = [min(p.values) for p in own], [max(p.values) for p in own]
        panel.fill_between(xs, low, high, color=look["color"], alpha=0.12, linewidth=0)
    panel.grid(**GRID)


def names_of(points: Sequence[Point], field: str) -> list[str]:
    """Return the different values of a field, in order."""
    return list(dict.fromkeys(str(getattr(point, field)) for point in points))
