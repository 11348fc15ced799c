"""Draw thousands of lines and dots quickly."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.core.errors import optional_import
from clmst.core.weight_keys import Array
from clmst.drawing.layout import Points

_RASTERISED = 20_000  # with more lines or dots, they are drawn as pixels in SVG and PDF too
_RUN = 100  # maximum number of segments in a path, because Matplotlib's rasteriser has a limit


def strokes(
    axes: Any, segments: Array, widths: Array, colours: Array, *, zorder: float = 2
) -> None:
    """Draw line segments, shape (k, 2, 2), in order, each with a width and a colour, on `axes`.

    Consecutive segments that look alike are drawn as one path, because a path for each segment
    would be slow. Segments with a higher `zorder` are above others, as in Matplotlib.
    """
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
    drawn = collection(
        runs, facecolors="none", edgecolors=colours[starts], linewidths=widths[starts],
        capstyle="round", zorder=zorder, rasterized=k > _RASTERISED,
    )  # fmt: skip
    axes.add_collection(drawn, autolim=False)


def dots(axes: Any, points: Points, diameter: float, **style: Any) -> None:
    """Draw a mark at each point on `axes`. `diameter` is in typographic points."""
    many = len(points) > _RASTERISED
    axes.scatter(*points.T, s=diameter**2, rasterized=many, **{"zorder": 3} | style)


def prominence(hanging: Array, most: Array | int) -> Array:
    """Return a number from 0 to 1 for each edge, which grows with the vertices beyond the edge.

    `hanging` has the number of vertices beyond each edge. The result is its logarithm, scaled so
    that 1 vertex gives 0 and `most` vertices give 1. If `most` is 1, all edges get 0.5.
    """
    scale = np.log(np.maximum(most, 2))
    return np.asarray(np.where(np.asarray(most) < 2, 0.5, np.log(hanging) / scale))
