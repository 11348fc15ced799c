"""Maps of clusters: points in the plane, in the hues of their labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.arguments import as_array, check_bools, check_kind, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.long_work import lasting
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.drawing.page import Page
from clmst.drawing.palette import PALETTE
from clmst.drawing.picture import counted
from clmst.drawing.sheet import Target, checked_title


@lasting("drawing clusters")
def draw_clusters(
    points: Any,
    labels: Any,
    path: str | Path | None = None,
    *,
    forest: Forest | None = None,
    title: str | None = None,
    ax: Any = None,
    legend: bool = True,
    tree: bool = True,
) -> Any:
    """Draw points in the hues of their clusters; noise is grey crosses.

    Points of more than two dimensions are projected on their first two principal components.

    Parameters
    ----------
    points : Points, or array of shape (n, d)
        Finite.
    labels : array of int, shape (n,)
        The cluster of each point; below 0 for none.
    path : str or Path, optional
        Where to write; the suffix, .png, .svg or .pdf, chooses the format.
    forest : Forest, optional
        Its edges are drawn below the points, the longer the fainter.
    title : str, optional
    ax : matplotlib.axes.Axes, optional
        Where to draw. Without it and `path`, a new figure of pyplot, which notebooks show.
    legend : bool
        List the clusters below the picture.
    tree : bool
        False leaves out the edges of `forest`.

    Returns
    -------
    matplotlib.axes.Axes
        With the drawing.

    Raises
    ------
    InvalidArgumentError
        The points are not finite numbers, labels or forest do not fit, the suffix is unknown, or
        `ax` is no plane.
    MissingDependencyError
        Matplotlib is not installed.
    """
    target, title = Target.checked(path, ax), checked_title(title)
    check_bools(legend=legend, tree=tree)
    places = projected(points)
    clusters = DrawnClusters.of(labels, len(places))
    edges = edges_of(forest, len(places))
    page = Page.map_around(target, places)
    if tree:
        page.draw_others(places[edges], fade=True)
    is_noise = clusters.of_point < 0
    page.draw_noise(places[is_noise])
    page.draw_vertices(places[~is_noise], clusters.of_point[~is_noise])
    page.write(title or "Clusters", clusters.caption)
    if legend:
        page.list_hues(*clusters.listed())
    return page.finish()


def edges_of(forest: Forest | None, n: int) -> Array:
    """Return the edges of a forest of `n` points, shape (m, 2); none of None."""
    if forest is None:
        return np.zeros((0, 2), np.int64)
    check_kind("forest", forest, Forest)
    if forest.n_vertices != n:
        raise InvalidArgumentError(
            f"the forest has {forest.n_vertices} vertices, and there are {n} points; "
            "it must be a forest of these points"
        )
    return forest.checked_edges()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnClusters:
    """Labels of points, and the numbers of their hues: the labels themselves where they are low."""

    of_point: Array  # the number of the hue; below 0 for none
    labels: tuple[int, ...]  # those that occur, from 0 up
    numbers: tuple[int, ...]  # of the hues of these

    @classmethod
    def of(cls, labels: Any, n: int) -> DrawnClusters:
        """Return the clusters of `n` points, all of none without labels; or raise.

        Where hues would repeat though there are enough, clusters are numbered anew.
        """
        array = np.full(n, -1) if labels is None else as_array("labels", labels)
        if array.shape != (n,) or array.dtype.kind not in "iu":
            raise InvalidArgumentError(
                f"labels are {shown(labels)} of shape {array.shape}; there must be one integer for "
                f"each of {n} points"
            )
        occurring, inverse = np.unique(array, return_inverse=True)
        n_none = int((occurring < 0).sum())
        known = occurring[n_none:].tolist()
        numbers = np.arange(occurring.size) - n_none
        if known and known[-1] < max(len(PALETTE), len(known)):
            numbers[n_none:] = known
        numbers = np.maximum(numbers, -1)
        return cls(
            of_point=numbers[inverse.reshape(-1)],
            labels=tuple(known),
            numbers=tuple(numbers[n_none:].tolist()),
        )

    @property
    def caption(self) -> str:
        """Say how many points and clusters there are."""
        parts = [
            counted(len(self.of_point), "point", "points"),
            counted(len(self.labels), "cluster", "clusters"),
        ]
        if n_noise := int((self.of_point < 0).sum()):
            parts.append(f"{counted(n_noise, 'point', 'points')} of noise")
        return " · ".join(parts)

    def listed(self) -> tuple[list[int], list[str]]:
        """Return the entries of a legend: numbers of hues, names with sizes; noise is the last."""
        sizes = np.bincount(self.of_point + 1, minlength=max(self.numbers, default=-1) + 2)
        names = [
            f"{label} ({sizes[number + 1]:,})"
            for label, number in zip(self.labels, self.numbers, strict=True)
        ]
        noise = [f"noise ({sizes[0]:,})"] if sizes[0] else []
        return [*self.numbers, *([-1] * len(noise))], [*names, *noise]
