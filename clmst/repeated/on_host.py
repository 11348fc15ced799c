"""Repeated solves on the host, without a device. A round is one solve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clmst import route
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.complete_trees import spanning_tree
from clmst.core.errors import InvalidArgumentError, UnsupportedDeviceError
from clmst.core.forest import Forest, routed
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.core.points import Points
from clmst.core.weight_keys import Array, first_nan
from clmst.repeated.points import points_have_no_weights, staged_points
from clmst.repeated.rounds import RoundOptions, Rounds
from clmst.repeated.weights import Changes, nan_error, stage
from clmst.runtime.handles import Queue
from clmst.scale.fallback import proved


@dataclass(frozen=True, slots=True, kw_only=True)
class _StagedOnHost:
    """The weights or points for one solve on the host, after all checks."""

    is_on_device: ClassVar[bool] = False

    values: Any


class _HostRounds(Rounds):
    """Repeated solves on the host. Each is solved from scratch, and its forest is on the host.

    `way` says why the host solves, for statistics and messages.
    """

    def __init__(self, *, maximum: bool, way: route.Way) -> None:
        super().__init__(maximum=maximum)
        self._way = way

    def free(self) -> None:
        """Drop the current weights. No other memory is kept between solves."""
        self.forget()

    @property
    def lock(self) -> Any:
        """The lock that is held during a round."""
        return self._lock

    def hand_over(self, rounds: Rounds) -> None:
        """Give the current weights, if there are any, to `rounds` on a device, and close."""
        if (weights := self._current()) is not None:
            rounds.solve(weights, options=RoundOptions())
        self.close()

    def _current(self) -> Any:
        """Return the weights that a later update would change, or None if there are none."""
        return None

    def new_queues(self) -> list[Queue]:
        """Return an empty list, because nothing is uploaded."""
        return []

    def release(self, staged: Any) -> None:
        """Do nothing, because the garbage collector frees the `staged` weights."""

    def check(self, options: RoundOptions) -> None:
        """Raise UnsupportedDeviceError if the options of a solve need a device."""
        for name in ("keep_on_device", "profile"):
            if getattr(options, name):
                raise UnsupportedDeviceError(
                    f"{name} is True, and the host solves ({self._way.because}); it needs a device"
                )

    def _staged_round(self, staged: Any, options: RoundOptions, *, began: float = 0.0) -> Any:
        """Solve with weights that were checked before (`staged`), and return the forest.

        `options` are checked first. `began` is the host's time at the start of the round.
        """
        self.check(options)
        return super()._staged_round(staged, options, began=began)

    def prove(self, forest: Any) -> Any:
        """Prove the forest of the last solve, and return it with the statistics of the proof."""
        return proved(self._present_graph(), forest)

    def _present_graph(self) -> Graph:
        """Return the graph with the weights of the last solve.

        If the input was points or a matrix, the graph has an edge for every pair.
        """
        raise NotImplementedError


class GraphOnHost(_HostRounds):
    """Repeated solves, on the host, of a graph whose edges have weights.

    `edges` stores each edge once (:func:`clmst.core.topology.edges_once`).
    """

    def __init__(self, edges: Graph, *, maximum: bool, way: route.Way) -> None:
        super().__init__(maximum=maximum, way=way)
        self.edges = edges
        self._weights: Array | None = None  # the current weights, by edge id

    def forget(self) -> None:
        """Drop the current weights."""
        self._weights = None

    def _current(self) -> Array | None:
        return self._weights

    def stage(self, weights: Any, queues: list[Queue] | None = None) -> _StagedOnHost:
        """Check the weights for one solve, one weight per edge, and return a copy of them.

        `queues` are not used, and may be None, since nothing is uploaded.
        """
        staged = stage(weights, self.edges, (), keeps=False)
        values = np.array(staged.encoding.decode(staged.words))
        if (nan := first_nan(values)) is not None:
            raise nan_error(nan, self.edges)
        return _StagedOnHost(values=values)

    def solve_staged(
        self, staged: _StagedOnHost, options: RoundOptions, *, began: float
    ) -> DeviceForest | Forest:
        """Solve with checked weights, `staged`, which become the current weights.

        `options` and `began` are not used.
        """
        self._weights = staged.values
        return self._forest()

    def update(
        self, edge_ids: Any, weights: Any, *, options: RoundOptions
    ) -> DeviceForest | Forest:
        """Change the weights of the edges `edge_ids`, and solve.

        Raises an error, without changing any weight, if an id or a weight is invalid. `options` are
        the options of the solve.
        """
        with self._lock:
            self.opened()
            self.check(options)
            if (present := self._weights) is None:
                raise InvalidArgumentError("there are no weights to change; solve() gives them")
            changes = Changes.of(edge_ids, weights, self.edges, dtype=present.dtype, devices=())
            present[changes.ids] = changes.converted(present.dtype)
            return self._finished(self._forest(), options)

    def _present_graph(self) -> Graph:
        assert self._weights is not None, "a round has been solved"
        ids = self.edges.edge_ids
        return self.edges.replace_unchecked(
            weights=self._weights if ids is None else self._weights[ids]
        )

    def _forest(self) -> Forest:
        """Compute the forest for the current weights."""
        return routed(kruskal(self._present_graph(), maximum=self.maximum), self._way)


class PointsOnHost(_HostRounds):
    """Repeated solves of points on the host, each with new coordinates."""

    def __init__(self, points: Points, *, maximum: bool, way: route.Way) -> None:
        super().__init__(maximum=maximum, way=way)
        self._like = self._present = points

    def forget(self) -> None:
        """Do nothing, because a solve of points does not depend on earlier solves."""

    def stage(self, given: Any, queues: list[Queue] | None = None) -> _StagedOnHost:
        """Check `given`, the coordinates or points for one solve.

        If `queues` is not None, the caller may change the array before the solve, so it is copied.
        """
        return _StagedOnHost(values=staged_points(given, self._like, keeps=queues is not None))

    def solve_staged(
        self, staged: _StagedOnHost, options: RoundOptions, *, began: float
    ) -> DeviceForest | Forest:
        """Compute the spanning tree of checked points, `staged`.

        `options` and `began` are not used.
        """
        self._present = staged.values
        return routed(spanning_tree(self._present, maximum=self.maximum), self._way)

    def update(
        self, edge_ids: Any, weights: Any, *, options: RoundOptions
    ) -> DeviceForest | Forest:
        """Raise InvalidArgumentError for all arguments, because points do not have weights."""
        self.opened()
        raise points_have_no_weights()

    def _present_graph(self) -> Graph:
        return self._present.to_graph()
