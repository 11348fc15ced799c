"""Pictures that a reader moves, enlarges and asks, by Plotly."""

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
    """Draw an interactive map of clusters, by plotly.

    It shows the name and the cluster of the point below the pointer. A click on the legend hides a
    cluster, the noise or the tree. Points of more than two dimensions are projected as by
    :func:`clmst.drawing.draw_clusters`.

    Parameters
    ----------
    points : Points, or array of shape (n, d)
        As of :func:`clmst.drawing.draw_clusters`.
    labels : array of int, shape (n,)
        The cluster of each point; below 0 for none.
    path : str or Path, optional
        Where to write a page, .html, which needs no network.
    forest : Forest, optional
        Its edges are drawn below the points. Beyond three dimensions they are hidden at first.
    names : sequence of length n, optional
        Of the points; without it their numbers.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        Which notebooks show.

    Raises
    ------
    InvalidArgumentError
        The points are not rows of real numbers, labels, forest or names do not fit, or the suffix
        is unknown.
    MissingDependencyError
        Plotly is not installed.
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
    """Draw an interactive dendrogram, by plotly.

    It shows the height of the merge below the pointer and how many points it joins, and the name
    of a point. A click on the legend hides a cluster.

    Parameters
    ----------
    linkage : array of shape (n - 1, 4)
        Of :meth:`clmst.Forest.linkage` or SciPy.
    path : str or Path, optional
        Where to write a page, .html, which needs no network.
    labels : array of int, shape (n,), optional
        The cluster of each point, as of :meth:`clmst.Forest.cut`; below 0 for none.
    names : sequence of length n, optional
        Of the points; without it their numbers.
    title : str, optional

    Returns
    -------
    plotly.graph_objects.Figure
        Which notebooks show.

    Raises
    ------
    InvalidArgumentError
        This is no linkage matrix, or one of more than 200,000 points; labels or names do not fit;
        or the suffix is unknown.
    MissingDependencyError
        Plotly is not installed.
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
    """Return where to write a page, or raise if the suffix is another one."""
    return None if path is None else checked_path(path, (SUFFIX,))


def _lines(segments: Array, **look: Any) -> dict[str, Any]:
    """Return a trace of segments, broken where one ends."""
    gaps = np.full((len(segments), 1, 2), np.nan)
    x, y = np.concatenate([segments, gaps], axis=1).reshape(-1, 2).T
    return {"type": "scattergl", "mode": "lines", "x": x, "y": y, "hoverinfo": "skip", **look}


def _finished(
    traces: Sequence[dict[str, Any]], title: str, caption: str, path: Path | None, **axes: Any
) -> Any:
    """Return a figure of traces, and write it if there is a path."""
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
