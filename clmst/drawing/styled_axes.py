"""A page with one drawing: its lines, dots, columns, names, title and legends."""

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
from clmst.drawing.marks import dots, prominence, strokes
from clmst.drawing.palette import (
    FAINT_INK,
    INK,
    MARKERS,
    PALETTE,
    PAPER,
    STONE,
    STONES,
    hues,
    rgb,
    shades,
)
from clmst.drawing.sheet import EDGE, WIDTH, Target
from clmst.drawing.spreading import spread

_CHART = 5.0  # height of a chart in inches
_HEIGHTS = (2.0, 12.0)  # minimum and maximum height of a map in inches
_KEY = 2.0  # width in inches of the key to widths and shades
_INSIDE = 0.06  # margin inside the axes of a map in inches
_COLUMN = 1.5  # width of a column of a legend in inches
LISTED = 30  # maximum number of trees or clusters in a legend
_SMALLEST = 4.0  # size of the smallest letters of names below a chart, in typographic points
_READABLE = 5.0  # size of these letters if there are too many names to write all
_DPI = 200
_POINTS_PER_INCH = 72.0
_PAD = 0.25  # margin of a plate (the background of a name) around the name, in letter sizes
_DISC = 3  # number of letters that fit on a disc
_KEPT = 0.8  # fraction of the usual width for edges that stay, in a picture of changes
_FADED = 0.15  # fraction of the usual opacity for the longest edges


@dataclass(frozen=True, slots=True, kw_only=True)
class StyledAxes:
    """Matplotlib axes with one drawing, and the methods that draw on them.

    The functions of this package that draw pictures use one StyledAxes per picture.
    """

    axes: Any  # of Matplotlib, in the coordinates of the points
    path: Path | None
    is_new: bool  # whether the axes are on a new figure, not the caller's
    thin: float  # width of the thinnest lines, in typographic points

    @classmethod
    def map_around(
        cls, target: Target, points: Points, n_vertices: int | None = None
    ) -> StyledAxes:
        """Make axes whose shape and scale suit a map of the points.

        `target` says where to draw. `n_vertices` is the number of vertices, which decides the width
        of lines. By default it is the number of points.
        """
        low, high = (points.min(0), points.max(0)) if len(points) else (np.zeros(2), np.zeros(2))
        width, height = (high - low).tolist()
        inner = WIDTH - 2 * EDGE
        slope = height / width if width else float(height > 0)
        axes = target.sheet(float(np.clip(inner * slope, *_HEIGHTS)), EDGE)
        box = _inches(axes)
        across, up = np.maximum(box - 2 * _INSIDE, 0.1).tolist()
        half = max(width / across, height / up) * box / 2
        if not half.any():
            half = box / 2
        elif target.axes is not None:  # the caller's axes shrink to the shape of the drawing
            half = np.minimum(half, np.maximum(0.52 * (high - low), 0.1 * (high - low).max()))
        left_bottom, right_top = (low + high) / 2 - half, (low + high) / 2 + half
        axes.set_xlim(left_bottom[0], right_top[0])
        axes.set_ylim(left_bottom[1], right_top[1])
        axes.set_aspect("equal")
        axes.set_axis_off()
        n = len(points) if n_vertices is None else n_vertices
        thin = float(np.clip(36 * _scale(axes) / np.sqrt(max(n, 1)), 0.22, 1.8))
        return cls(axes=axes, path=target.path, is_new=target.axes is None, thin=thin)

    @classmethod
    def chart(cls, target: Target, right: float, levels: str, *, inside: float = 0.0) -> StyledAxes:
        """Make axes for a chart with x from 0 to `right` and labelled horizontal lines.

        `target` says where to draw. `levels` is the label of the y axis. A margin of width
        `inside`, in units of x, stays free on the left and on the right.
        """
        axes = target.sheet(_CHART, 2 * EDGE)
        letters = 8 * _scale(axes)
        axes.set_xlim(-inside, right + inside)
        axes.set_xticks([])
        axes.set_ylabel(levels, size=letters, color=FAINT_INK)
        axes.tick_params(length=0, labelsize=letters, labelcolor=FAINT_INK)
        axes.spines[:].set_visible(False)
        axes.grid(axis="y", color=STONE, linewidth=0.3)
        axes.set_axisbelow(True)
        between = _inches(axes)[0] * _POINTS_PER_INCH / (right + 1)
        thin = float(np.clip(0.6 * between, 0.22, 1.5 * _scale(axes)))
        return cls(axes=axes, path=target.path, is_new=target.axes is None, thin=thin)

    @property
    def corners(self) -> Points:
        """Lower left and upper right corner of the visible area, shape (2, 2)."""
        return np.transpose([self.axes.get_xlim(), self.axes.get_ylim()])

    @property
    def scale(self) -> float:
        """Factor for the sizes of letters and marks: 1 on a new figure, less on narrow axes."""
        return _scale(self.axes)

    def draw_others(self, segments: Array, *, fade: bool = False) -> None:
        """Draw the edges outside the forest as faint lines.

        The more of the area all these edges cover together, the fainter they are. `segments` has
        shape (m, 2, 2). If `fade` is true, edges that are longer than the average distance between
        points are fainter still.
        """
        width, box = 0.8 * self.thin, _inches(self.axes)
        spans = np.sqrt(((segments[:, 1] - segments[:, 0]) ** 2).sum(axis=1))
        inches = float(spans.sum()) * box[0] / float(np.ptp(self.corners[:, 0]))
        covered = inches * width / _POINTS_PER_INCH / float(box.prod())
        alpha = np.full(len(segments), np.clip(0.15 / max(covered, 1e-9), 0.03, 0.6))
        if fade:
            apart = np.sqrt(np.prod(np.ptp(self.corners, axis=0)) / (len(segments) + 1))
            alpha *= np.clip(apart / np.maximum(spans, 1e-300), _FADED, 1.0)
        order = np.argsort(alpha)  # edges of equal opacity are drawn together
        colours = np.column_stack([np.tile(rgb(STONE), (len(segments), 1)), alpha])
        every = np.full(len(segments), width)
        strokes(self.axes, segments[order], every, colours[order], zorder=1)

    def draw_branches(self, segments: Array, hanging: Array, trees: Array | None = None) -> None:
        """Draw the edges of the forest, darker and wider if more vertices are beyond them.

        `segments` are the edges, with shape (m, 2, 2). Wide edges are drawn above narrow ones.
        `hanging` is the number of vertices beyond each edge. The widest edges are those with the
        most vertices beyond them in all trees. The darkest edges are those with the most in their
        own tree. `trees` is the number of each edge's tree, which sets the hue. If it is None, all
        edges are grey and somewhat narrower.
        """
        share = 1.0 if trees is not None else _KEPT
        hue = np.zeros(hanging.size, np.int64) if trees is None else trees % len(PALETTE)
        of_tree = hue if trees is None else trees
        widest = prominence(hanging, int(hanging.max(initial=1)))
        most = np.zeros(int(of_tree.max(initial=-1)) + 1, np.int64)
        np.maximum.at(most, of_tree, hanging)
        darkest = prominence(hanging, most[of_tree])
        order = np.lexsort((hue, darkest, widest))
        ramps = () if trees is not None else (([rgb(stone) for stone in STONES],),)
        colours = shades(darkest[order], hue[order], *ramps)
        strokes(self.axes, segments[order], share * self._widths(widest[order]), colours)

    def draw_lines(self, segments: Array, clusters: Array) -> None:
        """Draw lines in the hues of their clusters, above the lines that belong to no cluster.

        `segments` are the lines, with shape (m, 2, 2). `clusters` has the number of each line's
        cluster, or a negative number if the line belongs to none.
        """
        order = np.argsort(clusters, kind="stable")
        every = np.full(len(segments), self.thin)
        strokes(self.axes, segments[order], every, hues(clusters[order]))

    def draw_marked(self, segments: Array, colours: Sequence[str], choice: Array) -> None:
        """Draw edges above all other edges, so wide that even a single short edge is visible.

        `segments` are the edges, with shape (m, 2, 2). `choice` gives the index in `colours` of
        each edge.
        """
        shade = np.array([rgb(colour) for colour in colours])[choice]
        strokes(self.axes, segments, np.full(len(segments), self.thin + 1.0), shade)

    def draw_vertices(self, points: Points, trees: Array, *, below: bool = False) -> None:
        """Draw a dot at each vertex, in the hue of its tree.

        `points` has the positions of the vertices and `trees` the number of each vertex's tree. If
        `below` is true, the dots are smaller and below the lines.
        """
        size = float(np.clip(2.4 * self.thin, 1.2, 4.5)) * (1.0 if below else 1.4)
        shape = np.where(trees < 0, 0, trees // len(PALETTE) % len(MARKERS))
        for number in np.unique(shape).tolist():
            own = shape == number
            style = {"marker": MARKERS[number], "linewidths": 0, "zorder": 1.5 if below else 3}
            dots(self.axes, points[own], size, c=hues(trees[own]), **style)

    def draw_noise(self, points: Points) -> None:
        """Draw a small grey cross for each point."""
        size = float(np.clip(2.4 * self.thin, 1.2, 3.5))
        dots(self.axes, points, size, c=FAINT_INK, marker="x", linewidths=size / 4)

    def draw_column(self, middle: float, half: Array, heights: Array, hue: int) -> None:
        """Fill a column around the vertical line x = `middle`.

        `half` is half the width of the column at each of the `heights`. A `hue` below 0 means grey.
        """
        (colour,) = hues(np.array([hue]))
        self.axes.fill_betweenx(
            heights, middle - half, middle + half, facecolor=colour, edgecolor="none", zorder=2
        )

    def draw_steps(self, edges: Array, values: Array, hue: int) -> None:
        """Draw a histogram: column k, between edges[k] and edges[k + 1], is values[k] high.

        `edges` has one more element than `values`. A `hue` below 0 means grey.
        """
        (colour,) = hues(np.array([hue]))
        self.axes.stairs(values, edges, fill=True, facecolor=colour, edgecolor="none", zorder=2)

    def draw_levels(
        self, top: float, *, infinite: float | None = None, downwards: bool = False
    ) -> None:
        """Label round numbers of the y axis from 0 to `top`, and set the limits of the axis.

        `infinite` is the y at which infinite values are drawn, which gets the label ∞. None means
        that no value is infinite. If `downwards` is true, greater numbers are further down.
        """
        locator = optional_import("matplotlib.ticker", extra="plot").MaxNLocator(
            6, steps=[1, 2, 5, 10]
        )
        levels = [level for level in locator.tick_values(0, top) if 0 <= level <= top]
        names = [f"{level:g}" for level in levels]
        if infinite is not None:
            levels, names = [*levels, infinite], [*names, "∞"]
        self.axes.set_yticks(levels, names)
        space = 0.02 * top
        low, high = -space / 2, (top if infinite is None else infinite) + space
        self.axes.set_ylim(*((high, 0.0) if downwards else (low, high)))

    def name_places(self, x: Array, names: Sequence[str]) -> str:
        """Write `names` below the x axis at the positions `x`.

        Names are turned upright if they are many or long. If they would be too small to read, only
        every k-th name is written. Returns a text for the caption that says how many are written,
        or "" if all are.
        """
        wide = _inches(self.axes)[0] * _POINTS_PER_INCH / len(names)
        step = 1 if 0.9 * wide >= _SMALLEST else int(np.ceil(_READABLE / (0.9 * wide)))
        chosen = np.sort(np.argsort(x)[::step]).tolist()  # in the order of the points
        size = float(np.clip(0.9 * wide * step, _SMALLEST, 8.0 * self.scale))
        written = [names[k] for k in chosen]
        upright = max(map(len, written), default=0) * 0.65 * size > wide * step
        self.axes.set_xticks(
            x[chosen], written, rotation=90 if upright else 0, size=size, color=FAINT_INK,
            parse_math=False,
        )  # fmt: skip
        return "" if step == 1 else f"{len(chosen):,} of the {len(names):,} names are written"

    def draw_names(self, points: Points, names: Sequence[str], trees: Array) -> None:
        """Write a name at each point, on a disc or on a plate.

        A plate is a rectangle with round corners. Plates are used if names are long or if discs
        would overlap. They are moved apart until none covers another, and a line joins a plate that
        was moved far to its point. `trees` has the number of each point's tree, which sets the hue
        of the rim.
        """
        rims, wide = hues(trees), 14.0 * self.scale
        are_short = max(map(len, names), default=0) <= _DISC
        if are_short and not self._are_close(points, wide):
            rim = {"edgecolors": rims, "linewidths": 0.8, "clip_on": False}
            dots(self.axes, points, wide, c=PAPER, **rim)
            self._write_at(points, names)
        else:
            plate = {"boxstyle": f"round,pad={_PAD}", "facecolor": PAPER, "linewidth": 0.8}
            texts = self._write_at(points, names, [plate | {"edgecolor": rim} for rim in rims])
            self._spread(points, texts, rims)

    def number_places(self, points: Points, numbers: Sequence[str]) -> None:
        """Write a number at each point, and move the numbers apart until none covers another.

        `points` has the position of each text in `numbers`.
        """
        plate = {"boxstyle": f"round,pad={_PAD}", "facecolor": PAPER, "linewidth": 0, "alpha": 0.85}
        texts = self._write_at(points, numbers, [plate] * len(numbers))
        for text in texts:
            text.set(size=8 * self.scale, weight="bold")
        self._spread(points, texts)

    def _write_at(
        self, points: Points, names: Sequence[str], plates: Sequence[Any] | None = None
    ) -> list[Any]:
        """Write one of `names` at each point, and return the text objects of Matplotlib.

        `plates` describes the background of each text, as Matplotlib's argument `bbox`. If it is
        None, texts are drawn without a background.
        """
        return [
            self.axes.text(
                x, y, name, size=6.5 * self.scale, color=INK, ha="center", va="center_baseline",
                zorder=4, parse_math=False, bbox=plates[k] if plates else None,
            )
            for k, ((x, y), name) in enumerate(zip(points.tolist(), names, strict=True))
        ]  # fmt: skip

    def _are_close(self, points: Points, wide: float) -> bool:
        """Return whether discs at any two of the points would overlap.

        `wide` is the diameter of the discs in typographic points.
        """
        pixels = self._pixels(points)
        apart = np.sqrt(((pixels[:, None] - pixels[None]) ** 2).sum(axis=2))
        np.fill_diagonal(apart, np.inf)
        least = wide * self.axes.figure.dpi / _POINTS_PER_INCH
        return bool(apart.min(initial=np.inf) < least)

    def _spread(self, points: Points, texts: Sequence[Any], rims: Array | None = None) -> None:
        """Move texts apart, together with their backgrounds, until none covers another.

        `points` has the point to which each text belongs. A line joins a text that was moved far to
        its point. `rims` are the colours of these lines. If it is None, no lines are drawn.
        """
        pixels = self._pixels(points)
        boxes = [text.get_window_extent().get_points() for text in texts]
        found = np.array(boxes).reshape(-1, 2, 2)
        rim = 2 * _PAD * texts[0].get_size() + 1 if texts else 0.0  # of a plate, both sides
        sizes = np.ptp(found, axis=1) + rim * self.axes.figure.dpi / _POINTS_PER_INCH
        margin = (EDGE - 0.05) * self.axes.figure.dpi if self.is_new else 0.0
        corners = self.axes.bbox.get_points() + np.array([[-margin], [margin]])
        moved = pixels + (spread(found.mean(axis=1), sizes, corners) - found.mean(axis=1))
        to_data = self.axes.transData.inverted()
        for k in np.flatnonzero((moved != pixels).any(axis=1)).tolist():
            texts[k].set_position(to_data.transform(moved[k]).tolist())
        far = np.flatnonzero((np.abs(moved - pixels) > sizes / 2).any(axis=1))
        if rims is not None and far.size:
            ends = np.stack([points[far], to_data.transform(moved[far])], axis=1)
            strokes(self.axes, ends, np.full(far.size, 0.6), rims[far], zorder=3)

    def _pixels(self, points: Points) -> Array:
        """Return the positions of points in the figure, in pixels."""
        self.axes.apply_aspect()
        return np.asarray(self.axes.transData.transform(points.reshape(-1, 2)))

    def write(self, title: str, *captions: str) -> None:
        """Write a title above the drawing, with captions below the title.

        Long texts are written in smaller letters, so that they fit.
        """
        scale, lines = self.scale, [caption for caption in reversed(captions) if caption]
        wide = _inches(self.axes)[0]
        texts = [
            self.axes.annotate(
                text, (0, 1), (0, (9 + 14 * number) * scale), xycoords="axes fraction",
                textcoords="offset points", size=9.5 * scale, color=FAINT_INK, parse_math=False,
            )
            for number, text in enumerate(lines)
        ]  # fmt: skip
        texts.append(
            self.axes.set_title(
                title, loc="left", y=1, size=17 * scale, weight="bold", parse_math=False,
                **self._ink("color"), pad=(13 + 14 * len(lines)) * scale,
            )
        )  # fmt: skip
        for number, text in enumerate(texts):
            long = text.get_window_extent().width / self.axes.figure.dpi
            most = wide if number == 0 and lines else wide - (_KEY + 0.3) * scale
            text.set_size(text.get_size() * min(1.0, most / max(long, 0.1)))

    def draw_key(self, most: int) -> None:
        """Explain the widths and shades of edges by a small scale at the top right corner.

        `most` is the maximum number of vertices beyond an edge. If it is 1 or less, all edges look
        alike and no scale is drawn.
        """
        if most < 2:
            return
        wide, tall = _KEY * self.scale / _inches(self.axes)
        key = self.axes.inset_axes((1 - wide, 1 + 0.2 * tall, wide, 0.05 * tall))
        key.set_axis_off()
        key.set_xlim(0, 1)
        key.set_ylim(-1, 1)
        at = np.linspace(0, 1, 65)
        stops = np.stack([at, np.zeros_like(at)], axis=1)
        rank = (at[1:] + at[:-1]) / 2
        colours = shades(rank, np.zeros(rank.size, np.int64))
        strokes(key, np.stack([stops[:-1], stops[1:]], axis=1), self._widths(rank), colours)
        labels = ((0.0, "left", "1"), (1.0, "right", f"{most:,} vertices beyond an edge"))
        for x, side, text in labels:
            key.text(x, -2.8, text, size=7 * self.scale, color=FAINT_INK, ha=side, va="center")

    def list_hues(self, numbers: Sequence[int], names: Sequence[str]) -> None:
        """List trees or clusters with their hues in a legend below the drawing.

        `numbers` are the numbers of hues, and `names` the texts beside them. A negative number
        stands for points without a cluster, and must be the last one. If there are more than 30
        trees or clusters, only the first ones and the points without a cluster are listed.
        """
        if not numbers:
            return
        kept = [*range(len(numbers))]
        if (rest := len(numbers) - LISTED - (numbers[-1] < 0)) > 0:
            kept = kept[:LISTED] + (kept[-1:] if numbers[-1] < 0 else [])
        handle = optional_import("matplotlib.lines", extra="plot").Line2D
        handles = [
            handle(
                [], [], linestyle="none", label=name, color=hues(np.array([number]))[0],
                marker=MARKERS[number // len(PALETTE) % len(MARKERS)],
            ) if number >= 0 else
            handle([], [], linestyle="none", label=name, color=FAINT_INK, marker="x")
            for number, name in ((numbers[k], names[k]) for k in kept)
        ]  # fmt: skip
        if rest > 0:
            more = handle([], [], linestyle="none", label=f"and {rest:,} more")
            handles.insert(LISTED, more)
        below = self._below() - self.axes.bbox.y0
        self._legend(
            handles, loc="upper left", bbox_to_anchor=(0, below / self.axes.bbox.height),
            ncols=max(int(_inches(self.axes)[0] / (_COLUMN * self.scale)), 1), handlelength=0.8,
            handletextpad=0.6,
        )  # fmt: skip

    def draw_legend(self, entries: Sequence[tuple[str, str | None]]) -> None:
        """Explain colours by a legend at the top right above the drawing.

        `entries` are pairs (text, colour). The colour None means grey.
        """
        handle = optional_import("matplotlib.lines", extra="plot").Line2D
        handles = [
            handle([], [], label=text, color=colour or STONES[-2], linewidth=self.thin + 1.0)
            for text, colour in entries
        ]
        self._legend(handles, loc="lower right", bbox_to_anchor=(1, 1))

    def _legend(self, handles: Sequence[Any], **where: Any) -> None:
        legend = self.axes.legend(
            handles=handles, frameon=False, fontsize=8 * self.scale, borderaxespad=0.8, borderpad=0,
            markerscale=self.scale,
            **self._ink("labelcolor"), **where,
        )  # fmt: skip
        for text in legend.get_texts():
            text.set_parse_math(False)

    def frame(self) -> None:
        """Draw a frame around a drawing that shows only a part of the graph."""
        self.axes.set_axis_on()
        self.axes.set(xticks=[], yticks=[])
        self.axes.spines[:].set(color=STONE, linewidth=0.8)

    def finish(self) -> Any:
        """Complete the drawing, and return the axes.

        A new figure is enlarged until its legend and the names below the drawing fit. If there is a
        path, the figure is written to this file.
        """
        figure = self.axes.figure
        if self.is_new:
            self._lengthen()
        if self.path is not None:
            figure = figure.canvas.figure  # the whole figure, if the axes are in a subfigure
            with replacing(self.path) as stream:
                figure.savefig(
                    stream, format=self.path.suffix[1:].lower(), dpi=_DPI,
                    facecolor=figure.get_facecolor(),
                )  # fmt: skip
        return self.axes

    def _lengthen(self) -> None:
        """Enlarge the figure downwards until its legend and the names below the drawing fit."""
        figure, legend = self.axes.figure, self.axes.get_legend()
        lowest = min(legend.get_window_extent().y0 if legend else np.inf, self._below())
        wide, high = figure.get_size_inches()
        more = EDGE - lowest / figure.dpi
        if more > 0.01:
            left, bottom, width, height = self.axes.get_position(original=True).bounds
            figure.set_size_inches(wide, high + more)
            stretch = high / (high + more)
            bottom = (bottom * high + more) / (high + more)
            self.axes.set_position((left, bottom, width, height * stretch))

    def _ink(self, name: str) -> dict[str, str]:
        """Return the keyword argument that sets the colour of letters, as a dict.

        `name` is the name of the argument. On axes that the caller passed, the dict is empty, so
        that the caller's settings of Matplotlib apply.
        """
        return {name: INK} if self.is_new else {}

    def _below(self) -> float:
        """Return the y of the bottom of the drawing, with the names below it, in pixels."""
        names = self.axes.xaxis.get_tightbbox() if self.axes.axison else None
        end: float = self.axes.bbox.y0
        return min(names.y0, end) if names else end

    def _widths(self, rank: Array) -> Array:
        return self.thin + 2.6 * self.scale * rank**2.2


def _inches(axes: Any) -> Array:
    """Return the width and height of axes in inches."""
    box, figure = axes.get_position(original=True), axes.figure
    return np.asarray(box.size * figure.bbox.size / figure.dpi)


def _scale(axes: Any) -> float:
    return float(np.clip(_inches(axes)[0] / (WIDTH - 3 * EDGE), 0.7, 1.0))
