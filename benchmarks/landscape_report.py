"""Report on a landscape: compare the times of solves on many graphs with a model of the time.

A cell is one graph of the landscape: a family, a degree, a number of vertices, a kind of weights,
and whether each edge is stored once or twice. The report lists the cells that take longer than the
model predicts, and can be drawn as a map.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

import click
import numpy as np
from scipy.optimize import nnls

from benchmarks.landscape_graphs import DEGREES, FAMILIES, LOG_VERTICES, WEIGHTS
from benchmarks.runner import Reported, Row
from clmst.bench.canvas import panels
from clmst.core.weight_keys import Array

HELD_OUT = ("geometric", "preferential")
"""Families that are not used for tuning, so that they show how well the tuning generalises."""

# A target is a number of edges per vertex in the range of light weights that is solved first. The
# report lists a graph if its solve takes more than BEYOND times as long as the model of the time
# predicts, or more than BEYOND_BEST times as long as with the best of some fixed targets.
BEYOND, BEYOND_BEST = 1.5, 1.2
# Programs of other authors are compared with clmst on all graphs, and on all graphs of at least
# _MANY_SLOTS CSR entries. A table has the number of graphs on which such a program takes less than
# _LEAST_RATIO times clmst's time.
_MANY_SLOTS, _LEAST_RATIO = 100_000, 2.5
# The model that predicts the time of a solve counts one random read for each end of an edge, but at
# most this number of reads per vertex. A solve also reads all further edges row by row, but rarely
# looks up the components of their ends.
_ENDS = 5
# Number of weighted least-squares fits. The weights are such that the sum of the absolute
# deviations is minimised in the end.
_FITS = 30
_BYTES_OF_WEIGHT = {name: np.dtype(word).itemsize for name, (word, _, _) in WEIGHTS.items()}
# The colours of a map show a ratio of times. For each kind of map: the name of this ratio, and the
# ratio x at which the scale of colours ends. The scale begins at 1 / x.
_COLOURS = {"model": ("time to the model", 4.0), "best": ("default to the best of ten", 2.0)}


def read_lines(files: Iterable[Path]) -> list[Row]:
    """Return the measured cells in some files, which have one JSON object in each line.

    A last line that is incomplete, because the run was stopped, is dropped.
    """
    rows: list[Row] = []
    for file in files:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        lines = text.splitlines()
        for number, line in enumerate(lines):
            try:
                rows.append(json.loads(line))
            except ValueError:
                if number + 1 < len(lines):
                    raise
    return rows


# -------------------------------------------------------------------------------- model


def terms_of(row: Row, constants: Row) -> Array:
    """Return the three terms of the model of a solve's time for one graph, in milliseconds.

    They are the time of one launch, the time of reading all bytes of the graph once, and the time
    of random reads. There is a random read for each end of an edge, but for at most five ends per
    vertex. `row` has the sizes of the graph. `constants` has the rates that were measured on the
    device.
    """
    n, slots = row["n"], row["slots"]
    ends = slots if row["layout"] == "both" else 2 * slots
    weight = _BYTES_OF_WEIGHT.get(row["weights"], 4)
    n_bytes = 4 * (n + 1) + (4 + weight) * slots
    known = {int(b): ms for b, ms in constants["gathers"].items()}
    gather = np.interp(np.log2(max(n, 1)), [*known], [*known.values()])
    return np.array(
        [constants["launch"], constants["byte"] * n_bytes, gather * min(ends, _ENDS * n)]
    )


def fitted(terms: Array, times: Array) -> Array:
    """Fit the factor of each term of the model to measured times, and return the factors.

    `terms` has a row for each graph, and `times` has the measured times. The factors minimise the
    sum of the absolute relative deviations. No factor is negative.
    """
    scaled, target = terms / times[:, None], np.ones(len(times))
    weights = np.ones(len(times))
    found = np.ones(terms.shape[1])
    for _ in range(_FITS):
        found, _ = nnls(scaled * weights[:, None], target * weights)
        weights = 1 / np.sqrt(np.maximum(abs(scaled @ found - 1), 1e-2))
    return found


class Landscape:
    """The measured graphs (cells) of one device, with the model that is fitted to their times."""

    def __init__(self, lines: Sequence[Row]) -> None:
        constants = [line for line in lines if "constants" in line]
        if not constants:
            raise click.UsageError("no line has the rates of a device: nothing was measured")
        self.device: str = constants[-1]["device"]
        self.constants: Row = constants[-1]["constants"]
        own = [one for one in lines if "family" in one and one["device"] == self.device]
        self.failed = [row for row in own if "failed" in row]
        self.rows = [row for row in own if "failed" not in row]
        terms = np.array([terms_of(row, self.constants) for row in self.rows])
        times = np.array([median(row["ms"]) for row in self.rows])
        tuned = np.array([row["family"] not in HELD_OUT for row in self.rows])
        if not tuned.any():
            raise click.UsageError("no cell of a family that the model is fitted to was measured")
        self.counts = fitted(terms[tuned], times[tuned])
        self.to_model = times / (terms @ self.counts)
        self.to_best = np.array([_to_best(row) for row in self.rows])

    def values(self, what: str) -> Array:
        """Return the time of each cell, divided by the time that it is compared with.

        A cell is one graph. If `what` is "model", its time is divided by the time that the model
        predicts. Otherwise it is divided by the minimum time with any of the fixed targets, which
        are numbers of light edges per vertex that are solved first. The quotient is NaN if no fixed
        target was timed.
        """
        return self.to_model if what == "model" else self.to_best

    def chosen(self, *, held_out: bool) -> list[int]:
        """Return the indices of the cells (graphs) whose families were used for tuning.

        Tuning is the choice of the limits of filter-boruvka by measurements. If `held_out` is true,
        return the indices of all other cells instead.
        """
        return [k for k, row in enumerate(self.rows) if (row["family"] in HELD_OUT) == held_out]


def _to_best(row: Row) -> float:
    """Return the time with default options, divided by the time with the best fixed target.

    A target says how many edges per vertex are in the ranges of light weights that are solved
    first. The result is NaN if no fixed target was timed. `row` has the times of one graph.
    """
    targets = [median(times) for times in row["_targets"].values()]
    return median(row["ms"]) / min(targets) if targets else np.nan


# ------------------------------------------------------------------------------- tables


def _table(rows: Sequence[dict[str, object]]) -> Iterator[str]:
    if rows:
        yield f"\n| {' | '.join(rows[0])} |\n|{'|'.join('---' for _ in rows[0])}|"
    for row in rows:
        cells = (f"{one:.3g}" if isinstance(one, float) else str(one) for one in row.values())
        yield f"| {' | '.join(cells)} |"


def _by_family(land: Landscape, cells: Sequence[int]) -> Iterator[dict[str, object]]:
    for family in dict.fromkeys(_group(land.rows[k]) for k in cells):
        own = [k for k in cells if _group(land.rows[k]) == family]
        model, best = land.to_model[own], land.to_best[own]
        known = best[~np.isnan(best)]
        yield {
            "family": family, "cells": len(own), "to the model: median": float(np.median(model)),
            "worst": float(model.max()), f"over {BEYOND}": int((model > BEYOND).sum()),
            "to the best target: median": float(np.median(known)) if known.size else "",
            "its worst": float(known.max()) if known.size else "",
            f"over {BEYOND_BEST}": int((known > BEYOND_BEST).sum()),
        }  # fmt: skip


def _by_peer(rows: Sequence[Row]) -> Iterator[dict[str, object]]:
    for name in dict.fromkeys(name for row in rows for name in row.get("_peers", ())):
        times = [
            (row["slots"], median(row["_peers"][name]) / median(row["ms"]))
            for row in rows
            if isinstance(row.get("_peers", {}).get(name), list)
        ]
        for least in (0, _MANY_SLOTS):
            ratios = np.array([ratio for slots, ratio in times if slots >= least])
            yield {
                "peer": name, "entries from": least, "cells": ratios.size,
                "its time to clmst's: mean": float(np.exp(np.log(ratios).mean())),
                "least": float(ratios.min()), "greatest": float(ratios.max()),
                f"under {_LEAST_RATIO}": int((ratios < _LEAST_RATIO).sum()),
            }  # fmt: skip


def _group(row: Row) -> str:
    return row["family"] if row["family"] in FAMILIES else "structured"


def _findings(land: Landscape, cells: Sequence[int]) -> Iterator[dict[str, object]]:
    def badness(k: int) -> float:
        best = land.to_best[k] / BEYOND_BEST
        return float(np.nanmax([land.to_model[k] / BEYOND, best]))

    for k in sorted(cells, key=badness, reverse=True):
        if badness(k) <= 1:
            return
        row = land.rows[k]
        shown = {one: row[one] for one in ("family", "degree", "n", "slots", "weights", "layout")}
        kernel = max(row["_kernels"], key=lambda name: row["_kernels"][name])
        targets = {name: median(times) for name, times in row["_targets"].items()}
        yield shown | {
            "ms": median(row["ms"]), "ns an entry": 1e6 * median(row["ms"]) / row["slots"],
            "to the model": float(land.to_model[k]), "to the best": float(land.to_best[k]),
            "best": min(targets, key=lambda name: targets[name]) if targets else "",
            "longest kernel": f"{kernel} {row['_kernels'][kernel]:.3g}",
        }  # fmt: skip


def text_of(land: Landscape, *, held_out: bool) -> Iterator[str]:
    """Yield the paragraphs and tables of the report as Markdown.

    The report is about the families of graphs by which the limits of filter-boruvka were chosen. If
    `held_out` is true, it is about all other families.
    """
    cells, constants = land.chosen(held_out=held_out), land.constants
    launches, passes, gathers = land.counts
    few, many = (constants["gathers"][str(b)] for b in (LOG_VERTICES[0], LOG_VERTICES[-1]))
    yield (
        f"{land.device}: {len(cells)} cells, {len(land.failed)} failed. A solve takes "
        f"{launches:.3g} launches of {1e3 * constants['launch']:.3g} us, its bytes {passes:.3g} "
        f"times at {1e-6 / max(constants['byte'], 1e-12):,.0f} GB/s, and {gathers:.3g} gathers an "
        f"end of an edge, {_ENDS} a vertex at most, of {1e6 * few:.3g} ns (2**{LOG_VERTICES[0]} "
        f"vertices) to {1e6 * many:.3g} ns (2**{LOG_VERTICES[-1]})."
    )
    for row in land.failed:
        yield f"failed: {row['family']} {row['degree']} 2**{row['log_size']}: {row['failed']}"
    yield from _table([*_by_family(land, cells)])
    yield from _table([*_by_peer([land.rows[k] for k in cells])])
    found = [*_findings(land, cells)]
    yield (
        f"\n{len(found)} cells over {BEYOND} times the model, or over {BEYOND_BEST} times the best "
        "target:"
    )
    yield from _table(found)


# ---------------------------------------------------------------------------------- map


def draw(land: Landscape, file: Path, what: str, *, held_out: bool) -> None:
    """Draw a map with a panel per family, in which degree and number of vertices are the axes.

    The colour of a field is the worst ratio of times over all kinds of weights and both ways of
    storing edges. If `what` is "model", the time of a solve is divided by the time that the model
    predicts. If it is "best", it is divided by the time with the best fixed value of the option
    `targets`, which sets the sizes of windows.
    """
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm

    label, limit = _COLOURS[what]
    norm, colours = LogNorm(1 / limit, limit), colormaps["RdBu_r"]
    families = [name for name in FAMILIES if (name in HELD_OUT) == held_out]
    worst: dict[tuple[str, int, int], float] = {}
    for k in land.chosen(held_out=held_out):
        row, value = land.rows[k], float(land.values(what)[k])
        at = row["family"], row["degree"], row["log_size"]
        if at[0] in FAMILIES and not np.isnan(value):
            worst[at] = max(worst.get(at, 0.0), value)
    size = (3.5 + 1.05 * len(families), 4.6)
    title = f"filter-boruvka: {label}, {land.device}"
    with panels(file, len(families), size, title=title, share_y=True) as axes:
        for family, panel in zip(families, axes, strict=True):
            cells = np.full((len(LOG_VERTICES), len(DEGREES)), np.nan)
            for (name, degree, b), value in worst.items():
                if name == family and b in LOG_VERTICES:
                    cells[LOG_VERTICES.index(b), DEGREES.index(degree)] = value
            panel.pcolormesh(cells, norm=norm, cmap=colours, edgecolor="white", linewidth=0.5)
            beyond = np.argwhere(cells > (BEYOND if what == "model" else BEYOND_BEST))
            panel.plot(beyond[:, 1] + 0.5, beyond[:, 0] + 0.5, "k.", markersize=3)
            panel.set_title(family.replace(", ", ",\n"), fontsize=8)
            panel.set_xticks(np.arange(len(DEGREES)) + 0.5, DEGREES, fontsize=6, rotation=90)
            panel.set_yticks(np.arange(len(LOG_VERTICES)) + 0.5, LOG_VERTICES, fontsize=7)
            panel.set_facecolor("#f0f0f0")
        axes[0].set_ylabel("vertices, binary logarithm")
        figure = axes[0].figure
        figure.supxlabel("degree", fontsize=9)
        bar = figure.colorbar(ScalarMappable(norm, colours), ax=list(axes), label=label, pad=0.01)
        ticks = [1 / limit, 1 / limit**0.5, 1, limit**0.5, limit]
        bar.set_ticks(ticks, labels=[f"{one:.2g}" for one in ticks])
        bar.minorticks_off()


@click.command(cls=Reported)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the map here.")
@click.option("--colour", type=click.Choice([*_COLOURS]), default="model", show_default=True)
@click.option("--held-out", is_flag=True, help="Show the families on which nothing is tuned.")
def report(files: tuple[Path, ...], plot: Path | None, colour: str, held_out: bool) -> None:
    """Fit the model, list the graphs that take longer than it predicts, and draw the map."""
    land = Landscape(read_lines(files))
    for line in text_of(land, held_out=held_out):
        click.echo(line)
    if plot is not None:
        draw(land, plot, colour, held_out=held_out)
