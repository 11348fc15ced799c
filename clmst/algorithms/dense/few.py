"""Few vertices by one work-group, and core distances of few points; host side of ``few.cl``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from clmst.algorithms import families
from clmst.algorithms.dense.plan import DensePlan, has_few, program_of_few
from clmst.algorithms.dense.tiles import takes_tiles
from clmst.algorithms.shared.progress import MOST_ROUNDS
from clmst.core.points import Points
from clmst.runtime.device_matrix import DeviceMatrix, Panel
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program
from clmst.runtime.transfer import Transfer

# Turns of one point after the other, at most: k * n.
_MOST_TURNS = 1 << 16


def take_rounds(
    plan: DensePlan, launch: Launcher
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """Take all rounds of a solve of one panel, and wait for it.

    Return edges, as the plan has them, and of each round how many blocks were read again and how
    many components were hooked, shape (MOST_ROUNDS, 2).
    """
    program, (panel,) = program_of_few(plan.device, plan.defines), plan.panels
    entries, sizes = (plan.keys, plan.columns), (plan.n, plan.dimensions, plan.width, plan.n_blocks)
    with launch.phase("read all blocks"):
        groups = _groups_of_lanes(plan.n * plan.n_blocks, program, launch)
        launch.enqueue(program, "dense_few_scan", groups, panel.cells, *entries, *sizes)
    with launch.phase("rounds"):
        launch.enqueue(
            program, "dense_few_solve", 1, panel.cells, *entries, plan.component, plan.parents,
            plan.winners, plan.blocks, plan.edges, *sizes, int(plan.short_ids), plan.vertex_bits,
            np.uint64(plan.no_edge), MOST_ROUNDS,
        )  # fmt: skip
    found = np.empty(plan.n + MOST_ROUNDS, np.uint64)
    launch.read(plan.edges.memory, found)
    return found[: plan.n], found[plan.n :].view(np.uint32).reshape(-1, 2)


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


def with_core(matrix: DeviceMatrix, k: int, launch: Launcher, *, alpha: float = 1) -> DeviceMatrix:
    """Return points with the distance of each to its `k`-th nearest one, times `alpha`; waits.

    They stay on the device for the solve.
    """
    points, device = matrix.graph, matrix.device
    assert isinstance(points, Points), "a matrix is stored"
    n, d = points.n_vertices, points.dimensions
    cells = device.allocate(8 * n * (d + 1))
    device.send([Transfer(buffer=cells, array=points.planes.ravel())], wait=False)
    program = program_of_few(device, matrix.defines(maximum=False) | {"CORE_DISTANCES": 1})
    groups = _groups_of_lanes(n, program, launch)
    launch.enqueue(program, "dense_few_core", groups, cells, n, d, k, np.float64(alpha))
    core = np.empty(n)
    launch.read(cells, core, offset=8 * n * d)
    panel = Panel(first=0, n_rows=n, cells=cells)
    return replace(matrix, graph=points.with_core_distances(core), panels=(panel,), plans={})
