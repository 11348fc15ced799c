"""Pictures of a spanning forest and its graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core import pairs
from clmst.core.arguments import check_bools, check_integer, check_kind
from clmst.core.coercion import as_graph
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.long_work import lasting
from clmst.core.paths import RootedForest
from clmst.core.points import Points as PointSet
from clmst.core.weight_keys import Array
from clmst.drawing.layout import Points, layout, projected, projection_of
from clmst.drawing.sheet import Target, checked_title
from clmst.drawing.styled_axes import StyledAxes

_DOTTED = 3_000  # up to this number of vertices each gets a dot, with more only isolated ones
_OTHERS = 300_000  # default maximum number of edges outside the forest
_NAMED = 60  # up to this number of vertices each is named


@lasting("drawing a forest")
def draw_forest(
    graph: Any,
    forest: Forest,
    path: str | Path | None = None,
    *,
    title: str | None = None,
    max_edges: int | None = None,
    symmetrize: bool = False,
    ax: Any = None,
    legend: bool = True,
) -> Any:
    """Draw a spanning forest and all other edges of the graph.

    An edge of the forest is darker and wider if more vertices are on its smaller side. So a tree
    looks as if it had twigs, branches and a trunk. Each tree has its own hue. The other edges of
    the graph are faint. For a complete graph (:class:`clmst.Points`, :class:`clmst.DenseGraph`, or
    a matrix without gaps) only the forest is drawn, unless `max_edges` asks for other pairs.

    Vertices are drawn at the coordinates of the graph, if it has coordinates. Points with more than
    two dimensions are projected onto their first two principal components. For points on a sphere,
    north is up. All other vertices are placed by :func:`clmst.drawing.layout`. The vertices of a
    matrix are placed by the layout of the forest.

    Parameters
    ----------
    graph : Graph or other graph in host memory
        Any graph that :func:`clmst.minimum_spanning_forest` accepts, unless its arrays are on a
        device.
    forest : Forest
        A forest of this graph.
    path : str or Path, optional
        Where to write. The suffix, .png, .svg or .pdf, decides the format. In a large graph the
        lines are pixels in SVG and PDF too.
    title : str, optional
        By default "Minimum spanning tree" or a similar title.
    max_edges : int, optional
        Maximum number of edges outside the forest to draw. If there are more, evenly chosen ones
        are drawn, and the caption says so. The edges of the forest are always drawn. The default is
        300,000, or 0 for a complete graph. A positive number lists all pairs of a complete graph,
        which takes O(n**2) memory. The layout of a matrix then follows all pairs.
    symmetrize : bool
        Whether a matrix that is not symmetric is accepted, as in
        :func:`clmst.minimum_spanning_forest`.
    ax : matplotlib.axes.Axes, optional
        Where to draw. Without `ax` and `path`, pyplot makes a new figure, which notebooks show.
    legend : bool
        Whether to explain widths and shades above the picture, and list the trees below it.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the drawing, in the units of the coordinates. On a sphere x is the longitude.

    Raises
    ------
    InvalidArgumentError
        The suffix is unknown, `max_edges` is negative, the forest does not belong to this graph, a
        coordinate is not finite, or `ax` is polar or three-dimensional.
    MissingDependencyError
        Matplotlib is not installed.

    Notes
    -----
    O(n + m) and the layout, or O(n log n) for the forest of points. With `path` or `ax`,
    Matplotlib's global state (pyplot, the backend) is not touched.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import clmst
    >>> from clmst import drawing, generators
    >>> graph = generators.road(n=100)
    >>> forest = clmst.minimum_spanning_forest(graph)
    >>> axes = drawing.draw_forest(graph, forest, ax=Figure().subplots())
    >>> axes.get_title(loc="left")
    'Minimum spanning tree'
    """
    target, title = Target.checked(path, ax), checked_title(title)
    check_bools(legend=legend)
    drawn = DrawnGraph.of(graph, (forest,), max_edges, symmetrize=symmetrize)
    graph, points = drawn.graph, drawn.points
    ends, chosen = edges_in_forest(graph, forest)
    others = ends[~chosen]
    shown = even_choice(others, drawn.max_edges)
    labels, sizes = _trees_by_size(forest)

    drawing = StyledAxes.map_around(target, points)
    drawing.draw_others(points[shown])
    hanging = branch_sizes(forest)
    drawing.draw_branches(points[forest.edges], hanging, labels[forest.edges[:, 0]])
    dotted = graph.n_vertices <= _DOTTED
    visible = np.arange(graph.n_vertices) if dotted else np.flatnonzero(sizes[labels] == 1)
    drawing.draw_vertices(points[visible], labels[visible], below=True)
    if graph.n_vertices <= _NAMED:
        drawing.draw_names(points, names_of(graph), labels)
    sizes_text = caption(graph.n_vertices, drawn.n_edges, forest)
    omitted = what_is_shown(len(shown), len(others) + drawn.n_edges - graph.n_edges)
    drawing.write(
        kind_of(forest).capitalize() if title is None else title,
        " · ".join(filter(None, (sizes_text, drawn.projection))),
        omitted,
    )
    if legend:
        drawing.draw_key(int(hanging.max(initial=0)))
        drawing.list_hues(*_listed(sizes))
    return drawing.finish()


@dataclass(frozen=True, kw_only=True)
class DrawnGraph:
    """A graph prepared for a picture: the edges that may be drawn, and the vertices' positions."""

    graph: Graph  # of a complete graph it may have only the edges of the forests
    n_edges: int  # number of edges of the caller's graph
    max_edges: int  # maximum number of edges outside the forests to draw
    points: Points  # the positions of the vertices
    projection: str  # a text about the projection of points for a caption, or ""

    @classmethod
    def of(
        cls, graph: Any, forests: Sequence[Forest], max_edges: int | None, *, symmetrize: bool
    ) -> DrawnGraph:
        """Prepare a graph of any kind to be drawn with some forests.

        `max_edges` is the maximum number of edges outside the forests that are drawn. None means
        the default for the kind of graph. `symmetrize` is as in :func:`draw_forest`. The pairs of a
        complete graph are listed only if `max_edges` is positive.
        """
        own = as_graph(graph, symmetrize=symmetrize)
        is_complete = not isinstance(own, Graph)
        default = 0 if is_complete else _OTHERS
        most = default if max_edges is None else check_integer("max_edges", max_edges, low=0)
        if isinstance(own, Graph):
            listed = own
        else:
            listed = own.to_graph() if most else _pairs_of(own, forests)
        are_points = isinstance(own, PointSet)
        return cls(
            graph=listed,
            n_edges=own.n_edges,
            max_edges=most,
            points=projected(own) if are_points else positions(listed),
            projection=projection_of(own) if are_points else "",
        )


def _pairs_of(graph: PointSet | DenseGraph, forests: Sequence[Forest]) -> Graph:
    """Return a graph with only the edges of some forests of a complete graph.

    Raises :class:`InvalidArgumentError` if a forest does not belong to the graph.
    """
    n = graph.n_vertices
    ends = []
    for forest in forests:
        _check_size(forest, n)
        u, v = forest.checked_edges().T
        if not np.array_equal(pairs.position(n, u, v), forest.edge_ids):
            raise _other_forest()
        ends.append(forest.edges)
    u, v = np.unique(np.concatenate(ends), axis=0).T
    listed = Graph.from_edges(u, v, graph.weights_of(u, v), n_vertices=n)
    return listed.replace_unchecked(edge_ids=pairs.position(n, u, v), n_input=graph.n_edges)


def caption(n_vertices: int, n_edges: int, forest: Forest) -> str:
    """Return the caption of a picture of a forest: sizes, number of trees and total weight.

    `n_vertices` and `n_edges` are the sizes of the graph.
    """
    total = forest.total_weight
    digits = "," if isinstance(total, int) else ",.7g"
    parts = (
        counted(n_vertices, "vertex", "vertices"),
        counted(n_edges, "edge", "edges"),
        counted(forest.n_components, "tree", "trees"),
        f"total weight {total:{digits}}",
    )
    return " · ".join(parts)


def what_is_shown(n_shown: int, n_others: int) -> str:
    """Return a text for a caption that says how many edges outside the forest are drawn.

    `n_shown` of `n_others` edges are drawn. If these numbers are equal, the text is "".
    """
    if n_shown == n_others:
        return ""
    if not n_shown:
        return f"the {n_others:,} edges outside the forest are not drawn"
    return f"{n_shown:,} of the {n_others:,} edges outside the forest are drawn"


def counted(number: int, one: str, many: str) -> str:
    """Return a number with a noun, such as "1 edge" or "2 edges".

    `one` is the singular of the noun and `many` the plural.
    """
    return f"{number:,} {one if number == 1 else many}"


def names_of(graph: Graph) -> list[str]:
    """Return the names of the vertices as text: their labels or, without labels, their numbers.

    Raises :class:`InvalidArgumentError` if str() fails for a label.
    """
    labels = range(graph.n_vertices) if graph.vertex_labels is None else graph.vertex_labels
    try:
        return [str(label) for label in labels]
    except Exception as error:
        raise InvalidArgumentError(
            "str() fails for a vertex label; it must work for every label"
        ) from error


def kind_of(forest: Forest) -> str:
    """Return the name of a forest, such as "minimum spanning tree"."""
    kind = "maximum" if forest.maximum else "minimum"
    return f"{kind} spanning {'tree' if forest.n_components == 1 else 'forest'}"


def edges_in_forest(graph: Graph, forest: Forest) -> tuple[Array, Array]:
    """Return the ends of the graph's edges, shape (m, 2), and a mask of the edges in the forest.

    Raises :class:`InvalidArgumentError` if the forest does not belong to the graph.
    """
    _check_size(forest, graph.n_vertices)
    u, v, _, ids = graph.edges()
    chosen = np.isin(ids, forest.edge_ids)
    ends = np.stack([u, v], axis=1).astype(np.int64)
    if not np.array_equal(ends[chosen], forest.edges):
        raise _other_forest()
    return ends, chosen


def _check_size(forest: Any, n: int) -> None:
    """Raise :class:`InvalidArgumentError` unless `forest` is a forest with `n` vertices."""
    check_kind("forest", forest, Forest)
    if forest.n_vertices != n:
        raise InvalidArgumentError(
            f"the forest has {forest.n_vertices} vertices but the graph has {n}; "
            "it must be a forest of this graph"
        )


def _other_forest() -> InvalidArgumentError:
    return InvalidArgumentError(
        "the edge ids of the forest belong to other edges of the graph than its endpoints; "
        "it must be a forest of this graph"
    )


def even_choice(edges: Array, most: int) -> Array:
    """Return all edges if there are at most `most`, otherwise `most` evenly chosen ones."""
    if len(edges) <= most:
        return edges
    return edges[np.arange(most) * len(edges) // max(most, 1)]


def positions(graph: Graph) -> Points:
    """Return the positions of the vertices, shape (n, 2): the graph's coordinates, or a layout.

    Raises :class:`InvalidArgumentError` if a coordinate is not finite.
    """
    if graph.coordinates is None:
        return layout(graph)
    finite = np.isfinite(graph.coordinates).all(axis=1)
    if not finite.all():
        vertex = int(np.argmin(finite))
        x, y = graph.coordinates[vertex]
        raise InvalidArgumentError(f"vertex {vertex} is at ({x}, {y}); coordinates must be finite")
    return graph.coordinates


def _trees_by_size(forest: Forest) -> tuple[Array, Array]:
    """Return the number of each vertex's tree and the size of each tree.

    The trees of the forest are numbered by size. The largest tree has the number 0.
    """
    if forest.n_vertices == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    sizes = np.bincount(forest.labels)
    order = np.argsort(-sizes, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return rank[forest.labels], sizes[order]


def _listed(sizes: Array) -> tuple[list[int], list[str]]:
    """Return the entries of a legend: the numbers of trees, and texts with their sizes.

    Only trees with at least one edge have an entry. Both lists are empty if the forest has only one
    tree. `sizes` has the number of vertices of each tree.
    """
    grown = np.flatnonzero(sizes > 1).tolist() if sizes.size > 1 else []
    return grown, [f"{counted(int(sizes[tree]), 'vertex', 'vertices')}" for tree in grown]


def branch_sizes(forest: Forest) -> npt.NDArray[np.int64]:
    """Return, for each edge of a forest, the number of vertices on the smaller side of the edge.

    O(n log n): a breadth-first search from the roots, then sums from the leaves up.
    """
    if forest.n_edges == 0:
        return np.zeros(0, np.int64)
    u, v = forest.edges.T
    labels = forest.labels
    rooted = RootedForest.of(forest.n_vertices, forest.edges, labels)
    parent = rooted.parents.tolist()
    below = [1] * (forest.n_vertices + 1)  # the last entry is for the parent -1 of the roots
    # Go from the last vertex of the search to the first, so that children come before parents.
    for vertex in np.argsort(-rooted.ranks[:-1]).tolist():
        below[parent[vertex]] += below[vertex]
    hanging = np.asarray(below)[np.where(rooted.parents[v] == u, v, u)]
    return np.asarray(np.minimum(hanging, np.bincount(labels)[labels[u]] - hanging))
