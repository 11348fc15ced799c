"""Pictures of what changes between two spanning forests of a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.arguments import as_array, check_bools, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.long_work import lasting
from clmst.drawing.layout import Points
from clmst.drawing.picture import (
    DrawnGraph,
    branch_sizes,
    counted,
    edges_in_forest,
    even_choice,
    kind_of,
    what_is_shown,
)
from clmst.drawing.sheet import Target, checked_title
from clmst.drawing.styled_axes import StyledAxes

# Distinct for every kind of colour vision (Okabe, Ito 2008), the first one a little darker.
LEAVES, ENTERS = "#c8500a", "#0072b2"

Window = tuple[float, float, float, float]


@lasting("drawing a change")
def draw_change(
    graph: Any,
    before: Forest,
    after: Forest,
    path: str | Path | None = None,
    *,
    title: str | None = None,
    window: Window | None = None,
    max_edges: int | None = None,
    symmetrize: bool = False,
    ax: Any = None,
    legend: bool = True,
) -> Any:
    """Draw what of a spanning forest stays, what leaves it, and what enters it.

    Edges that leave are vermilion, edges that enter are blue. What stays is grey: the darker and
    wider the more vertices of the second forest hang on it. The graph's other edges are faint. The
    vertices are placed as by :func:`clmst.drawing.draw_forest`, which of a complete graph draws the
    edges of both forests alone.

    Parameters
    ----------
    graph : Graph, or any other one that lies on the host
        As of :func:`clmst.minimum_spanning_forest`.
    before, after : Forest
        Of this graph under any two weights, as by :class:`clmst.RepeatedSolver`.
    path : str or Path, optional
        Where to write; the suffix, .png, .svg or .pdf, chooses the format. The lines of large
        graphs are pixels in SVG and PDF too.
    title : str, optional
        "What changes in the minimum spanning tree" or the like when left out.
    window : tuple of float, optional
        Left, bottom, right and top of the area to draw, in the unit of the coordinates; the legend
        counts what is drawn. All of the graph when left out.
    max_edges : int, optional
        How many edges outside both forests to draw at most. If there are more, an even choice of
        them is drawn, and the caption says so. By default 300,000, and 0 for a complete graph.
    symmetrize : bool
        As of :func:`clmst.minimum_spanning_forest`.
    ax : matplotlib.axes.Axes, optional
        Where to draw. Without it and `path`, a new figure of pyplot, which notebooks show.
    legend : bool
        Explain the colours.

    Returns
    -------
    matplotlib.axes.Axes
        With the drawing. Its unit is that of the coordinates.

    Raises
    ------
    InvalidArgumentError
        The suffix is unknown, `max_edges` is negative, the forests are not of this graph, a
        coordinate is not finite, the window is not one of positive width and height, or `ax` is
        no plane.
    MissingDependencyError
        Matplotlib is not installed.

    Notes
    -----
    O(n + m) and the layout. With `path` or `ax`, Matplotlib's global state (pyplot, the backend) is
    not touched.
    """
    target, title = Target.checked(path, ax), checked_title(title)
    check_bools(legend=legend)
    drawn = DrawnGraph.of(graph, (before, after), max_edges, symmetrize=symmetrize)
    graph, points = drawn.graph, drawn.points
    ends, was = edges_in_forest(graph, before)
    _, remains = edges_in_forest(graph, after)
    hanging = np.zeros(len(ends), np.int64)
    hanging[remains] = branch_sizes(after)
    if window is None:
        drawing = StyledAxes.map_around(target, points)
    else:
        corners = _corners(window)
        visible = ((points >= corners[0]) & (points <= corners[1])).all(axis=1)
        drawing = StyledAxes.map_around(target, corners, int(visible.sum()))
        drawing.frame()
        low, high = points[ends].min(axis=1), points[ends].max(axis=1)
        shown_low, shown_high = drawing.corners  # a segment may be seen where its box meets theirs
        seen = ((low <= shown_high) & (high >= shown_low)).all(axis=1)
        ends, was, remains, hanging = ends[seen], was[seen], remains[seen], hanging[seen]
    stays, changes = was & remains, was != remains
    others = ends[~was & ~remains]
    shown = even_choice(others, drawn.max_edges)

    drawing.draw_others(points[shown])
    drawing.draw_branches(points[ends[stays]], hanging[stays])
    drawing.draw_marked(points[ends[changes]], (LEAVES, ENTERS), remains[changes].astype(np.int64))
    sizes = (len(points), "vertex", "vertices"), (drawn.n_edges, "edge", "edges")
    drawing.write(
        f"What changes in the {kind_of(after)}" if title is None else title,
        ("" if window is None else "A part of ") + " · ".join(counted(*size) for size in sizes),
        what_is_shown(len(shown), len(others) + drawn.n_edges - graph.n_edges).replace(
            "the forest", "both forests"
        ),
    )
    if legend:
        drawing.draw_legend(
            (
                (f"{(was & ~remains).sum():,} leave", LEAVES),
                (f"{(remains & ~was).sum():,} enter", ENTERS),
                (f"{stays.sum():,} stay", None),
            )
        )
    return drawing.finish()


def _corners(window: Window) -> Points:
    """Return the lower left and the upper right corner of a window, shape (2, 2)."""
    given = as_array("window", window)
    if given.shape != (4,) or given.dtype.kind not in "iuf":
        raise InvalidArgumentError(
            f"the window is {shown(window)}; it must be four numbers, (left, bottom, right, top)"
        )
    corners = given.astype(float).reshape(2, 2)
    if not (np.isfinite(corners).all() and (corners[0] < corners[1]).all()):
        raise InvalidArgumentError(
            f"the window is {window}; it must be (left, bottom, right, top) with left < right "
            "and bottom < top"
        )
    return corners
