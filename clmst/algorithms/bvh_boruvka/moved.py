"""Trees of points that move: solves that keep order and lists of those before, or candidates.

Host side of ``moved.cl`` and ``candidates.cl`` in ``cl/algorithms/bvh_boruvka``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.bvh_boruvka.hierarchy import BoxTree, bound, gather, hierarchy_of
from clmst.algorithms.bvh_boruvka.neighbours import NearPoints, nearest
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.primitives.split import split
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher

CANDIDATES_SOURCE = "algorithms/bvh_boruvka/candidates.cl"
MOVED_SOURCE = "algorithms/bvh_boruvka/moved.cl"

# Positions of pairs have 32 bits.
_MOST_POINTS = 1 << 27
# Candidates a point that are not listed as near ones, at the most.
_FOUND_A_POINT = 10

# The greatest share of points with an uncertain nearest point for which the lists are kept. More
# search in later rounds: at this share about as long as lists take to find. On an H200 solves of a
# million points by lists take 0.86 and 1.00 of the time of others at 0.003 and 0.022 in the plane,
# 0.78 and 0.94 at 0.011 and 0.039 in 3D (`benchmarks moving_points lists`). CPUs search less
# quickly: the second number, where work-items search alone.
_MOST_UNSURE, _MOST_UNSURE_ALONE = 0.02, 0.004
# The most solves in a row that try nothing, since no try before them has succeeded.
_LONGEST_PAUSE = 15
# The movements that candidates are found for, as multiples of the present one: the first factor, or
# the second if the last candidates were used for fewer solves than the third number.
_AHEAD, _FURTHER_AHEAD, _FEW_SOLVES = 1.5, 3.0, 4
# Solves by lists after one that found too many candidates.
_LIST_SOLVES = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CandidatePairs:
    """All pairs that may be in the tree while no point is far from where they were found."""

    codes: DeviceArray  # uint64, shape (m,): lesser << bits | greater, rising
    bits: int
    lesser: Array  # uint32, shape (m,): the same on the host
    greater: Array

    def weigh(self, tree: BoxTree, matrix: DeviceMatrix, launch: Launcher) -> DeviceArray:
        """Return the distances of all pairs at the present positions; enqueued."""
        weights = DeviceArray.empty(self.codes.size, np.float64, tree.device)
        launch.for_each(
            tree.device.program(CANDIDATES_SOURCE, **tree.defines), "bvh_boruvka_candidates_weigh",
            weights.size, matrix.panels[0].cells, self.codes, weights, tree.dimensions, tree.n,
            weights.size, self.bits,
        )  # fmt: skip
        return weights


class CandidateSearch:
    """The search for candidates beside the rounds of a solve, which `near` is as before."""

    def __init__(self, tree: BoxTree, near: NearPoints, margin: float, launch: Launcher) -> None:
        self._tree, self._launch, self._margin = tree, launch, margin
        self._bits = max(tree.n.bit_length(), 1)
        self._program = tree.device.program(CANDIDATES_SOURCE, **tree.defines)
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


PairSolver: TypeAlias = Callable[[DeviceArray, bool], DeviceForest]
"""Solves the graph of the candidates under weights; the flag says whether to profile."""
Prepare: TypeAlias = Callable[[CandidatePairs], PairSolver]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Origins:
    """Where points were when their lists were found: their origins."""

    tree: BoxTree  # its coordinates are the origins, its boxes those of the last positions
    near: NearPoints  # as found at the origins; lists are sorted anew in place
    points: DeviceArray  # float64: coordinates by leaf of the present positions
    moves: DeviceArray  # float64: how far they are from the origins
    candidates: CandidatePairs | None = None
    solver: PairSolver | None = None  # of the candidates
    farthest: float = 0.0  # how far points may be from their origins, for candidates


class MovingPoints:
    """Spanning trees of the same number of points again and again, without core distances.

    Lists are kept if the nearest point is uncertain for at most a share `most_unsure` of points.
    `prepare` makes what solves the graph of candidates; without it none are looked for.
    """

    def __init__(self, most_unsure: float | None = None, prepare: Prepare | None = None) -> None:
        self._most_unsure, self._prepare = most_unsure, prepare
        self.forget()

    def forget(self) -> None:
        """Drop all that is known: the next solve begins anew."""
        self._origins: _Origins | None = None
        self._failures = 0  # tries in a row that have failed
        self._pause = 0  # solves until the next one whose lists are kept
        self._used = 0  # solves by the present candidates
        self._list_solves = 0  # solves until candidates are looked for again

    def solve(self, matrix: DeviceMatrix, launch: Launcher) -> DeviceForest:
        """Solve points at their present positions; waits for it.

        ``stats["moved"]`` says how: by "candidates", by "lists", or "anew"; how far the farthest
        point is from its origin ("movement"); and, except by candidates, for which share of points
        the nearest one was uncertain ("unsure"). The latter two only if there were origins.
        """
        known, self._origins = self._origins, None  # lost if the solve fails
        if known is None:
            self._pause = max(self._pause - 1, 0)
            if self._pause or matrix.n_vertices < 2:
                return _with_figures(bvh_boruvka.solve(matrix, launch), how="anew")
            return _with_figures(self._begin(matrix, launch), how="anew")
        movement = _measure(known, matrix, launch)
        if known.solver is not None and movement <= known.farthest:
            forest = _solve_candidates(known, matrix, launch)
            self._origins, self._used, self._failures = known, self._used + 1, 0
            return _with_figures(forest, how="candidates", movement=movement)
        return self._solve_otherwise(known, matrix, launch, movement)

    def _solve_otherwise(
        self, known: _Origins, matrix: DeviceMatrix, launch: Launcher, movement: float
    ) -> DeviceForest:
        """Solve by lists if these are of use, and there is no time for candidates; else anew."""
        tree, near, unsure = _carried(known, matrix, launch, movement)
        figures = {"movement": movement, "unsure": unsure}
        is_alone = matrix.device.policy.work_group_size == 1
        usual = _MOST_UNSURE_ALONE if is_alone else _MOST_UNSURE
        if unsure > (usual if self._most_unsure is None else self._most_unsure):
            self._failures += 1
            self._pause = min((1 << self._failures) // 4, _LONGEST_PAUSE)
            if self._pause:
                forest = bvh_boruvka.solve(matrix, launch)
            else:
                forest = self._begin(matrix, launch)
            return _with_figures(forest, how="anew", **figures)
        self._failures = 0
        if self._prepare is not None and self._list_solves == 0 and may_have(matrix):
            was_short = known.solver is not None and self._used < _FEW_SOLVES
            farthest = movement * (_FURTHER_AHEAD if was_short else _AHEAD)
            return _with_figures(self._begin(matrix, launch, farthest), how="anew", **figures)
        self._list_solves = max(self._list_solves - 1, 0)
        forest = bvh_boruvka.solve_tree(matrix, tree, launch, near)
        self._origins = replace(known, solver=None)
        return _with_figures(forest, how="lists", **figures)

    def _begin(
        self, matrix: DeviceMatrix, launch: Launcher, farthest: float | None = None
    ) -> DeviceForest:
        """Solve anew, and keep hierarchy and lists; find candidates for movements so far."""
        tree, device = hierarchy_of(matrix, launch), matrix.device
        del matrix.plans["bvh"]  # its boxes will be those of other positions
        with launch.phase("nearest points"):
            near = nearest(tree, launch)
            lower = DeviceArray.empty(tree.n, np.float64, device)  # which rounds write to
            launch.copy(near.lower.memory, lower.memory, lower.nbytes)
        search = None
        if farthest is not None:
            assert isinstance(matrix.graph, Points)
            search = CandidateSearch(tree, near, margin_for(matrix.graph, farthest), launch)
        look = None if search is None else search.look
        forest = bvh_boruvka.solve_tree(matrix, tree, launch, replace(near, lower=lower), look)
        known = _Origins(
            tree=tree, near=near, moves=lower,
            points=DeviceArray.empty(tree.points.size, np.float64, device),
        )  # fmt: skip
        if farthest is not None and search is not None and self._prepare is not None:
            candidates, self._used = search.found(), 0
            if candidates is None:
                self._list_solves = _LIST_SOLVES
            else:
                known = replace(
                    known, candidates=candidates, solver=self._prepare(candidates),
                    farthest=farthest,
                )  # fmt: skip
        self._origins = known
        return forest


def _solve_candidates(known: _Origins, matrix: DeviceMatrix, launch: Launcher) -> DeviceForest:
    """Solve the graph of candidates under their present distances."""
    assert known.candidates is not None
    assert known.solver is not None
    weights = known.candidates.weigh(known.tree, matrix, launch)
    found = known.solver(weights, launch.profile is not None)
    stats = {**found.stats, "candidates": weights.size}
    if launch.profile is not None:
        stats["profile"] = {**launch.profile.summary(), **found.stats["profile"]}
    return DeviceForest(
        graph=matrix, n_edges=found.n_edges, slots=None, edges=found.edges, maximum=False,
        stats=stats, weights=found.weights,
    )  # fmt: skip


def _with_figures(forest: DeviceForest, **figures: Any) -> DeviceForest:
    points = forest.graph.graph
    assert isinstance(points, Points)
    if "movement" in figures:
        figures["movement"] = float(points.multiplied(np.array(figures["movement"])))
    return forest.with_stats({**forest.stats, "moved": figures})


def _measure(known: _Origins, matrix: DeviceMatrix, launch: Launcher) -> float:
    """Return how far the farthest point is from its origin; waits."""
    tree, device = known.tree, known.tree.device
    program = device.program(MOVED_SOURCE, **tree.defines)
    groups = launch.groups_for(-(-tree.n // program.grid_tile))
    farthest, of_groups = DeviceArray.empty(groups, np.float64, device), np.empty(groups)
    with launch.phase("move"):
        gather(replace(tree, points=known.points), matrix, launch)
        launch.enqueue(
            program, "bvh_boruvka_moved_measure", groups, known.points, tree.points,
            known.moves, farthest, tree.dimensions, tree.n,
        )  # fmt: skip
        launch.read(farthest.memory, of_groups)
    return float(of_groups.max())


def _carried(
    known: _Origins, matrix: DeviceMatrix, launch: Launcher, movement: float
) -> tuple[BoxTree, NearPoints, float]:
    """Return hierarchy and lists where points are now, and the share of unsure points; waits."""
    tree, device = replace(known.tree, points=known.points), known.tree.device
    state = DeviceArray.empty(1, np.uint32, device)
    lower = DeviceArray.empty(tree.n, np.float64, device)
    with launch.phase("move"):
        bound(tree, launch)
        launch.fill(state.memory, 0, 1)
        launch.for_each(
            device.program(MOVED_SOURCE, **tree.defines), "bvh_boruvka_moved_refresh", tree.n,
            tree.points, tree.ids, known.moves, known.near.lower, known.near.lists, lower, state,
            np.float64(movement), tree.dimensions, tree.n, known.near.k,
        )  # fmt: skip
        unsure = launch.read_word(state.memory) / tree.n
    return tree, replace(known.near, lower=lower), unsure
