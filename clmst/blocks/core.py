"""Core distances of points that are divided into blocks."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.blocks.checkpoint import TaskStore
from clmst.blocks.partition import Block
from clmst.blocks.regions import BoxArray, Doubles, Numbers, near_a_box, near_to_points, rising
from clmst.blocks.tasks import Step
from clmst.core.points import Points
from clmst.core.threads import gathered, scatter, slices

# A function that takes a sequence of sets of points and `min_samples`. It returns the core
# distances of the points of each set. It may compute them at the same time.
CoreOf = Callable[[Sequence[Points], int], Sequence[Doubles]]

# Each point of a group has an upper bound of its core distance. Only points within this bound can
# affect the core distance. If there are too many such points for the device, a group of more than
# _UNDIVIDED points is divided. A smaller group is first solved with only the nearest of the points
# outside the group, which lowers its bounds.
_UNDIVIDED = 64


@dataclass(frozen=True, slots=True, eq=False)
class CoreSolver:
    """Computes the core distances of points, of at most two blocks at once in nearly all cases.

    More points are only given to `core_of` if they all lie around a single point, within the bound
    that other points near to it have given.

    Attributes
    ----------
    points : Points
        All points.
    min_samples : int
        The number of points within a core distance, at most the size of the least block.
    core_of : callable
        Computes the core distances of up to `at_once` sets of points.
    at_once : int
        The maximum number of sets that are given to `core_of` together.
    store : TaskStore
        The core distances of blocks that an earlier process has computed.
    step : Step
        Counts two tasks for each block.

    Notes
    -----
    Among the points of a block, each point gets an upper bound of its core distance. Only points
    nearer than the bound can lower it. If points within the bound may lie in other blocks, core
    distances are computed once more, of the points concerned together with all points near to them.
    If those are too many, the points concerned are divided into groups.
    """

    points: Points
    min_samples: int
    core_of: CoreOf
    at_once: int
    store: TaskStore
    step: Step

    def solve(self, blocks: Sequence[Block]) -> Doubles:
        """Return the core distances of all points, which are divided into blocks.

        The result equals, to the last bit, the result for all points at once.
        """
        core, greatest = np.empty(self.points.n_vertices), list[float]()
        for some in slices(len(blocks), self.at_once):
            sets = {
                f"bound-{some.start + at}": rising(block.numbers)
                for at, block in enumerate(blocks[some])
            }
            bounds = self.step.results(self.store, sets, self._bounds)
            for numbers, found in zip(sets.values(), bounds, strict=True):
                scatter(found["core"], numbers, core)
                greatest.append(found["core"].max())
        boxes = BoxArray.joined([block.cloud.box for block in blocks])
        most = 2 * max(block.numbers.size for block in blocks)
        for some in slices(len(blocks), self.at_once):
            unsolved = {}
            for which, block in enumerate(blocks[some], some.start):
                least = self.points.least_distances(boxes.gaps_to(block.cloud.box))
                least[which] = np.inf
                near = least < greatest[which]
                others = [blocks[at] for at in np.argsort(least, kind="stable") if near[at]]
                unsolved[f"block-{which}"] = _BlockCore(self, core, block, others, most)
            lowered = self.step.results(self.store, unsolved, self._lowered)
            for block, found in zip(blocks[some], lowered, strict=True):
                scatter(found["core"], block.numbers, core)
        return core

    def among(self, sets: Sequence[Numbers]) -> Sequence[Doubles]:
        """Compute the core distances of the points of each set among themselves."""
        return self.core_of([self.points.subset(one) for one in sets], self.min_samples)

    def _bounds(self, sets: list[Numbers]) -> Iterator[dict[str, Doubles]]:
        """Compute the core distances of each set among themselves, as the store keeps them."""
        return ({"core": core} for core in self.among(sets))

    def _lowered(self, unsolved: list[_BlockCore]) -> Iterator[dict[str, Doubles]]:
        """Yield the core distances of each of some blocks, in the form in which they are stored.

        Each block asks for the core distances of one set of points after another. The sets of all
        blocks are computed at the same time.
        """
        running = [one.lowered() for one in unsolved]
        found: dict[int, Doubles] = {}
        answers: dict[int, Any] = dict.fromkeys(range(len(running)))
        while answers:
            asked: dict[int, Numbers] = {}
            for at, answer in answers.items():
                try:
                    asked[at] = running[at].send(answer)
                except StopIteration as end:
                    found[at] = end.value
            cores = self.among(list(asked.values())) if asked else []
            answers = dict(zip(asked, cores, strict=True))
        return ({"core": found[at]} for at in range(len(running)))


@dataclass(frozen=True, slots=True, eq=False)
class _BlockCore:
    """The bounds of the core distances of a block's points.

    `others` are the blocks that may have points within these bounds, the nearest first. `core` has
    the bounds of all points. Only the bounds of this block's points are lowered.
    """

    solver: CoreSolver
    core: Doubles
    block: Block
    others: list[Block]
    most: int

    def lowered(self) -> Generator[Numbers, Doubles, Doubles]:
        """Lower the upper bounds of the block's core distances until all are exact.

        Yields the numbers of sets of points, and is sent the core distances of each set among
        itself. Returns the core distances, shape (m,), in the order of the block's points.
        """
        groups = [np.arange(self.block.numbers.size)]
        is_first = True
        while groups:
            own, near = self._near(groups.pop())
            if not own.size:
                continue
            around = self._around(own)
            size = around.size + sum(map(len, near))
            if size <= self.most:
                yield from self._compute(own, around, near)
                continue
            if is_first or own.size <= _UNDIVIDED:
                # Only points within an upper bound of a point's core distance can affect the core
                # distance. A solve with only the nearest of the points outside the group lowers
                # these bounds, so that fewer points are within them.
                sizes = around.size + np.cumsum([one.size for one in near])
                n_taken = max(int(np.searchsorted(sizes, self.most, side="right")), 1)
                yield from self._compute(own, around, near[:n_taken])
                if n_taken == len(near):
                    continue
            if is_first or own.size == 1:
                groups.append(own)
            else:
                groups += [own[: own.size // 2], own[own.size // 2 :]]
            is_first = False
        bounds: Doubles = gathered(self.core, self.block.numbers)
        return bounds

    def _near(self, group: Numbers) -> tuple[Numbers, list[Numbers]]:
        """Find points of other blocks that may lower the core distances of a group of points.

        A point of another block may lower the core distance of a point of the group if it lies
        within the bound of that point. Returns two results. The first has the points of the group
        whose core distances may be lowered, as ascending positions in the block. The second has,
        for each other block with points that may lower them, an array of the numbers of those
        points.
        """
        cloud, bounds = self.block.cloud, gathered(self.core, self.block.numbers)
        only = bounds
        if group.size < bounds.size:
            only = np.full(bounds.size, -np.inf)
            only[group] = bounds[group]
        greatest = cloud.greatest_of_leaves(only)
        is_own, near = np.zeros(bounds.size, bool), []
        for other in self.others:
            at = near_a_box(
                self.solver.points, cloud, greatest, only.__getitem__, other.cloud.box, below=True
            )
            found = near_to_points(
                self.solver.points, cloud, at, bounds[at], other.cloud, below=True
            )
            if found.size:
                is_own[at] = True
                near.append(other.numbers[found])
        return np.flatnonzero(is_own), near

    def _around(self, own: Numbers) -> Numbers:
        """Return the numbers of the block's points within the bounds of `own`, including `own`."""
        bounds = self.core[self.block.numbers[own]]
        found = near_to_points(self.solver.points, self.block.cloud, own, bounds, self.block.cloud)
        return self.block.numbers[found]

    def _compute(
        self, own: Numbers, around: Numbers, near: list[Numbers]
    ) -> Generator[Numbers, Doubles]:
        """Compute core distances among some points, and lower the bounds of `own` accordingly.

        The points are `around`, the numbers of points of this block, and `near`, the numbers of
        points of other blocks. `own` are positions in the block.
        """
        numbers = np.concatenate([around, *near])
        if numbers.size < self.solver.min_samples:
            return  # only so many nearer points could lower a bound
        numbers = rising(numbers)
        found = yield numbers
        mine = self.block.numbers[own]
        self.core[mine] = np.minimum(self.core[mine], found[np.searchsorted(numbers, mine)])
