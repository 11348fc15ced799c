"""The lightest and the nearest pairs of points by tiles: ``lightest.cl`` and ``nearest.cl``."""

from __future__ import annotations

from math import ceil

import numpy as np

from clmst.algorithms.dense import Filter
from clmst.algorithms.dense.plan import (
    N_COUNTS,
    DensePlan,
    has_short_ids,
    no_edge,
    vertex_bits,
)
from clmst.algorithms.dense.tiles import TILE_COLUMNS, PackedPoints
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program

LIGHTEST_SOURCE = "algorithms/dense/lightest.cl"
NEAREST_SOURCE = "algorithms/dense/nearest.cl"

# SAMPLES of nearest.cl: values of a tile. Tiles of a sample, at least, and values for each of the k
# points that are wanted.
_SAMPLES, _LEAST_TILES, _VALUES_OF_EACH = 16, 8, 4


def plan_of_tiles(matrix: DeviceMatrix) -> DensePlan:
    """Return the plan of points whose pairs are compared by tiles; it reads no cells."""
    key = "dense by tiles"
    if key not in matrix.plans:
        defines = {"COMPLETE": 1, **weight_defines(matrix.bits, matrix.kind, maximum=False)}
        matrix.plans[key] = DensePlan.make(
            matrix.device, matrix.n_vertices, (), defines, unit=TILE_COLUMNS
        )
    plan: DensePlan = matrix.plans[key]
    return plan


class LightestPairs:
    """The entries of blocks of points (``dense.cl``), found by tiles."""

    def __init__(self, matrix: DeviceMatrix, plan: DensePlan, launch: Launcher, by: Filter) -> None:
        self.plan, self.launch, device = plan, launch, matrix.device
        self.packed = PackedPoints.of(matrix, launch, by=by)
        self.has_weights = self.packed.defines["WEIGHT_BITS"] == 64
        self.core = matrix.core_on_device()
        self.floors = None
        if self.core is not None:
            self.floors = DeviceArray.empty(plan.n, np.float32, device)
            launch.for_each(
                self.packed.pack_program, "dense_pack_cores", plan.n,
                self.core, self.packed.scaling, self.floors, plan.n, self.packed.d,
            )  # fmt: skip
        self.program = device.program(LIGHTEST_SOURCE, **self.packed.defines)
        self.counts = DeviceArray.empty(plan.n_blocks, np.uint32, device)

    def find(self, component: DeviceArray) -> None:
        """Make all entries."""
        self._find(component, None)

    def find_again(self, component: DeviceArray, listed: int, *, every: bool) -> None:
        """Make entries again, reserve what is found, and count them in count `listed`.

        Those that are stale and may have a component's lightest edge; or `every` one.
        """
        plan = self.plan
        self.launch.fill(self.counts.memory, 0, plan.n_blocks)
        self.launch.for_each(
            self.program, "dense_lightest_list", plan.n, plan.keys, plan.columns, component,
            plan.winners, plan.blocks, self.counts, plan.counts, listed, plan.n, plan.n_blocks,
            int(every),
        )  # fmt: skip
        self._find(component, plan.blocks)

    def _find(self, component: DeviceArray, rows: DeviceArray | None) -> None:
        plan, packed = self.plan, self.packed
        n_tiles = packed.tiles_of(self.program, plan.n) * plan.n_blocks
        self.launch.enqueue(
            self.program, "dense_lightest_find", min(n_tiles, packed.groups_at_once), packed.rows,
            self.core, packed.singles, packed.packs, packed.halves, self.floors, packed.scaling,
            component, rows, self.counts, plan.keys, plan.columns, plan.winners, plan.n, packed.d,
            packed.padded, plan.width, plan.n_blocks, int(has_short_ids(plan.n)),
        )  # fmt: skip

    def gather(self, result: DeviceArray) -> None:
        """Write edges, counts and, unless they are rounded, weights to one array, for one read."""
        plan, packed = self.plan, self.packed
        self.launch.for_each(
            self.program, "dense_lightest_gather", max(plan.n, N_COUNTS), packed.rows, self.core,
            plan.edges, plan.counts, result, plan.n, packed.d, vertex_bits(plan.n),
            np.uint64(no_edge(plan.n)), N_COUNTS,
        )  # fmt: skip


def distances(packed: PackedPoints, k: int, launch: Launcher) -> DeviceArray:
    """Return the distance of each point to its `k`-th nearest point, the point itself not counted.

    Points have no core distances, and k is from 1 to n - 1. The result is not waited for; keep the
    points until it is there.

    O(n**2 d) work, nearly all of it in float32. About k log(n / k) pairs a point get their
    distances; where work-groups have several work-items, a sample of the columns bounds what can be
    near, and they are k log(n / 1024) or some 2 k.
    Device memory: 16 d + 8 k bytes a point, times up to some ten parts where there are few points,
    and 512 bytes of the sample.
    """
    n, device = packed.n, packed.device
    program = device.program(NEAREST_SOURCE, **packed.defines)
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
