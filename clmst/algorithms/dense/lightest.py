"""The lightest pairs of blocks of columns by tiles; host side of ``lightest.cl``."""

from __future__ import annotations

import numpy as np

from clmst.algorithms.dense.options import Filter
from clmst.algorithms.dense.plan import DensePlan
from clmst.algorithms.dense.tiles import TILE_COLUMNS, PackedPoints
from clmst.algorithms.shared.device_forest import ForestWeights
from clmst.core.points import Points
from clmst.core.weight_keys import Encoding
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/dense/lightest.cl"

_DOUBLE = np.dtype(np.float64)


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
        self.plan, self.launch = plan, launch
        points, device = matrix.graph, matrix.device
        assert isinstance(points, Points), "a matrix is stored"
        key = ("packed", by)
        if key not in matrix.plans:
            matrix.plans[key] = PackedPoints.upload(matrix, launch, by=by)
        self.packed: PackedPoints = matrix.plans[key]
        self.core = self.floors = None
        if points.core_distances is not None:
            self.core = device.upload(points.core_distances)
            self.floors = DeviceArray.empty(plan.n, np.float32, device)
            launch.for_each(
                self.packed.pack_program, "dense_pack_cores", plan.n,
                self.core, self.packed.scaling, self.floors, plan.n, self.packed.d,
            )  # fmt: skip
        self.program = device.program(SOURCE, **self.packed.defines)
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
            packed.padded, plan.width, plan.n_blocks, int(plan.short_ids),
        )  # fmt: skip

    def weigh(self, ends: DeviceArray) -> ForestWeights | None:
        """Return the weights of edges, unless they are rounded: those the host computes."""
        packed, k = self.packed, ends.size // 2
        if packed.defines["WEIGHT_BITS"] != 64:
            return None
        weights = DeviceArray.empty(k, np.float64, packed.device)
        self.launch.for_each(
            self.program, "dense_lightest_weigh", k, packed.rows, self.core, ends, weights,
            packed.n, packed.d, k,
        )  # fmt: skip
        return ForestWeights(words=weights, encoding=Encoding(dtype=_DOUBLE, stored=_DOUBLE))
