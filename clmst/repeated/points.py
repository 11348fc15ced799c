"""Repeated solves of points. Each round has new coordinates, and is solved from scratch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clmst.algorithms.complete import spanning_tree
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.points import Points
from clmst.inputs import check_takes_complete
from clmst.repeated.rounds import OneDevice, RoundOptions
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.failures import has_finished
from clmst.runtime.handles import Queue


def points_of(graph: Any) -> Points | None:
    """Return the points from which a solver is built, or None if `graph` is not points.

    The points may be on a device already.
    """
    if isinstance(graph, DeviceMatrix):
        graph = graph.graph
    return graph if isinstance(graph, Points) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedPoints:
    """The coordinates for one solve, on the host, after all checks."""

    is_on_device: ClassVar[bool] = False

    points: Points


class PointsOnDevice(OneDevice):
    """Repeated solves of points on one device, each with new coordinates.

    The number of points, the dimensions and the metric are the same as for `points` in all solves.
    Raises InvalidArgumentError if `devices` has more than one device, or if the algorithm does not
    take complete graphs.
    """

    def __init__(
        self,
        points: Points,
        devices: Sequence[Device],
        *,
        algorithm: str,
        options: object,
        maximum: bool,
    ) -> None:
        check_takes_complete(algorithm)
        if len(devices) > 1:
            raise InvalidArgumentError(
                f"{len(devices)} devices are given for points; points are solved on one device"
            )
        device = devices[0]
        super().__init__(device, maximum=maximum)
        DeviceMatrix.upload(points, device)  # raises if the device cannot compute distances
        self._like = points
        self._algorithm, self._options = algorithm, options

    def free(self) -> None:
        """Do nothing, because solves of points do not keep memory for later ones."""

    def forget(self) -> None:
        """Do nothing, because a solve of points does not depend on earlier solves."""

    # ----------------------------------------------------------------------- coordinates

    def new_queues(self) -> list[Queue]:
        """Return an empty list: points do not need queues for uploads during another solve.

        The coordinates of a round are uploaded when the round is solved, not before.
        """
        return []

    def stage(self, given: Any, queues: list[Queue] | None = None) -> StagedPoints:
        """Check `given`, the coordinates or points for one solve; see :func:`staged_points`.

        If `queues` is not None, the caller may change the array before the solve, so it is copied.
        """
        return StagedPoints(points=staged_points(given, self._like, keeps=queues is not None))

    def release(self, staged: StagedPoints) -> None:
        """Do nothing, because the garbage collector frees the `staged` coordinates."""

    def update(
        self, edge_ids: Any, weights: Any, *, options: RoundOptions
    ) -> DeviceForest | Forest:
        """Raise InvalidArgumentError for all arguments, because points do not have weights."""
        self.opened()
        raise points_have_no_weights()

    # ---------------------------------------------------------------------------- rounds

    def solve_staged(
        self, staged: StagedPoints, options: RoundOptions, *, began: float
    ) -> DeviceForest:
        """Compute the spanning tree of checked points, `staged`, and leave it on the device.

        `options` say whether to profile. `began` is the host's time, in seconds, at the start of
        the round.
        """
        with self.device.lock, self.guard(self.device):
            launch = self._launcher(profile=options.profile)
            matrix = DeviceMatrix.upload(staged.points, self.device)
            uploaded = self._now(launch)
            try:
                tree = spanning_tree(
                    matrix, launch, algorithm=self._algorithm, options=self._options,
                    maximum=self.maximum,
                )  # fmt: skip
                forest = tree.on_device(launch)
            except BaseException:
                has_finished(launch.queue)  # kernels must end before their memory is reused
                raise
        return self._timed(forest, launch, began, uploaded)


def staged_points(given: Any, like: Points, *, keeps: bool) -> Points:
    """Check `given`, the coordinates or points for one solve, and return points.

    `like` are the points from which the solver was built. If `keeps` is True, the caller may change
    the array before the solve has ended, so it is copied. Raises InvalidArgumentError unless the
    number of points, the dimensions and the metric are the same as for `like`.
    """
    if isinstance(given, Points):
        points = given
    elif like.core_distances is not None:
        raise InvalidArgumentError(
            "coordinates are given for points with core distances; give clmst.Points, with "
            "the core distances of these coordinates"
        )
    else:
        points = Points(np.array(given) if keeps else given, like.metric, p=like.p)
    _check_alike(points, like)
    return points


def points_have_no_weights() -> InvalidArgumentError:
    """Return the error for a change of weights in a solver of points."""
    return InvalidArgumentError(
        "the solver is made of points, whose edges have no weights to change; solve() takes "
        "the coordinates of all points"
    )


def _check_alike(points: Points, like: Points) -> None:
    """Raise InvalidArgumentError unless `points` match `like`, from which the solver was built.

    Shapes and metrics must be equal, and both or neither must have core distances.
    """
    if points.coordinates.shape != like.coordinates.shape:
        raise InvalidArgumentError(
            f"coordinates have shape {points.coordinates.shape}, and the solver was made of points "
            f"of shape {like.coordinates.shape}; both must be equal (of points.to_graph() a solver "
            "takes a weight for each pair)"
        )
    has_core, had_core = (one.core_distances is not None for one in (points, like))
    is_alike = (points.metric, points.p) == (like.metric, like.p)
    if not is_alike or has_core != had_core:
        raise InvalidArgumentError(
            f"points are given by {_kind(points)}, and the solver was made of points by "
            f"{_kind(like)}; both must be equal"
        )


def _kind(points: Points) -> str:
    """Describe the metric of points, and whether there are core distances, for a message."""
    with_core = "" if points.core_distances is None else " with core distances"
    power = "" if points.p is None else f" with p {points.p:g}"
    return f"{points.metric!r}{power}{with_core}"
