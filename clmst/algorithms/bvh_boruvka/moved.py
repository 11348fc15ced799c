"""Trees of points that move: solves that keep order and lists of those before (``moved.cl``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clmst.algorithms.bvh_boruvka import neighbours
from clmst.algorithms.bvh_boruvka import solve as bvh_boruvka
from clmst.algorithms.bvh_boruvka.hierarchy import BoxTree, hierarchy_of, moved_tree
from clmst.algorithms.bvh_boruvka.neighbours import NearPoints
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/bvh_boruvka/moved.cl"

# The greatest share of points with an uncertain nearest point for which the lists are kept. More
# search in later rounds: at this share about as long as lists take to find.
MOST_UNSURE = 0.004
# The most solves in a row that try nothing, since no try before them has succeeded.
_LONGEST_PAUSE = 15


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
    """

    tree: BoxTree
    near: NearPoints
    points: DeviceArray
    moves: DeviceArray


class MovingPoints:
    """Spanning trees of the same number of points again and again, without core distances.

    Each is the tree that :func:`clmst.algorithms.bvh_boruvka.solve.solve` finds.

    Parameters
    ----------
    most_unsure : float
        Lists are kept if the nearest point is uncertain for at most this share of points.
    """

    def __init__(self, most_unsure: float = MOST_UNSURE) -> None:
        self._most_unsure = most_unsure
        self._origins: _Origins | None = None
        self._failures = 0  # tries in a row that have failed
        self._pause = 0  # solves until the next one whose lists are kept

    def forget(self) -> None:
        """Drop all that is known: the next solve begins anew."""
        self._origins = None
        self._failures = self._pause = 0

    def solve(self, matrix: DeviceMatrix, launch: Launcher) -> DeviceForest:
        """Solve points at their present positions; waits for it.

        ``stats["moved"]`` says whether lists were kept ("how": "moved") or found ("anew"), how far
        the farthest point is from its origin, and for which share of points the nearest one was
        uncertain; the last two only if there were origins.
        """
        figures: dict[str, Any] = {}
        known, self._origins = self._origins, None  # lost if the solve fails
        if known is not None:
            tree, near, figures = _carried(known, matrix, launch)
            if figures["unsure"] <= self._most_unsure:
                forest = bvh_boruvka.solve_tree(matrix, tree, launch, near)
                self._origins, self._failures = known, 0
                return _with_figures(forest, how="moved", **figures)
            self._failures += 1
            self._pause = min((1 << self._failures) // 4, _LONGEST_PAUSE)
            del known, tree, near  # whose memory the next origins take
        elif self._pause:
            self._pause -= 1
        if self._pause or matrix.n_vertices < 2:
            return _with_figures(bvh_boruvka.solve(matrix, launch), how="anew", **figures)
        return _with_figures(self._begin(matrix, launch), how="anew", **figures)

    def _begin(self, matrix: DeviceMatrix, launch: Launcher) -> DeviceForest:
        """Solve anew, and keep hierarchy and lists."""
        tree, device = hierarchy_of(matrix, launch), matrix.device
        del matrix.plans["bvh"]  # its boxes will be those of other positions
        with launch.phase("nearest points"):
            near = neighbours.nearest(tree, launch)
            lower = DeviceArray.empty(tree.n, np.float64, device)  # which rounds write to
            launch.copy(near.lower.memory, lower.memory, lower.nbytes)
        forest = bvh_boruvka.solve_tree(matrix, tree, launch, replace(near, lower=lower))
        self._origins = _Origins(
            tree=tree, near=near, moves=lower,
            points=DeviceArray.empty(tree.points.size, np.float64, device),
        )  # fmt: skip
        return forest


def _with_figures(forest: DeviceForest, **figures: Any) -> DeviceForest:
    return forest.with_stats({**forest.stats, "moved": figures})


def _farthest(found: DeviceArray) -> float:
    """Return the farthest movement of all work-groups; waits."""
    return float(found.to_host().max())


def _carried(
    known: _Origins, matrix: DeviceMatrix, launch: Launcher
) -> tuple[BoxTree, NearPoints, dict[str, float]]:
    """Return the hierarchy and lists at the present positions, and figures; waits for these."""
    tree, device = known.tree, known.tree.device
    program = device.program(SOURCE, **tree.defines)
    groups = launch.groups_for(-(-tree.n // program.grid_tile))
    farthest = DeviceArray.empty(groups, np.float64, device)
    state = DeviceArray.empty(1, np.uint32, device)
    lower = DeviceArray.empty(tree.n, np.float64, device)
    with launch.phase("move"):
        present = moved_tree(tree, matrix, known.points, launch)
        launch.enqueue(
            program, "bvh_boruvka_moved_measure", groups, present.points, tree.points,
            known.moves, farthest, tree.n,
        )  # fmt: skip
        movement = _farthest(farthest)
        launch.fill(state.memory, 0, 1)
        launch.for_each(
            program, "bvh_boruvka_moved_refresh", tree.n, present.points, tree.ids, known.moves,
            known.near.lower, known.near.lists, lower, state, np.float64(movement), tree.n,
            known.near.k,
        )  # fmt: skip
        unsure = launch.read_word(state.memory) / tree.n
    near = replace(known.near, lower=lower)
    return present, near, {"movement": movement, "unsure": unsure}
