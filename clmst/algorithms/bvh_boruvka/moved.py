"""Trees of points that move: solves that keep order and lists of those before (``moved.cl``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from clmst.algorithms.bvh_boruvka import neighbours
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.bvh_boruvka.candidates import (
    CandidatePairs,
    CandidateSearch,
    margin_for,
    may_have,
)
from clmst.algorithms.bvh_boruvka.hierarchy import BoxTree, bound, gather, hierarchy_of
from clmst.algorithms.bvh_boruvka.neighbours import NearPoints
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.points import Points
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/bvh_boruvka/moved.cl"

# The greatest share of points with an uncertain nearest point for which the lists are kept. More
# search in later rounds: at this share about as long as lists take to find. On an H200 solves of a
# million points by lists take 0.86 and 1.00 of the time of others at 0.003 and 0.022 in the plane,
# 0.78 and 0.94 at 0.011 and 0.039 in 3D (`benchmarks moving_points lists`). CPUs search less
# quickly: the second number, where work-items search alone.
_MOST_UNSURE, _MOST_UNSURE_ALONE = 0.02, 0.004
# The most solves in a row that try nothing, since no try before them has succeeded.
_LONGEST_PAUSE = 15
# Candidates are found for movements so many times as far as the present one; by the second factor
# if the last ones were used for fewer solves than the third number.
_AHEAD, _FURTHER_AHEAD, _FEW_SOLVES = 1.5, 3.0, 4
# Solves by lists after one that found too many candidates.
_LIST_SOLVES = 16

PairSolver: TypeAlias = Callable[[DeviceArray, bool], DeviceForest]
"""Solves the graph of the candidates under weights; the flag says whether to profile."""
Prepare: TypeAlias = Callable[[CandidatePairs], PairSolver]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Origins:
    """Where points were when their lists were found.

    Attributes
    ----------
    tree : BoxTree
        Its coordinates are the origins, its boxes those of the last positions.
    near : NearPoints
        As found at the origins; lists are sorted anew in place.
    points, moves : DeviceArray of float64
        Coordinates by leaf of the present positions, and how far they are from the origins.
    candidates : CandidatePairs, optional
    solver : PairSolver, optional
        Of the candidates.
    farthest : float
        How far points may be from their origins, for candidates.
    """

    tree: BoxTree
    near: NearPoints
    points: DeviceArray
    moves: DeviceArray
    candidates: CandidatePairs | None = None
    solver: PairSolver | None = None
    farthest: float = 0.0


def most_unsure_on(device: Device) -> float:
    """Return the share of unsure points up to which a device is quicker by lists that are kept."""
    return _MOST_UNSURE_ALONE if device.policy.work_group_size == 1 else _MOST_UNSURE


class MovingPoints:
    """Spanning trees of the same number of points again and again, without core distances.

    Each is the tree that :func:`clmst.algorithms.bvh_boruvka.solve.solve` finds.

    Parameters
    ----------
    most_unsure : float, optional
        Lists are kept if the nearest point is uncertain for at most this share of points. Default:
        :func:`most_unsure_on`.
    prepare : callable, optional
        Makes what solves the graph of candidates. Without it none are looked for.
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
        most = self._most_unsure
        if unsure > (most_unsure_on(matrix.device) if most is None else most):
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
            near = neighbours.nearest(tree, launch)
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
    return forest.with_stats({**forest.stats, "moved": figures})


def _farthest(found: DeviceArray, launch: Launcher) -> float:
    """Return the farthest movement of all work-groups; waits."""
    of_groups = np.empty(found.size)
    launch.read(found.memory, of_groups)
    return float(of_groups.max())


def _measure(known: _Origins, matrix: DeviceMatrix, launch: Launcher) -> float:
    """Return how far the farthest point is from its origin; waits."""
    tree, device = known.tree, known.tree.device
    program = device.program(SOURCE, **tree.defines)
    groups = launch.groups_for(-(-tree.n // program.grid_tile))
    farthest = DeviceArray.empty(groups, np.float64, device)
    with launch.phase("move"):
        gather(replace(tree, points=known.points), matrix, launch)
        launch.enqueue(
            program, "bvh_boruvka_moved_measure", groups, known.points, tree.points,
            known.moves, farthest, tree.dimensions, tree.n,
        )  # fmt: skip
        return _farthest(farthest, launch)


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
            device.program(SOURCE, **tree.defines), "bvh_boruvka_moved_refresh", tree.n,
            tree.points, tree.ids, known.moves, known.near.lower, known.near.lists, lower, state,
            np.float64(movement), tree.dimensions, tree.n, known.near.k,
        )  # fmt: skip
        unsure = launch.read_word(state.memory) / tree.n
    return tree, replace(known.near, lower=lower), unsure
