"""Core distances of few points; host side of ``dense_few_core`` of ``cl/algorithms/dense/few.cl``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from clmst.algorithms import families
from clmst.algorithms.dense.plan import has_few, program_of_few
from clmst.algorithms.dense.tiles import takes_tiles
from clmst.core.points import Points
from clmst.runtime.device_matrix import DeviceMatrix, Panel
from clmst.runtime.launcher import Launcher
from clmst.runtime.transfer import Transfer

# Turns of one point after the other, at most: k * n.
_MOST_TURNS = 1 << 16


def takes(matrix: DeviceMatrix, k: int) -> bool:
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
    lanes = dict(program.specialisation.defines)["LANES"]
    groups = launch.groups_for(-(-n * lanes // program.work_group_size))
    launch.enqueue(program, "dense_few_core", groups, cells, n, d, k, np.float64(alpha))
    core = np.empty(n)
    launch.read(cells, core, offset=8 * n * d)
    panel = Panel(first=0, n_rows=n, cells=cells)
    return replace(matrix, graph=points.with_core_distances(core), panels=(panel,), plans={})
