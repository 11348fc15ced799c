"""Pictures of a spanning forest over its graph, and of what changes between two forests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import as_array, check_integer, check_kind, check_path, check_text, shown
from clmst.core.coercion import as_listed
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.paths import RootedForest
from clmst.core.weight_keys import Array
from clmst.drawing.layout import Points, layout
from clmst.drawing.page import Page

SUFFIXES = (".png", ".svg", ".pdf")

_DOTTED = 3_000  # vertices up to which each gets a dot, not only those without an edge
_NAMED = 60  # vertices up to which each is named


def draw_forest(
    graph: Any,
    forest: Forest,
    path: str | Path,
    *,
    title: str | None = None,
    max_edges: int = 300_000,
    symmetrize: bool = False,
) -> None:
    """Draw a spanning forest over its graph.

    The more vertices lie beyond an edge of the forest, the darker and wider it is: twigs join
    branches, branches join trunks. Trees have different hues; the graph's other edges are faint.
    The graph's coordinates are used where it has any; else :func:`clmst.drawing.layout` places
    the vertices.

    Parameters
    ----------
    graph : Graph, or any other one that lies on the host
        As of :func:`clmst.minimum_spanning_forest`. Edges of complete graphs are listed.
    forest : Forest
        Of this graph.
    path : str or Path
        Where to write; the suffix, .png, .svg or .pdf, chooses the format. The lines of large
        graphs are pixels in SVG and PDF too.
    title : str, optional
        "Minimum spanning tree" or the like when left out.
    max_edges : int
        How many edges outside the forest to draw at most. Where there are more, an even choice
        of them is drawn, and the caption says so. Edges of the forest are always drawn.
    symmetrize : bool
        As of :func:`clmst.minimum_spanning_forest`.

    Raises
    ------
    InvalidArgumentError
        The suffix is unknown, `max_edges` is negative, the forest is not of this graph, or a
        coordinate is not finite.
    MissingDependencyError
        Matplotlib is not installed.

    Notes
    -----
    O(n + m) and the layout. Matplotlib's global state (pyplot, the backend) is not touched.
    """
    path = checked_path(path)
    title = checked_title(title)
    graph = as_listed(graph, symmetrize=symmetrize)
    ends, chosen = edges_in_forest(graph, forest)
    others = ends[~chosen]
    shown = even_choice(others, max_edges)
    points = positions(graph)
    labels, sizes = _trees_by_size(forest)

    page = Page.around(points)
    page.draw_others(points[shown])
    hanging = branch_sizes(forest)
    page.draw_branches(points[forest.edges], hanging, labels[forest.edges[:, 0]])
    dotted = graph.n_vertices <= _DOTTED
    visible = np.arange(graph.n_vertices) if dotted else np.flatnonzero(sizes[labels] == 1)
    page.draw_vertices(points[visible], labels[visible])
    if graph.n_vertices <= _NAMED:
        page.draw_names(points, names_of(graph), labels)
    page.write(
        kind_of(forest).capitalize() if title is None else title,
        caption(graph, forest),
        what_is_shown(len(shown), len(others)),
    )
    page.draw_key(int(hanging.max(initial=0)))
    page.save(path)


def caption(graph: Graph, forest: Forest) -> str:
    """Return the line under the title: sizes and total weight."""
    total = forest.total_weight
    digits = "," if isinstance(total, int) else ",.7g"
    parts = (
        counted(graph.n_vertices, "vertex", "vertices"),
        counted(graph.n_edges, "edge", "edges"),
        counted(forest.n_components, "tree", "trees"),
        f"total weight {total:{digits}}",
    )
    return " · ".join(parts)


def what_is_shown(n_shown: int, n_others: int) -> str:
    """Return what to say of the edges outside the forest: nothing if all of them are drawn."""
    if n_shown == n_others:
        return ""
    return f"{n_shown:,} of the {n_others:,} edges outside the forest are drawn"


def counted(number: int, one: str, many: str) -> str:
    """Return a number and what it counts."""
    return f"{number:,} {one if number == 1 else many}"


def names_of(graph: Graph) -> list[str]:
    """Return what to call the vertices."""
    labels = range(graph.n_vertices) if graph.vertex_labels is None else graph.vertex_labels
    try:
        return [str(label) for label in labels]
    except Exception as error:
        raise InvalidArgumentError("a vertex label has no text; str() of each must work") from error


def checked_title(title: str | None) -> str | None:
    """Return a title, or raise unless it is text that Matplotlib draws as it is, or None."""
    return None if title is None else check_text("title", title).replace("$", r"\$")


def kind_of(forest: Forest) -> str:
    """Return what it is: a minimum spanning tree, or the like."""
    kind = "maximum" if forest.maximum else "minimum"
    return f"{kind} spanning {'tree' if forest.n_components == 1 else 'forest'}"


def edges_in_forest(graph: Graph, forest: Forest) -> tuple[Array, Array]:
    """Return the ends of the graph's edges, shape (m, 2), and for each if the forest has it."""
    check_kind("forest", forest, Forest)
    if forest.n_vertices != graph.n_vertices:
        raise InvalidArgumentError(
            f"the forest has {forest.n_vertices} vertices but the graph has {graph.n_vertices}; "
            "it must be a forest of this graph"
        )
    u, v, _, ids = graph.edges()
    chosen = np.isin(ids, forest.edge_ids)
    ends = np.stack([u, v], axis=1).astype(np.int64)
    if not np.array_equal(ends[chosen], forest.edges):
        raise InvalidArgumentError(
            "the edge ids of the forest belong to other edges of the graph than its endpoints; "
            "it must be a forest of this graph"
        )
    return ends, chosen


def even_choice(edges: Array, most: int) -> Array:
    """Return an even choice of edges, all of them if they are no more than that."""
    most = check_integer("max_edges", most, low=0)
    if len(edges) <= most:
        return edges
    return edges[np.arange(most) * len(edges) // max(most, 1)]


def checked_path(path: str | Path) -> Path:
    """Return where to write a picture, if its suffix is known."""
    path = check_path("path", path)
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidArgumentError(
            f"{path.name} has the suffix {path.suffix!r}; it must be one of {', '.join(SUFFIXES)}"
        )
    return path


def positions(graph: Graph) -> Points:
    """Return where the vertices are, shape (n, 2): the graph's coordinates, or a layout."""
    if graph.coordinates is None:
        return layout(graph)
    finite = np.isfinite(graph.coordinates).all(axis=1)
    if not finite.all():
        vertex = int(np.argmin(finite))
        x, y = graph.coordinates[vertex]
        raise InvalidArgumentError(f"vertex {vertex} is at ({x}, {y}); coordinates must be finite")
    return graph.coordinates


def _trees_by_size(forest: Forest) -> tuple[Array, Array]:
    """Return the tree of each vertex and the size of each tree, the largest tree numbered 0."""
    if forest.n_vertices == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    sizes = np.bincount(forest.labels)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return rank[forest.labels], sizes[order]


def branch_sizes(forest: Forest) -> npt.NDArray[np.int64]:
    """Return, for each edge, the vertices on the smaller side of the tree when it is cut.

    O(n log n): a breadth-first search from the roots, then sums from the leaves up.
    """
    if forest.n_edges == 0:
        return np.zeros(0, np.int64)
    u, v = forest.edges.T
    labels = forest.labels
    rooted = RootedForest.of(forest.n_vertices, forest.edges, labels)
    parent = rooted.parents.tolist()
    below = [1] * (forest.n_vertices + 1)  # the last one is above the roots, whose parent is -1
    for vertex in np.argsort(-rooted.ranks[:-1]).tolist():  # leaves of the search first
        below[parent[vertex]] += below[vertex]
    hanging = np.asarray(below)[np.where(rooted.parents[v] == u, v, u)]
    return np.asarray(np.minimum(hanging, np.bincount(labels)[labels[u]] - hanging))


# Distinct for every kind of colour vision (Okabe, Ito 2008), the first one a little darker.
LEAVES, ENTERS = "#c8500a", "#0072b2"

Window = tuple[float, float, float, float]


def draw_change(
    graph: Any,
    before: Forest,
    after: Forest,
    path: str | Path,
    *,
    title: str | None = None,
    window: Window | None = None,
    max_edges: int = 300_000,
    symmetrize: bool = False,
) -> None:
    """Draw what of a spanning forest stays, what leaves it, and what enters it.

    Edges that leave are vermilion, edges that enter are blue. What stays is grey: the darker and
    wider the more vertices of the second forest hang on it. The graph's other edges are faint.
    The graph's coordinates are used where it has any; else :func:`clmst.drawing.layout` places
    the vertices.

    Parameters
    ----------
    graph : Graph, or any other one that lies on the host
        As of :func:`clmst.minimum_spanning_forest`. Edges of complete graphs are listed.
    before, after : Forest
        Of this graph under any two weights, as by :class:`clmst.RepeatedSolver`.
    path : str or Path
        Where to write; the suffix, .png, .svg or .pdf, chooses the format. The lines of large
        graphs are pixels in SVG and PDF too.
    title : str, optional
        "What changes in the minimum spanning tree" or the like when left out.
    window : tuple of float, optional
        Left, bottom, right and top of the area to draw, in the unit of the coordinates; the legend
        counts what is drawn. All of the graph when left out.
    max_edges : int
        How many edges outside both forests to draw at most. Where there are more, an even choice
        of them is drawn, and the caption says so.
    symmetrize : bool
        As of :func:`clmst.minimum_spanning_forest`.

    Raises
    ------
    InvalidArgumentError
        The suffix is unknown, `max_edges` is negative, the forests are not of this graph, a
        coordinate is not finite, or the window is not one of positive width and height.
    MissingDependencyError
        Matplotlib is not installed.

    Notes
    -----
    O(n + m) and the layout. Matplotlib's global state (pyplot, the backend) is not touched.
    """
    path = checked_path(path)
    title = checked_title(title)
    graph = as_listed(graph, symmetrize=symmetrize)
    ends, was = edges_in_forest(graph, before)
    _, remains = edges_in_forest(graph, after)
    hanging = np.zeros(len(ends), np.int64)
    hanging[remains] = branch_sizes(after)
    points = positions(graph)
    if window is None:
        page = Page.around(points)
    else:
        corners = _corners(window)
        visible = ((points >= corners[0]) & (points <= corners[1])).all(axis=1)
        page = Page.around(corners, int(visible.sum()))
        page.draw_rule()
        low, high = points[ends].min(axis=1), points[ends].max(axis=1)
        shown_low, shown_high = page.corners  # a segment may be seen where its box meets theirs
        seen = ((low <= shown_high) & (high >= shown_low)).all(axis=1)
        ends, was, remains, hanging = ends[seen], was[seen], remains[seen], hanging[seen]
    stays, changes = was & remains, was != remains
    others = ends[~was & ~remains]
    shown = even_choice(others, max_edges)

    page.draw_others(points[shown])
    page.draw_branches(points[ends[stays]], hanging[stays])
    page.draw_marked(points[ends[changes]], (LEAVES, ENTERS), remains[changes].astype(np.int64))
    sizes = (len(points), "vertex", "vertices"), (graph.n_edges, "edge", "edges")
    page.write(
        f"What changes in the {kind_of(after)}" if title is None else title,
        ("" if window is None else "A part of ") + " · ".join(counted(*size) for size in sizes),
        what_is_shown(len(shown), len(others)).replace("the forest", "both forests"),
    )
    page.draw_legend(
        (
            (f"{(was & ~remains).sum():,} leave", LEAVES),
            (f"{(remains & ~was).sum():,} enter", ENTERS),
            (f"{stays.sum():,} stay", None),
        )
    )
    page.save(path)


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
