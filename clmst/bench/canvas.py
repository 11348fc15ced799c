"""Shared parts of pictures of measurements: panels, colours for all eyes, plain ticks."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from clmst.core.atomic_file import make_folder, replacing
from clmst.core.errors import optional_import

DOTS_PER_INCH = 150
_TITLE_LETTERS_AN_INCH = 10
# Colours and markers of series (colours: Okabe, Ito 2008).
STYLES: tuple[dict[str, Any], ...] = tuple(
    {"color": color, "marker": marker}
    for color, marker in (
        ("#0072B2", "o"),
        ("#D55E00", "^"),
        ("#009E73", "s"),
        ("#CC79A7", "P"),
        ("#E69F00", "v"),
        ("#56B4E9", "X"),
        ("#555555", "D"),
        ("#B8A800", "*"),
    )
)
GRID = {"color": "#e6e6e6", "linewidth": 0.8}


def can_draw() -> bool:
    """Return whether there is Matplotlib."""
    return find_spec("matplotlib") is not None


def style(number: int) -> dict[str, Any]:
    """Return colour and marker of a series; they repeat after eight."""
    return STYLES[number % len(STYLES)]


@contextmanager
def panels(
    path: Path, columns: int, size: tuple[float, float], *, title: str, share_y: bool = False
) -> Iterator[Sequence[Any]]:
    """Make a row of axes below a title, and save them in `path` once they are drawn.

    The suffix of the path says the format; the size is in inches; the title gets as many lines as
    it needs.
    """
    matplotlib = optional_import("matplotlib", extra="plot")
    make_figure = optional_import("matplotlib.figure", extra="plot").Figure
    canvas = optional_import("matplotlib.backends.backend_agg", extra="plot").FigureCanvasAgg
    make_folder(path.parent)
    look = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
    with matplotlib.rc_context(look | {"axes.axisbelow": True}):
        figure = make_figure(figsize=size, layout="constrained")
        canvas(figure)
        figure.suptitle(textwrap.fill(title, int(_TITLE_LETTERS_AN_INCH * size[0])))
        yield figure.subplots(1, columns, squeeze=False, sharey=share_y)[0]
        with replacing(path) as stream:
            figure.savefig(stream, format=path.suffix[1:], dpi=DOTS_PER_INCH)


def plain_ticks(axis: Any, multiples: tuple[int, ...] = ()) -> None:
    """Label an axis with numbers like 12,000.

    A logarithmic axis has them at `multiples` of the powers of ten.
    """
    ticker = optional_import("matplotlib.ticker", extra="plot")
    if multiples:
        axis.set_major_locator(ticker.LogLocator(subs=multiples))
        axis.set_minor_formatter(ticker.NullFormatter())
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))


def legend_below(axes: Any, *, columns: int = 3) -> None:
    """Explain the series of all axes of a figure below it, each once, if there are any.

    There are so many columns at most, and only as many as are not wider than the figure.
    """
    every: dict[str, Any] = {}
    for one in axes.figure.axes:
        handles, labels = one.get_legend_handles_labels()
        every = dict(zip(labels, handles, strict=True)) | every
    figure = axes.figure
    for some in range(columns, 0, -1) if every else ():
        legend = figure.legend(
            every.values(), every.keys(), loc="outside lower center", ncols=some, frameon=False
        )
        extent = legend.get_window_extent(figure.canvas.get_renderer())
        if some == 1 or extent.width <= figure.bbox.width:
            break
        legend.remove()
