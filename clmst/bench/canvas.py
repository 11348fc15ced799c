"""Shared parts of pictures of measurements: panels, colours for all eyes, plain ticks."""

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
"""The key under which a PNG has the digest of what is drawn in it (:func:`content_digest`)."""
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
    it needs. A PNG has the digest of what is drawn among its texts, under the key :data:`CONTENT`.
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
            texts = {CONTENT: content_digest(figure)} if path.suffix == ".png" else None
            figure.savefig(stream, format=path.suffix[1:], dpi=DOTS_PER_INCH, metadata=texts)


def content_digest(figure: Any) -> str:
    """Return a digest of the numbers and the words that a figure shows.

    Two figures have the same digest if they have the same titles, labels, lines, bars and areas,
    whatever their fonts, sizes and colours are. So a picture can be compared with its data without
    comparing pixels, which depend on the version of Matplotlib.
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
    """Return texts as they are, and coordinates with nine digits."""
    if isinstance(part, tuple):
        return " ".join(map(_in_words, part))
    if isinstance(part, str):
        return part
    return " ".join(f"{x:.9g},{y:.9g}" for x, y in part)


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
