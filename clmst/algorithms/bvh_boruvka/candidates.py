"""The pairs that a tree of points that move may take from; host side of ``candidates.cl``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst.algorithms.bvh_boruvka.hierarchy import BoxTree
from clmst.algorithms.bvh_boruvka.neighbours import NearPoints
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.primitives.split import split
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/bvh_boruvka/candidates.cl"

# Positions of pairs have 32 bits.
_MOST_POINTS = 1 << 27
# Candidates a point that are not listed as near ones, at the most.
_FOUND_A_POINT = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CandidatePairs:
    """All pairs that may be in the tree while no point is far from where they were found.

    Attributes
    ----------
    codes : DeviceArray of uint64, shape (m,)
        lesser << bits | greater, rising.
    bits : int
    lesser, greater : ndarray of uint32, shape (m,)
        The same on the host.
    """

    codes: DeviceArray
    bits: int
    lesser: Array
    greater: Array

    def weigh(self, tree: BoxTree, matrix: DeviceMatrix, launch: Launcher) -> DeviceArray:
        """Return the distances of all pairs at the present positions; enqueued."""
        weights = DeviceArray.empty(self.codes.size, np.float64, tree.device)
        launch.for_each(
            tree.device.program(SOURCE, **tree.defines), "bvh_boruvka_candidates_weigh",
            weights.size, matrix.panels[0].cells, self.codes, weights, tree.dimensions, tree.n,
            weights.size, self.bits,
        )  # fmt: skip
        return weights


class CandidateSearch:
    """The search for candidates beside the rounds of a solve.

    Parameters
    ----------
    tree : BoxTree
    near : NearPoints
        As found, before the first round.
    margin : float
        See :func:`margin_for`.
    launch : Launcher
    """

    def __init__(self, tree: BoxTree, near: NearPoints, margin: float, launch: Launcher) -> None:
        self._tree, self._launch, self._margin = tree, launch, margin
        self._bits = max(tree.n.bit_length(), 1)
        self._program = tree.device.program(SOURCE, **tree.defines)
        n_listed = tree.n * near.k
        self._capacity = n_listed + _FOUND_A_POINT * tree.n
        self._pairs = DeviceArray.empty(self._capacity, np.uint64, tree.device)
        self._seen = DeviceArray.empty(tree.n, np.float64, tree.device)
        self._state = DeviceArray.empty(1, np.uint32, tree.device)
        launch.copy(near.lower.memory, self._seen.memory, self._seen.nbytes)
        launch.fill(self._state.memory, n_listed, 1)
        launch.for_each(
            self._program, "bvh_boruvka_candidates_list", tree.n, near.lists, tree.ids,
            self._pairs, tree.n, near.k, self._bits,
        )  # fmt: skip

    def look(self, component: DeviceArray, labels: DeviceArray, winners: DeviceArray) -> None:
        """Find the candidates of a round whose reservations are complete; enqueued."""
        tree = self._tree
        self._launch.for_each(
            self._program, "bvh_boruvka_candidates_find", tree.n, *tree.arguments, component,
            labels, winners, self._seen, self._pairs, self._state, tree.n, tree.top,
            np.float64(self._margin), self._capacity, self._bits,
        )  # fmt: skip

    def found(self) -> CandidatePairs | None:
        """Return the candidates after the last round; None if they are too many. Waits."""
        count = self._launch.read_word(self._state.memory)
        if count > self._capacity:
            return None
        ordered = split(self._pairs[:count], key_bits=2 * self._bits, launch=self._launch)
        listed = np.empty(count, np.uint64)
        self._launch.read(ordered.memory, listed)
        is_first = np.append(True, listed[1:] != listed[:-1])
        codes = listed[is_first]
        return CandidatePairs(
            codes=DeviceArray.from_host(codes, self._tree.device), bits=self._bits,
            lesser=(codes >> np.uint64(self._bits)).astype(np.uint32),
            greater=(codes & np.uint64((1 << self._bits) - 1)).astype(np.uint32),
        )  # fmt: skip


def may_have(matrix: DeviceMatrix) -> bool:
    """Return whether candidates are known of points: whether their distances are a metric."""
    points = matrix.graph
    assert isinstance(points, Points)
    return points.metric != "cosine" and points.n_vertices <= _MOST_POINTS


def margin_for(points: Points, farthest: float) -> float:
    """Return the margin of candidates where no point moves by more than `farthest`.

    Twice for a pair that gets shorter, and twice for a path that gets longer. All distances are
    computed with a relative error of at most (d + 4) u, u = 2**-53, and squares that vanish; the
    share is eight times that and more, and no distance is longer than all sides together.
    """
    share = (points.planes.shape[0] + 8) * 2.0**-50
    with np.errstate(over="ignore"):
        longest = float(np.ptp(points.planes, axis=1).sum())
    margin: float = 4 * farthest * (1 + share) + 2 * (longest * share + 1e-150)
    return margin
