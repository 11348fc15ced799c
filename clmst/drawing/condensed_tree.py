"""Pictures of the condensed trees of HDBSCAN."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.arguments import as_array, check_bools, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.long_work import lasting
from clmst.core.weight_keys import Array
from clmst.drawing.picture import counted
from clmst.drawing.sheet import Target, checked_title
from clmst.drawing.styled_axes import StyledAxes

_FIELDS = ("parent", "child", "value", "cluster_size")


@lasting("drawing a condensed tree")
def draw_condensed_tree(
    tree: Any,
    path: str | Path | None = None,
    *,
    selected: Any = (),
    title: str | None = None,
    ax: Any = None,
    legend: bool = True,
) -> Any:
    """Draw a condensed tree, in which each cluster is a column.

    The width of a column is the number of points in the cluster. Columns run downwards to greater
    density, and become narrower where points leave the cluster.

    Parameters
    ----------
    tree : structured array
        ``condensed_tree_`` of :class:`clmst.cluster.HDBSCAN`.
    path : str or Path, optional
        Where to write. The suffix, .png, .svg or .pdf, decides the format.
    selected : array of int, optional
        The clusters to draw in hues, such as ``selected_clusters_`` of the model. Cluster k of this
        array has label k. The clusters are given as nodes of the tree. Nodes that are clusters have
        numbers from the number of points on, because lower numbers are points.
    title : str, optional
        "Condensed tree" by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw. Without `ax` and `path`, pyplot makes a new figure, which notebooks show.
    legend : bool
        Whether to list the selected clusters below the picture, by their labels.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the drawing. Their y is the density, and their x counts points.

    Raises
    ------
    InvalidArgumentError
        `tree` is not a condensed tree, a selected node is not a cluster of the tree, the suffix is
        unknown, or `ax` is polar or three-dimensional.
    MissingDependencyError
        Matplotlib is not installed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import numpy as np
    >>> from clmst import drawing
    >>> from clmst.cluster import HDBSCAN
    >>> points = np.array([[x + far, y] for far in (0, 9) for x in range(3) for y in range(3)])
    >>> model = HDBSCAN(min_cluster_size=3).fit(points)
    >>> axes = drawing.draw_condensed_tree(
    ...     model.condensed_tree_, selected=model.selected_clusters_, ax=Figure().subplots()
    ... )
    >>> axes.get_ylabel()
    'density: 1 / height'
    """
    target, title = Target.checked(path, ax), checked_title(title)
    check_bools(legend=legend)
    rows = _checked(tree)
    root = int(rows["parent"].min())
    n_points, count = root, int(max(rows["parent"].max(), rows["child"].max())) - root + 1
    chosen = _checked_selection(selected, root, root + count)
    parent, birth, size = np.zeros(count, np.int64), np.zeros(count), np.full(count, n_points)
    is_cluster = rows["child"] >= root
    own = rows["child"][is_cluster] - root
    parent[own] = rows["parent"][is_cluster] - root
    birth[own], size[own] = rows["value"][is_cluster], rows["cluster_size"][is_cluster]
    middle = _left_edges(parent, size) + size / 2
    top = float(rows["value"][np.isfinite(rows["value"])].max(initial=0)) or 1.0
    drawing = StyledAxes.chart(target, n_points, "density: 1 / height")
    order = np.argsort(rows["parent"], kind="stable")
    starts = np.searchsorted(rows["parent"][order], root + np.arange(count + 1))
    for cluster in range(count):
        leaves = rows[order[starts[cluster] : starts[cluster + 1]]]
        outline = _outline(leaves, birth[cluster], int(size[cluster]), top)
        hue = chosen.index(root + cluster) if root + cluster in chosen else -1
        drawing.draw_column(middle[cluster], outline[:, 1] / 2, outline[:, 0], hue)
    drawing.draw_levels(top, downwards=True)
    caption = f"{counted(n_points, 'point', 'points')} · "
    caption += f"{counted(count, 'cluster', 'clusters')}, {len(chosen):,} selected"
    drawing.write(title or "Condensed tree", caption)
    if legend and chosen:
        names = [f"{k} ({int(size[c - root]):,})" for k, c in enumerate(chosen)]
        drawing.list_hues(range(len(chosen)), names)
    return drawing.finish()


def _checked(tree: Any) -> Array:
    """Check that a caller's argument is a condensed tree, and return it as a structured array.

    Raises InvalidArgumentError if it is not.
    """
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
            "a cluster of the tree has a smaller number than its parent; a cluster's number must "
            "be greater than its parent's"
        )
    return rows


def _checked_selection(selected: Any, root: int, end: int) -> list[int]:
    """Check the clusters that a caller selects, and return them as a list.

    Raises :class:`InvalidArgumentError` unless all are clusters of the tree, which have the numbers
    from `root` to ``end - 1``.
    """
    array = as_array("selected", selected)
    if array.size and (array.dtype.kind not in "iu" or array.ndim != 1):
        raise InvalidArgumentError(
            f"selected is {shown(selected)}; it must be an array of integers: selected_clusters_"
        )
    numbers: list[int] = array.astype(np.int64).tolist() if array.size else []
    for number in numbers:
        if not root <= number < end:
            raise InvalidArgumentError(
                f"selected has {number}, which is not a cluster of the tree; its clusters are "
                f"{root} to {end - 1}, and selected_clusters_ of the model has those with labels "
                "0, 1 and so on"
            )
    return numbers


def _left_edges(parent: Array, size: Array) -> Array:
    """Return the x coordinate of the left edge of each cluster's column.

    The columns of the children of a cluster lie side by side, centred within the column of the
    cluster. `parent` and `size` have the parent and the number of points of each cluster.
    """
    inside = np.bincount(parent[1:], weights=size[1:], minlength=parent.size)
    left, used = np.zeros(parent.size), (size - inside) / 2
    for cluster in range(1, parent.size):
        left[cluster] = left[parent[cluster]] + used[parent[cluster]]
        used[parent[cluster]] += size[cluster]
    return left


def _outline(leaves: Array, birth: float, size: int, top: float) -> Array:
    """Return the outline of a cluster's column as an array of shape (k, 2).

    The first column has densities, and the second how many points remain in the cluster there. The
    cluster begins with `size` points at the density `birth`. `leaves` are the rows of the tree for
    the points and clusters that leave it. The outline ends at the density `top`.
    """
    risen = leaves[np.argsort(leaves["value"], kind="stable")]
    times = np.minimum(risen["value"], top)
    left = size - np.cumsum(risen["cluster_size"])
    before = np.concatenate([[size], left[:-1]])
    steps = np.stack([np.stack([times, before], 1), np.stack([times, left], 1)], 1).reshape(-1, 2)
    return np.concatenate([[[min(birth, top), size]], np.maximum(steps, 0)])
