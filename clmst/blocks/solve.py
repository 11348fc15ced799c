"""Spanning trees and core distances of points, solved block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from clmst.blocks.checkpoint import TaskStore, checksum
from clmst.blocks.core import CoreOf, CoreSolver
from clmst.blocks.options import BlockOptions, BlockProgress
from clmst.blocks.partition import Block, divide
from clmst.blocks.regions import Doubles
from clmst.blocks.tasks import Solver, Step, TreesOf
from clmst.blocks.tree import edges_by_blocks
from clmst.core import pairs
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest, routed
from clmst.core.long_work import LongWork
from clmst.core.points import Points
from clmst.core.quotients import DIVIDED
from clmst.route import BLOCKS, Way
from clmst.scale.stream import stream_minimum_spanning_forest


def check_points(graph: Any) -> None:
    """Raise InvalidArgumentError if blocks are asked for anything but Points on the host.

    Also raise it if the metric divides. Then no box bounds distances, so all blocks would be near.
    """
    if not isinstance(graph, Points):
        raise InvalidArgumentError(
            f"block_points is given for a {type(graph).__name__}; only Points of the host are "
            "divided into blocks (stream_minimum_spanning_forest takes edges that do not fit)"
        )
    if graph.metric in DIVIDED:
        raise InvalidArgumentError(
            f"block_points is given, and metric is {graph.metric!r}; points in blocks must have a "
            f"metric whose distances boxes bound, and {', '.join(DIVIDED)} are none"
        )


@dataclass(frozen=True, slots=True, eq=False)
class DividedPoints:
    """Points that are divided into blocks once, for their core distances and for their tree.

    Attributes
    ----------
    options : BlockOptions
        The size of blocks, and the checkpoint.
    points : Points
        The points without core distances. Blocks are read from them.
    blocks : list of Block
        The blocks, or an empty list if all points are at most one block.
    store : TaskStore
        The results of all tasks.
    """

    options: BlockOptions
    points: Points
    blocks: list[Block]
    store: TaskStore

    @classmethod
    def of(cls, points: Points, options: BlockOptions, min_samples: int = 1) -> Self:
        """Divide points into blocks, and open the checkpoint.

        `min_samples` is the greatest for which core distances will be computed. Raises
        InvalidArgumentError if the size of blocks is less than twice `min_samples`, or if the
        checkpoint is of another solve.
        """
        points = points.with_core_distances(None)
        if points.n_vertices <= options.n_points:
            return cls(options, points, [], TaskStore(None))
        if options.n_points < 2 * min_samples:
            raise InvalidArgumentError(
                f"block_points is {options.n_points} and min_samples is {min_samples}; a block "
                "must have at least twice as many points as min_samples"
            )
        with LongWork("dividing points into blocks"):
            store = TaskStore.opened(options.folder, points, options.n_points)
            blocks, ordered = divide(points, options.n_points)
        return cls(options, ordered, blocks, store)

    def tree(self, core: Any, trees_of: TreesOf, *, at_once: int, device: Any) -> Forest:
        """Compute the minimum spanning tree of the points block by block.

        Parameters
        ----------
        core : array of float64, shape (n,), or None
            The core distances, as :class:`Points` have checked them.
        trees_of : callable
            Computes the trees of up to `at_once` sets of points.
        at_once : int
            How many trees `trees_of` computes at the same time.
        device : device
            The device that finds the tree among the edges of all tasks.

        Returns
        -------
        Forest
            The tree that a solve of all points at once would find, to the last bit.
            ``stats["blocks"]`` has the numbers of blocks, of pairs that were solved, and of pairs
            that were dropped.

        Notes
        -----
        b blocks take the time of b solves of a block, and of the pairs that are not dropped. In two
        and three dimensions only the points near the border between two blocks matter. In many
        dimensions, nearly all points matter for each pair, so it takes up to b times as long as a
        solve at once.
        """
        points = self.points.with_checked_core(core)
        n, options, latest = points.n_vertices, self.options, list[BlockProgress]()
        if not self.blocks:
            return trees_of([points])[0]
        with _announced("computing a spanning tree by blocks", options, latest) as note:
            named = "tree" if core is None else f"tree-{checksum(core):08x}"
            solver = Solver(points, trees_of, at_once, self.store.of_step(named), note)

            # The chunks are a list, not an iterator, because the stream reads its edges several
            # times if memory does not suffice for one pass. Edges with equal weights are ordered by
            # their ends, and no two have the same ends, so the chunks do not need edge ids.
            chunks = [
                (edges.u, edges.v, edges.weights) for edges in edges_by_blocks(self.blocks, solver)
            ]
            forest = stream_minimum_spanning_forest(
                chunks, n, device=device, n_edges=sum(len(weights) for *_, weights in chunks)
            )
        u, v = forest.edges.T
        forest = replace(forest, edge_ids=partial(pairs.position, n, u, v))
        counted = {"blocks": len(self.blocks), "pairs": 0, "dropped": 0}
        if latest and latest[-1].step == "edges between blocks":
            counted |= {"pairs": latest[-1].n_tasks, "dropped": latest[-1].n_dropped}
        forest.stats["blocks"] = counted  # type: ignore[index]  # a dictionary of its own
        because = f"block_points is {options.n_points} and there are {n} points"
        return routed(forest, Way(BLOCKS, because))

    def core_distances(self, min_samples: int, core_of: CoreOf, *, at_once: int = 1) -> Doubles:
        """Compute the core distances of the points block by block.

        `core_of` computes the core distances of each of up to `at_once` sets of points, given
        `min_samples`. The result has shape (n,). It equals, to the last bit, the core distances
        of all points computed at once.
        """
        if not self.blocks:
            return core_of([self.points], min_samples)[0]
        with _announced("computing core distances by blocks", self.options, []) as note:
            step = Step.begun("core distances", 2 * len(self.blocks), note)
            store = self.store.of_step(f"core-{min_samples}")
            solver = CoreSolver(self.points, min_samples, core_of, at_once, store, step)
            return solver.solve(self.blocks)


@contextmanager
def reporting_step(
    block_points: Any, name: str, n: int, *, host: float, device: float
) -> Iterator[None]:
    """Report a step that follows the tree, before it begins and when it is done.

    `block_points` is the argument of the call, `n` the number of points, and `host` and `device`
    the bytes of memory for each point that the step takes at most. Nothing is reported without
    blocks.
    """
    options = None if block_points is None else BlockOptions.of(block_points)
    if options is None or options.on_progress is None or n <= options.n_points:
        yield
        return
    step = Step.begun(
        name, 1, options.on_progress, n_bytes=int(host * n), n_device_bytes=int(device * n)
    )
    yield
    step.count()


@contextmanager
def _announced(
    text: str, options: BlockOptions, latest: list[BlockProgress]
) -> Iterator[Callable[[BlockProgress], object]]:
    """Show the progress of work that takes long, and pass the progress on to the caller.

    `text` says what is being done. Yields the function that takes the progress, stores it in
    `latest`, and calls `on_progress` of the options.
    """

    def note(progress: BlockProgress) -> None:
        latest[:] = [progress]
        if options.on_progress is not None:
            options.on_progress(progress)

    with LongWork(text, done=lambda: "".join(map(str, latest))):
        yield note
