"""Rounds of points: each has other coordinates, and begins anew."""

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
from clmst.intake import check_takes_complete
from clmst.repeated.rounds import OneDevice, RoundOptions
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.failures import has_finished
from clmst.runtime.handles import Queue


def points_of(graph: Any) -> Points | None:
    """Return the points that a solver is made of; None if it is made of anything else."""
    if isinstance(graph, DeviceMatrix):
        graph = graph.graph
    return graph if isinstance(graph, Points) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedPoints:
    """Checked coordinates of a round, on the host."""

    is_on_device: ClassVar[bool] = False

    points: Points


class PointsOnDevice(OneDevice):
    """One device that solves points at other coordinates each time.

    Number, dimensions and metric are the same in all rounds.
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
        self._like = points
        self._algorithm, self._options = algorithm, options

    def free(self) -> None:
        """Do nothing: a round keeps no memory."""

    def forget(self) -> None:
        """Do nothing: every round begins anew."""

    # ----------------------------------------------------------------------- coordinates

    def new_queues(self) -> list[Queue]:
        """Return no queues: coordinates are uploaded when they are solved."""
        return []

    def stage(self, given: Any, queues: list[Queue] | None = None) -> StagedPoints:
        """Check coordinates, or points; copies what the caller may change during the solve."""
        like = self._like
        if isinstance(given, Points):
            points = given
        elif like.core_distances is not None:
            raise InvalidArgumentError(
                "coordinates are given for points with core distances; give clmst.Points, with "
                "the core distances of these coordinates"
            )
        else:
            points = Points(given if queues is None else np.array(given), like.metric)
        _check_alike(points, like)
        return StagedPoints(points=points)

    def release(self, staged: StagedPoints) -> None:
        """Release nothing: the garbage collector frees coordinates."""

    def update(
        self, edge_ids: Any, weights: Any, *, options: RoundOptions
    ) -> DeviceForest | Forest:
        """Raise: no round has weights."""
        self.opened()
        raise InvalidArgumentError(
            "the solver is made of points, whose edges have no weights to change; solve() takes "
            "the coordinates of all points"
        )

    # ---------------------------------------------------------------------------- rounds

    def solve_staged(self, staged: StagedPoints, *, began: float, profile: bool) -> DeviceForest:
        """Solve points at these coordinates."""
        with self.device.lock, self.guard(self.device):
            launch = self._launcher(profile=profile)
            matrix = DeviceMatrix.upload(staged.points, self.device)
            uploaded = self._now(launch)
            try:
                tree = spanning_tree(
                    matrix, launch, algorithm=self._algorithm, options=self._options,
                    maximum=self.maximum,
                )  # fmt: skip
                forest = tree.on_device(launch)
            except BaseException:
                has_finished(launch.queue)  # before its memory has a new owner
                raise
        return self._timed(forest, launch, began, uploaded)


def _check_alike(points: Points, like: Points) -> None:
    """Raise unless points are as many, in as many dimensions, as those of the solver."""
    if points.coordinates.shape != like.coordinates.shape:
        raise InvalidArgumentError(
            f"coordinates have shape {points.coordinates.shape}, and the solver was made of points "
            f"of shape {like.coordinates.shape}; both must be equal (of points.to_graph() a solver "
            "takes a weight for each pair)"
        )
    has_core, had_core = (one.core_distances is not None for one in (points, like))
    if points.metric != like.metric or has_core != had_core:
        raise InvalidArgumentError(
            f"points are given by {_kind(points)}, and the solver was made of points by "
            f"{_kind(like)}; both must be equal"
        )


def _kind(points: Points) -> str:
    """Return in words what decides how distances of points are computed."""
    with_core = "" if points.core_distances is None else " with core distances"
    return f"{points.metric!r}{with_core}"
