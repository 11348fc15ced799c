"""Tasks of a solve by blocks: each computes the tree of some of the points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from clmst.blocks.checkpoint import TaskStore
from clmst.blocks.options import BlockProgress
from clmst.blocks.regions import Numbers
from clmst.core.forest import Forest
from clmst.core.points import Points
from clmst.core.weight_keys import Array

T = TypeVar("T")

# A function that returns the spanning trees of some sets of points, which it may compute at the
# same time.
TreesOf = Callable[[Sequence[Points]], Sequence[Forest]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """The workers of an engine, such as Dask, that compute the tasks of a solve by blocks.

    Attributes
    ----------
    at_once : int
        The maximum number of tasks that are given to the workers together.
    call : callable
        Calls a function of a module with each of some tuples of arguments, on the workers, and
        returns the results in order. It blocks until all are there.
    """

    at_once: int
    call: Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], Sequence[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class FoundEdges:
    """Edges between points: `ends` of shape (k, 2), the lesser end first, and their `weights`."""

    ends: Numbers
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
        """Return the edges of the tree of the points that are wanted."""
        ends, weights = tree.edges, tree.weights
        if self.is_of_one is not None:
            crosses = self.is_of_one[ends[:, 0]] != self.is_of_one[ends[:, 1]]
            ends, weights = ends[crosses], weights[crosses]
        return FoundEdges(self.numbers[ends], weights)


@dataclass(slots=True, eq=False)
class Step:
    """One step of a solve by blocks: the same work for each of several tasks.

    Attributes
    ----------
    name : str
        The name of the step, for progress.
    n_tasks, n_dropped : int
        The number of tasks, and of tasks that are not needed.
    note : callable
        Called with a :class:`BlockProgress` after each task.
    """

    name: str
    n_tasks: int
    note: Callable[[BlockProgress], object]
    n_dropped: int = 0
    done: int = 0
    _began: float = field(default_factory=perf_counter)

    def count(self) -> None:
        """Count a task that is done."""
        self.done += 1
        seconds = perf_counter() - self._began
        found = BlockProgress(
            step=self.name, done=self.done, n_tasks=self.n_tasks, n_dropped=self.n_dropped,
            seconds=seconds,
        )  # fmt: skip
        self.note(found)

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
        Called with a :class:`BlockProgress` after each task.
    """

    points: Points
    trees_of: TreesOf
    at_once: int
    store: TaskStore
    note: Callable[[BlockProgress], object]

    def solved(self, tasks: Iterable[Task], step: Step) -> Iterator[tuple[Task, FoundEdges]]:
        """Yield each task with the edges that were found for it, in the order of the tasks.

        `step` counts the tasks that are done, for the progress.
        """

        def solve(missing: list[Task]) -> Iterator[dict[str, Array]]:
            """Compute the edges of tasks, as the store keeps them."""
            trees = self.trees_of([self.points.subset(task.numbers) for task in missing])
            for task, tree in zip(missing, trees, strict=True):
                edges = task.edges_of(tree)
                yield {"ends": edges.ends, "weights": edges.weights}

        remaining = iter(tasks)
        while batch := list(islice(remaining, self.at_once)):
            named = {task.name: task for task in batch}
            for task, found in zip(batch, step.results(self.store, named, solve), strict=True):
                yield task, FoundEdges(found["ends"], found["weights"])
