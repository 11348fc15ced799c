"""The nearest points of every point by tiles; host side of ``nearest.cl``."""

from __future__ import annotations

from math import ceil

import numpy as np

from clmst.algorithms.dense.tiles import TILE_COLUMNS, PackedPoints
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/dense/nearest.cl"


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
    O(n**2 d) work, nearly all of it in float32; about n k log(n / k) pairs get their distances.
    Device memory: 16 d + 8 k bytes a point, times up to some ten parts where there are few points.
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
    lists = DeviceArray.empty(n_parts * k * n, np.float64, device)
    launch.enqueue(
        program, "dense_nearest_find", min(n_tiles * n_parts, packed.groups_at_once), packed.rows,
        packed.singles, packed.packs, packed.scaling, lists, n, packed.d, packed.padded, width,
        n_parts, k,
    )  # fmt: skip
    found = DeviceArray.empty(n, np.float64, device)
    launch.for_each(program, "dense_nearest_merge", n, lists, found, n, n_parts, k)
    return found
