"""Interactive pictures by Plotly, which a reader can move and zoom."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
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
from clmst.drawing.layout import projected, projection_of
from clmst.drawing.palette import FAINT_INK, INK, PALETTE, PAPER, STONE
from clmst.drawing.sheet import checked_path, checked_title
from clmst.drawing.spreading import spread

SUFFIX = ".html"
_EACH = 10_000  # up to this number of merges, each has lines of its own
_NAMED = 300  # up to this number of points, each has its name below the dendrogram
_HEIGHT = 640  # height of a figure in a notebook, in pixels
_MAP = (560, 460)  # width and height in pixels of the map in a small notebook, beside the legend
_LETTER = 7  # width of a digit on a map, in pixels
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>html, body {{ height: 100%; margin: 0; background: {paper}; }}</style>
</head>
<body>
{content}
</body>
</html>
"""
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
    their first two principal components, and the caption says from how many dimensions. If there
    are more than 30 clusters, the labels of the 200 largest are written in the middle of their
    points, as in :func:`draw_clusters`. A label is hidden together with its cluster.

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
                "legendgroup": str(number),
                "x": places[own, 0], "y": places[own, 1],
                "text": [texts[point] for point in own.tolist()],
                "hovertemplate": "%{text}<extra>%{fullData.name}</extra>",
            }
        )  # fmt: skip
    traces += _numbers(clusters, places, has_place)
    hidden = {"visible": False}
    axes = {
        "xaxis": hidden, "yaxis": hidden | {"scaleanchor": "x"}, "legend": {"tracegroupgap": 0}
    }  # fmt: skip
    notes = (
        clusters.caption, projection_of(points), without_place(has_place), clusters.numbers_caption
    )  # fmt: skip
    return _finished(traces, title or "Clusters", " · ".join(filter(None, notes)), target, **axes)


def _numbers(clusters: DrawnClusters, places: Array, has_place: Array) -> list[dict[str, Any]]:
    """Return a Plotly trace for each label that is written on a map of many clusters.

    Each label is on a disc of the colour of the page. A click on a cluster's entry in the legend
    hides its label, too. Labels are moved apart, so that none covers another in a map of the usual
    size or larger. `places` has the position of each point, and `has_place` says which positions
    are finite.
    """
    numbered, middles = clusters.numbered(places, has_place)
    labels = [str(clusters.labels[k]) for k in numbered]
    if not labels:
        return []
    low, high = places[has_place].min(axis=0), places[has_place].max(axis=0)
    extent = high - low if (high > low).any() else np.full(2, 2.0)  # Plotly's, around one place
    pixel, middle = float((extent / _MAP).max()), (low + high) / 2
    discs = np.array([_LETTER * (len(label) + 1) for label in labels])
    area = np.array([-0.5, 0.5])[:, None] * _MAP
    moved = spread((middles - middle) / pixel, np.stack([discs, discs], axis=1), area)
    return [
        {
            "type": "scattergl", "mode": "markers+text", "x": [x], "y": [y], "text": [label],
            "marker": {"size": disc, "color": PAPER, "opacity": 0.85, "line": {"width": 0}},
            "textfont": {"size": 13, "color": INK}, "hoverinfo": "skip", "showlegend": False,
            "legendgroup": str(clusters.numbers[k]),
        }
        for k, label, disc, (x, y) in zip(
            numbered, labels, discs.tolist(), (moved * pixel + middle).tolist(), strict=True
        )
    ]  # fmt: skip


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

    If the pointer is on a merge, the figure shows the height of the merge and the number of points
    that it joins. If the pointer is on a point, the figure shows its name. A click on the legend
    hides a cluster. With more than 10,000 merges, parallel lines that are closer to each other than
    a 4,000th of the picture are drawn as one line. The pointer still finds every merge.

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
    is_large = len(shape.children) > _EACH
    lines, of_line = shape.visible_lines() if is_large else shape.lines()
    n = shape.clusters.of_point.size
    listed = dict(zip(*shape.clusters.listed(), strict=True))
    outside = "merges" if labels is None else "between clusters"
    traces = []
    for number in np.unique(of_line).tolist():
        name = outside if number < 0 else listed[number]
        colour = STONE if number < 0 else PALETTE[number % len(PALETTE)]
        look = {"name": name, "line": {"color": colour, "width": 1.2}}
        traces.append(_lines(lines[of_line == number], **look))
    sizes = np.ones(2 * n - 1, np.int64)
    for merge, children in enumerate(shape.children.tolist(), n):
        sizes[merge] = sizes[children].sum()
    points, merges = np.arange(n), np.arange(n, 2 * n - 1)
    is_infinite = shape.y[merges] > shape.top
    hint = "point %{customdata}" if names is None else "%{text}<br>point %{customdata}"
    named = {} if names is None else {"text": np.array(shape.names, object)}
    traces.append(_hints(shape, points, points, hint) | named)
    for chosen, height in ((merges[~is_infinite], "%{y:.6g}"), (merges[is_infinite], "infinite")):
        if chosen.size:
            hint = f"height {height}<br>%{{customdata:,}} points"
            traces.append(_hints(shape, chosen, sizes[chosen], hint))
    leaves: dict[str, Any] = {"showgrid": False, "zeroline": False, "visible": n <= _NAMED}
    if n <= _NAMED:
        leaves |= {"tickvals": shape.x[:n], "ticktext": shape.names, "tickangle": -90}
    notes = (shape.caption, "lines that lie close together are drawn as one" if is_large else "")
    return _finished(
        traces, title or "Dendrogram, single linkage", " · ".join(filter(None, notes)), target,
        xaxis=leaves, yaxis={"title": {"text": "height of a merge"}, "gridcolor": "#e3dfd5"},
    )  # fmt: skip


def _hints(shape: DrawnTree, nodes: Array, data: Array, template: str) -> dict[str, Any]:
    """Return a Plotly trace of invisible marks at some nodes of a dendrogram.

    If the pointer is on a mark, a text is shown. `shape` has the positions of the nodes. `template`
    is the text in Plotly's format, and `data` has the number in the text for each node.
    """
    return {
        "type": "scattergl", "mode": "markers", "x": shape.x[nodes], "y": shape.y[nodes],
        "customdata": data, "hovertemplate": f"{template}<extra></extra>", "showlegend": False,
        "marker": {"size": 8, "opacity": 0},
    }  # fmt: skip


def _checked(path: Any) -> Path | None:
    """Return the path of a page. If it is None, return None.

    Raises InvalidArgumentError if the suffix is not .html.
    """
    return None if path is None else checked_path(path, (SUFFIX,))


def _lines(segments: Array, **look: Any) -> dict[str, Any]:
    """Return a Plotly trace that draws separate line segments, given with shape (k, 2, 2).

    `look` are further attributes of the trace.
    """
    gaps = np.full((len(segments), 1, 2), np.nan)
    x, y = np.concatenate([segments, gaps], axis=1).reshape(-1, 2).T
    return {"type": "scattergl", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip", **look}


def _finished(
    traces: Sequence[dict[str, Any]], title: str, caption: str, path: Path | None, **axes: Any
) -> Any:
    """Make a Plotly figure with some traces, and write it to the file `path`, unless that is None.

    `title` and `caption` are written above the picture. `axes` are further parts of Plotly's
    layout.
    """
    figure = optional_import("plotly.graph_objects", extra="plotly").Figure(
        data=traces,
        layout={
            "title": {"text": f"<b>{title}</b><br><sub>{caption}</sub>", "x": 0.03},
            "font": {"color": INK}, "paper_bgcolor": PAPER, "plot_bgcolor": PAPER,
            "height": _HEIGHT, "hovermode": "closest",
            "margin": {"l": 40, "r": 20, "t": 90, "b": 30}, **axes,
        },
    )  # fmt: skip
    if path is not None:
        figure.layout.height = None  # the height of the window, not of a notebook's cell
        options = {"full_html": False, "include_plotlyjs": True, "default_height": "100%"}
        content = figure.to_html(config={"responsive": True}, **options)
        figure.layout.height = _HEIGHT
        text = _PAGE.format(title=escape(title), paper=PAPER, content=content)
        with replacing(path) as stream:
            stream.write(text.encode())
    return figure
