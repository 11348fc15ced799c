"""The edges of a dynamic forest in the memory of a GPU, which follow the edges on the host.

The columns of the host are what counts. The device has the same rows, and the contraction of their
forest (:mod:`clmst.algorithms.changes.kept`). Rows that a change leaves closed are brought to the
device by the next change that needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.algorithms import families
from clmst.algorithms.changes.kept import FOREST, MARKED, PRESENT, KeptForest, StoredRows
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.core.weight_keys import Array, order_keys
from clmst.dynamic.state import EdgeStore, State, distinct, is_among
from clmst.runtime.device import Device
from clmst.runtime.discovery import default_device
from clmst.runtime.failures import Guard
from clmst.runtime.kernel_family import case_of
from clmst.runtime.launcher import Launcher

_SAMPLES = 1 << 16  # weights from which the limits of passes are taken
_NO_ROWS = np.zeros(0, np.int64)


class OnDevice:
    """The rows of a dynamic forest on its device, if the router lets them stay there.

    `device` is the device that the caller has named, or None. One thread at a time may use the
    object. Its contents belong to one state of the forest, which is known by its stamp. After
    anything has gone wrong they belong to none, and are made again from the columns of the host.
    """

    def __init__(self, device: Device | None) -> None:
        self._named, self._lacks_memory = device, False
        self._kept: KeptForest | None = None
        self._stamp: object = None  # of the state to which the contents belong
        self._waiting: list[Array] = []  # rows that have changed on the host since
        self._lightened: list[Array] = []  # waiting rows of lighter forest edges
        self._keys: Array = np.zeros(0, np.uint64)  # sampled keys of edges outside, ascending

    @property
    def n_bytes(self) -> int:
        """Bytes in the memory of the device."""
        return 0 if self._kept is None else self._kept.n_bytes

    def forget(self) -> None:
        """Free the memory of the device."""
        self._kept, self._stamp, self._waiting, self._lightened = None, None, [], []

    def prepare(self, state: State) -> bool:
        """Return whether the device computes changes of a state. Then its rows are there.

        If the contents do not belong to the state, all rows are uploaded. The call may block.
        """
        device = self._named or default_device()
        n, m, dtype = state.n_vertices, state.n_rows, state.columns.weights.dtype
        if device is None or self._lacks_memory or not route.stays_on_device(m, device.facts):
            self.forget()
            return False
        kept = self._kept
        if kept is not None and kept.device is device and self._belongs_to(state):
            return True
        self.forget()
        if device.trust.refusal(families.CHANGES, case_of(dtype, maximum=False)) is not None:
            return False
        columns = state.columns
        u, v, weights = columns.u[:m], columns.v[:m], columns.weights[:m]
        flags = _flags(columns, slice(0, m))
        try:
            with device.lock, Guard(device):
                launch = Launcher(device, device.queue)
                kept = KeptForest(n, (u, v, weights, flags), device, launch)
        except OutOfDeviceMemoryError:
            if self._named is not None:
                raise
            self._lacks_memory = True
            return False
        drawn = np.random.default_rng(0).integers(0, m, min(m, _SAMPLES))
        self._keys = np.sort(order_keys(weights[drawn[flags[drawn] == PRESENT]]))
        self._kept, self._stamp, self._times = kept, state.stamp, device.times_renewed
        return True

    def _belongs_to(self, state: State) -> bool:
        kept = self._kept
        return (
            kept is not None
            and self._stamp is state.stamp
            and kept.n_vertices == state.n_vertices
            and kept.device.times_renewed == self._times
            and 4 * sum(rows.size for rows in self._waiting) <= state.n_rows
        )

    def note(self, before: State, rows: Array, lightened: Array, stamp: object) -> None:
        """Note rows that have changed and leave the forest as it is, for the next change.

        `before` is the state before the change, and `stamp` the stamp of the state after it.
        `lightened` has the rows of the edges of the forest that became lighter. If the contents do
        not belong to `before`, the call does nothing.
        """
        if not self._belongs_to(before):
            return
        self._stamp = None
        self._waiting.append(rows)
        self._lightened.append(lightened)
        self._stamp = stamp

    def change(
        self, columns: EdgeStore, rows: Array, flags: Array, *, n_lost: int, n_fresh: int,
        stamp: object,
    ) -> tuple[npt.NDArray[np.int64], Mapping[str, Any]]:  # fmt: skip
        """Update the forest on the device after a change, for which :meth:`prepare` was called.

        Parameters
        ----------
        columns : EdgeStore
            The edges after the change. Their flags still show the forest before the change.
        rows, flags : ndarray
            The rows that the change has written, each once, and the flags of each, as
            :meth:`KeptForest.change` takes them.
        n_lost, n_fresh : int
            The number of edges that the forest has lost, and the number of rows with the flag
            FRESH.
        stamp : object
            The stamp of the state after the change.

        Returns
        -------
        rows, stats
            The rows of the edges that have entered or left the forest, and the statistics of the
            forest. A lost edge is only listed if it has entered the forest again.
        """
        kept, keys = self._kept, self._keys
        assert kept is not None, "the device has been prepared"
        self._stamp = None
        if self._waiting:
            others = distinct(np.concatenate(self._waiting))
            others = others[~is_among(others, np.sort(rows))]
            more, lighter = _flags(columns, others), np.concatenate(self._lightened)
            more[is_among(others, np.sort(lighter))] |= MARKED
            rows, flags = np.concatenate((rows, others)), np.concatenate((flags, more))
        stored = StoredRows(
            numbers=rows, u=columns.u[rows], v=columns.v[rows], weights=columns.weights[rows],
            flags=flags,
        )  # fmt: skip
        shares = route.shares_of_passes(n_lost, kept.n_rows)
        limits = [int(keys[int(share * keys.size)]) for share in shares] if keys.size else []
        device = kept.device
        with device.lock, Guard(device):
            launch = Launcher(device, device.queue)
            found, stats = kept.change(stored, n_fresh, n_lost, limits, launch)
        self._waiting, self._lightened, self._stamp = [], [], stamp
        way = route.way_of_change(n_lost, n_fresh, stats["open"])
        return found, {**launch.stats_with(stats, "boruvka"), "route": way.as_stats()}


def _flags(columns: EdgeStore, rows: Any) -> npt.NDArray[np.uint8]:
    """Return the flags of rows, which say whether their edges are present and in the forest."""
    flags: npt.NDArray[np.uint8] = columns.present[rows].astype(np.uint8) * np.uint8(PRESENT)
    flags |= columns.in_forest[rows].astype(np.uint8) * np.uint8(FOREST)
    return flags
