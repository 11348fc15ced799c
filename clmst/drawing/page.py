"""A sheet of paper to draw on: colours, widths and Matplotlib, without its global state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.atomic_file import replacing
from clmst.core.errors import optional_import
from clmst.core.weight_keys import Array
from clmst.drawing.layout import Points

_WIDTH = 10.0  # of the sheet, inches
_HEIGHTS = (2.0, 12.0)  # of the drawing, inches
_HEAD = 0.95  # space for title, captions and key, inches
_KEY = 2.0  # width of the key, inches
_LEGEND_LINE = 0.2  # inches
_EDGE = 0.35  # left free all round, inches
_DPI = 200
_RASTERISED = 20_000  # lines from which on they are pixels in SVG and PDF too
_POINTS_PER_INCH = 72.0
_RUN = 100  # segments at most in one path: the rasteriser takes some million pixels
_DISC = 3  # letters that fit on a disc

_ORIGIN = np.zeros(2)

_PAPER = "#fbfaf6"
_INK = "#1f2d3a"
_FAINT_INK = "#6f7a84"
_OTHER_EDGES = "#a39c8c"
# From twig to trunk, a ramp a tree: the largest tree takes the first.
RAMPS = (
    ("#84c6e2", "#2b8fb8", "#11436b", "#08182f"),
    ("#f6bf8a", "#e3762f", "#a33c12", "#4f1a08"),
    ("#a8d8a0", "#4a9e52", "#1f6432", "#0d3219"),
    ("#d9b5e0", "#9a5fb0", "#5f2f7d", "#2d123f"),
    ("#f3b0bd", "#d9566f", "#96203f", "#470a1e"),
    ("#ead48a", "#c29b22", "#7d5f0c", "#3b2b03"),
    ("#9fd9cd", "#38a08f", "#16685f", "#07322e"),
)
# The same for what stays where something else is to be seen.
_KEPT = 0.8  # of the usual widths
_STONE = ("#cfcabd", "#b3ada0", "#8b8a86", "#565b60")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A figure with one drawing."""

    figure: Any
    axes: Any  # covers the drawing; its unit is that of the points
    inches_per_unit: float  # scale of the drawing
    n_vertices: int  # lines get thinner as there are more

    @classmethod
    def around(cls, points: Points, n_vertices: int | None = None) -> Page:
        """Choose a sheet whose shape suits the points, and a scale that fits them on it.

        There are as many vertices as points if nothing else is said.
        """
        Figure = optional_import("matplotlib.figure", extra="plot").Figure
        FigureCanvasAgg = optional_import(
            "matplotlib.backends.backend_agg", extra="plot"
        ).FigureCanvasAgg
        low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (_ORIGIN, _ORIGIN)
        width, height = (high - low).tolist()
        inner_width = _WIDTH - 2 * _EDGE
        slope = height / width if width else float(height > 0)
        tall = float(np.clip(inner_width * slope, *_HEIGHTS))
        units_per_inch = max(width / inner_width, height / tall) or 1.0
        sheet = tall + 2 * _EDGE + _HEAD
        figure = Figure(figsize=(_WIDTH, sheet), facecolor=_PAPER)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, (tall + 2 * _EDGE) / sheet))
        axes.set_axis_off()
        half = np.array([_WIDTH, tall + 2 * _EDGE]) / 2 * units_per_inch
        middle = (low + high) / 2
        axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
        axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
        return cls(
            figure=figure,
            axes=axes,
            inches_per_unit=1 / units_per_inch,
            n_vertices=len(points) if n_vertices is None else n_vertices,
        )

    @property
    def corners(self) -> Points:
        """Lower left and upper right corner of the area that is drawn, shape (2, 2)."""
        return np.transpose([self.axes.get_xlim(), self.axes.get_ylim()])

    @property
    def thin(self) -> float:
        """Width of a twig, in points."""
        return float(np.clip(36 / np.sqrt(max(self.n_vertices, 1)), 0.22, 1.8))

    def draw_others(self, segments: Array) -> None:
        """Draw the edges outside the forest, the fainter the more they would cover."""
        width = 0.8 * self.thin
        span = segments[:, 1] - segments[:, 0]
        inches = float(np.sqrt((span * span).sum(axis=1)).sum()) * self.inches_per_unit
        box = self.figure.get_size_inches()
        covered = inches * width / _POINTS_PER_INCH / (box[0] * box[1])
        alpha = float(np.clip(0.15 / max(covered, 1e-9), 0.03, 0.6))
        colour = (*_rgb(_OTHER_EDGES), alpha)
        every = np.zeros(len(segments))
        self._strokes(self.axes, segments, every + width, np.tile(colour, (len(segments), 1)))

    def draw_branches(self, segments: Array, hanging: Array, trees: Array | None = None) -> None:
        """Draw the forest, trunks over twigs; without `trees` narrower and in the colour of stone.

        `hanging` chooses the width among all trees and the shade within its own, the number of
        the tree the hue.
        """
        ramps, share = (RAMPS, 1.0) if trees is not None else ((_STONE,), _KEPT)
        trees = np.zeros(hanging.size, np.int64) if trees is None else trees
        widest = _prominence(hanging, int(hanging.max(initial=1)))
        most = np.zeros(int(trees.max(initial=-1)) + 1, np.int64)
        np.maximum.at(most, trees, hanging)
        darkest = _prominence(hanging, most[trees])
        hue = trees % len(ramps)
        order = np.lexsort((hue, darkest, widest))
        colours = shades(darkest[order], hue[order], ramps)
        self._strokes(self.axes, segments[order], share * self._widths(widest[order]), colours)

    def draw_marked(self, segments: Array, colours: Sequence[str], choice: Array) -> None:
        """Draw edges so that a single short one is seen, in chosen colours, none atop the rest."""
        shade = np.array([_rgb(colour) for colour in colours])[choice]
        self._strokes(self.axes, segments, self._marks(len(segments)), shade)

    def draw_vertices(self, points: Points, trees: Array) -> None:
        """Draw a dot for each of these vertices, in the hue of its tree."""
        size = float(np.clip(2.2 * self.thin, 1.0, 4.0))
        colours = shades(np.full(len(points), 0.55), trees % len(RAMPS))
        self._dots(points, size, facecolors=colours, linewidths=0)

    def draw_noise(self, points: Points) -> None:
        """Draw a small grey dot for each of these points."""
        size = float(np.clip(1.4 * self.thin, 0.8, 2.5))
        self._dots(points, size, facecolors=_OTHER_EDGES, linewidths=0)

    def draw_level(self, height: float, text: str) -> None:
        """Draw a faint line across the sheet, with what it means at its left end."""
        (left, _), (right, _) = self.corners
        edge = _EDGE / self.inches_per_unit
        line = np.array([[[left + edge, height], [right - edge, height]]])
        self._strokes(self.axes, line, np.array([0.3]), np.array([_rgb(_OTHER_EDGES)]))
        self.axes.text(
            left + 0.9 * edge, height, text, size=6.5, color=_FAINT_INK, ha="right", va="center"
        )

    def draw_column(self, middle: float, half: Array, heights: Array, hue: int | None) -> None:
        """Fill a column of varying width round a vertical line; None is stone."""
        ramps = (_STONE,) if hue is None else RAMPS
        at = np.array([0 if hue is None else hue % len(RAMPS)])
        (colour,) = shades(np.array([0.45]), at, ramps)
        self.axes.fill_betweenx(
            heights, middle - half, middle + half, facecolor=colour, edgecolor="none", zorder=2
        )

    def draw_names(self, points: Points, names: Sequence[str], trees: Array) -> None:
        """Write a name on a disc, or on a plate if names are long, at each point."""
        rims = shades(np.full(len(points), 0.6), trees % len(RAMPS))
        are_short = max(map(len, names), default=0) <= _DISC
        if are_short:
            self._dots(points, 14.0, facecolors=_PAPER, edgecolors=rims, linewidths=0.8)
        plate = {"boxstyle": "round,pad=0.25", "facecolor": _PAPER, "linewidth": 0.8}
        for (x, y), name, rim in zip(points.tolist(), names, rims, strict=True):
            self.axes.text(
                x, y, name, size=6.5, color=_INK, ha="center", va="center_baseline", zorder=4,
                parse_math=False, bbox=None if are_short else plate | {"edgecolor": rim},
            )  # fmt: skip

    def write(self, title: str, *captions: str) -> None:
        """Write a title and lines under it at the head of the sheet, smaller if they are long."""
        height = self.figure.get_size_inches()[1]
        lines = [(title, 17.0, _INK, "bold", 0.52)]
        for number, text in enumerate(captions):
            lines.append((text, 9.5, _FAINT_INK, "normal", 0.78 + 0.2 * number))
        for text, size, colour, weight, below in lines:
            line = self.figure.text(
                _EDGE / _WIDTH, 1 - below / height, text, size=size, color=colour, weight=weight,
                va="baseline", parse_math=False,
            )  # fmt: skip
            long = line.get_window_extent().width / self.figure.dpi
            line.set_size(size * min(1.0, (_WIDTH - 2 * _EDGE - _KEY - 0.3) / max(long, _EDGE)))

    def draw_key(self, most: int) -> None:
        """Explain width and shade at the top right corner, if there are twigs and trunks."""
        if most < 2:
            return
        key = self._inset(0.4, 0.2, (-1, 1))
        at = np.linspace(0, 1, 65)
        stops = np.stack([at, np.zeros_like(at)], axis=1)
        rank = (at[1:] + at[:-1]) / 2
        segments = np.stack([stops[:-1], stops[1:]], axis=1)
        colours = shades(rank, np.zeros(rank.size, np.int64))
        self._strokes(key, segments, self._widths(rank), colours)
        labels = ((0.0, "left", "1"), (1.0, "right", f"{most:,} vertices beyond an edge"))
        for x, side, text in labels:
            key.text(x, -2.4, text, size=7, color=_FAINT_INK, ha=side, va="center")

    def draw_legend(self, entries: Sequence[tuple[str, str | None]]) -> None:
        """Explain colours at the top right corner, one below the other; None is stone."""
        legend = self._inset(0.3, _LEGEND_LINE * len(entries), (-len(entries) + 0.5, 0.5))
        for line, (text, colour) in enumerate(entries):
            stroke = np.array([[[0.0, -line], [0.12, -line]]])
            if colour is None:
                rank = np.array([0.75])
                stone = shades(rank, np.zeros(1, np.int64), (_STONE,))
                self._strokes(legend, stroke, _KEPT * self._widths(rank), stone)
            else:
                self._strokes(legend, stroke, self._marks(1), np.array([_rgb(colour)]))
            legend.text(0.17, -line, text, size=9.5, color=_INK, ha="left", va="center_baseline")

    def draw_rule(self) -> None:
        """Draw a line below the head, where the drawing goes on beyond the sheet."""
        self.axes.axhline(self.corners[1, 1], color=_OTHER_EDGES, linewidth=0.8, clip_on=False)

    def save(self, path: Path) -> None:
        """Write the sheet in the format that the suffix names."""
        with replacing(path) as stream:
            self.figure.savefig(stream, format=path.suffix[1:], dpi=_DPI, facecolor=_PAPER)

    def _inset(self, below: float, tall: float, limits: tuple[float, float]) -> Any:
        """Return axes at the top right, `below` inches under the edge and `tall` inches high."""
        height = self.figure.get_size_inches()[1]
        left, bottom = 1 - (_EDGE + _KEY) / _WIDTH, 1 - (below + tall) / height
        inset = self.figure.add_axes((left, bottom, _KEY / _WIDTH, tall / height))
        inset.set_axis_off()
        inset.set_xlim(0, 1)
        inset.set_ylim(*limits)
        return inset

    def _widths(self, rank: Array) -> Array:
        return self.thin + 2.6 * rank**2.2

    def _marks(self, count: int) -> Array:
        """Return the widths of edges that are to be seen."""
        return np.full(count, self.thin + 1.0)

    def _strokes(self, axes: Any, segments: Array, widths: Array, colours: Array) -> None:
        """Draw segments in order; runs that look alike are one path, as one each would be slow."""
        paths = optional_import("matplotlib.path", extra="plot").Path
        collection = optional_import("matplotlib.collections", extra="plot").PathCollection
        k = len(segments)
        if k == 0:
            return
        levels = np.rint(np.column_stack([widths * 40, colours * 63])).astype(np.int64)
        changes = 1 + np.flatnonzero((levels[1:] != levels[:-1]).any(axis=1))
        starts = np.union1d(changes, np.arange(0, k, _RUN))
        codes = np.tile(np.array([paths.MOVETO, paths.LINETO], np.uint8), _RUN)
        bounds = zip(starts.tolist(), [*starts[1:].tolist(), k], strict=True)
        runs = [
            paths(segments[start:end].reshape(-1, 2), codes[: 2 * (end - start)])
            for start, end in bounds
        ]
        strokes = collection(
            runs, facecolors="none", edgecolors=colours[starts], linewidths=widths[starts],
            capstyle="round", zorder=2, rasterized=k > _RASTERISED,
        )  # fmt: skip
        axes.add_collection(strokes, autolim=False)

    def _dots(self, points: Points, diameter: float, **style: Any) -> None:
        """Draw discs, their diameter in points."""
        many = len(points) > _RASTERISED
        self.axes.scatter(*points.T, s=diameter**2, zorder=3, rasterized=many, **style)


def shades(rank: Array, hue: Array, ramps: Sequence[Sequence[str]] = RAMPS) -> Array:
    """Return a colour for each rank from 0 (twig) to 1 (trunk) and number of a ramp: (k, 3)."""
    stops = np.array([[_rgb(stop) for stop in ramp] for ramp in ramps])
    at = np.clip(rank, 0, 1) * (stops.shape[1] - 1)
    left = np.minimum(at.astype(np.int64), stops.shape[1] - 2)
    part = (at - left)[:, None]
    return np.asarray(stops[hue, left] * (1 - part) + stops[hue, left + 1] * part)


def _rgb(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))


def _prominence(hanging: Array, most: Array | int) -> Array:
    """Return the logarithm of what hangs on each edge, 0 for a single vertex and 1 for `most`.

    Where single vertices are the most that hangs on any edge, all edges are alike: in the middle.
    """
    scale = np.log(np.maximum(most, 2))
    return np.asarray(np.where(np.asarray(most) < 2, 0.5, np.log(hanging) / scale))
