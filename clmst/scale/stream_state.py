"""The state of a stream: the present forest, and the edges that wait for the next reduction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

from clmst.core.errors import (
    InvalidArgumentError,
    InvalidGraphError,
    OutOfDeviceMemoryError,
)
from clmst.runtime.device import Device
from clmst.scale.capacity import default_limit, most_edges, too_small
from clmst.scale.carried import Carried
from clmst.scale.checkpoint import Checkpoint, Position
from clmst.scale.cycle_filter import CycleFilter, without_loops
from clmst.scale.edge_part import EdgePart, check_same_dtype, joined
from clmst.scale.reduce import reduce
from clmst.scale.rows import checked_parts, checked_rows, of_chunk, with_arrays
from clmst.scale.source import NO_WEIGHTS, StreamPiece

_ROWS = 1 << 22  # the most that are looked at together
_PENDING = 256  # parts that wait before they are joined
_LEAST_SHARE = 16  # a reduction brings at least a sixteenth of the forest
FILTER_FROM = 2  # edges a vertex to come, from which a filter pays
_SECONDS_BETWEEN = 10.0  # checkpoints, if reductions are rare
PACE = 5  # times as long as the last checkpoint took passes before the next one, at least


class StreamState:
    """What a stream has in memory, and what is done with each piece.

    Parameters
    ----------
    n_vertices : int
    device : Device
    limit : int or None
        Bytes that a reduction may use.
    checkpoint : Path or None
    maximum : bool

    Attributes
    ----------
    n_edges : int or None
        Of the whole stream, if known; tells whether a filter pays.
    has_own_ids : bool
        Whether a chunk brought ids.
    saved : Checkpoint or None
        That the stream goes on from.
    dtype : numpy.dtype
        Of the weights; before one has come, of those of a stream without edges.
    """

    def __init__(
        self,
        *,
        n_vertices: int,
        device: Device,
        limit: int | None,
        checkpoint: Path | None,
        maximum: bool,
    ) -> None:
        self.n_vertices, self._device, self._maximum = n_vertices, device, maximum
        self._limit = default_limit(device) if limit is None else limit
        self._path = checkpoint
        self.forest: EdgePart | None = None
        self.position = Position()
        self.reductions = self._n_filtered = 0
        self._filter: CycleFilter | None = None
        self._is_forest_new = False  # since the filter was made
        self.n_edges: int | None = None
        self.has_own_ids = False
        self._pending: list[EdgePart] = []
        self._n_pending = 0
        self._capacity = -1  # edges of a reduction; known with the first weights
        self.dtype = NO_WEIGHTS
        self.saved: Checkpoint | None = None
        if checkpoint is not None:
            self.saved = Checkpoint.read(checkpoint, n_vertices=n_vertices, maximum=maximum)
        self._saved_at, self._seconds_to_save = monotonic(), 0.0

    @property
    def resumed_at(self) -> int:
        """Edges before the checkpoint that this call goes on from."""
        return self.saved.position.n_edges if self.saved else 0

    @property
    def n_forest(self) -> int:
        """Edges of the present forest."""
        return self.forest.size if self.forest else 0

    @property
    def _is_resuming(self) -> bool:
        return self.position.n_edges < self.resumed_at

    @property
    def carried(self) -> Carried:
        """What another state goes on from; the arrays are shared, none is changed."""
        by_forest = None if self._is_forest_new else self._filter
        return Carried(forest=self.forest, waiting=tuple(self._pending), by_forest=by_forest)

    @property
    def waits_for_many(self) -> bool:
        """Whether more edges wait than the forest has."""
        return self._n_pending > (self.forest.size if self.forest else 0)

    def go_on_from(self, carried: Carried) -> None:
        """Take what another state had, as if this one had read the edges."""
        parts = carried.parts
        if parts:
            self._know(parts[0])
        self.forest, self._pending = carried.forest, [*carried.waiting]
        self._n_pending = sum(part.size for part in carried.waiting)
        self._filter = carried.by_forest
        self._is_forest_new = carried.by_forest is None and carried.forest is not None
        if parts and self._is_full():  # another device may be smaller
            self._reduce()

    def stats(self) -> dict[str, Any]:
        """Return what the forest tells of the stream."""
        return {
            "algorithm": "stream",
            "device": self._device.description,
            "edges": self.position.n_edges,
            "resumed_at": self.resumed_at,
            "reductions": self.reductions,
            "edges_filtered": self._n_filtered,
            "memory_limit": self._limit,
            "passes": 1,
        }

    # -------------------------------------------------------------------- input

    def feed(self, piece: StreamPiece) -> Iterator[None]:
        """Take a piece, as many rows at a time as there is space for; yield after each time."""
        piece = with_arrays(piece)
        self.has_own_ids = self.has_own_ids or piece.edge_ids is not None
        ids = {"first_id": self.position.n_edges, "n_vertices": self.n_vertices}
        if self._capacity < 0 and piece.u.size and not self._is_resuming:
            self._know(checked_rows(piece, 0, 1, **ids))
        for part in checked_parts(piece, self._rows_now, **ids):
            if self._is_resuming:
                self._pass(part, piece.chunk)
            else:
                self._take(part, piece.chunk)
            yield

    def add(self, part: EdgePart, name: str) -> None:
        """Take edges that are checked already, as many at a time as there is space for."""
        if self._capacity < 0 and part.size:
            self._know(part)
        begin = 0
        while begin < part.size:
            end = begin + min(part.size - begin, self._rows_now())
            self._take(part.take(slice(begin, end)), name)
            begin = end

    def _rows_now(self) -> int:
        """Return how many rows may be looked at next."""
        if self._is_resuming:
            return min(_ROWS, self.resumed_at - self.position.n_edges)
        return min(_ROWS, self._space())

    def _space(self) -> int:
        """Return how many edges the next reduction still has space for."""
        n_forest = self.forest.size if self.forest else 0
        return self._capacity - n_forest - self._n_pending

    def _is_full(self) -> bool:
        """Return whether a reduction must come before more edges."""
        return self._space() < max(1, min(_ROWS, self._capacity // 8))

    def _pass(self, part: EdgePart, chunk: str) -> None:
        """Pass by what the checkpoint has; at its end, check that it is of this stream."""
        assert self.saved is not None
        self.position = self.position.after(part)
        if self._is_resuming:
            return
        if self.position != self.saved.position:
            raise InvalidArgumentError(
                f"the checkpoint {self._path} is of another stream: the first "
                f"{self.position.n_edges} edges, up to {chunk}, have other checksums; delete it, "
                "or give the same stream"
            )
        self._know(self.saved.forest)
        self.forest = self.saved.forest
        self._check_space(self.forest.size)
        self._is_forest_new = True

    def _know(self, part: EdgePart) -> None:
        """Learn from the first weights how many edges a reduction may have."""
        self.dtype = part.weights.dtype
        self._capacity = most_edges(self._device, self._limit, self.n_vertices, self.dtype)
        self._check_space(0)

    def _take(self, part: EdgePart, chunk: str) -> None:
        """Keep what may enter the forest; reduce if there is no space for more."""
        of_chunk(chunk, check_same_dtype, self.dtype, part.weights.dtype)
        self.position = self.position.after(part) if self._path else self.position.counted(part)
        kept = self._filtered(part)
        self._n_filtered += part.size - kept.size
        self._pending.append(kept)
        self._n_pending += kept.size
        if len(self._pending) >= _PENDING:
            self._pending = [joined(self._pending)]
        if self._is_due() or self._is_full():
            began = monotonic()
            self._reduce()
            if began - self._saved_at >= PACE * self._seconds_to_save:
                self._write(began)

    def _is_due(self) -> bool:
        """Return whether a checkpoint is to be written now, for which all must be reduced."""
        pause = max(_SECONDS_BETWEEN, PACE * self._seconds_to_save)
        return self._path is not None and monotonic() - self._saved_at > pause

    # ---------------------------------------------------------------- reduction

    def _reduce(self) -> None:
        """Make one forest of the present one and what waits."""
        if not self._pending:
            return
        waiting, self._pending, self._n_pending = joined(self._pending), [], 0
        self._reduce_part(waiting)
        assert self.forest is not None
        self._is_forest_new = True
        self._check_space(self.forest.size)

    def _reduce_part(self, part: EdgePart) -> None:
        """Reduce a part with the forest, by halves if the device turns out to be too small."""
        union = [part] if self.forest is None else [self.forest, part]
        try:
            self.forest = reduce(
                union, n_vertices=self.n_vertices, device=self._device, maximum=self._maximum
            )
            self.reductions += 1
        except OutOfDeviceMemoryError:
            n_forest = self.forest.size if self.forest else 0
            half = part.size // 2
            if half <= n_forest // _LEAST_SHARE or half == 0:
                raise
            self._capacity = min(self._capacity, n_forest + half)
            self._reduce_part(part.take(slice(0, half)))
            self._reduce_part(part.take(slice(half, None)))

    def _check_space(self, n_forest: int) -> None:
        """Raise if reductions would bring too little of the stream each."""
        if self._capacity - n_forest < max(1, n_forest // _LEAST_SHARE):
            raise too_small(self._limit, self.n_vertices, n_forest, self._device)

    def _filtered(self, part: EdgePart) -> EdgePart:
        """Return what may enter the forest, by a filter if what is to come pays for making one."""
        kept = without_loops(part)
        if self.forest is None:
            return kept
        if self._is_forest_new:
            self._is_forest_new, self._filter = False, None
            if min(self._space(), self._n_left()) >= FILTER_FROM * self.n_vertices:
                self._filter = CycleFilter(self.forest, self.n_vertices, maximum=self._maximum)
        return kept if self._filter is None else self._filter.kept(kept)

    def _n_left(self) -> int:
        """Return how many edges are to come, as far as that is known."""
        return self._capacity if self.n_edges is None else self.n_edges - self.position.n_edges

    # -------------------------------------------------------------- checkpoints

    def _write(self, began: float | None = None) -> None:
        """Write the checkpoint: nothing waits, so the forest is of all edges up to here."""
        if self._path is None or self.forest is None:
            return
        began = monotonic() if began is None else began
        Checkpoint(
            n_vertices=self.n_vertices,
            maximum=self._maximum,
            position=self.position,
            forest=self.forest,
        ).write(self._path)
        self._saved_at = monotonic()
        self._seconds_to_save = self._saved_at - began

    def save(self) -> None:
        """Keep in the checkpoint what has come, after an error of the stream."""
        if self._path is not None and not self._is_resuming:
            self._reduce()
            self._write()

    def kept_in_words(self) -> str:
        """Return where the work so far is, for messages."""
        return f"; {self._path} has the forest of those" if self._path else ""

    def finish(self) -> None:
        """Reduce what waits; the stream has ended."""
        if self._is_resuming:
            raise InvalidGraphError(
                f"the stream ends after {self.position.n_edges} edges, before the "
                f"{self.resumed_at} of the checkpoint {self._path}; give the same stream"
            )
        self._reduce()
        self._write()
