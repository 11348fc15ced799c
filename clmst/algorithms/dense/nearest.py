"""The nearest points of every point by tiles; host side of ``nearest.cl``."""

from __future__ import annotations

from math import ceil

import numpy as np

from clmst.algorithms.dense.tiles import TILE_COLUMNS, PackedPoints
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program

SOURCE = "algorithms/dense/nearest.cl"

# SAMPLES of nearest.cl: values of a tile. Tiles of a sample, at least, and values for each of the k
# points that are wanted.
_SAMPLES, _LEAST_TILES, _VALUES_OF_EACH = 16, 8, 4


def distances(packed: PackedPoints, k: int, launch: Launcher) -> DeviceArray:
    """Return the distance of each point to its `k`-th nearest point, the point itself not counted.

    Parameters
    ----------
    packed : PackedPoints
        Without core distances; keep it until the result is there.
    k : int
        From 1 to n - 1.
    launch : Launcher

    Returns
    -------
    DeviceArray of float64, shape (n,)
        Not waited for.

    Notes
    -----
    O(n**2 d) work, nearly all of it in float32. About k log(n / k) pairs a point get their
    distances; where work-groups have several work-items, a sample of the columns bounds what can be
    near, and they are k log(n / 1024) or some 2 k.
    Device memory: 16 d + 8 k bytes a point, times up to some ten parts where there are few points,
    and 512 bytes of the sample.
    """
    n, device = packed.n, packed.device
    program = device.program(SOURCE, **packed.defines)
    n_tiles, n_columns = packed.tiles_of(program, n), ceil(n / TILE_COLUMNS)
    # Few rows leave work-groups idle, unless several share a row; each of them has a list, so long
    # lists are few.
    alone = program.work_group_size == 1
    shared = 1 if alone else ceil(2 * packed.groups_at_once / n_tiles)
    shared = min(shared, max(n // (4 * k), 1))
    width = TILE_COLUMNS * ceil(n_columns / min(shared, n_columns))
    n_parts = ceil(n / width)
    limits = None if alone else _limits(packed, k, program, launch)
    lists = DeviceArray.empty(n_parts * k * n, np.float64, device)
    launch.enqueue(
        program, "dense_nearest_find", min(n_tiles * n_parts, packed.groups_at_once), packed.rows,
        packed.singles, packed.packs, packed.halves, packed.scaling, limits, lists, n, packed.d,
        packed.padded, width, n_parts, k,
    )  # fmt: skip
    found = DeviceArray.empty(n, np.float64, device)
    launch.for_each(program, "dense_nearest_merge", n, lists, found, n, n_parts, k)
    return found


def _limits(packed: PackedPoints, k: int, program: Program, launch: Launcher) -> DeviceArray:
    """Return the filter value that each point's `k` nearest points do not exceed."""
    n, device = packed.n, packed.device
    n_tiles = max(_LEAST_TILES, ceil(_VALUES_OF_EACH * k / _SAMPLES))
    n_tiles = min(n_tiles, ceil(n / TILE_COLUMNS))
    n_values = n_tiles * _SAMPLES
    values = DeviceArray.empty(n * n_values, np.float32, device)
    n_tasks = packed.tiles_of(program, n) * n_tiles
    launch.enqueue(
        program, "dense_nearest_sample", min(n_tasks, packed.groups_at_once), packed.singles,
        packed.packs, packed.halves, values, n, packed.d, packed.padded, n_tiles,
    )  # fmt: skip
    limits = DeviceArray.empty(n, np.float32, device)
    launch.for_each(
        program, "dense_nearest_reach", n, values, packed.scaling, limits, n, packed.d, n_values, k
    )
    return limits
