"""HTML views of graphs, forests and clusters for notebooks: sizes, and a small SVG picture.

The picture must be drawn quickly and without Matplotlib. Therefore only small graphs have one. A
graph with coordinates may have up to 2,000 edges. Without coordinates a graph may have up to 128
vertices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from clmst.core.arguments import shown
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.drawing.layout import Points, layout
from clmst.drawing.palette import INK, PALETTE, STONE
from clmst.drawing.picture import branch_sizes

_LAID_OUT = 128  # up to this number of vertices, a layout takes at most 0.2 s
_DRAWN = 2000  # maximum number of edges or points; pictures with more all look alike
_NAMED = 128  # up to this number of vertices each is a dot with its name
_WIDTH, _HEIGHT, _MARGIN = 260.0, 180.0, 8.0  # in pixels


def html_of_forest(forest: Forest) -> str:
    """Return a forest as HTML, with a picture if it is small.

    Trees have different colours, and an edge is wider if more vertices are beyond it.
    """
    rows = {
        "vertices": f"{forest.n_vertices:,}",
        "edges": f"{forest.n_edges:,}",
        "trees": f"{forest.n_components:,}",
        "total weight": f"{forest.total_weight:,}",
    }
    picture = ""
    if 0 < forest.n_vertices <= _LAID_OUT:
        u, v = (edges := forest.checked_edges()).T
        hanging = branch_sizes(forest)
        widths = 1 + 3 * np.sqrt(hanging / max(int(hanging.max(initial=1)), 1))
        colours = [PALETTE[k % len(PALETTE)] for k in forest.labels.tolist()]
        strokes = [
            _stroke(colours[end], width)
            for end, width in zip(u.tolist(), widths.tolist(), strict=True)
        ]
        points = layout(Graph.from_edges(u, v, forest.weights, n_vertices=forest.n_vertices))
        picture = _svg(points, edges, strokes, colours, forest.vertex_labels)
    return _html(f"{'Maximum' if forest.maximum else 'Minimum'} spanning forest", rows, picture)


def html_of_graph(graph: Graph) -> str:
    """Return a graph as HTML, with a picture if it is small."""
    n, picture = graph.n_vertices, ""
    rows = {
        "vertices": f"{n:,}",
        "edges": f"{graph.n_edges:,}",
        "weights": str(graph.weights.dtype),
    }
    if n and graph.n_edges <= _DRAWN and (graph.coordinates is not None or n <= _LAID_OUT):
        points = layout(graph) if graph.coordinates is None else graph.coordinates
        if np.isfinite(points).all():
            edges = np.stack(graph.edges()[:2], axis=1)
            strokes = [_stroke(STONE, 1.5 if n <= _NAMED else 0.6)] * len(edges)
            picture = _svg(points, edges, strokes, [INK] * n, graph.vertex_labels)
    return _html("Graph", rows, picture)


def html_of_clusters(
    title: str, rows: dict[str, str], points: Points | None, labels: Array | None
) -> str:
    """Return a view of a clustering estimator as HTML, with a picture if there are few points.

    `rows` maps names to values, which are shown as a table below `title`. `points` are coordinates
    in the plane, and `labels` the number of each point's cluster. Noise is grey. If `points` or
    `labels` is None, the picture is left out.
    """
    picture = ""
    if points is not None and labels is not None and 0 < len(points) <= _DRAWN:
        with np.errstate(over="ignore", invalid="ignore"):
            at = _on_page(points)
        is_placed = np.isfinite(at).all()  # not if the coordinates are too large
        radius = 3 if len(points) <= _NAMED else 1.5
        dots = [
            f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius}' "
            f"fill='{STONE if label < 0 else PALETTE[label % len(PALETTE)]}'/>"
            for (x, y), label in zip(at.tolist(), labels.tolist(), strict=True)
        ]
        picture = f"<svg width='{_WIDTH:.0f}' height='{_HEIGHT:.0f}'>{''.join(dots)}</svg>"
        picture = picture if is_placed else ""
    return _html(escape(title), rows, picture)


def _html(title: str, rows: dict[str, str], picture: str) -> str:
    cells = "".join(
        f"<tr><th style='text-align:left'>{name}</th><td>{value}</td></tr>"
        for name, value in rows.items()
    )
    table = f"<div><b>{title}</b><table>{cells}</table></div>"
    return f"<div style='display:flex;gap:2em;align-items:center'>{table}{picture}</div>"


def _stroke(colour: str, width: float) -> str:
    return f"stroke='{colour}' stroke-width='{width:.1f}'"


def _svg(
    points: Points, edges: Array, strokes: Sequence[str], colours: Sequence[str], labels: Any
) -> str:
    """Return an SVG picture of a graph: lines and, if there are few vertices, dots with names.

    `points` has the position of each vertex, and `edges` the two vertices of each line. `strokes`
    has the SVG attributes of each line, and `colours` the colour of each dot. `labels` are the
    vertex labels. If it is None, the names are the numbers of the vertices.
    """
    at = _on_page(points)
    parts = [
        f"<line x1='{at[u, 0]:.1f}' y1='{at[u, 1]:.1f}' x2='{at[v, 0]:.1f}' y2='{at[v, 1]:.1f}' "
        f"{stroke}/>"
        for (u, v), stroke in zip(edges.tolist(), strokes, strict=True)
    ]
    if len(at) <= _NAMED:
        parts += _dots(at, colours, labels)
    return f"<svg width='{_WIDTH:.0f}' height='{_HEIGHT:.0f}'>{''.join(parts)}</svg>"


def _dots(at: Points, colours: Sequence[str], labels: Any) -> Iterable[str]:
    for k, ((x, y), colour) in enumerate(zip(at.tolist(), colours, strict=True)):
        name = k if labels is None else labels[k]
        text = escape(name if isinstance(name, str) else shown(name))
        place = f"cx='{x:.1f}' cy='{y:.1f}'"
        yield f"<circle {place} r='3' fill='{colour}'><title>{text}</title></circle>"


def _on_page(points: Points) -> Points:
    """Return the positions of points in pixels of the picture, in which y grows downwards."""
    low, high = points.min(axis=0), points.max(axis=0)
    space = np.array([_WIDTH, _HEIGHT]) - 2 * _MARGIN
    extent = high - low
    scales = space[extent > 0] / extent[extent > 0]
    scale = float(scales.min()) if scales.size else 0.0
    centred: Points = (points - (low + high) / 2) * (scale, -scale)
    return centred + np.array([_WIDTH, _HEIGHT]) / 2
