"""The ids between the first and the last row of a dynamic forest that belong to no row.

Ids ascend from row to row, and few of them are missing: the ids of self-loops, and of edges that a
graph has merged with parallel edges. So the row of an id is its distance from the first id, less
the number of missing ids before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst.core.weight_keys import Array

_BLOCK_BITS = 12  # ids of a block, of which the number of missing ids before it is stored
_MOST = 1 << 12  # missing ids, from which on rows are searched among all ids


@dataclass(frozen=True, slots=True)
class MissingIds:
    """The numbers between the first and the last of some edge ids that are not ids themselves.

    `distances` has their distances from the first id, in ascending order. It is None if there are
    too many of them.
    """

    distances: npt.NDArray[np.int64] | None
    before: npt.NDArray[np.int64]  # the number of missing ids before each block, and that of all
    has_any: npt.NDArray[np.bool_]  # whether one of them is in the block, and False at the end

    @classmethod
    def of(cls, ids: Array) -> MissingIds:
        """Find the ids that are missing between some ids, which ascend. O(m)."""
        distances: npt.NDArray[np.int64] | None = None
        if int(ids[-1]) - int(ids[0]) + 1 - ids.size < _MOST:
            steps = np.flatnonzero(ids[1:] - ids[:-1] != 1)
            runs = [np.arange(ids[k] + 1, ids[k + 1]) for k in steps.tolist()]
            distances = np.concatenate((np.zeros(0, np.int64), *runs)) - (ids[0] if runs else 0)
        known = np.zeros(0, np.int64) if distances is None else distances
        blocks = known >> _BLOCK_BITS
        n_blocks = int(blocks[-1]) + 2 if blocks.size else 1
        before = np.searchsorted(known, np.arange(n_blocks) << _BLOCK_BITS)
        has_any = np.zeros(n_blocks, np.bool_)
        has_any[blocks] = True
        return cls(distances, before, has_any)

    def fits(self, ids: Array) -> bool:
        """Return whether this object holds for `ids`, which begin with the ids it was made of."""
        n_missing = int(ids[-1]) - int(ids[0]) + 1 - ids.size
        return n_missing >= _MOST if self.distances is None else n_missing == self.distances.size

    def rows_of(
        self, places: npt.NDArray[np.int64], ids: Array
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_] | None]:
        """Return the row of each id, and which of them have one. None means that all have.

        `places` are the distances from the first id of `ids`, between 0 and the distance of the
        last id. The row of an id that has none is any row. O(1) for nearly all ids, unless too many
        are missing.
        """
        if self.distances is None:
            rows = np.searchsorted(ids, places + ids[0])
            return rows, ids[rows] - ids[0] == places
        if not self.distances.size:
            return places, None
        blocks = np.minimum(places >> _BLOCK_BITS, self.before.size - 1)
        rows = places - self.before[blocks]
        near = np.flatnonzero(self.has_any[blocks])
        if not near.size:
            return rows, None
        at = np.searchsorted(self.distances, places[near])
        rows[near] = places[near] - at
        exists = np.ones(places.size, np.bool_)
        exists[near] = self.distances[np.minimum(at, self.distances.size - 1)] != places[near]
        return rows, exists
