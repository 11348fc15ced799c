"""The map of clusters: points in the plane, in the hues of their clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.arguments import as_array, check_kind
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.drawing.dendrogram import checked_labels
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
