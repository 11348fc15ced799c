"""Rounds of points that move: the executor of such a solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from clmst import api
from clmst.algorithms import families as of_algorithms
from clmst.algorithms.bvh_boruvka.choice import is_for_tree
from clmst.algorithms.bvh_boruvka.moved import CandidatePairs, MovingPoints, PairSolver
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.points import Points
from clmst.core.weight_keys import Encoding
from clmst.intake import check_takes_complete
from clmst.repeated import families
from clmst.repeated.single_device import OneDevice, SingleDevice
from clmst.runtime.array import DeviceArray
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
    """Checked coordinates of a round, on the host, for the executor that owns them."""

    is_on_device: ClassVar[bool] = False

    points: Points
    owner: Any


class PointsExecutor(OneDevice):
    """An executor: one device that solves points at other coordinates each time.

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
        warm_start: bool,
    ) -> None:
        check_takes_complete(algorithm)
        if len(devices) > 1:
            raise InvalidArgumentError(
                f"{len(devices)} devices are given for points; points are solved on one device"
            )
        device = devices[0]
        super().__init__(device)
        self._like, self._maximum = points, maximum
        self._algorithm, self._options = algorithm, options
        self._moving = (
            None
            if not warm_start
            else MovingPoints(
                prepare=partial(solver_of_candidates, n=points.n_vertices, device=device)
            )
        )
        self._times_renewed, self._exponent = device.times_renewed, points.exponent

    @property
    def encoding(self) -> Encoding | None:
        """Raise: no round has weights."""
        raise InvalidArgumentError(
            "the solver is made of points, whose edges have no weights to change; solve() takes "
            "the coordinates of all points"
        )

    def close(self) -> None:
        """Free all memory."""
        self.forget()

    def forget(self) -> None:
        """Drop what earlier rounds found."""
        if self._moving is not None:
            self._moving.forget()

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
        return StagedPoints(points=points, owner=self)

    def release(self, staged: StagedPoints) -> None:
        """Release nothing: the garbage collector frees coordinates."""

    # ---------------------------------------------------------------------------- rounds

    def solve(self, staged: StagedPoints, *, began: float, profile: bool) -> DeviceForest:
        """Solve points at these coordinates."""
        with self.device.lock, self.guard(self.device):
            if self.device.times_renewed != self._times_renewed:  # all its memory is lost
                self.forget()
                self._times_renewed = self.device.times_renewed
            launch = self._launcher(profile=profile)
            if staged.points.exponent != self._exponent:  # distances of both do not compare
                self.forget()
                self._exponent = staged.points.exponent
            matrix = DeviceMatrix.upload(staged.points, self.device)
            uploaded = self._now(launch)
            try:
                if self._moving is not None and self._is_carried(matrix):
                    forest = self._moving.solve(matrix, launch)
                else:
                    forest = api.solve_complete(
                        matrix, launch, algorithm=self._algorithm, options=self._options,
                        maximum=self._maximum,
                    )  # fmt: skip
            except BaseException:
                has_finished(launch.queue)  # before its memory has a new owner
                self.forget()
                raise
        return self._timed(forest, launch, began, uploaded)

    def _is_carried(self, matrix: DeviceMatrix) -> bool:
        """Return whether what one round finds is of use for the next one."""
        is_plain = self._algorithm == "auto" and self._options is None and not self._maximum
        return (
            is_plain
            and self._like.core_distances is None
            and is_for_tree(matrix)
            and of_algorithms.points_refusal(matrix) is None
            and families.has_moved_points(matrix)
        )


def solver_of_candidates(candidates: CandidatePairs, n: int, device: Device) -> PairSolver:
    """Return what solves the graph of candidates among n points, under weights on the device."""
    executor = SingleDevice(
        _graph_of(candidates, n), device, algorithm="auto", options=None, maximum=False,
        warm_start=False,
    )  # fmt: skip

    def solve(weights: DeviceArray, profile: bool) -> DeviceForest:
        return executor.solve(executor.stage(weights), began=0.0, profile=profile)

    return solve


def _graph_of(candidates: CandidatePairs, n: int) -> Graph:
    m = candidates.lesser.size
    indptr = np.zeros(n + 1, np.uint32)
    np.cumsum(np.bincount(candidates.lesser, minlength=n), out=indptr[1:])
    graph = Graph.unchecked(
        indptr=indptr, indices=candidates.greater, weights=np.broadcast_to(np.uint8(0), m),
        is_symmetric=False, edge_ids=None, n_input=m,
    )  # fmt: skip
    vars(graph)["rows"] = candidates.lesser
    return graph


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
