"""Borůvka's algorithm as Sun and Skadron timed it: only the minimum edges are found on a device.

Algorithm 4 of Sun and Skadron (2013) has four steps in each round. Their program does the first
step, find-min-edge, by a segmented minimum scan on a GPU. It does the other three steps (remove
cycles, merge vertices, add edges to new vertices) sequentially on the host. They compare it with a
program that does all four steps sequentially. Both programs are here. What is sequential is done by
NumPy and SciPy in one thread.

The clock runs as in section 5 of the paper. The graph is on the device before the clock starts. The
time of find-min-edge on the device ends when its result is on the host. The edges of all later
rounds are made on the host and have to be copied to the device. This time is in the total, but not
in the time of find-min-edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import clmst
from benchmarks.timing import seconds_of
from clmst import DeviceArray
from clmst.primitives import Monoid, segmented_reduce

_ID_BITS = np.uint64(32)
_NOTHING = np.uint64(2**64 - 1)  # the minimum of a vertex without edges


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """The edges of one round: a CSR with both directions of each edge, on the host.

    The key of an entry is an unsigned integer of 64 bits: the weight above the number of the edge.
    So all edges have different keys.
    """

    offsets: np.ndarray  # uint32, shape (n + 1,)
    columns: np.ndarray  # int32, shape (entries,)
    keys: np.ndarray  # uint64, shape (entries,)

    @property
    def n_vertices(self) -> int:
        """Number of vertices in this round."""
        return int(self.offsets.size) - 1


def first_level(graph: clmst.Graph) -> Level:
    """Return the edges of a graph for the first round. Its weights are integers below 2**32.

    `graph` stores each edge once, and an edge's number is its slot.
    """
    full = graph.symmetrised()
    ids = full.edge_ids
    assert ids is not None
    keys = full.weights.astype(np.uint64) << _ID_BITS | ids.astype(np.uint64)
    return Level(
        offsets=full.indptr.astype(np.uint32, copy=False), columns=full.indices.view(np.int32),
        keys=keys,
    )  # fmt: skip


class Sequential:
    """A finder that does the step find-min-edge in one thread of the host."""

    def upload(self, level: Level) -> None:
        """Do nothing, because the edges are on the host."""

    def find(self, level: Level) -> np.ndarray:
        """Return the least key of each vertex's edges, or 2**64 - 1 for a vertex without edges."""
        found = np.full(level.n_vertices, _NOTHING)
        starts = level.offsets.astype(np.intp)
        filled = np.flatnonzero(starts[1:] > starts[:-1])
        if filled.size:
            found[filled] = np.minimum.reduceat(level.keys, starts[filled])
        return found


class OnDevice:
    """A finder that does the step find-min-edge on a device, by a segmented minimum scan."""

    def __init__(self, device: clmst.Device) -> None:
        self.device = device
        self._arrays: tuple[DeviceArray, DeviceArray] | None = None

    def upload(self, level: Level) -> None:
        """Copy the edges of a round to the device, and wait for the copy."""
        self._arrays = (
            DeviceArray.from_host(level.keys, self.device),
            DeviceArray.from_host(level.offsets, self.device),
        )
        self.device.queue.finish()

    def find(self, level: Level) -> np.ndarray:
        """Compute the least key of each vertex's edges on the device, and return the keys.

        The key of a vertex without edges is 2**64 - 1.
        """
        assert self._arrays is not None
        keys, offsets = self._arrays
        return segmented_reduce(keys, offsets=offsets, monoid=Monoid.minimum(np.uint64)).to_host()


Finder: TypeAlias = Sequential | OnDevice


class Solve:
    """One solve by Algorithm 4 of Sun and Skadron, and the time of each step.

    `graph` stores each edge once. `finder` does the step find-min-edge.

    Attributes
    ----------
    in_forest : ndarray of bool, shape (m,)
        Whether each edge is in the forest.
    rounds : int
        Number of rounds.
    finding, uploading, others : float
        Milliseconds of find-min-edge, of copies to the device, and of the other three steps.
    """

    def __init__(self, graph: clmst.Graph, first: Level, finder: Finder) -> None:
        self.finder, self.level = finder, first
        self.ends = graph.rows, graph.indices
        self.in_forest = np.zeros(graph.n_slots, bool)
        self.rounds, self.finding, self.uploading, self.others = 0, 0.0, 0.0, 0.0
        # Contractions merge vertices. For each vertex of the first round, this is the number of the
        # vertex of the present round into which it was merged.
        self._vertex_of: Any = np.arange(first.n_vertices)
        self._best = np.empty(0, np.uint64)
        finder.upload(first)
        finder.find(first)  # builds the kernels

    @property
    def total(self) -> float:
        """Milliseconds of the whole solve."""
        return self.finding + self.uploading + self.others

    def run(self) -> Solve:
        """Do all rounds."""
        while self.level.keys.size:
            if self.rounds:
                self.uploading += 1e3 * seconds_of(self._upload)
            self.finding += 1e3 * seconds_of(self._find)
            self.others += 1e3 * seconds_of(self._contract)
            self.rounds += 1
        return self

    def _upload(self) -> None:
        self.finder.upload(self.level)

    def _find(self) -> None:
        self._best = self.finder.find(self.level)

    def _contract(self) -> None:
        """Add the chosen edges to the forest, and make the edges of the next round."""
        level, n = self.level, self.level.n_vertices
        chosen = np.unique(self._best[self._best != _NOTHING]) & np.uint64(2**32 - 1)
        self.in_forest[chosen] = True
        joined = tuple(self._vertex_of[end[chosen]] for end in self.ends)
        matrix = sparse.coo_array((np.ones(chosen.size, np.int8), joined), shape=(n, n))
        labels: Any
        count, labels = connected_components(matrix, directed=False)
        self._vertex_of = labels[self._vertex_of]
        lengths: Any = np.diff(level.offsets.astype(np.int64))
        rows = np.repeat(labels, lengths)
        columns = labels[level.columns]
        kept = np.flatnonzero(rows != columns)
        # Sort the remaining edges by the new vertex from which they lead. A sparse matrix has one
        # row for each edge, with one entry in the column of this vertex. Converting the matrix to
        # CSC is a counting sort, in linear time.
        one_each = sparse.csr_array(
            (np.ones(kept.size, np.int8), rows[kept], np.arange(kept.size + 1)),
            shape=(kept.size, count),
        ).tocsc()
        order = kept[one_each.indices]
        self.level = Level(
            offsets=one_each.indptr.astype(np.uint32), columns=columns[order],
            keys=level.keys[order],
        )  # fmt: skip
