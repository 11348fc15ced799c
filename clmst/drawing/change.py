"""Pictures of the changes between two spanning forests of a graph."""

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

# Colours that are distinct for every kind of colour vision (Okabe and Ito, 2008). The first one is
# a little darker than in that publication.
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
    """Draw which edges of a spanning forest stay, which leave, and which enter.

    Edges that leave are vermilion, and edges that enter are blue. Edges that stay are grey, darker
    and wider if more vertices of the second forest are beyond them. The other edges of the graph
    are faint. The vertices are placed as in :func:`clmst.drawing.draw_forest`. Of a complete graph
    only the edges of the two forests are drawn, unless `max_edges` asks for other pairs.

    Parameters
    ----------
    graph : Graph or other graph in host memory
        Any graph that :func:`clmst.minimum_spanning_forest` accepts, unless its arrays are on a
        device.
    before, after : Forest
        Two forests of this graph, under different weights, for example from
        :class:`clmst.RepeatedSolver`.
    path : str or Path, optional
        Where to write. The suffix, .png, .svg or .pdf, decides the format. In a large graph the
        lines are pixels in SVG and PDF too.
    title : str, optional
        By default "What changes in the minimum spanning tree" or a similar title.
    window : tuple of float, optional
        Left, bottom, right and top of the area to draw, in the units of the coordinates. The legend
        then counts only what is drawn. By default all of the graph is drawn.
    max_edges : int, optional
        Maximum number of edges outside both forests to draw. If there are more, evenly chosen ones
        are drawn, and the caption says so. The default is 300,000, or 0 for a complete graph.
    symmetrize : bool
        Whether a matrix that is not symmetric is accepted, as in
        :func:`clmst.minimum_spanning_forest`.
    ax : matplotlib.axes.Axes, optional
        Where to draw. Without `ax` and `path`, pyplot makes a new figure, which notebooks show.
    legend : bool
        Whether to explain the colours.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the drawing, in the units of the coordinates.

    Raises
    ------
    InvalidArgumentError
        The suffix is unknown, `max_edges` is negative, a forest does not belong to this graph, a
        coordinate is not finite, the window does not have a positive width and height, or `ax` is
        polar or three-dimensional.
    MissingDependencyError
        Matplotlib is not installed.

    Notes
    -----
    O(n + m) and the layout. With `path` or `ax`, Matplotlib's global state (pyplot, the backend) is
    not touched.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import clmst
    >>> from clmst import drawing
    >>> before, after = (clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [5, 7, w]) for w in (9, 6))
    >>> forests = map(clmst.minimum_spanning_forest, (before, after))
    >>> axes = drawing.draw_change(after, *forests, ax=Figure().subplots())
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['1 leave', '1 enter', '1 stay']
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
        # An edge can only be visible if its bounding box meets the visible rectangle.
        shown_low, shown_high = drawing.corners
        seen = ((low <= shown_high) & (high >= shown_low)).all(axis=1)
        ends, was, remains, hanging = ends[seen], was[seen], remains[seen], hanging[seen]
    stays, changes = was & remains, was != remains
    others = ends[~was & ~remains]
    shown = even_choice(others, drawn.max_edges)

    drawing.draw_others(points[shown])
    drawing.draw_branches(points[ends[stays]], hanging[stays])
    drawing.draw_marked(points[ends[changes]], (LEAVES, ENTERS), remains[changes].astype(np.int64))
    sizes = (len(points), "vertex", "vertices"), (drawn.n_edges, "edge", "edges")
    parts = (*(counted(*size) for size in sizes), drawn.projection)
    omitted = what_is_shown(len(shown), len(others) + drawn.n_edges - graph.n_edges)
    omitted = omitted.replace("the forest", "both forests")
    drawing.write(
        f"What changes in the {kind_of(after)}" if title is None else title,
        ("" if window is None else "A part of ") + " · ".join(filter(None, parts)),
        omitted,
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
    """Return the lower left and upper right corner of a window, shape (2, 2).

    Raises :class:`InvalidArgumentError` unless the window has a positive width and height.
    """
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
