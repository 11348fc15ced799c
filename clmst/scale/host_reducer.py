"""The forest of the edges so far, and those that wait, in the host's memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst.core.errors import OutOfDeviceMemoryError
from clmst.runtime.device import Device
from clmst.scale.capacity import LEAST_SHARE, most_edges, too_small
from clmst.scale.cycle_filter import CycleFilter, without_loops
from clmst.scale.edge_part import EdgePart, joined
from clmst.scale.reduce import reduce

ROWS = 1 << 22  # the most that are looked at together
_PENDING = 256  # parts that wait before they are joined
_FILTER_FROM = 2  # edges a vertex to come, from which a filter pays


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSnapshot:
    """The state that one stream leaves to the next: a forest, and edges that wait.

    Attributes
    ----------
    forest : EdgePart or None
    waiting : tuple of EdgePart
        Edges that wait for the next reduction.
    by_forest : CycleFilter or None
        Made of the forest, if that has paid.
    """

    forest: EdgePart | None
    waiting: tuple[EdgePart, ...] = ()
    by_forest: CycleFilter | None = None

    @property
    def parts(self) -> list[EdgePart]:
        """The forest, if there is one, and what waits."""
        return [*self.waiting] if self.forest is None else [self.forest, *self.waiting]

    @property
    def size(self) -> int:
        """Number of edges."""
        return sum(part.size for part in self.parts)


class HostReducer:
    """As :class:`EdgeReducer`, but only the solves are on the device.

    Parameters
    ----------
    n_vertices : int
    device : Device
    limit : int
        Bytes that a reduction may use.
    maximum : bool

    Attributes
    ----------
    forest : EdgePart or None
        Of all edges up to the last reduction.
    n_waiting : int
        Edges that wait for the next one.
    reductions, n_filtered : int
        Solves so far, and edges that none of them had.
    """

    def __init__(self, *, n_vertices: int, device: Device, limit: int, maximum: bool) -> None:
        self._n_vertices, self._device, self._limit = n_vertices, device, limit
        self._maximum = maximum
        self.forest: EdgePart | None = None
        self._waiting: list[EdgePart] = []
        self.n_waiting = self.reductions = self.n_filtered = 0
        self._filter: CycleFilter | None = None
        self._is_forest_new = False  # since the filter was made
        self._capacity = 0  # edges of a reduction; known with the first weights

    @property
    def n_forest(self) -> int:
        """Edges of the present forest."""
        return self.forest.size if self.forest else 0

    @property
    def space(self) -> int:
        """How many edges the next call of :meth:`take` may bring."""
        return self._capacity - self.n_forest - self.n_waiting

    @property
    def is_full(self) -> bool:
        """Whether a reduction must come before more edges."""
        return self.n_waiting > 0 and self.space < max(1, min(ROWS, self._capacity // 8))

    def snapshot(self) -> StreamSnapshot:
        """Return what another stream goes on from; the arrays are shared, none is changed."""
        by_forest = None if self._is_forest_new else self._filter
        return StreamSnapshot(forest=self.forest, waiting=tuple(self._waiting), by_forest=by_forest)

    def go_on_from(self, known: StreamSnapshot) -> None:
        """Take what another stream had, as if this one had read the edges."""
        self.forest, self._waiting = known.forest, [*known.waiting]
        self.n_waiting = sum(part.size for part in known.waiting)
        self._filter = known.by_forest
        self._is_forest_new = known.by_forest is None and known.forest is not None
        if known.parts:
            self.expect(known.parts[0].weights.dtype)

    def expect(self, dtype: np.dtype[np.generic]) -> None:
        """Learn from the dtype of weights how many edges a reduction may have."""
        self._capacity = most_edges(self._device, self._limit, self._n_vertices, dtype)
        self._check_space()

    def take(self, part: EdgePart, n_to_come: int | None) -> None:
        """Keep the edges of a part that may enter the forest; there must be space for them.

        `n_to_come` edges follow, if that is known; it tells whether a filter pays.
        """
        kept = without_loops(part)
        if self._is_forest_new and self.forest is not None:
            n_left = self.space if n_to_come is None else min(self.space, n_to_come)
            self._is_forest_new, self._filter = False, None
            if n_left >= _FILTER_FROM * self._n_vertices:
                self._filter = CycleFilter(self.forest, self._n_vertices, maximum=self._maximum)
        if self._filter is not None:
            kept = self._filter.kept(kept)
        kept = kept.owned()
        self.n_filtered += part.size - kept.size
        self._waiting.append(kept)
        self.n_waiting += kept.size
        if len(self._waiting) >= _PENDING:
            self._waiting = [joined(self._waiting)]

    def reduce(self) -> None:
        """Make one forest of the present one and what waits."""
        if not self._waiting:
            return
        waiting, self._waiting, self.n_waiting = joined(self._waiting), [], 0
        self._reduce_part(waiting)
        self._is_forest_new = True
        self._check_space()

    def _reduce_part(self, part: EdgePart) -> None:
        """Reduce a part with the forest, by halves if the device turns out to be too small."""
        union = [part] if self.forest is None else [self.forest, part]
        try:
            self.forest = reduce(
                union, n_vertices=self._n_vertices, device=self._device, maximum=self._maximum
            )
            self.reductions += 1
        except OutOfDeviceMemoryError:
            half = part.size // 2
            if half <= self.n_forest // LEAST_SHARE or half == 0:
                raise
            self._capacity = min(self._capacity, self.n_forest + half)
            self._reduce_part(part.take(slice(0, half)))
            self._reduce_part(part.take(slice(half, None)))

    def _check_space(self) -> None:
        """Raise if reductions would bring too little of the stream each."""
        n_forest = self.n_forest
        if self._capacity - n_forest < max(1, n_forest // LEAST_SHARE):
            raise too_small(self._limit, self._n_vertices, n_forest, self._device)
