"""Interactive pictures by Plotly, which a reader can move and zoom."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.atomic_file import replacing
from clmst.core.errors import optional_import
from clmst.core.forest import Forest
from clmst.core.long_work import lasting
from clmst.core.weight_keys import Array
from clmst.drawing.clusters import DrawnClusters, edges_of, without_place
from clmst.drawing.dendrogram import DrawnTree, checked_names
from clmst.drawing.layout import projected
from clmst.drawing.palette import FAINT_INK, INK, PALETTE, PAPER, STONE
from clmst.drawing.sheet import checked_path, checked_title

SUFFIX = ".html"
_SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "star")


@lasting("drawing clusters")
def explore_clusters(
    points: Any,
    labels: Any,
    path: str | Path | None = None,
    *,
    forest: Forest | None = None,
    names: Any = None,
    title: str | None = None,
) -> Any:
    """Draw an interactive map of clusters, by Plotly.

    The map shows the name and the cluster of the point below the pointer. A click on the legend
    hides a cluster, the noise or the tree. Points with more than two dimensions are projected onto
    their first two principal components.

    Parameters
    ----------
    points : Points, or array of shape (n, d)
        A row with a NaN or an infinite number is counted, but not drawn.
    labels : array of int, shape (n,)
        The cluster of each point. A negative label means that the point is noise.
    path : str or Path, optional
        Where to write an .html page. The page needs no network.
    forest : Forest, optional
        A forest of the points, whose edges are drawn below them. With more than three dimensions
        the edges are hidden at first.
    names : sequence of length n, optional
        Names of the points. By default they are the numbers of the points.
    title : str, optional
        "Clusters" by default.

    Returns
    -------
    plotly.graph_objects.Figure
        Notebooks show it.

    Raises
    ------
    InvalidArgumentError
        The points are not rows of real numbers, the labels, the forest or the names do not fit the
        points, or the suffix is unknown.
    MissingDependencyError
        Plotly is not installed.

    Examples
    --------
    >>> from clmst import drawing
    >>> figure = drawing.explore_clusters([[0, 0], [0, 1], [5, 5]], [0, 0, 1])
    >>> [trace.name for trace in figure.data]
    ['0 (2)', '1 (1)']
    """
    target, title = _checked(path), checked_title(title)
    places = projected(points)
    clusters, texts = DrawnClusters.of(labels, len(places)), checked_names(names, len(places))
    has_place = np.asarray(np.isfinite(places).all(axis=1))
    edges = edges_of(forest, has_place)
    traces = []
    if len(edges):
        is_flat = np.shape(getattr(points, "coordinates", points))[1] <= 3
        tree = _lines(places[edges], name="tree", line={"color": STONE, "width": 0.6})
        traces.append(tree | {"visible": True if is_flat else "legendonly"})
    numbers, entries = clusters.listed()
    for number, entry in zip(numbers, entries, strict=True):
        own = np.flatnonzero(clusters.of_point == number)
        look = {"color": FAINT_INK, "size": 4, "symbol": "x-thin-open"} if number < 0 else {
            "color": PALETTE[number % len(PALETTE)],
            "size": 6,
            "symbol": _SYMBOLS[number // len(PALETTE) % len(_SYMBOLS)],
        }  # fmt: skip
        traces.append(
            {
                "type": "scattergl", "mode": "markers", "name": entry, "marker": look,
                "x": places[own, 0], "y": places[own, 1],
                "text": [texts[point] for point in own.tolist()],
                "hovertemplate": "%{text}<extra>%{fullData.name}</extra>",
            }
        )  # fmt: skip
    hidden = {"visible": False}
    axes = {"xaxis": hidden, "yaxis": hidden | {"scaleanchor": "x"}}
    notes = (clusters.caption, without_place(has_place))
    return _finished(traces, title or "Clusters", " · ".join(filter(None, notes)), target, **axes)


@lasting("drawing a dendrogram")
def explore_dendrogram(
    linkage: Any,
    path: str | Path | None = None,
    *,
    labels: Any = None,
    names: Any = None,
    title: str | None = None,
) -> Any:
    """Draw an interactive dendrogram, by Plotly.

    It shows the height of the merge below the pointer and the number of points that the merge
    joins, or the name of a point. A click on the legend hides a cluster.

    Parameters
    ----------
    linkage : array of shape (n - 1, 4)
        A linkage matrix, as :meth:`clmst.Forest.linkage` or SciPy returns it.
    path : str or Path, optional
        Where to write an .html page. The page needs no network.
    labels : array of int, shape (n,), optional
        The cluster of each point, as :meth:`clmst.Forest.cut` returns it. A negative label means no
        cluster.
    names : sequence of length n, optional
        Names of the points. By default they are the numbers of the points.
    title : str, optional
        "Dendrogram, single linkage" by default.

    Returns
    -------
    plotly.graph_objects.Figure
        Notebooks show it.

    Raises
    ------
    InvalidArgumentError
        `linkage` is not a linkage matrix or has more than 200,000 merges, the labels or names do
        not fit, or the suffix is unknown.
    MissingDependencyError
        Plotly is not installed.

    Examples
    --------
    >>> from clmst import drawing
    >>> figure = drawing.explore_dendrogram([[0, 1, 1.0, 2], [2, 3, 4.0, 3]], labels=[0, 0, 1])
    >>> figure.layout.yaxis.title.text
    'height of a merge'
    """
    target, title = _checked(path), checked_title(title)
    shape = DrawnTree.of(linkage, labels, names)
    lines, of_line = shape.lines()
    n = shape.clusters.of_point.size
    listed = dict(zip(*shape.clusters.listed(), strict=True))
    traces = []
    for number in np.unique(of_line).tolist():
        name = "between clusters" if number < 0 else listed[number]
        colour = STONE if number < 0 else PALETTE[number % len(PALETTE)]
        look = {"name": name, "line": {"color": colour, "width": 1.2}}
        traces.append(_lines(lines[of_line == number], **look))
    sizes = np.ones(2 * n - 1, np.int64)
    for merge, children in enumerate(shape.children.tolist(), n):
        sizes[merge] = sizes[children].sum()
    heights = np.where(shape.y > shape.top, np.inf, shape.y).tolist()
    hints = [f"{name}<br>point {point}" for point, name in enumerate(shape.names)]
    hints += [
        f"height {height:.6g}<br>{size:,} points"
        for height, size in zip(heights[n:], sizes[n:].tolist(), strict=True)
    ]
    traces.append(
        {
            "type": "scattergl", "mode": "markers", "x": shape.x, "y": shape.y, "text": hints,
            "marker": {"size": 8, "opacity": 0}, "showlegend": False,
            "hovertemplate": "%{text}<extra></extra>",
        }
    )  # fmt: skip
    leaves: dict[str, Any] = {"showgrid": False, "zeroline": False, "visible": n <= 300}
    leaves |= {"tickvals": shape.x[:n], "ticktext": shape.names, "tickangle": -90}
    return _finished(
        traces, title or "Dendrogram, single linkage", shape.clusters.caption, target,
        xaxis=leaves, yaxis={"title": {"text": "height of a merge"}, "gridcolor": "#e3dfd5"},
    )  # fmt: skip


def _checked(path: Any) -> Path | None:
    """Return the path of a page, or None. Raises if its suffix is not .html."""
    return None if path is None else checked_path(path, (SUFFIX,))


def _lines(segments: Array, **look: Any) -> dict[str, Any]:
    """Return a trace of Plotly that draws separate segments."""
    gaps = np.full((len(segments), 1, 2), np.nan)
    x, y = np.concatenate([segments, gaps], axis=1).reshape(-1, 2).T
    return {"type": "scattergl", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip", **look}


def _finished(
    traces: Sequence[dict[str, Any]], title: str, caption: str, path: Path | None, **axes: Any
) -> Any:
    """Make a figure of traces, and write it to a file if there is a path."""
    figure = optional_import("plotly.graph_objects", extra="plotly").Figure(
        data=traces,
        layout={
            "title": {"text": f"<b>{title}</b><br><sub>{caption}</sub>", "x": 0.03},
            "font": {"color": INK}, "paper_bgcolor": PAPER, "plot_bgcolor": PAPER, "height": 640,
            "hovermode": "closest", "margin": {"l": 40, "r": 20, "t": 90, "b": 30}, **axes,
        },
    )  # fmt: skip
    if path is not None:
        with replacing(path) as stream:
            stream.write(figure.to_html(include_plotlyjs=True).encode())
    return figure
