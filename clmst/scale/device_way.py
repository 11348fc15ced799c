"""The way of a stream's rows through a device: raw blocks are sent, checked, filtered and kept.

The rows of the caller go to the device as they are. While a block is on its way, the device looks
at the one before it: it checks the rows, and keeps the edges that may enter the forest.

    bus      | block 0 | block 1 | block 2 | block 3 |
    kernels            | marks 0 | marks 1 | marks 2 |
    host                         | keeps 0 | keeps 1 |
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from clmst.algorithms.edge_stream.edges import EdgeChunk, FaultyEdgeError, Marks
from clmst.algorithms.edge_stream.reducer import Columns, EdgeReducer
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.runtime.uploads import Uploads
from clmst.scale.bounded_solve import solve_within
from clmst.scale.capacity import most_edges_on_device
from clmst.scale.checkpoint import Position
from clmst.scale.edge_block import EdgeBlock, RawRows

# Rows of a block: on CPUs few enough for the caches.
ROWS = {"cpu": 1 << 18, "gpu": 1 << 22, "accelerator": 1 << 22}
BLOCKS = 3
_BLOCKS_SHARE = 8  # blocks take at most so small a share of the memory
_ALSO = 13  # bytes of a row of one block: its ends in 32 bits, mark and position
_JOINED = 1 << 16  # rows of small chunks that are sent together; larger ones go by themselves


def rows_and_capacity(
    device: Device, limit: int, n_vertices: int, dtype: np.dtype[Any]
) -> tuple[int, int]:
    """Return the rows of a block, and the edges of a reduction, within a limit of bytes."""
    a_row = BLOCKS * (16 + dtype.itemsize) + _ALSO
    rows = min(ROWS[device.capabilities.kind], limit // (_BLOCKS_SHARE * a_row))
    return rows, most_edges_on_device(device, limit - rows * a_row, n_vertices, dtype)


class DeviceWay:
    """Blocks of rows on their way to the forest of a stream.

    Parameters
    ----------
    n_vertices : int
    dtype : numpy.dtype
        Of the weights.
    device : Device
    limit : int
        Bytes of the device.
    rows, capacity : int
        Of a block, and edges of a reduction.
    maximum : bool

    Attributes
    ----------
    position : Position
        Of the stream, behind what has been kept.
    n_rows : int
        RawRows that have been kept or filtered.
    """

    def __init__(
        self, *, n_vertices: int, dtype: np.dtype[Any], device: Device, limit: int, rows: int,
        capacity: int, maximum: bool,
    ) -> None:  # fmt: skip
        self._device, self._limit, self._maximum = device, limit, maximum
        self._n_vertices, self._launch = n_vertices, Launcher(device, device.queue)
        self._uploads = Uploads(device)
        self.position, self.n_rows = Position(), 0
        with device.lock, Guard(device, queues=self._uploads.queues):
            self._reducer = EdgeReducer(
                n_vertices=n_vertices, dtype=dtype, launch=self._launch, capacity=capacity,
                maximum=maximum, solve=self._solve,
            )  # fmt: skip
            self._free = deque(EdgeBlock(rows, dtype, device) for _ in range(BLOCKS))
        self._filling: EdgeBlock | None = None
        self._small: list[RawRows] = []
        self._sent = deque[EdgeBlock]()
        self._marked: tuple[EdgeChunk, Marks] | None = None  # of the first block that was sent
        self._rows_of_block = rows

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

    @property
    def space(self) -> int:
        """How many rows the next call of :meth:`put` may bring."""
        filled = 0 if self._filling is None else self._filling.size
        return self._rows_of_block - filled - self._n_small

    @property
    def _n_small(self) -> int:
        return sum(one.size for one in self._small)

    def go_on_from(self, position: Position, columns: Columns, *, has_forest: bool) -> None:
        """Begin with the edges so far, as :meth:`EdgeReducer.go_on_from`."""
        self.position = position
        with self._device.lock, Guard(self._device):
            self._reducer.go_on_from(columns, has_forest=has_forest)

    # --------------------------------------------------------------------- rows

    def put(self, rows: RawRows) -> None:
        """Take some rows; arrays in pinned memory may be read until :meth:`wait`.

        Raises
        ------
        InvalidGraphError
            A row that came before is none. What was before its piece is kept, the rest dropped.
        """
        with self._device.lock, Guard(self._device, queues=self._uploads.queues):
            self._open_for(rows)
            block = self._filling
            assert block is not None
            if rows.size < _JOINED:
                self._small.append(rows.copied())
                if self._n_small >= _JOINED or self.space == 0:
                    self._send_small()
            else:
                self._send_small()
                block.put([rows], self._uploads)
            if block.size == block.capacity:
                self._close()

    def wait(self) -> None:
        """Wait until no array of the caller is read any more."""
        with self._device.lock, Guard(self._device, queues=self._uploads.queues):
            self._uploads.wait()

    def flush(self) -> None:
        """Keep all that has come; raises as :meth:`put`."""
        with self._device.lock, Guard(self._device, queues=self._uploads.queues):
            self._close()
            while self._sent:
                self._keep()

    def _open_for(self, rows: RawRows) -> None:
        """Have a block that is being filled, with ends as wide as some rows need."""
        is_wide, before = rows.is_wide(self._n_vertices), self.position
        if self._filling is not None and is_wide and not self._filling.is_wide:
            self._close()
        if self._filling is None:
            if self._sent:
                before = self._sent[-1].after
            self._filling = self._free.popleft()
            self._filling.open(before, self._uploads, is_wide=is_wide)

    def _send_small(self) -> None:
        if self._small:
            assert self._filling is not None
            self._filling.put(self._small, self._uploads)
            self._small = []

    def _close(self) -> None:
        """Let the device look at the block that was filled."""
        self._send_small()
        block, self._filling = self._filling, None
        if block is None:
            return
        block.sent = self._uploads.sent()
        self._sent.append(block)
        self._mark()
        while not self._free:
            self._keep()

    def _mark(self) -> None:
        """Let the device look at the first block that was sent, unless it does."""
        if self._sent and self._marked is None:
            buffer = self._reducer.buffer
            self._uploads.let_kernels_wait(self._sent[0].sent)
            chunk = self._sent[0].chunk(buffer)
            self._marked = chunk, buffer.mark(chunk)
            self._launch.queue.flush()

    def _keep(self) -> None:
        """Keep what may enter the forest of the first block that was sent; waits for it."""
        assert self._marked is not None, "the first block is looked at"
        chunk, marks = self._marked
        self._marked, block = None, self._sent.popleft()
        self._free.append(block)
        try:
            self._reducer.take(chunk, marks)
        except FaultyEdgeError as error:
            self._keep_before(chunk, block, error.at)
            raise block.fault(error.at, self._n_vertices, self._launch) from None
        block.read = self._uploads.enqueued()  # before the next one is looked at
        self.position = block.after
        self.n_rows += chunk.size
        self._mark()

    def _keep_before(self, chunk: EdgeChunk, block: EdgeBlock, at: int) -> None:
        """Keep the pieces before a faulty row, and drop all that came later."""
        self._uploads.finish()
        self._free.extend(self._sent)
        self._sent.clear()
        if self._filling is not None:
            self._free.append(self._filling)
        self._filling, self._small = None, []
        size, position = block.rows_before(at)
        self._reducer.take(
            EdgeChunk(
                u=chunk.u[:size],
                v=chunk.v[:size],
                weights=chunk.weights[:size],
                first_id=chunk.first_id,
            )
        )
        self.position = position
        self.n_rows += size

    # ------------------------------------------------------------------- forest

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

    def close(self) -> None:
        """Wait for all copies: memory goes back only then."""
        with self._device.lock, Guard(self._device, queues=self._uploads.queues):
            self._uploads.finish()

    def _solve(self, graph: DeviceGraph) -> DeviceForest:
        return solve_within(graph, self._launch, self._limit, maximum=self._maximum)
