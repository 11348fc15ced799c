"""Pictures of the persistence of clusters over all minimum cluster sizes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.arguments import as_array, check_bools, check_integer
from clmst.core.errors import InvalidArgumentError
from clmst.core.long_work import lasting
from clmst.core.weight_keys import Array
from clmst.drawing.palette import FAINT_INK, PALETTE
from clmst.drawing.picture import counted
from clmst.drawing.sheet import Target, checked_title
from clmst.drawing.styled_axes import StyledAxes

_FIELDS = ("min_cluster_size", "persistence", "n_clusters", "is_layer")


@lasting("drawing a persistence trace")
def draw_persistence(
    trace: Any,
    path: str | Path | None = None,
    *,
    selected: int | None = None,
    title: str | None = None,
    ax: Any = None,
    legend: bool = True,
) -> Any:
    """Draw how persistent the clusters are for each minimum cluster size.

    For each size, the picture shows the sum of the persistences of all leaves. A leaf is a cluster
    that contains no other cluster. A local maximum of the sum is called a layer. Above each layer
    stands its number of clusters.

    Parameters
    ----------
    trace : structured array
        ``trace_`` of :class:`clmst.cluster.PersistentLeaves`.
    path : str or Path, optional
        Where to write. The suffix, .png, .svg or .pdf, decides the format.
    selected : int, optional
        A minimum cluster size to show in a hue, such as ``min_cluster_size_`` of the model.
    title : str, optional
        "Persistence of clusters" by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw. Without `ax` and `path`, pyplot makes a new figure, which notebooks show.
    legend : bool
        Whether to name the selected size above the picture.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the drawing. Their y is the sum, and their x the binary logarithm of the size,
        which is 0 for the least size.

    Raises
    ------
    InvalidArgumentError
        `trace` is not the trace of a fitted PersistentLeaves, `selected` is outside of its sizes,
        the suffix is unknown, or `ax` is polar or three-dimensional.
    MissingDependencyError
        Matplotlib is not installed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import numpy as np
    >>> from clmst import drawing
    >>> from clmst.cluster import PersistentLeaves
    >>> points = np.array([[x + far, y] for far in (0, 9) for x in range(3) for y in range(3)])
    >>> model = PersistentLeaves(min_samples=3).fit(points)
    >>> axes = drawing.draw_persistence(
    ...     model.trace_, selected=model.min_cluster_size_, ax=Figure().subplots()
    ... )
    >>> axes.get_ylabel()
    'sum of persistences'
    """
    target, title = Target.checked(path, ax), checked_title(title)
    check_bools(legend=legend)
    rows = _checked(trace)
    sizes = rows["min_cluster_size"]
    if selected is not None:
        selected = check_integer("selected", selected, low=int(sizes[0]), high=int(sizes[-1]))
    # A row of the trace has the clusters for one minimum cluster size. It is valid for all sizes up
    # to, but not including, the size in the next row. In a complete trace the last row has no
    # clusters.
    is_complete = rows.size > 1 and rows["n_clusters"][-1] == 0
    end = int(sizes[-1]) + (not is_complete)
    drawn = rows[:-1] if is_complete else rows
    sums, edges = drawn["persistence"], np.log2(np.append(drawn["min_cluster_size"], end))
    edges -= edges[0]
    drawing = StyledAxes.chart(target, float(edges[-1]), "sum of persistences")
    drawing.draw_steps(edges, sums, -1)
    at = -1 if selected is None else int(np.searchsorted(sizes, selected, side="right")) - 1
    if 0 <= at < drawn.size:
        drawing.draw_steps(edges[at : at + 2], sums[at : at + 1], 0)
    top = float(sums.max()) or 1.0
    drawing.draw_levels(1.1 * top)
    drawing.name_places(*_round_sizes(int(sizes[0]), end))
    drawing.axes.set_xlabel("minimum cluster size", size=8 * drawing.scale, color=FAINT_INK)
    layers = np.flatnonzero(drawn["is_layer"])
    drawing.write(
        title or "Persistence of clusters",
        f"{counted(layers.size, 'layer', 'layers')}, each with its number of clusters",
    )
    middle = (edges[layers] + edges[layers + 1]) / 2
    places = np.stack([middle, sums[layers] + 0.04 * top], axis=1)
    drawing.number_places(places, [f"{count:,}" for count in drawn["n_clusters"][layers].tolist()])
    if legend and at >= 0:
        clusters = counted(int(rows["n_clusters"][at]), "cluster", "clusters")
        drawing.draw_legend([(f"selected: size {selected:,}, {clusters}", PALETTE[0])])
    return drawing.finish()


def _checked(trace: Any) -> Array:
    """Check that a caller's argument is the trace of a PersistentLeaves, and return it.

    The result is a structured array. Raises InvalidArgumentError if `trace` is something else.
    """
    rows = as_array("trace", trace)
    if rows.dtype.names != _FIELDS or rows.ndim != 1 or not rows.size:
        raise InvalidArgumentError(
            f"trace has dtype {rows.dtype} and shape {rows.shape}; it must be trace_ of a fitted "
            f"PersistentLeaves, with the fields {', '.join(_FIELDS)}"
        )
    sizes, sums = rows["min_cluster_size"], rows["persistence"]
    if sizes[0] < 1 or (np.diff(sizes) < 1).any():
        raise InvalidArgumentError(
            "the sizes of the trace do not rise; each row must have a greater min_cluster_size "
            "than the row before, from 1 on"
        )
    if not (np.isfinite(sums) & (sums >= 0)).all():
        raise InvalidArgumentError(
            "a persistence of the trace is negative or not finite; sums must be 0 or more"
        )
    return rows


def _round_sizes(least: int, end: int) -> tuple[Array, list[str]]:
    """Return the ticks of the x axis: positions, and texts, of round sizes from `least` to `end`.

    The positions are binary logarithms, relative to `least`.
    """
    powers = 10 ** np.arange(len(str(end)))
    sizes = np.outer(powers, [1, 2, 5]).reshape(-1)
    sizes = np.unique(np.append(sizes[(sizes > least) & (sizes <= end)], least))
    return np.log2(sizes / least), [f"{size:,}" for size in sizes.tolist()]
