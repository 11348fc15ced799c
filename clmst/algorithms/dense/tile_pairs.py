"""Find lightest pairs of points, and k-th nearest points, by comparing all pairs tile by tile.

A tile is a rectangle of the matrix of distances that a work-group computes. The kernels are in
``lightest.cl`` and ``nearest.cl``.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from clmst.algorithms.dense import Filter
from clmst.algorithms.dense.tiles import TILE_COLUMNS, PackedPoints
from clmst.algorithms.dense.workspace import (
    N_COUNTS,
    DenseWorkspace,
    has_short_ids,
    no_edge,
    vertex_bits,
)
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program

LIGHTEST_SOURCE = "algorithms/dense/lightest.cl"
NEAREST_SOURCE = "algorithms/dense/nearest.cl"

# The search for the k nearest points of each point begins with an upper bound of the k-th least
# distance. For each point (a row), it is estimated from a sample of the other points (the columns).
# The sample consists of whole tiles.
#   _SAMPLES          distances that each tile gives for a row (SAMPLES of nearest.cl)
#   _LEAST_TILES      minimum number of tiles in the sample
#   _VALUES_OF_EACH   distances that are sampled for each of the k points
_SAMPLES, _LEAST_TILES, _VALUES_OF_EACH = 16, 8, 4


def workspace_of_tiles(matrix: DeviceMatrix) -> DenseWorkspace:
    """Return the buffers for solves that compare points tile by tile, without a stored matrix.

    A tile is a rectangle of the matrix of distances that a work-group computes. The buffers are
    made once and kept with `matrix`, which has the points.
    """
    key = "dense by tiles"
    if key not in matrix.plans:
        defines = {"COMPLETE": 1, **weight_defines(matrix.bits, matrix.kind, maximum=False)}
        matrix.plans[key] = DenseWorkspace.make(
            matrix.device, matrix.n_vertices, (), defines, unit=TILE_COLUMNS
        )
    workspace: DenseWorkspace = matrix.plans[key]
    return workspace


class LightestPairs:
    """Finds, for each point, the nearest point of another component in each block of points.

    The points are divided into blocks. For each point and each block there is an entry: the pair of
    the point and the nearest point of the block that is in another component. ``dense.cl`` finds
    the same entries for stored matrices.
    """

    def __init__(
        self, matrix: DeviceMatrix, workspace: DenseWorkspace, launch: Launcher, by: Filter
    ) -> None:
        self.workspace, self.launch, device = workspace, launch, matrix.device
        self.packed = PackedPoints.of(matrix, launch, by=by)
        self.has_weights = self.packed.defines["WEIGHT_BITS"] == 64
        self.core = matrix.core_on_device()
        self.floors = None
        if self.core is not None:
            self.floors = DeviceArray.empty(workspace.n, np.float32, device)
            launch.for_each(
                self.packed.pack_program, "dense_pack_cores", workspace.n,
                self.core, self.packed.scaling, self.floors, workspace.n, self.packed.d,
            )  # fmt: skip
        self.program = device.program(LIGHTEST_SOURCE, **self.packed.defines)
        self.counts = DeviceArray.empty(workspace.n_blocks, np.uint32, device)

    def find(self, component: DeviceArray) -> None:
        """Enqueue the search for the point of each block that is nearest to each point.

        `component` has the component of each point. Only pairs of two components count.
        """
        self._find(component, None)

    def find_again(self, component: DeviceArray, listed: int, *, every: bool) -> None:
        """Enqueue a new search for stale entries, and update the lightest edges of components.

        An entry is the nearest pair of a point with a block of points. It is stale if both points
        of the pair have come into the same component. `component` has the component of each point.
        A stale entry is searched again only if its block may contain the lightest edge of the
        component. With `every`, all entries are searched again. The number of entries that are
        searched again is added to the counter with the index `listed`. Each new pair replaces the
        lightest edge of its component so far if it is lighter.
        """
        work = self.workspace
        self.launch.fill(self.counts.memory, 0, work.n_blocks)
        self.launch.for_each(
            self.program, "dense_lightest_list", work.n, work.keys, work.columns, component,
            work.winners, work.blocks, self.counts, work.counts, listed, work.n, work.n_blocks,
            int(every),
        )  # fmt: skip
        self._find(component, work.blocks)

    def _find(self, component: DeviceArray, rows: DeviceArray | None) -> None:
        work, packed = self.workspace, self.packed
        n_tiles = packed.tiles_of(self.program, work.n) * work.n_blocks
        self.launch.enqueue(
            self.program, "dense_lightest_find", min(n_tiles, packed.groups_at_once), packed.rows,
            self.core, packed.singles, packed.packs, packed.halves, self.floors, packed.scaling,
            component, rows, self.counts, work.keys, work.columns, work.winners, work.n, packed.d,
            packed.padded, work.width, work.n_blocks, int(has_short_ids(work.n)),
        )  # fmt: skip

    def gather(self, result: DeviceArray) -> None:
        """Enqueue copies of edges, counters and weights to `result`, which the host reads at once.

        Weights are left out if the kernels have only compared rounded distances, which depends on
        the metric.
        """
        work, packed = self.workspace, self.packed
        self.launch.for_each(
            self.program, "dense_lightest_gather", max(work.n, N_COUNTS), packed.rows, self.core,
            work.edges, work.counts, result, work.n, packed.d, vertex_bits(work.n),
            np.uint64(no_edge(work.n)), N_COUNTS,
        )  # fmt: skip


def distances(packed: PackedPoints, k: int, launch: Launcher) -> DeviceArray:
    """Enqueue the computation of the distance of each point to the `k`-th nearest other point.

    `packed` has the n points, which must be packed without core distances. `k` is from 1 to n - 1.
    The call does not wait for the device. The points must be kept until the device has finished.

    The work is O(n**2 d) for d dimensions, nearly all of it in float32. About k log(n / k) pairs
    per point get exact distances. If work-groups have several work-items, a sample of the points
    first gives an upper bound of each k-th distance. Then only k log(n / 1024) or about 2 k pairs
    per point get exact distances.

    If there are few points, several work-groups share the search for one point, and each takes a
    part of the other points. There are up to about ten parts, and one part if there are many
    points. For each point, the device memory is 16 d bytes for the coordinates, 512 bytes for the
    sample, and 8 k bytes for each part.
    """
    n, device = packed.n, packed.device
    program = device.program(NEAREST_SOURCE, **packed.defines)
    n_tiles, n_columns = packed.tiles_of(program, n), ceil(n / TILE_COLUMNS)
    # With few rows (points), some work-groups would be idle. So several work-groups share a row,
    # and each takes a part of the columns (other points). Each part has a list of k near points of
    # its own, so there are fewer parts if k is large.
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
    """Enqueue the computation of an upper bound for the distance to the `k`-th nearest point.

    The result has one bound for each point: a float32 estimate of a distance, computed as in
    ``filter.cl``. The bound is found from a sample of the other points. `program` has the kernels.
    """
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
