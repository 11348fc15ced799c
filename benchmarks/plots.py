"""Draw the measurements of benchmarks. Several benchmarks share these functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import stated
from benchmarks.figures import FROM_DEVICE, LARGEST_MIB, LIMIT, NUMPY, TO_DEVICE
from benchmarks.runner import Row
from clmst.bench.canvas import GRID, legend_below, plain_ticks, style
from clmst.bench.canvas import panels as figure_of

# Colours that are distinct for every kind of colour vision (Okabe and Ito, 2008).
_STYLES: dict[str, dict[str, Any]] = {
    "clmst auto": {"color": "#CC79A7", "marker": "P"},
    "clmst reduce-then-scan": {"color": "#0072B2", "marker": "o"},
    "clmst reduce-then-scan, in place": {"color": "#009E73", "marker": "v"},
    "clmst scan-then-propagate": {"color": "#56B4E9", "marker": "s"},
    "pyopencl": {"color": "#D55E00", "marker": "^"},
    NUMPY: {"color": "#555555", "marker": "D"},
}
_CONTESTANTS: dict[str, dict[str, Any]] = {
    "clmst": {**_STYLES["clmst reduce-then-scan"], "zorder": 5},
    **{name: _STYLES[name] for name in ("clmst scan-then-propagate", "pyopencl")},
    "NumPy": _STYLES[NUMPY],
}
_OTHERS = (("#009E73", "v"), ("#CC79A7", "P"), ("#E69F00", "X"))


def draw_scans(rows: Sequence[Row], folder: Path, device: str) -> None:
    """Draw times and speedups of scans by size, to two files in `folder`.

    The files are ``scan_times.png`` and ``scan_speedups.png``.
    """
    title = f"Exclusive scans of 32-bit integers, {device}"
    numpy = {row["MiB"]: median(row["total ms"]) for row in rows if row["way"] == NUMPY}
    with figure_of(folder / "scan_times.png", 2, (11, 5), title=title, share_y=True) as panels:
        for panel, what in zip(panels, ("kernel", "total"), strict=True):
            _lines(panel, rows, what, lambda _, milliseconds: milliseconds)
            panel.set_ylabel(f"{what} time, ms")
        _transfers(panels[1], rows)
        legend_below(panels[0])
    others = [row for row in rows if row["way"] != NUMPY]
    with figure_of(folder / "scan_speedups.png", 2, (11, 5), title=title, share_y=True) as panels:
        for panel, what in zip(panels, ("kernel", "total"), strict=True):
            _lines(panel, others, what, lambda mib, milliseconds: numpy[mib] / milliseconds)
            panel.axhline(1, label=NUMPY, color=_STYLES[NUMPY]["color"], linewidth=1)
            panel.set_ylabel(f"speedup over NumPy, {what} time")
            stated.mark(panel, LARGEST_MIB, stated.SCANS[what], "paper, over its CPU")
        legend_below(panels[0])


def draw_comparisons(rows: Sequence[Row], file: Path, device: str) -> None:
    """Draw the throughput of every compared program, with a line for each benchmark case.

    A case is some work on arrays, such as a sort. Cases that only clmst takes part in are left out.
    """
    right = [row for row in rows if row["_status"] == "ok"]
    others = {row["case"] for row in right if not row["_ours"]}
    right = [row for row in right if row["case"] in others]
    cases = list(dict.fromkeys(row["case"] for row in right))
    size, title = (9, 1 + 0.3 * len(cases)), f"Primitives beside other libraries, {device}"
    with figure_of(file, 1, size, title=title) as (panel,):
        for name, style in _contestant_styles(right).items():
            own = [row for row in right if _drawn_as(row["contestant"]) == name]
            rates = [row["elements"] / median(row["ms"]) * 1e-6 for row in own]
            places = [cases.index(row["case"]) for row in own]
            panel.plot(rates, places, linestyle="", markersize=7, label=name, **style)
        panel.set_xscale("log")
        plain_ticks(panel.xaxis, (1, 3))
        panel.set_xlabel("billion elements a second")
        panel.set_yticks(range(len(cases)), cases)
        panel.invert_yaxis()
        panel.grid(axis="y", **GRID)
        panel.figure.legend(loc="outside right upper", frameon=False)


def _lines(panel: Any, rows: Sequence[Row], what: str, of: Callable[[int, float], float]) -> None:
    """Draw a line for each way of scanning, over the size of the input.

    `what` is "kernel" or "total", and chooses which of the two times in `rows` are drawn. `of`
    computes the value to draw from a size in MiB and a time in milliseconds.
    """
    limit = {"color": "#999999", "linestyle": ":"}
    for name, look in (_STYLES | ({LIMIT: limit} if what == "kernel" else {})).items():
        own = [row for row in rows if row["way"] == name]
        if own:
            values = [of(row["MiB"], median(row[f"{what} ms"])) for row in own]
            panel.plot([row["MiB"] for row in own], values, label=name, markersize=5, **look)
    sizes = sorted({row["MiB"] for row in rows})
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set_xticks(sizes, [str(size) for size in sizes])
    plain_ticks(panel.yaxis, (1, 2, 5))
    panel.yaxis.set_tick_params(labelleft=True)
    panel.set_xlabel("input, MiB")
    panel.grid(**GRID)


def _transfers(panel: Any, rows: Sequence[Row]) -> None:
    """Draw the measured times of transfers, and times at the rates that Sun and Skadron state.

    The rates are from Figure 9 of their paper.
    """
    sizes = sorted({row["MiB"] for row in rows})
    for name, dashes in ((TO_DEVICE, "--"), (FROM_DEVICE, "-.")):
        times = [median(row["total ms"]) for row in rows if row["way"] == name]
        panel.plot(sizes, times, dashes, color="#B8A800", label=name)
    for (name, rate), color in zip(stated.TRANSFERS.items(), ("#000000", "#B0B0B0"), strict=True):
        times = [mib * 2**20 / rate * 1e-6 for mib in sizes]
        label = f"paper, a transfer, {name}: {rate} GB/s"
        panel.plot(sizes, times, linestyle=(0, (1, 3)), color=color, label=label)


def _drawn_as(contestant: str) -> str:
    """Return the name under which the times of a compared program (contestant) are drawn.

    This is the name of its library, so all programs of a library look alike. Only some ways of
    clmst have names of their own.
    """
    library = contestant.partition(" ")[0]
    return contestant if contestant in _CONTESTANTS or library not in _CONTESTANTS else library


def _contestant_styles(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """Return the colour and marker of each compared program that is drawn.

    Programs with a fixed style come first.
    """
    names = dict.fromkeys(_drawn_as(row["contestant"]) for row in rows)
    styles = {name: style for name, style in _CONTESTANTS.items() if name in names}
    others = (name for name in names if name not in _CONTESTANTS)
    for name, (color, marker) in zip(others, cycle(_OTHERS), strict=False):
        styles[name] = {"color": color, "marker": marker}
    return styles


# ------------------------------------------------------------------------ any case


def names_of(rows: Sequence[Row]) -> list[str]:
    """Return the names of the compared programs, which are the headings of columns with times.

    A cell of these columns is a list of times.
    """
    return [name for name, cell in rows[0].items() if isinstance(cell, list)]


def medians(rows: Sequence[Row], name: str) -> list[float]:
    """Return the median time of a compared program in each row."""
    return [median(row[name]) for row in rows]


def lines(panel: Any, rows: Sequence[Row], x: str, *, band: bool = False) -> None:
    """Draw a line of median times for each compared program, over the column `x`.

    If `band` is true, the range from the minimum to the maximum is shaded.
    """
    xs = [row[x] for row in rows]
    for number, name in enumerate(names_of(rows)):
        look = style(number)
        panel.plot(xs, medians(rows, name), label=name, markersize=5, **look)
        if band:
            low, high = [min(row[name]) for row in rows], [max(row[name]) for row in rows]
            panel.fill_between(xs, low, high, color=look["color"], alpha=0.12, linewidth=0)
    panel.grid(**GRID)
