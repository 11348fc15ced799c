"""The way of a stream's rows through a device to its forest."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.algorithms.edge_stream.reducer import Columns, EdgeReducer
from clmst.runtime.device import Device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.scale.block_way import BlockWay, bytes_of_row, rows_within
from clmst.scale.bounded_solve import solver_within
from clmst.scale.capacity import most_edges_on_device
from clmst.scale.checkpoint import Position


def rows_and_capacity(
    device: Device, limit: int, n_vertices: int, dtype: np.dtype[Any]
) -> tuple[int, int]:
    """Return the rows of a block, and the edges of a reduction, within a limit of bytes."""
    rows = rows_within(limit, device, dtype)
    left = limit - rows * bytes_of_row(dtype)
    return rows, most_edges_on_device(device, left, n_vertices, dtype)


class DeviceWay(BlockWay):
    """Blocks of rows on their way to the forest of a stream.

    Parameters
    ----------
    n_vertices, dtype, device, rows
        As of :class:`BlockWay`.
    limit : int
        Bytes of the device.
    capacity : int
        Edges of a reduction.
    maximum : bool
    """

    def __init__(
        self, *, n_vertices: int, dtype: np.dtype[Any], device: Device, limit: int, rows: int,
        capacity: int, maximum: bool,
    ) -> None:  # fmt: skip
        launch = Launcher(device, device.queue)
        with device.lock, Guard(device):
            self._reducer = EdgeReducer(
                n_vertices=n_vertices, dtype=dtype, launch=launch, capacity=capacity,
                maximum=maximum, solve=solver_within(limit, launch, maximum=maximum),
            )  # fmt: skip
        super().__init__(
            n_vertices=n_vertices, dtype=dtype, device=device, rows=rows, sink=self._reducer
        )

    @property
    def reductions(self) -> int:
        """Solves so far."""
        return self._reducer.reductions

    @property
    def n_filtered(self) -> int:
        """Edges that no solve had."""
        return self._reducer.n_filtered

    @property
    def n_forest(self) -> int:
        """Edges of the present forest."""
        return self._reducer.n_forest

    def go_on_from(self, position: Position, columns: Columns, *, has_forest: bool) -> None:
        """Begin with the edges so far, as :meth:`EdgeReducer.go_on_from`."""
        self.position = position
        with self._device.lock, Guard(self._device):
            self._reducer.go_on_from(columns, has_forest=has_forest)

    def reduce(self, *, is_last: bool = False) -> None:
        """Reduce what is kept, and the forest, to one forest; after the last one nothing comes."""
        with self._device.lock, Guard(self._device):
            self._reducer.reduce(is_last=is_last)

    def columns(self) -> Columns:
        """Return u, v, weights and ids of the forest's edges, in canonical order; waits."""
        with self._device.lock, Guard(self._device):
            return self._reducer.columns()

    def waiting(self) -> Columns:
        """Return the same of the edges that wait for the next reduction; waits."""
        with self._device.lock, Guard(self._device):
            return self._reducer.waiting()
