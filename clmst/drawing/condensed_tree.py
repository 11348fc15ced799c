"""The picture of a condensed tree: clusters as columns that lose points as density rises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.arguments import as_array, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.weight_keys import Array
from clmst.drawing.dendrogram import HEIGHT, WIDTH, greatest, round_levels
from clmst.drawing.page import Page
from clmst.drawing.picture import checked_path, checked_title, counted

_FIELDS = ("parent", "child", "value", "cluster_size")


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
