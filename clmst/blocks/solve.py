"""Spanning trees and core distances of points, solved block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from clmst.blocks.checkpoint import TaskStore, checksum
from clmst.blocks.core import CoreOf, CoreSolver
from clmst.blocks.options import BlockOptions, BlockProgress
from clmst.blocks.partition import divide
from clmst.blocks.regions import Doubles
from clmst.blocks.tasks import FoundEdges, Solver, Step, TreesOf
from clmst.blocks.tree import edges_by_blocks
from clmst.core import pairs
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest, routed
from clmst.core.long_work import LongWork
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.route import BLOCKS, Way
from clmst.scale.stream import stream_minimum_spanning_forest


def check_points(graph: Any) -> None:
    """Raise InvalidArgumentError if blocks are asked for anything but Points on the host."""
    if not isinstance(graph, Points):
        raise InvalidArgumentError(
            f"block_points is given for a {type(graph).__name__}; only Points of the host are "
            "divided into blocks (stream_minimum_spanning_forest takes edges that do not fit)"
        )


def tree_by_blocks(
    points: Points, options: BlockOptions, trees_of: TreesOf, *, at_once: int, device: Any
) -> Forest:
    """Compute the minimum spanning tree of points block by block.

    Parameters
    ----------
    points : Points
        The points, perhaps with core distances.
    options : BlockOptions
        The size of blocks, and the checkpoint.
    trees_of : callable
        Computes the trees of up to `at_once` sets of points.
    at_once : int
        How many trees `trees_of` computes at the same time.
    device : device
        The device that finds the tree among the edges of all tasks.

    Returns
    -------
    Forest
        The tree that a solve of all points at once would find, to the last bit. ``stats["blocks"]``
        has the numbers of blocks, of pairs that were solved, and of pairs that were dropped.

    Notes
    -----
    b blocks take the time of b solves of a block, and of the pairs that are not dropped. In two and
    three dimensions only the points near the border between two blocks matter. In many dimensions,
    nearly all points matter for each pair, so it takes up to b times as long as a solve at once.
    """
    n, latest = points.n_vertices, list[BlockProgress]()
    if n <= options.n_points:
        return trees_of([points])[0]
    core = points.core_distances
    with _announced("computing a spanning tree by blocks", options, latest) as note:
        store = TaskStore.opened(options.folder, points, options.n_points)
        named = "tree" if core is None else f"tree-{checksum(core):08x}"
        solver = Solver(points, trees_of, at_once, store.of_step(named), note)
        blocks = divide(points, options.n_points)

        # The chunks are a list, not an iterator, because the stream reads its edges several times
        # if memory does not suffice for one pass.
        chunks = [_chunk(n, edges) for edges in edges_by_blocks(blocks, solver)]
        forest = stream_minimum_spanning_forest(chunks, n, device=device)
    counted = {"blocks": len(blocks), "pairs": 0, "dropped": 0}
    if latest and latest[-1].step == "edges between blocks":
        counted |= {"pairs": latest[-1].n_tasks, "dropped": latest[-1].n_dropped}
    forest.stats["blocks"] = counted  # type: ignore[index]  # a dictionary of its own
    because = f"block_points is {options.n_points} and there are {n} points"
    return routed(forest, Way(BLOCKS, because))


def _chunk(n: int, edges: FoundEdges) -> tuple[Array, Array, Array, Array]:
    """Return edges as a chunk of a stream. Their ids are positions among all pairs of n points."""
    u, v = edges.ends.T
    ids = pairs.position(n, u, v)
    order = np.argsort(ids)
    return u[order], v[order], edges.weights[order], ids[order]


def core_distances_by_blocks(
    points: Points, min_samples: int, options: BlockOptions, core_of: CoreOf
) -> Doubles:
    """Compute the core distances of points block by block.

    `core_of` computes the core distances of some points, given `min_samples`. The result has shape
    (n,). It equals, to the last bit, the core distances of all points computed at once. Raises
    InvalidArgumentError if the size of blocks in `options` is less than twice `min_samples`.
    """
    if points.n_vertices <= options.n_points:
        return core_of(points, min_samples)
    if options.n_points < 2 * min_samples:
        raise InvalidArgumentError(
            f"block_points is {options.n_points} and min_samples is {min_samples}; a block must "
            "have at least twice as many points as min_samples"
        )
    with _announced("computing core distances by blocks", options, []) as note:
        store = TaskStore.opened(options.folder, points, options.n_points)
        blocks = divide(points, options.n_points)
        step = Step("core distances", 2 * len(blocks), note)
        solver = CoreSolver(
            points, min_samples, core_of, store.of_step(f"core-{min_samples}"), step
        )
        return solver.solve(blocks)


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
