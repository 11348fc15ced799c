"""Maps of clusters: points in the plane, coloured by their labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clmst.core.arguments import as_array, check_bools, check_kind, shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.long_work import lasting
from clmst.core.weight_keys import Array
from clmst.drawing.layout import projected, projection_of
from clmst.drawing.palette import PALETTE
from clmst.drawing.picture import counted
from clmst.drawing.sheet import Target, checked_title
from clmst.drawing.styled_axes import LISTED, StyledAxes

_NUMBERED = 200  # maximum number of clusters whose labels are written on a map


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
    """Draw points in the hues of their clusters, and noise as grey crosses.

    Points with more than two dimensions are projected onto their first two principal components,
    and the caption says from how many dimensions. For points on a sphere x is the longitude, so
    that north is up. If there are more than 30 clusters, the legend lists the first of them, and
    the labels of the 200 largest clusters are written in the middle of their points, moved apart
    until none covers another.

    Parameters
    ----------
    points : Points, or array of shape (n, d)
        A row with a NaN or an infinite number, which :class:`clmst.cluster.HDBSCAN` also accepts,
        is counted, but not drawn.
    labels : array of int, shape (n,)
        The cluster of each point. A negative label means that the point is noise.
    path : str or Path, optional
        Where to write. The suffix, .png, .svg or .pdf, decides the format.
    forest : Forest, optional
        A forest whose edges are drawn below the points, longer edges fainter. Its vertices are all
        points, or only the finite points, as in ``forest_`` of HDBSCAN.
    title : str, optional
        "Clusters" by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw. Without `ax` and `path`, pyplot makes a new figure, which notebooks show.
    legend : bool
        Whether to list the clusters below the picture.
    tree : bool
        False leaves out the edges of `forest`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the drawing.

    Raises
    ------
    InvalidArgumentError
        The points are not rows of real numbers, the labels or the forest do not fit the points, the
        suffix is unknown, or `ax` is polar or three-dimensional.
    MissingDependencyError
        Matplotlib is not installed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from clmst import drawing
    >>> points = [[0, 0], [0, 1], [5, 5]]
    >>> axes = drawing.draw_clusters(points, [0, 0, 1], ax=Figure().subplots())
    >>> axes.get_title(loc="left")
    'Clusters'
    """
    target, title = Target.checked(path, ax), checked_title(title)
    check_bools(legend=legend, tree=tree)
    places = projected(points)
    clusters = DrawnClusters.of(labels, len(places))
    has_place = np.asarray(np.isfinite(places).all(axis=1))
    edges = edges_of(forest, has_place)
    drawing = StyledAxes.map_around(target, places[has_place])
    if tree:
        drawing.draw_others(places[edges], fade=True)
    is_noise = clusters.of_point < 0
    drawing.draw_noise(places[is_noise & has_place])
    in_cluster = ~is_noise & has_place
    drawing.draw_vertices(places[in_cluster], clusters.of_point[in_cluster])
    caption = " · ".join(filter(None, (clusters.caption, projection_of(points))))
    numbered, middles = clusters.numbered(places, has_place)
    if numbered:
        drawing.number_places(middles, [str(clusters.labels[k]) for k in numbered])
    drawing.write(title or "Clusters", caption, without_place(has_place), clusters.numbers_caption)
    if legend:
        drawing.list_hues(*clusters.listed())
    return drawing.finish()


def without_place(has_place: Array) -> str:
    """Describe for a caption how many points are not drawn. Returns "" if all are drawn.

    `has_place` is a mask of the points with finite coordinates.
    """
    missing = int(np.count_nonzero(~has_place))
    if not missing:
        return ""
    verb = "is" if missing == 1 else "are"
    return f"{counted(missing, 'point', 'points')} with NaN or infinity {verb} not drawn"


def edges_of(forest: Forest | None, has_place: Array) -> Array:
    """Return the edges of a forest for which both points are drawn, shape (m, 2).

    An edge is a pair of indices of points. `has_place` has True for each point that is drawn. The
    forest must have one vertex for each point, or one for each drawn point, in the order of the
    points. Otherwise :class:`InvalidArgumentError` is raised. If `forest` is None, no edges are
    returned.
    """
    if forest is None:
        return np.zeros((0, 2), np.int64)
    check_kind("forest", forest, Forest)
    placed = np.flatnonzero(has_place)
    if forest.n_vertices == has_place.size:
        edges = forest.checked_edges()
        return edges[has_place[edges].all(axis=1)]
    if forest.n_vertices != placed.size:
        finite = f" ({placed.size} finite)" if placed.size < has_place.size else ""
        raise InvalidArgumentError(
            f"the forest has {forest.n_vertices} vertices, and there are {has_place.size} points"
            f"{finite}; it must be a forest of these points"
        )
    return placed[forest.checked_edges()]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnClusters:
    """The labels of points, and the hue in which each cluster is drawn.

    Hues are numbered, and repeat if there are many. The number of a cluster's hue is its label,
    unless two clusters would then share a hue although there are enough hues for all.
    """

    of_point: Array  # the number of each point's hue, negative without a cluster
    labels: tuple[int, ...]  # the labels that occur, except negative ones
    numbers: tuple[int, ...]  # the number of the hue of each of these labels

    @classmethod
    def of(cls, labels: Any, n: int) -> DrawnClusters:
        """Choose a hue for each cluster of `n` points.

        `labels` has the label of each point, or is None if all points are noise. The number of a
        cluster's hue is its label. If labels are so large that hues would repeat needlessly, the
        clusters are numbered 0, 1, ... instead. Raises :class:`InvalidArgumentError` unless there
        is an integer for each point.
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
        """A text with the number of points, of clusters, and of points that are noise."""
        parts = [
            counted(len(self.of_point), "point", "points"),
            counted(len(self.labels), "cluster", "clusters"),
        ]
        if n_noise := int((self.of_point < 0).sum()):
            parts.append(f"{counted(n_noise, 'point', 'points')} of noise")
        return " · ".join(parts)

    @property
    def numbers_caption(self) -> str:
        """A text that says which clusters are numbered on a map, or "" if all or none are."""
        is_needed = len(self.labels) > _NUMBERED
        return f"the {_NUMBERED} largest clusters are numbered" if is_needed else ""

    def numbered(self, places: Array, has_place: Array) -> tuple[list[int], Array]:
        """Choose the clusters whose labels are written on a map, and the place of each label.

        If there are more than 30 clusters, the 200 largest are chosen, except clusters without
        finite positions. Otherwise none is chosen. Returns the chosen clusters, as indices into
        `labels`, and the middle of each cluster, shape (k, 2). `places` has the position of each
        point, and `has_place` says which positions are finite.
        """
        if len(self.labels) <= LISTED:
            return [], np.zeros((0, 2))
        numbers = np.asarray(self.numbers)
        sizes = np.bincount(self.of_point + 1, minlength=int(numbers.max()) + 2)[numbers + 1]
        largest = np.sort(np.argsort(-sizes, kind="stable")[:_NUMBERED])
        middles = self._middles(places, has_place)[largest]
        known = np.isfinite(middles).all(axis=1)
        return largest[known].tolist(), middles[known]

    def _middles(self, places: Array, has_place: Array) -> Array:
        """Return the median of the positions of each cluster's points, shape (k, 2).

        `places` has the position of each point, and `has_place` says which positions are finite.
        The result is NaN for a cluster without finite positions.
        """
        own = (self.of_point >= 0) & has_place
        order = np.argsort(self.of_point[own], kind="stable")
        found, starts = np.unique(self.of_point[own][order], return_index=True)
        parts = np.split(places[own][order], starts[1:])
        known = {
            number: np.median(part, axis=0)
            for number, part in zip(found.tolist(), parts, strict=False)
        }
        none = np.full(2, np.nan)
        return np.array([known.get(number, none) for number in self.numbers])

    def listed(self) -> tuple[list[int], list[str]]:
        """Return the entries of a legend: the number of each hue, and a text for it.

        A text has the label and the number of points of a cluster. Noise comes last.
        """
        sizes = np.bincount(self.of_point + 1, minlength=max(self.numbers, default=-1) + 2)
        names = [
            f"{label} ({sizes[number + 1]:,})"
            for label, number in zip(self.labels, self.numbers, strict=True)
        ]
        noise = [f"noise ({sizes[0]:,})"] if sizes[0] else []
        return [*self.numbers, *([-1] * len(noise))], [*names, *noise]
