"""Spanning trees and core distances of complete graphs with few vertices.

In a solve, one work-group does all rounds of Borůvka's algorithm. The kernels are in
``one_group.cl`` and ``core.cl``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import numpy as np

from clmst import route
from clmst.algorithms.dense.workspace import (
    CORE_SOURCE,
    ONE_GROUP_SOURCE,
    ends_of,
    has_short_ids,
    no_edge,
    one_group_defines,
    vertex_bits,
)
from clmst.algorithms.shared.found_tree import FoundTree
from clmst.algorithms.shared.progress import MOST_ROUNDS, check_rounds, no_progress
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program
from clmst.runtime.transfer import Transfer

# Number of cells in a block, a part of a row of the matrix whose lightest cell is remembered.
# _WIDTH is for a solve in several launches. _WIDTH_ALONE is for a solve in a single launch, in
# which the one work-group also has to read blocks again. With wide blocks this would take too long.
_WIDTH_ALONE, _WIDTH = 128, 256
# Base-2 logarithm of the factor, about 7, by which a round is assumed to divide the number of
# components on average. The number of rounds that are enqueued at once follows from it. If the tree
# is not complete after these rounds, more are enqueued.
_HALVINGS_A_ROUND = 2.75
# Number of work-groups per compute unit in launches that find the new lightest cells of some blocks
# of the matrix. The host enqueues them before it knows how many blocks there are. Usually these are
# few, so few work-groups are started.
_FEW_GROUPS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgesOfFew:
    """The spanning tree of a complete graph with few vertices, in canonical order."""

    ends: Array  # uint32, shape (k, 2)
    weights: Array | None  # float64, shape (k,); None unless points have core distances
    stats: dict[str, Any]


def solve(
    cells: Memory, n: int, dimensions: int, defines: dict[str, int], launch: Launcher
) -> EdgesOfFew:
    """Find the spanning tree of a complete graph with few vertices, and wait for the result.

    `cells` is a buffer with the whole matrix, or with the coordinates of `n` points, one dimension
    after the other. The core distances of the points follow if the macro CORE_DISTANCES is 1.
    `defines` are the macros for the kernels. `dimensions` is the number of coordinates of a point,
    or 0 for a matrix.
    """
    device, at_once = launch.device, route.in_one_launch(n)
    width = _WIDTH_ALONE if at_once else _WIDTH
    n_blocks = ceil(n / width)
    program = device.program(
        ONE_GROUP_SOURCE, **defines, **one_group_defines(device.capabilities, device.policy)
    )
    scratch = device.allocate(8 * n * (3 + 2 * n_blocks))
    counts_end = n + MOST_ROUNDS + 1
    found = np.empty(counts_end + n * defines.get("CORE_DISTANCES", 0), np.uint64)
    result = device.allocate(found.nbytes)
    sizes = (n, dimensions, width, n_blocks)
    with launch.phase("read all blocks"):
        groups = _groups_of_lanes(n * n_blocks, program, launch)
        launch.enqueue(program, "dense_one_group_scan", groups, cells, scratch, *sizes)
    short_ids = int(has_short_ids(n))
    many = launch.groups_for(device.capabilities.compute_units * _FEW_GROUPS)
    first, end, counts = 0, MOST_ROUNDS if at_once else ceil(log2(n) / _HALVINGS_A_ROUND), None
    while counts is None:
        with launch.phase("rounds"):
            for number in range(first, first + 1 if at_once else end):
                if number:
                    launch.enqueue(
                        program, "dense_one_group_rescan", many, cells, scratch, result, *sizes,
                        short_ids, number,
                    )  # fmt: skip
                launch.enqueue(
                    program, "dense_one_group_solve", 1, cells, scratch, result, *sizes, short_ids,
                    vertex_bits(n), np.uint64(no_edge(n)), MOST_ROUNDS, number,
                    end if at_once else number + 1, int(not at_once),
                )  # fmt: skip
        launch.read(result, found)
        rounds = found[n : counts_end - 1].view(np.uint32).reshape(-1, 2)[:end].tolist()
        counts = _counts_of(rounds, n, device)
        first, end = end, end + 1
    components, blocks_again = counts
    order = np.argsort(found[:n])[: n - components[-1]]
    return EdgesOfFew(
        ends=ends_of(found[order], n),
        weights=found[counts_end:].view(np.float64)[order] if found.size > counts_end else None,
        stats={
            "rounds": len(components) - 1, "components": components, "blocks_again": blocks_again,
            "blocks": n * n_blocks,
        },
    )  # fmt: skip


def _counts_of(
    rounds: list[list[int]], n: int, device: Device
) -> tuple[list[int], list[int]] | None:
    """Convert the numbers that the device has counted in each round to two lists.

    `rounds` has two numbers per round: the blocks of the matrix that had to be read again, and the
    components that were joined to others. A block is a part of a row, of which only the lightest
    cell is kept. The first list of the result has the number of components before the first round,
    which is `n`, and after each round. The second list has the number of blocks that were read
    again in each round but the first.

    Returns None if further rounds are needed. Raises DeviceError if the numbers are impossible, or
    if there are too many rounds.
    """
    components, blocks_again = [n], []
    for number, (listed, hooked) in enumerate(rounds):
        if number:
            blocks_again.append(listed)
        if hooked == 0:
            return components, blocks_again
        components.append(components[-1] - hooked)
        if components[-1] < 1:
            rule = "a forest has fewer edges than vertices"
            raise no_progress("dense", device, rule, round=number, hooked=hooked, vertices=n)
        if components[-1] == 1:
            return components, blocks_again
    check_rounds("dense", device, len(rounds), components=components[-1])
    return None


def _groups_of_lanes(n_tasks: int, program: Program, launch: Launcher) -> int:
    """Return the number of work-groups to launch if a lane group does each of `n_tasks` tasks.

    A lane group is a set of work-items of a work-group that do one task together. `program` has the
    sizes of a lane group and a work-group.
    """
    lanes = dict(program.specialisation.defines)["LANES"]
    return launch.groups_for(-(-n_tasks * lanes // program.work_group_size))


class MutualReachability:
    """Few points on a device, together with their core distances.

    The core distance of a point is its distance to its `k`-th nearest other point, times `alpha`.
    The mutual reachability distance of two points is the maximum of their distance and both core
    distances.
    """

    def __init__(self, matrix: DeviceMatrix, k: int, launch: Launcher, *, alpha: float = 1) -> None:
        points, device = matrix.graph, matrix.device
        assert isinstance(points, Points), "a matrix is stored"
        self.points, self.matrix = points, matrix
        self.launch, self.n, self.d = launch, points.n_vertices, points.dimensions
        self.cells = device.allocate(8 * self.n * (self.d + 1))
        device.send([Transfer(buffer=self.cells, array=points.planes.ravel())], wait=False)
        defines = matrix.defines(maximum=False)
        self.defines = defines | {"CORE_DISTANCES": 1}
        program = device.program(CORE_SOURCE, **defines)
        launch.enqueue(
            program, "dense_core_find", _groups_of_lanes(self.n, program, launch), self.cells,
            self.n, self.d, k, np.float64(alpha),
        )  # fmt: skip

    def core_distances(self) -> Array:
        """Read the core distances to the host, which blocks until they are computed.

        They are divided by the same power of two as the coordinates in :attr:`Points.planes`.
        """
        core = np.empty(self.n)
        self.launch.read(self.cells, core, offset=8 * self.n * self.d)
        return core

    def tree(self) -> FoundTree:
        """Find the minimum spanning tree by mutual reachability distances, and wait for the tree.

        The mutual reachability distance of two points is the greatest of their distance and both
        core distances. The solve uses the core distances on the device, in float64, so they need
        not be read.
        """
        found = solve(self.cells, self.n, self.d, self.defines, self.launch)
        assert found.weights is not None
        return FoundTree(
            matrix=self.matrix, algorithm="dense", ends=found.ends, weights=found.weights,
            stats=found.stats,
        )  # fmt: skip
