"""Tasks of a solve by blocks: each computes the tree of some of the points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from time import perf_counter
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from clmst.blocks.checkpoint import TaskStore
from clmst.blocks.options import BlockProgress
from clmst.blocks.regions import Numbers
from clmst.core.forest import Forest
from clmst.core.points import Points
from clmst.core.threads import TaskThread, all_of, in_threads, slices
from clmst.core.weight_keys import Array

T = TypeVar("T")

_EDGES_AT_ONCE = 1 << 17  # edges that a thread takes at a time
_MAKERS = 4  # threads that make tasks, each of which needs memory for the points of two blocks
TASKS_OF_A_WORKER = 2  # tasks given to an engine for each worker, which then has a next one at once

# A function that returns the spanning trees of some sets of points, which it may compute at the
# same time.
TreesOf = Callable[[Sequence[Points]], Sequence[Forest]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """The workers that compute the tasks of a solve by blocks: devices, or workers of Dask or Ray.

    Attributes
    ----------
    at_once : int
        The maximum number of tasks that are given to the workers together.
    call : callable
        Calls a function of a module with each of some tuples of arguments, on the workers, and
        returns the results in order. It blocks until all are there.
    devices : sequence
        The devices of the tasks that are given together, in turn. An engine has one, which is the
        name of the device of each worker, or None.
    """

    at_once: int
    call: Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], Sequence[Any]]
    devices: Sequence[Any] = (None,)

    def run(self, function: Callable[..., T], sets: Sequence[Points], *more: Any) -> Sequence[T]:
        """Compute ``function(one, *more, device)`` for each of at most `at_once` sets of points."""
        n = len(self.devices)
        given = [(one, *more, self.devices[k % n]) for k, one in enumerate(sets)]
        return self.call(function, given)


@dataclass(frozen=True, slots=True, eq=False)
class FoundEdges:
    """Edges between points: `u` and `v` of shape (k,), the lesser end first, and their `weights`.

    Ends are numbers of points among all points.
    """

    u: npt.NDArray[np.uint32]
    v: npt.NDArray[np.uint32]
    weights: npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """The computation of the tree of some points.

    `numbers` are the numbers of the points, in rising order. If `is_of_one` is not None, it says
    for each point on which of two sides the point is, and only the edges between both sides are
    wanted.
    """

    name: str
    numbers: Numbers
    is_of_one: npt.NDArray[np.bool_] | None = None

    def edges_of(self, tree: Forest) -> FoundEdges:
        """Return the edges of `tree`, or only those between the two sets of points of the task."""
        ends, weights = tree.edges, tree.weights
        if self.is_of_one is not None:
            crosses = self.is_of_one[ends[:, 0]] != self.is_of_one[ends[:, 1]]
            ends, weights = ends[crosses], weights[crosses]
        u, v = np.empty((2, len(ends)), np.uint32)

        def name(some: slice) -> None:
            u[some] = np.take(self.numbers, ends[some, 0])
            v[some] = np.take(self.numbers, ends[some, 1])

        in_threads(name, slices(len(ends), _EDGES_AT_ONCE))
        return FoundEdges(u, v, weights)


@dataclass(slots=True, eq=False, kw_only=True)
class Step:
    """One step of a solve by blocks: the same work for each of several tasks.

    Attributes
    ----------
    progress : BlockProgress
        How much of the step is done.
    note : callable
        Called with a :class:`BlockProgress` at once and after each task.
    """

    progress: BlockProgress
    note: Callable[[BlockProgress], object]
    _began: float = field(default_factory=perf_counter)

    @classmethod
    def begun(
        cls, name: str, n_tasks: int, note: Callable[[BlockProgress], object], **stated: Any
    ) -> Self:
        """Begin a step of `n_tasks` tasks. `stated` has further fields of its progress."""
        step = cls(progress=BlockProgress(step=name, done=0, n_tasks=n_tasks, **stated), note=note)
        note(step.progress)
        return step

    @property
    def done(self) -> int:
        """The number of tasks that are done."""
        return self.progress.done

    def count(self) -> None:
        """Count a task that is done."""
        self.progress = replace(
            self.progress, done=self.done + 1, seconds=perf_counter() - self._began
        )
        self.note(self.progress)

    def results(
        self, store: TaskStore, tasks: Mapping[str, T],
        compute: Callable[[list[T]], Iterable[dict[str, Array]]],
    ) -> Iterator[dict[str, Array]]:  # fmt: skip
        """Yield the arrays that are the result of each task, in the order of `tasks`.

        `tasks` has the tasks by name. `compute` gets those without a result in the store, and
        returns the results, which are stored one by one. Each task is counted.
        """
        stored = [store.read(name) for name in tasks]
        missing = [
            task for task, known in zip(tasks.values(), stored, strict=True) if known is None
        ]
        computed = iter(compute(missing) if missing else ())
        for name, known in zip(tasks, stored, strict=True):
            if known is None:
                known = next(computed)  # noqa: PLW2901 - the result, wherever it is from
                store.write(name, **known)
            self.count()
            yield known


@dataclass(slots=True, eq=False)
class Pace:
    """The time of trees so far, from which the time of other trees is estimated.

    A tree is expected to take time in proportion to the square of its number of points. `seconds`
    is the time of all trees so far, and `squares` the sum of these squares.
    """

    seconds: float = 0.0
    squares: float = 0.0

    def add(self, seconds: float, sizes: Iterable[int]) -> None:
        """Add the time of trees with the given numbers of points, computed at the same time."""
        self.seconds += seconds
        self.squares += sum(float(size) ** 2 for size in sizes)

    def expected(self, sizes: npt.NDArray[Any]) -> float | None:
        """Estimate the seconds for trees of these numbers of points. None if no tree was timed."""
        squares = float((sizes.astype(np.float64) ** 2).sum())
        return self.seconds / self.squares * squares if self.squares else None


@dataclass(frozen=True, slots=True, eq=False)
class Solver:
    """Computes the trees of tasks, several at the same time, and stores the edges of the trees.

    Attributes
    ----------
    points : Points
        All points.
    trees_of : callable
        Computes trees of some of the points.
    at_once : int
        The maximum number of trees that are given to `trees_of` together.
    store : TaskStore
        The results of tasks of an earlier process, and of this one.
    note : callable
        Called with a :class:`BlockProgress` when a step begins and after each task.
    pace : Pace
        The time that trees have taken so far.
    """

    points: Points
    trees_of: TreesOf
    at_once: int
    store: TaskStore
    note: Callable[[BlockProgress], object]
    pace: Pace = field(default_factory=Pace)

    def solved(
        self, tasks: Iterable[Callable[[], Task | None]], step: Step
    ) -> Iterator[tuple[Task, FoundEdges]]:
        """Yield each task with the edges that were found for it, in the order of the tasks.

        Each of `tasks` is a function that makes a task, or returns None if the task would have no
        points. `step` counts both, for the progress. To make a task may take the host as long as
        its tree takes a device. So while trees are computed, other threads make the tasks of the
        next trees.
        """

        def solve(missing: list[Task]) -> Iterator[dict[str, Array]]:
            """Yield the edges of each of some tasks, in the form in which they are stored."""
            began = perf_counter()
            trees = self.trees_of([self.points.subset(task.numbers) for task in missing])
            self.pace.add(perf_counter() - began, [task.numbers.size for task in missing])
            for task, tree in zip(missing, trees, strict=True):
                edges = task.edges_of(tree)
                yield {"u": edges.u, "v": edges.v, "weights": edges.weights}

        def solve_or_make(number: int) -> list[Any]:
            """Solve the tasks of `batch` in thread 0, and make next tasks in the other threads."""
            if number > 0:
                return [make() for make in following[(number - 1) * share : number * share]]
            named = {task.name: task for task in batch if task is not None}
            found = [*zip(named.values(), step.results(self.store, named, solve), strict=True)]
            for _ in range(len(batch) - len(named)):
                step.count()
            return found

        remaining, batch = iter(tasks), list[Task | None]()
        makers = [TaskThread("clmst-next-tasks") for _ in range(min(self.at_once, _MAKERS))]
        share = -(-self.at_once // len(makers))  # tasks that a thread makes
        following = list(islice(remaining, self.at_once))
        while batch or following:
            results, *made = all_of(makers, solve_or_make)
            batch = [task for tasks_of_thread in made for task in tasks_of_thread]
            following = list(islice(remaining, self.at_once))
            for task, found in results:
                yield task, FoundEdges(found["u"], found["v"], found["weights"])
            del results
