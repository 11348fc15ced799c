"""Shared parts of figures: panels, colours that everyone can distinguish, and plain ticks."""

from __future__ import annotations

import hashlib
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
CONTENT = "Content-SHA256"
"""Name of the text field in a PNG file that has the digest of its content.

:func:`content_digest` computes the digest.
"""
# Colours and markers of the lines or bars in a figure. The colours are from Okabe and Ito (2008).
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
    """Return whether Matplotlib is installed."""
    return find_spec("matplotlib") is not None


def style(number: int) -> dict[str, Any]:
    """Return the colour and marker of line or bar `number` in a figure, as Matplotlib's keywords.

    They repeat after eight numbers.
    """
    return STYLES[number % len(STYLES)]


@contextmanager
def panels(
    path: Path, columns: int, size: tuple[float, float], *, title: str, share_y: bool = False,
    rows: int = 1,
) -> Iterator[Sequence[Any]]:  # fmt: skip
    """Make a figure with rows of axes, let the body of the ``with`` draw on them, and save it.

    The ``with`` gets the axes, row by row. There are `columns` of them in each of the `rows`, with
    a common y axis if `share_y` is true, below a title that gets as many lines as it needs. `size`
    is (width, height) in inches.
    The figure is saved in `path`, whose suffix decides the format. A PNG file has the digest of its
    content in the text field :data:`CONTENT`.
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
        yield figure.subplots(rows, columns, squeeze=False, sharey=share_y).ravel()
        with replacing(path) as stream:
            texts = {CONTENT: content_digest(figure)} if path.suffix == ".png" else None
            figure.savefig(stream, format=path.suffix[1:], dpi=DOTS_PER_INCH, metadata=texts)


def content_digest(figure: Any) -> str:
    """Return a digest of the numbers and texts that a figure shows.

    Two figures have equal digests if they have equal titles, labels, lines, bars and areas, even if
    their fonts, sizes and colours differ. With digests, a picture can be compared with its data
    without comparing pixels, which depend on the version of Matplotlib.
    """
    parts: list[Any] = [figure.get_suptitle()]
    for axes in figure.axes:
        parts += [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
        parts += [(line.get_label(), line.get_xydata()) for line in axes.lines]
        parts += [patch.get_patch_transform().transform_path(patch.get_path()).vertices
                  for patch in axes.patches]  # fmt: skip
        parts += [path.vertices for area in axes.collections for path in area.get_paths()]
        parts += [text.get_text() for text in axes.texts]
    return hashlib.sha256("\n".join(map(_in_words, parts)).encode()).hexdigest()


def _in_words(part: Any) -> str:
    """Return a part of a figure as text, in which coordinates have nine digits.

    `part` is a text, an array of points, or a tuple of parts.
    """
    if isinstance(part, tuple):
        return " ".join(map(_in_words, part))
    if isinstance(part, str):
        return part
    return " ".join(f"{x:.9g},{y:.9g}" for x, y in part)


def plain_ticks(axis: Any, multiples: tuple[float, ...] = ()) -> None:
    """Label an axis with numbers like 12,000.

    For a logarithmic axis, `multiples` says at which multiples of the powers of ten labels are.
    """
    ticker = optional_import("matplotlib.ticker", extra="plot")
    if multiples:
        axis.set_major_locator(ticker.LogLocator(subs=multiples))
        axis.set_minor_formatter(ticker.NullFormatter())
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.10g}"))


def legend_below(axes: Any, *, columns: int = 3) -> None:
    """Draw one legend below a figure, for all labels in the figure, each once.

    The labels of all axes of the figure to which `axes` belongs are collected. The legend has at
    most `columns` columns, and fewer if they would be wider than the figure. Without labels,
    nothing is drawn.
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
