"""Few vertices by one work-group, and core distances of few points; host side of ``few.cl``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from clmst.algorithms import families
from clmst.algorithms.dense.plan import (
    FEW_SOURCE,
    ends_of,
    few_defines,
    has_few,
    has_short_ids,
    no_edge,
    vertex_bits,
)
from clmst.algorithms.dense.tiles import takes_tiles
from clmst.algorithms.shared.progress import MOST_ROUNDS, check_rounds, no_progress
from clmst.algorithms.shared.read_back import forest_of_arrays
from clmst.algorithms.shared.solution import stats_of
from clmst.core import pairs
from clmst.core.forest import Forest
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import METRICS, DeviceMatrix
from clmst.runtime.discovery import get_device
from clmst.runtime.failures import Guard
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program
from clmst.runtime.transfer import Transfer

# Cells of a block: one work-group reads cells again more slowly than entries
# (docs/performance_log.md).
_WIDTH = 128
# Turns of one point after the other for core distances, at most: k * n.
_MOST_TURNS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class FewEdges:
    """The forest of few vertices, in canonical order."""

    ends: Array  # uint32, shape (k, 2)
    weights: Array | None  # of points with core distances: float64, shape (k,)
    stats: dict[str, Any]


def solve(
    cells: Memory, n: int, dimensions: int, defines: dict[str, int], launch: Launcher
) -> FewEdges:
    """Solve a complete graph whose cells are in one piece, and wait for it."""
    device, n_blocks = launch.device, ceil(n / _WIDTH)
    program = _program(device, defines)
    scratch = device.allocate(8 * n * (3 + 2 * n_blocks))
    counts_end = n + MOST_ROUNDS + 1
    found = np.empty(counts_end + n * defines.get("CORE_DISTANCES", 0), np.uint64)
    result = device.allocate(found.nbytes)
    sizes = (n, dimensions, _WIDTH, n_blocks)
    with launch.phase("read all blocks"):
        groups = _groups_of_lanes(n * n_blocks, program, launch)
        launch.enqueue(program, "dense_few_scan", groups, cells, scratch, *sizes)
    with launch.phase("rounds"):
        launch.enqueue(
            program, "dense_few_solve", 1, cells, scratch, result, *sizes, int(has_short_ids(n)),
            vertex_bits(n), np.uint64(no_edge(n)), MOST_ROUNDS,
        )  # fmt: skip
    launch.read(result, found)
    rounds = found[n : counts_end - 1].view(np.uint32).reshape(-1, 2).tolist()
    components, blocks_again = _counts_of(rounds, n, device)
    order = np.argsort(found[:n])[: n - components[-1]]
    return FewEdges(
        ends=ends_of(found[order], n),
        weights=found[counts_end:].view(np.float64)[order] if found.size > counts_end else None,
        stats={
            "rounds": len(components) - 1, "components": components, "blocks_again": blocks_again,
            "blocks": n * n_blocks,
        },
    )  # fmt: skip


def _counts_of(rounds: list[list[int]], n: int, device: Device) -> tuple[list[int], list[int]]:
    """Return how many components each round left, and how many blocks it has read again."""
    components, blocks_again = [n], []
    for number, (listed, hooked) in enumerate(rounds):
        if number:
            blocks_again.append(listed)
        if hooked == 0:
            break
        components.append(components[-1] - hooked)
        if components[-1] < 1:
            rule = "a forest has fewer edges than vertices"
            raise no_progress("dense", device, rule, round=number, hooked=hooked, vertices=n)
        if components[-1] == 1:
            break
    else:
        check_rounds("dense", device, MOST_ROUNDS, components=components[-1])
    return components, blocks_again


def _program(device: Device, defines: dict[str, int]) -> Program:
    return device.program(FEW_SOURCE, **defines, **few_defines(device.capabilities, device.policy))


def _groups_of_lanes(n_tasks: int, program: Program, launch: Launcher) -> int:
    """Return how many work-groups share tasks of a lane group each."""
    lanes = dict(program.specialisation.defines)["LANES"]
    return launch.groups_for(-(-n_tasks * lanes // program.work_group_size))


def takes_core(matrix: DeviceMatrix, k: int) -> bool:
    """Return whether the `k`-th nearest of few points are found so, sooner than by tiles."""
    n = matrix.n_vertices
    if not has_few(n, matrix.device) or takes_tiles(matrix) or not 0 < k < n:
        return False
    return k * n <= _MOST_TURNS and families.few_core_refusal(matrix) is None


class MutualReachability:
    """Few points on a device, and the distance of each to its `k`-th nearest one times `alpha`."""

    def __init__(self, matrix: DeviceMatrix, k: int, launch: Launcher, *, alpha: float = 1) -> None:
        points, device = matrix.graph, matrix.device
        assert isinstance(points, Points), "a matrix is stored"
        self.launch, self.n, self.d = launch, points.n_vertices, points.dimensions
        self.cells = device.allocate(8 * self.n * (self.d + 1))
        device.send([Transfer(buffer=self.cells, array=points.planes.ravel())], wait=False)
        self.defines = matrix.defines(maximum=False) | {"CORE_DISTANCES": 1}
        program = _program(device, self.defines)
        launch.enqueue(
            program, "dense_few_core", _groups_of_lanes(self.n, program, launch), self.cells,
            self.n, self.d, k, np.float64(alpha),
        )  # fmt: skip

    def core_distances(self) -> Array:
        """Return the distances; waits."""
        core = np.empty(self.n)
        self.launch.read(self.cells, core, offset=8 * self.n * self.d)
        return core

    def tree(self) -> FewEdges:
        """Return the minimum spanning tree; waits."""
        return solve(self.cells, self.n, self.d, self.defines, self.launch)


def mutual_forest(points: Points, k: int, device: Any, *, alpha: float) -> Forest | None:
    """Return the tree of few points by mutual reachability, times `alpha`; core distances stay.

    They are distances to the `k`-th nearest points. None if the tree is to be found another way.
    """
    if METRICS[points.compared_as][1] != 64 or not 0 < k < points.n_vertices:
        return None
    device = get_device(device)
    if not device.capabilities.doubles:
        return None
    plain = points.with_core_distances(None)
    matrix, launch = DeviceMatrix.upload(plain, device), Launcher(device, device.queue)
    if not takes_core(matrix, k):
        return None
    with device.lock, Guard(device):
        tree = MutualReachability(matrix, k, launch, alpha=alpha).tree()
    assert tree.weights is not None
    return forest_of_arrays(
        points, tree.ends, tree.weights, partial(pairs.position, matrix.n_vertices, *tree.ends.T),
        stats=stats_of(tree.stats, launch, "dense"), maximum=False,
    )  # fmt: skip
