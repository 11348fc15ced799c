"""Pictures of dendrograms."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.arguments import as_array, check_bools
from clmst.core.errors import InvalidArgumentError
from clmst.core.long_work import lasting
from clmst.core.weight_keys import Array
from clmst.drawing.clusters import DrawnClusters
from clmst.drawing.picture import counted
from clmst.drawing.sheet import Target, checked_title
from clmst.drawing.styled_axes import StyledAxes

_MANY = 200_000  # maximum number of merges; more lines would be indistinguishable
_COLUMNS = 4000  # number of columns of a picture within which lines are joined; screens have fewer
_NAMED = 60  # up to this number of points, the number of each point is written below it


@lasting("drawing a dendrogram")
def draw_dendrogram(
    linkage: Any,
    path: str | Path | None = None,
    *,
    labels: Any = None,
    names: Any = None,
    title: str | None = None,
    ax: Any = None,
    legend: bool = True,
) -> Any:
    """Draw a dendrogram, in which each merge is a bar at its height.

    Merges within one cluster have the hue of the cluster, and all others are grey. Merges of
    infinite height are drawn a little above all others.

    Parameters
    ----------
    linkage : array of shape (n - 1, 4)
        A linkage matrix, as :meth:`clmst.Forest.linkage` or SciPy returns it.
    path : str or Path, optional
        Where to write. The suffix, .png, .svg or .pdf, decides the format.
    labels : array of int, shape (n,), optional
        The cluster of each point, as :meth:`clmst.Forest.cut` returns it. A negative label means no
        cluster.
    names : sequence of length n, optional
        Names, which are written below the points. If there are too many to be readable, evenly
        chosen names are written, and the caption says how many. By default the numbers of the
        points are written if there are at most 60.
    title : str, optional
        "Dendrogram, single linkage" by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw. Without `ax` and `path`, pyplot makes a new figure, which notebooks show.
    legend : bool
        Whether to list the clusters below the picture.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the drawing. Their y is the height.

    Raises
    ------
    InvalidArgumentError
        `linkage` is not a linkage matrix or has more than 200,000 merges, the labels or names do
        not fit, the suffix is unknown, or `ax` is polar or three-dimensional.
    MissingDependencyError
        Matplotlib is not installed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from clmst import drawing
    >>> linkage = [[0, 1, 1.0, 2], [2, 3, 4.0, 3]]
    >>> axes = drawing.draw_dendrogram(linkage, names=["a", "b", "c"], ax=Figure().subplots())
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['a', 'b', 'c']
    """
    target, title = Target.checked(path, ax), checked_title(title)
    check_bools(legend=legend)
    shape = DrawnTree.of(linkage, labels, names)
    n = shape.clusters.of_point.size
    drawing = StyledAxes.chart(target, max(n - 1, 1), "height of a merge", inside=0.5)
    drawing.draw_lines(*shape.lines())
    drawing.draw_levels(shape.top, infinite=shape.above if shape.has_infinite else None)
    named = ""
    if names is not None or n <= _NAMED:
        named = drawing.name_places(shape.x[:n], shape.names)
    drawing.write(title or "Dendrogram, single linkage", shape.caption, named)
    if legend and labels is not None:
        drawing.list_hues(*shape.clusters.listed())
    return drawing.finish()


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnTree:
    """The position and the cluster of each node of a dendrogram.

    Nodes are numbered as in a linkage matrix of n points: 0 to n - 1 are points, and later nodes
    are merges.
    """

    children: Array  # the two nodes that each merge joins
    clusters: DrawnClusters
    caption: str  # the number of points and, with labels, of clusters
    cluster: Array  # for each node, the cluster of all its points, or -1 if they have several
    x: Array  # for each node
    y: Array  # for each node; `above` if its height is infinite
    top: float  # the maximum finite height, or 1 if all are 0
    above: float  # the y at which merges of infinite height are drawn
    has_infinite: bool
    names: tuple[str, ...]  # the names of the points

    @classmethod
    def of(cls, linkage: Any, labels: Any, names: Any) -> DrawnTree:
        """Compute the positions for a linkage matrix.

        `labels` has the cluster of each point, and `names` has the points' names. Both may be None.
        Raises :class:`InvalidArgumentError` if they do not fit together.
        """
        matrix = checked_linkage(linkage)
        n = len(matrix) + 1
        clusters = DrawnClusters.of(labels, n)
        heights = np.concatenate([np.zeros(n), matrix[:, 2]])
        top = float(heights[np.isfinite(heights)].max(initial=0)) or 1.0
        above, children = 1.1 * top, matrix[:, :2].astype(np.int64)
        x, of_node = _order(children).tolist(), clusters.of_point.tolist()
        for a, b in children.tolist():
            x.append((x[a] + x[b]) / 2)
            of_node.append(of_node[a] if of_node[a] == of_node[b] else -1)
        return cls(
            children=children, clusters=clusters, cluster=np.array(of_node), x=np.array(x),
            caption=counted(n, "point", "points") if labels is None else clusters.caption,
            y=np.where(np.isfinite(heights), heights, above), top=top, above=above,
            has_infinite=bool(np.isinf(heights).any()), names=checked_names(names, n),
        )  # fmt: skip

    def lines(self) -> tuple[Array, Array]:
        """Return the lines of the dendrogram, shape (3 (n - 1), 2, 2), and the cluster of each.

        Each merge has a bar and a leg down to each of its two children.
        """
        n = self.clusters.of_point.size
        (left, right), node = self.children.T, np.arange(n, 2 * n - 1)
        at, up = self.x, self.y
        ends = [
            ((at[left], up[node]), (at[right], up[node])),
            ((at[left], up[left]), (at[left], up[node])),
            ((at[right], up[right]), (at[right], up[node])),
        ]
        lines = np.concatenate([np.stack([np.stack(end, 1) for end in line], 1) for line in ends])
        return lines, np.concatenate([self.cluster[part] for part in (node, left, right)])

    def visible_lines(self) -> tuple[Array, Array]:
        """Return fewer lines that look the same as :meth:`lines`, and the cluster of each.

        The picture is divided into 4,000 columns and about 8,000 rows. Upright lines of one cluster
        in the same column are joined if they overlap, and so are horizontal lines in the same row.
        Bars that are narrower than a column are left out, because a leg covers them. Half of the
        borders between rows are evenly spaced. The other half divide the merges evenly, so that
        there are many rows where there are many merges.
        """
        lines, of_line = self.lines()
        n_merges = len(self.children)
        bars, legs = lines[:n_merges], lines[n_merges:]
        span = max(self.clusters.of_point.size - 1, 1)
        column = span / _COLUMNS
        heights = np.sort(bars[:, 0, 1])
        edges = np.union1d(
            np.linspace(0, self.above, _COLUMNS), heights[:: n_merges // _COLUMNS + 1]
        )
        wide = bars[:, 1, 0] - bars[:, 0, 0] >= column
        row = np.searchsorted(edges, bars[wide, 0, 1], side="right")
        flat, of_flat = _joined(bars[wide], of_line[:n_merges][wide], row, 0, column)
        cell = np.rint(legs[:, 0, 0] / column).astype(np.int64)
        upright, of_upright = _joined(legs, of_line[n_merges:], cell, 1, self.above / _COLUMNS)
        return np.concatenate([flat, upright]), np.concatenate([of_flat, of_upright])


def _joined(
    lines: Array, of_line: Array, cell: Array, axis: int, gap: float
) -> tuple[Array, Array]:
    """Join parallel lines that belong to the same cluster and lie in the same row or column.

    The lines run along `axis` (0 for x, 1 for y). `cell` is the number of the row or column of each
    line, and `of_line` its cluster. Lines are joined unless there is a gap of more than `gap`
    between them. Across the axis, a joined line lies where the longest of the lines was that it
    replaces. Returns the lines and the cluster of each.
    """
    if not len(lines):
        return lines, of_line
    low, high = lines[..., axis].min(axis=1), lines[..., axis].max(axis=1)
    order = np.lexsort((low, cell, of_line))
    lines, of_line, cell = lines[order], of_line[order], cell[order]
    low, high = low[order], high[order]
    is_new = np.ones(len(lines), bool)
    is_new[1:] = (of_line[1:] != of_line[:-1]) | (cell[1:] != cell[:-1])
    # A group is all lines of one cluster in one row or column. Each group is shifted beyond all
    # earlier groups, so that a single running maximum can be used for all groups.
    shift = (np.cumsum(is_new) - 1) * (high.max() - low.min() + 2 * gap + 1.0)
    reached = np.maximum.accumulate(high + shift)
    is_new[1:] |= (low + shift)[1:] > reached[:-1] + gap
    starts = np.flatnonzero(is_new)
    group = np.cumsum(is_new) - 1
    by_length = np.lexsort((low - high, group))
    joined = lines[by_length[np.searchsorted(group[by_length], np.arange(starts.size))]].copy()
    joined[:, 0, axis] = low[starts]
    joined[:, 1, axis] = np.maximum.reduceat(high, starts)
    return joined, of_line[starts]


def checked_linkage(linkage: Any) -> Array:
    """Check that a caller's argument is a linkage matrix, and return it as float64.

    Raises :class:`InvalidArgumentError` if it is not a linkage matrix, for example because a node
    is merged twice or before it exists, or if it has more than 200,000 merges.
    """
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
            "linkage merges a node twice, or before it exists, or contains NaN; it must be a "
            "linkage matrix in SciPy's format"
        )
    return matrix.astype(np.float64)


def checked_names(names: Any, n: int) -> tuple[str, ...]:
    """Return a text for each of `n` points: its name, or its number if `names` is None.

    Raises :class:`InvalidArgumentError` if the number of names is not `n`, or if str() fails.
    """
    array = np.arange(n) if names is None else as_array("names", names)
    if array.shape != (n,):
        raise InvalidArgumentError(
            f"names have shape {array.shape}; there must be one for each of {n} points"
        )
    try:
        return tuple(map(str, array.tolist()))
    except Exception as error:
        raise InvalidArgumentError("str() fails for a name; it must work for every name") from error


def _order(children: Array) -> Array:
    """Return the position of each point from left to right, so that no lines of the tree cross.

    Positions are 0, 1, 2 and so on. `children` has the two nodes that each merge joins.
    """
    if not len(children):
        return np.zeros(1)
    from scipy.cluster.hierarchy import leaves_list

    count = len(children)  # SciPy checks heights and sizes but does not use them
    merges = np.column_stack([children, np.arange(float(count)), np.full(count, 2.0)])
    return np.argsort(leaves_list(merges)).astype(float)
