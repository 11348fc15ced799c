"""Pictures of clusters: maps of points, dendrograms and condensed trees."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.arguments import as_array, check_kind, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.drawing.page import Page
from clmst.drawing.picture import checked_path, checked_title, counted


def draw_clusters(
    points: Any,
    labels: Any,
    path: str | Path,
    *,
    forest: Forest | None = None,
    title: str | None = None,
) -> None:
    """Draw points in the hues of their clusters; noise is grey.

    Points of more than two dimensions are projected on their first two principal components.

    Parameters
    ----------
    points : Points, or array of shape (n, d)
        Finite.
    labels : array of int, shape (n,)
        The cluster of each point; below 0 for none.
    path : str or Path
        Where to write; the suffix, .png, .svg or .pdf, chooses the format.
    forest : Forest, optional
        Its edges are drawn below the points.
    title : str, optional

    Raises
    ------
    InvalidArgumentError
        The points are not finite numbers, labels or forest do not fit, or the suffix is unknown.
    MissingDependencyError
        Matplotlib is not installed.
    """
    path, title = checked_path(path), checked_title(title)
    places = projected(points)
    of_point = checked_labels(labels, len(places))
    page = Page.around(places)
    if forest is not None:
        check_kind("forest", forest, Forest)
        if forest.n_vertices != len(places):
            raise InvalidArgumentError(
                f"the forest has {forest.n_vertices} vertices, and there are {len(places)} points; "
                "it must be a forest of these points"
            )
        page.draw_others(places[forest.checked_edges()])
    is_noise = of_point < 0
    page.draw_noise(places[is_noise])
    page.draw_vertices(places[~is_noise], of_point[~is_noise])
    n_clusters = np.unique(of_point[~is_noise]).size
    caption = f"{counted(len(places), 'point', 'points')} · "
    caption += counted(n_clusters, "cluster", "clusters")
    noise = f" · {counted(int(is_noise.sum()), 'point', 'points')} of noise"
    page.write(title or "Clusters", caption + (noise if is_noise.any() else ""))
    page.save(path)


def projected(points: Any) -> Array:
    """Return points in the plane, shape (n, 2)."""
    array = points.coordinates if isinstance(points, Points) else as_array("points", points)
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        raise InvalidArgumentError(
            f"points have shape {array.shape} and dtype {array.dtype}; they must be rows of finite "
            "numbers"
        )
    places = array.astype(np.float64)
    if places.shape[1] > 2:
        places = places - places.mean(axis=0)
        axes = np.linalg.eigh(places.T @ places)[1][:, :-3:-1]
        places = places @ axes
    padding = np.zeros((len(places), max(2 - places.shape[1], 0)))
    return np.concatenate([places, padding], axis=1)


WIDTH, HEIGHT = 9.3, 5.0  # of the drawing, inches
_FIELDS = ("parent", "child", "value", "cluster_size")  # of a condensed tree
_MANY = 200_000  # points beyond which a picture has more lines than anyone can see


def draw_dendrogram(
    linkage: Any, path: str | Path, *, labels: Any = None, title: str | None = None
) -> None:
    """Draw a dendrogram: a bar for each merge, at its height.

    Merges within one cluster have the cluster's hue, all others are grey. Infinite heights are
    drawn a little above all others.

    Parameters
    ----------
    linkage : array of shape (n - 1, 4)
        Of :meth:`clmst.Forest.linkage` or SciPy.
    path : str or Path
        Where to write; the suffix, .png, .svg or .pdf, chooses the format.
    labels : array of int, shape (n,), optional
        The cluster of each point, as of :meth:`clmst.Forest.cut`; below 0 for none.
    title : str, optional

    Raises
    ------
    InvalidArgumentError
        This is no linkage matrix, or one of more than 200,000 points; the labels do not fit; or
        the suffix is unknown.
    MissingDependencyError
        Matplotlib is not installed.
    """
    path, title = checked_path(path), checked_title(title)
    matrix = checked_linkage(linkage)
    n = len(matrix) + 1
    of_point = checked_labels(labels, n)
    x, heights = _places(matrix)
    is_finite, top = np.isfinite(heights), greatest(heights)
    highest = HEIGHT if is_finite.all() else 0.9 * HEIGHT  # infinite heights are above all others
    tops = np.where(is_finite, heights / top * highest, HEIGHT)
    of_node = _cluster_of_nodes(matrix, of_point)
    page = Page.around(np.array([[0.0, 0.0], [WIDTH, HEIGHT]]), n)
    for level in round_levels(top):
        page.draw_level(level / top * highest, f"{level:g}")
    children = matrix[:, :2].astype(np.int64)
    node = np.arange(n, 2 * n - 1)
    left, right = x[children[:, 0]], x[children[:, 1]]
    bar = np.stack([np.stack([left, tops[node]], 1), np.stack([right, tops[node]], 1)], 1)
    legs = [
        np.stack([np.stack([x[c], tops[c]], 1), np.stack([x[c], tops[node]], 1)], 1)
        for c in children.T
    ]
    lines = np.concatenate([bar, *legs])
    cluster = np.concatenate([of_node[node], of_node[children[:, 0]], of_node[children[:, 1]]])
    page.draw_branches(lines[cluster < 0], np.ones(int((cluster < 0).sum())))
    inside = cluster >= 0
    page.draw_branches(lines[inside], np.ones(int(inside.sum())), cluster[inside])
    joined = counted(n, "point", "points")
    n_clusters = np.unique(of_point[of_point >= 0]).size
    named = "" if labels is None else f" · {counted(n_clusters, 'cluster', 'clusters')}"
    page.write(
        title or "Dendrogram, single linkage", f"{joined}{named}", "upwards: the height of a merge"
    )
    page.save(path)


def checked_linkage(linkage: Any) -> Array:
    """Return a linkage matrix, or raise unless each node is merged once, after it is made."""
    matrix = as_array("linkage", linkage)
    if matrix.ndim != 2 or matrix.shape[1] != 4 or matrix.dtype.kind not in "iuf":
        raise InvalidArgumentError(
            f"linkage has shape {matrix.shape} and dtype {matrix.dtype}; it must be numbers of "
            "shape (n - 1, 4)"
        )
    if len(matrix) > _MANY:
        raise InvalidArgumentError(
            f"linkage is of {len(matrix) + 1} points; a picture shows up to {_MANY}"
        )
    n, nodes = len(matrix) + 1, matrix[:, :2]
    made = np.arange(n, 2 * n - 1)[:, None]
    is_node = np.isfinite(nodes) & (nodes >= 0) & (nodes < made) & (nodes == np.floor(nodes))
    if not is_node.all() or np.unique(nodes).size != nodes.size or np.isnan(matrix).any():
        raise InvalidArgumentError(
            "linkage merges a node twice, or before it is made, or has a NaN; it must be a linkage "
            "matrix as of SciPy"
        )
    return matrix.astype(np.float64)


def checked_labels(labels: Any, n: int) -> Array:
    """Return the cluster of each point; -1 everywhere if there are no labels.

    Labels may be any integers. Negative ones mean no cluster; great ones are numbered anew.
    """
    if labels is None:
        return np.full(n, -1)
    array = as_array("labels", labels)
    if array.shape != (n,) or array.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"labels are {shown(labels)} of shape {array.shape}; there must be one integer for "
            f"each of {n} points"
        )
    if array.size == 0 or int(array.max()) < n:
        return array.astype(np.int64)
    occurring, numbers = np.unique(array, return_inverse=True)
    return np.asarray(numbers - int((occurring < 0).sum()), np.int64)


def _places(matrix: Array) -> tuple[Array, Array]:
    """Return the abscissa and the height of each node; the points are in the order of the tree."""
    n, x = len(matrix) + 1, [0.0]
    if n > 1:  # SciPy wants heights and sizes that are plausible, and uses neither here
        from scipy.cluster.hierarchy import leaves_list

        merges = np.column_stack([matrix[:, :2], np.arange(n - 1.0), np.full(n - 1, 2.0)])
        x = (np.argsort(leaves_list(merges)) * WIDTH / (n - 1)).tolist()
    for a, b in matrix[:, :2].astype(np.int64).tolist():
        x.append((x[a] + x[b]) / 2)
    return np.array(x), np.concatenate([np.zeros(n), matrix[:, 2]])


def greatest(heights: Array) -> float:
    """Return the greatest finite height, or 1 if all are 0."""
    return float(heights[np.isfinite(heights)].max(initial=0)) or 1.0


def round_levels(top: float) -> list[float]:
    """Return three to six round numbers from 0 to at most `top`, at equal distances."""
    digit = 10.0 ** math.floor(math.log10(top))
    step = next(part * digit for part in (0.2, 0.5, 1, 2) if 5 * part * digit >= top)
    return [float(f"{k * step:.12g}") for k in range(int(top / step * (1 + 1e-12)) + 1)]


def _cluster_of_nodes(matrix: Array, of_point: Array) -> Array:
    """Return the cluster that all points below a node are in; -1 if there are several."""
    nodes: list[int] = of_point.tolist()
    for a, b in matrix[:, :2].astype(np.int64).tolist():
        nodes.append(nodes[a] if nodes[a] == nodes[b] else -1)
    return np.array(nodes, np.int64)


def draw_condensed_tree(
    tree: Any, path: str | Path, *, selected: Any = (), title: str | None = None
) -> None:
    """Draw a condensed tree: a column a cluster, as wide as it has points, down to greater density.

    Parameters
    ----------
    tree : structured array
        ``condensed_tree_`` of :class:`clmst.cluster.HDBSCAN`.
    path : str or Path
        Where to write; the suffix, .png, .svg or .pdf, chooses the format.
    selected : array of int, optional
        Clusters to be drawn in hues: ``selected_clusters_``.
    title : str, optional

    Raises
    ------
    InvalidArgumentError
        This is no condensed tree, or the suffix is unknown.
    MissingDependencyError
        Matplotlib is not installed.
    """
    path, title = checked_path(path), checked_title(title)
    rows = _checked(tree)
    chosen = _checked_selection(selected)
    root = int(rows["parent"].min())
    n_points, count = root, int(max(rows["parent"].max(), rows["child"].max())) - root + 1
    parent, birth, size = np.zeros(count, np.int64), np.zeros(count), np.full(count, n_points)
    is_cluster = rows["child"] >= root
    own = rows["child"][is_cluster] - root
    parent[own] = rows["parent"][is_cluster] - root
    birth[own], size[own] = rows["value"][is_cluster], rows["cluster_size"][is_cluster]
    left = _left_edges(parent, size)
    top = greatest(rows["value"])
    page = Page.around(np.array([[0.0, 0.0], [WIDTH, HEIGHT]]), n_points)
    for level in round_levels(top):
        page.draw_level((1 - level / top) * HEIGHT, f"{level:g}")
    order = np.argsort(rows["parent"], kind="stable")
    starts = np.searchsorted(rows["parent"][order], root + np.arange(count + 1))
    for cluster in range(count):
        leaves = rows[order[starts[cluster] : starts[cluster + 1]]]
        outline = _outline(leaves, birth[cluster], int(size[cluster]), top)
        middle = (left[cluster] + size[cluster] / 2) / n_points * WIDTH
        half = outline[:, 1] / n_points * WIDTH / 2
        hue = chosen.index(root + cluster) if root + cluster in chosen else None
        page.draw_column(middle, half, HEIGHT * (1 - outline[:, 0] / top), hue)
    caption = f"{counted(n_points, 'point', 'points')} · "
    caption += f"{counted(count, 'cluster', 'clusters')}, {len(chosen):,} selected"
    page.write(title or "Condensed tree", caption, "downwards: density, 1 / height")
    page.save(path)


def _checked(tree: Any) -> Array:
    """Return the rows of a condensed tree, or raise."""
    rows = as_array("tree", tree)
    if rows.dtype.names != _FIELDS or rows.ndim != 1 or not rows.size:
        raise InvalidArgumentError(
            f"tree has dtype {rows.dtype} and shape {rows.shape}; it must be the condensed tree of "
            f"a fitted HDBSCAN, with the fields {', '.join(_FIELDS)}"
        )
    root = int(rows["parent"].min())
    below = rows["child"][rows["child"] >= root]
    if root < 1 or (rows["parent"][rows["child"] >= root] >= below).any():
        raise InvalidArgumentError(
            "a cluster of the tree comes from a later one; a cluster's number is greater than that "
            "of the one that it comes from"
        )
    return rows


def _checked_selection(selected: Any) -> list[int]:
    """Return the numbers of clusters, or raise unless they are integers."""
    array = as_array("selected", selected)
    if array.size and (array.dtype.kind not in "iu" or array.ndim != 1):
        raise InvalidArgumentError(
            f"selected is {shown(selected)}; it must be an array of integers: selected_clusters_"
        )
    numbers: list[int] = array.astype(np.int64).tolist() if array.size else []
    return numbers


def _left_edges(parent: Array, size: Array) -> Array:
    """Return the points left of each cluster; clusters from one lie in its middle."""
    inside = np.bincount(parent[1:], weights=size[1:], minlength=parent.size)
    left, used = np.zeros(parent.size), (size - inside) / 2
    for cluster in range(1, parent.size):
        left[cluster] = left[parent[cluster]] + used[parent[cluster]]
        used[parent[cluster]] += size[cluster]
    return left


def _outline(leaves: Array, birth: float, size: int, top: float) -> Array:
    """Return densities and how many points a cluster has from each on, shape (k, 2)."""
    risen = leaves[np.argsort(leaves["value"], kind="stable")]
    times = np.minimum(risen["value"], top)
    left = size - np.cumsum(risen["cluster_size"])
    before = np.concatenate([[size], left[:-1]])
    steps = np.stack([np.stack([times, before], 1), np.stack([times, left], 1)], 1).reshape(-1, 2)
    return np.concatenate([[[min(birth, top), size]], np.maximum(steps, 0)])
