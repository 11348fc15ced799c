"""The spanning tree of a complete graph, as kernels have found it, and conversions to forests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from clmst.algorithms.shared.device_forest import DeviceForest, ForestWeights
from clmst.algorithms.shared.read_back import forest_of_arrays
from clmst.core import pairs
from clmst.core.errors import logger
from clmst.core.forest import Forest
from clmst.core.points import Points
from clmst.core.weight_keys import Array, Encoding
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher

_DOUBLE = np.dtype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoundTree:
    """The edges of a spanning tree of a complete graph, in canonical order.

    Each array is either on the host or on the device. Kernels that write an array on the device may
    still be running.
    """

    matrix: DeviceMatrix
    algorithm: str
    ends: Array | DeviceArray  # uint32: shape (k, 2) on the host, (2 k,) on the device
    # float64, shape (k,): the distance of the ends of each edge, divided by the same number as the
    # coordinates in `Points.planes`. None if the host has to compute the weights.
    weights: Array | DeviceArray | None = None
    stats: Mapping[str, Any]
    maximum: bool = False

    def to_host(self, launch: Launcher) -> Forest:
        """Return the tree as a Forest on the host, and wait for arrays that are on the device."""
        graph = self.matrix.graph if self.weights is not None else self.matrix.graph_on_host()
        ends = _on_host(self.ends, launch).reshape(-1, 2)
        u, v = ends.T
        if self.weights is None:
            weights = graph.weights_of(u, v)
        else:
            assert isinstance(graph, Points), "weights are computed from points alone"
            weights = graph.multiplied(_on_host(self.weights, launch))
        return forest_of_arrays(
            graph, ends, weights, partial(pairs.position, graph.n_vertices, u, v),
            maximum=self.maximum, stats=self._stats(launch),
        )  # fmt: skip

    def on_device(self, launch: Launcher) -> DeviceForest:
        """Return the tree as a DeviceForest, and wait for all commands in the device's queue.

        Ends that are on the host are uploaded only when the forest's edges are first read.
        """
        launch.queue.finish()
        device, own, ends = self.matrix.device, self.weights, self.ends
        if own is not None and not isinstance(own, DeviceArray):
            own = DeviceArray.from_host(own, device)
        edges: Any  # a buffer, or a function that creates it
        if isinstance(ends, DeviceArray):
            edges, pairs_on_host = ends.memory, None
        else:
            edges, pairs_on_host = partial(_uploaded, ends, self.matrix), ends
        encoding = Encoding(dtype=_DOUBLE, stored=_DOUBLE)
        return DeviceForest(
            graph=self.matrix, n_edges=ends.size // 2, slots=None, edges=edges,
            maximum=self.maximum, stats=self._stats(launch),
            weights=None if own is None else ForestWeights(words=own, encoding=encoding),
            pairs=pairs_on_host,
        )  # fmt: skip

    def _stats(self, launch: Launcher) -> Mapping[str, Any]:
        logger.debug("algorithm %s on %s", self.algorithm, launch.device.description)
        return launch.stats_with(self.stats, self.algorithm)


def _on_host(array: Array | DeviceArray, launch: Launcher) -> Array:
    """Return the array on the host. If it is on the device, read it, which waits for the device."""
    if not isinstance(array, DeviceArray):
        return array
    found = np.empty(array.size, array.dtype)
    if array.size:
        launch.read(array.memory, found)
    return found


def _uploaded(ends: Array, matrix: DeviceMatrix) -> Memory:
    return DeviceArray.from_host(ends.reshape(-1), matrix.device).memory
