"""The bounding-volume hierarchy of points; host side of ``cl/algorithms/bvh_boruvka/build.cl``."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core.errors import InvalidGraphError
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.primitives.split import split
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix, dimension_class
from clmst.runtime.handles import KernelArgument
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy
from clmst.runtime.program import Program

BUILD_SOURCE = "algorithms/bvh_boruvka/build.cl"

LEAF = 8
# Bits of a code beside the bits of all points' number: there are 2**4 cells for each point.
_SPARE_BITS = 4
# The points of a sample; the share that is in a cell with others from which on codes are as long as
# they can be from the start; and the most bits of a code in each dimension.
_SAMPLES, _CROWDED_SHARE, _FINEST_BITS = 4096, 0.05, 24
_LEAST_SIDE = np.finfo(np.float64).tiny
# Passes over crowds, at the most: one for each halving of a double's exponent would be enough.
_MOST_PASSES = 64

# Where work-items search alone, and share out the items of a kernel tile by tile.
_SEARCHES_OF_A_TILE = 128

# Among a matrix's plans: the points in the order of leaves.
_ORDER = "bvh order"
# The most points that the host orders, where work-items search alone.
_FEW_POINTS = 1 << 13

# The most nodes of a level that one work-group goes through sooner than another launch begins.
_NODES_OF_A_GROUP = 512

# Of a hierarchy with 8 children a node: its levels share a word of 64 bits in a search.
_MOST_POINTS = 1 << 27


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoxTree:
    """A hierarchy of boxes over the points of a :class:`DeviceMatrix`; see ``tree.cl``."""

    device: Device
    n: int  # points
    dimensions: int
    rows: int  # of a leaf: one more than dimensions where there are core distances
    defines: dict[str, int]  # macros of all kernels that search it
    ids: DeviceArray  # uint32, shape (n,): the point in each slot
    slots: DeviceArray  # uint32, shape (n,): the slot of each point
    points: DeviceArray  # float64: coordinates by leaf
    boxes: DeviceArray  # float64: by parent
    least: DeviceArray  # uint32, shape (n_nodes,): the least point of each node
    bases: DeviceArray  # uint32, shape (top + 1,): where each level begins in arrays of nodes
    top: int  # the level of the root
    n_nodes: int

    @property
    def n_leaves(self) -> int:
        """Leaves."""
        return ceil(self.n / LEAF)

    @property
    def arguments(self) -> tuple[DeviceArray | int, ...]:
        """What every kernel that searches takes first."""
        return self.points, self.boxes, self.ids, self.least, self.bases, self.dimensions

    @property
    def builder(self) -> Program:
        """The program that builds hierarchies: one for all metrics, with core distances or not."""
        return builder_for(self.device, self.dimensions)

    def each_level(
        self, launch: Launcher, program: Program, kernel: str, *arguments: KernelArgument
    ) -> None:
        """Enqueue a kernel over the nodes of all levels above the leaves, each after that below.

        Few nodes and those above them are left to one work-group, in one launch.
        """
        level, width = 1, ceil(self.n_leaves / fanout(self.device))
        while level < self.top:
            is_last = width <= _NODES_OF_A_GROUP
            end, n_items = (self.top, 1) if is_last else (level + 1, width)
            launch.for_each(program, kernel, n_items, *arguments, level, end)
            level, width = end, ceil(width / fanout(self.device))


def fanout(device: Device) -> int:
    """Return the children of a node: FANOUT of ``tree.cl``."""
    return 8 if device.policy.work_group_size == 1 else 4


def search_defines(policy: Policy) -> dict[str, int]:
    """Return the macros of kernels that search: few searches are a tile, as one may take long."""
    return {"GRID_TILE": _SEARCHES_OF_A_TILE} if policy.work_group_size == 1 else {}


def builder_for(device: Device, dimensions: int) -> Program:
    """Return the program of BUILD_SOURCE for points of a number of dimensions."""
    return device.program(BUILD_SOURCE, DIMENSION_CLASS=dimension_class(dimensions))


def hierarchy_of(matrix: DeviceMatrix, launch: Launcher, *, by_codes: bool = False) -> BoxTree:
    """Return the hierarchy of points, that of the call before if there was one.

    Few points are ordered by the host where that is quicker, unless `by_codes` asks the device.
    """
    n = matrix.n_vertices
    if n > _MOST_POINTS and fanout(matrix.device) == 8:
        raise InvalidGraphError(
            f"there are {n} points; on {matrix.device.description} a hierarchy has up to "
            f"2**27 = {_MOST_POINTS}"
        )
    if "bvh" not in matrix.plans:
        with launch.phase("build the hierarchy"):
            matrix.plans["bvh"] = _Builder(matrix, launch).build(by_codes=by_codes)
    tree: BoxTree = matrix.plans["bvh"]
    return tree


def with_core_distances(matrix: DeviceMatrix, core: Array) -> DeviceMatrix:
    """Return points that have a hierarchy with core distances; theirs has the same order."""
    found = matrix.with_core_distances(core)
    found.plans[_ORDER] = matrix.plans["bvh"].ids
    return found


def order_of(matrix: DeviceMatrix) -> DeviceArray:
    """Return few points in an order in which near ones are near each other, found by the host.

    Source: Leutenegger, Edgington, Lopez, "STR: a simple and efficient algorithm for R-tree
    packing" (1997). Slices by one dimension are cut by the next one, until there are leaves.
    """
    if _ORDER not in matrix.plans:
        assert isinstance(matrix.graph, Points)
        planes, n = matrix.graph.planes, matrix.n_vertices
        leaves = ceil(n / LEAF)
        with np.errstate(over="ignore"):
            axes = np.argsort(-np.ptp(planes, axis=1))[: max(ceil(log2(leaves)), 1)]
        cuts = []
        for left in range(axes.size, 0, -1):
            cuts.append(ceil(leaves ** (1 / left)))
            leaves = ceil(leaves / cuts[-1])
        order, n_slices = np.arange(LEAF * prod(cuts)), 1
        beyond = np.full(order.size - n, np.inf)  # places behind the last point
        for axis, n_cuts in zip(axes, cuts, strict=True):
            slices = order.reshape(n_slices, -1)
            rising = np.argsort(np.append(planes[axis], beyond)[slices], axis=1)
            order = np.take_along_axis(slices, rising, axis=1).ravel()
            n_slices *= n_cuts
        matrix.plans[_ORDER] = DeviceArray.from_host(order[:n].astype(np.uint32), matrix.device)
    found: DeviceArray = matrix.plans[_ORDER]
    return found


class _Builder:
    """Builds a hierarchy: codes, order, boxes; again where many points share a code."""

    def __init__(self, matrix: DeviceMatrix, launch: Launcher) -> None:
        assert isinstance(matrix.graph, Points)
        self.launch, self.device, self.n = launch, matrix.device, matrix.n_vertices
        self.matrix, self.planes = matrix, matrix.panels[0].cells
        self._points = matrix.graph
        self.dimensions = matrix.dimensions
        self.rows = self.dimensions + int(self._points.core_distances is not None)
        self.program = builder_for(self.device, self.dimensions)
        self.top, self.bases = self._levels()
        self.n_nodes = int(self.bases[-1]) + fanout(self.device)

    def _levels(self) -> tuple[int, Array]:
        """Return the level of the root, and where each level begins."""
        children = fanout(self.device)
        bases, width = [0], ceil(self.n / LEAF)
        while width > 1:
            bases.append(bases[-1] + children * ceil(width / children))
            width = ceil(width / children)
        return len(bases) - 1, np.array(bases, np.uint32)

    def _new(self, size: int, dtype: npt.DTypeLike) -> DeviceArray:
        return DeviceArray.empty(size, dtype, self.device)

    def _for_each(self, kernel: str, n_items: int, *arguments: Any) -> None:
        self.launch.for_each(self.program, kernel, n_items, *arguments)

    def build(self, *, by_codes: bool) -> BoxTree:
        """Return the hierarchy; enqueued, and waited for only to see whether there are crowds."""
        is_by_host = not by_codes and self.n <= _FEW_POINTS
        if _ORDER in self.matrix.plans or (is_by_host and self.device.policy.work_group_size == 1):
            return self._arrange(order_of(self.matrix))
        codes, ids = self._encode()
        tree = self._arrange(ids)
        state = self._new(1, np.uint32)
        for _ in range(_MOST_PASSES):
            sides = self._new(self.n, np.float64)
            lowers = self._new(self.n * self.dimensions, np.float64)
            self.launch.fill(state.memory, 0, 1)
            self._for_each(
                "bvh_boruvka_build_find_crowds", self.n, codes, tree.points, tree.boxes,
                tree.bases, sides, lowers, state, self.dimensions, self.rows, self.n, self.top,
            )  # fmt: skip
            if self.launch.read_word(state.memory) == 0:
                break
            codes, ids = self._refine(codes, tree, sides, lowers)
            tree = self._arrange(ids)
        return tree

    def _encode(self) -> tuple[DeviceArray, DeviceArray]:
        """Return the sorted codes of all points in the box of all, and the points in this order."""
        coded = min(self.dimensions, 32)
        ends = self._box()
        bits = max(1, min(31, 64 // coded, ceil((log2(self.n) + _SPARE_BITS) / coded)))
        finest = min(_FINEST_BITS, 64 // coded)
        if bits < finest and self._is_crowded(ends, bits):
            bits = finest
        box = self.device.upload(ends)
        codes, order = self._new(self.n, np.uint64), self._new(self.n, np.uint32)
        self._for_each(
            "bvh_boruvka_build_encode", self.n, self.planes, box, codes, order, self.dimensions,
            self.n, bits,
        )  # fmt: skip
        return split(codes, key_bits=bits * coded, values=order, launch=self.launch)

    def _is_crowded(self, ends: Array, bits: int) -> bool:
        """Return whether many points of a sample share a cell, so that finer codes save a sort."""
        planes: Array = self._points.planes[: min(self.dimensions, 32)]
        sample = planes[:, :: -(-self.n // _SAMPLES)]
        places = (0.5 * sample - 0.5 * ends[: len(planes), None]) / max(ends[-1], _LEAST_SIDE)
        cells = np.zeros(sample.shape[1], np.uint64)
        for places_of_axis in (places * (1 << bits)).astype(np.uint64):
            cells = (cells << np.uint64(bits)) | places_of_axis
        cells.sort()
        n_shared = np.count_nonzero(cells[1:] == cells[:-1])
        return bool(n_shared > _CROWDED_SHARE * cells.size)

    def _box(self) -> npt.NDArray[np.float64]:
        """Return the lower ends of all points' box, and half its longest side."""
        groups = self.launch.groups_for(ceil(self.n / self.program.grid_tile))
        rows = 2 * self.dimensions
        ends = np.empty((self.dimensions, 2, groups))
        found = self._new(rows * groups, np.float64)
        self.launch.enqueue(
            self.program, "bvh_boruvka_build_find_ends", groups, self.planes, found,
            self.dimensions, self.n,
        )  # fmt: skip
        self.launch.read(found.memory, ends)
        lower, upper = ends[:, 0].min(axis=1), ends[:, 1].max(axis=1)
        return np.append(lower, (0.5 * upper - 0.5 * lower).max())

    def _refine(
        self, codes: DeviceArray, tree: BoxTree, sides: DeviceArray, lowers: DeviceArray
    ) -> tuple[DeviceArray, DeviceArray]:
        """Return finer codes, sorted, and the points in this order."""
        bits = max(1, 32 // min(self.dimensions, 32))
        finer = self._new(self.n, np.uint64)
        self._for_each(
            "bvh_boruvka_build_refine", self.n, codes, tree.points, sides, lowers, finer,
            self.dimensions, self.rows, self.n, min(bits, 31),
        )  # fmt: skip
        return split(finer, key_bits=64, values=tree.ids, launch=self.launch)

    def _arrange(self, ids: DeviceArray) -> BoxTree:
        """Return the hierarchy of points in a given order."""
        n, device = self.n, self.device
        n_leaves = ceil(n / LEAF)
        tree = BoxTree(
            device=device, n=n, dimensions=self.dimensions, rows=self.rows,
            defines=self.matrix.defines(maximum=False) | search_defines(device.policy),
            ids=ids, slots=self._new(n, np.uint32),
            points=self._new(n_leaves * self.rows * LEAF, np.float64),
            boxes=self._new(self.n_nodes * (self.dimensions + self.rows), np.float64),
            least=self._new(self.n_nodes, np.uint32),
            bases=DeviceArray.from_host(self.bases, device), top=self.top, n_nodes=self.n_nodes,
        )  # fmt: skip
        gather(tree, self.matrix, self.launch)
        bound(tree, self.launch)
        return tree


def gather(tree: BoxTree, matrix: DeviceMatrix, launch: Launcher) -> None:
    """Bring the coordinates of points into the order of a hierarchy."""
    launch.for_each(
        tree.builder, "bvh_boruvka_build_gather", tree.n_leaves * LEAF, matrix.panels[0].cells,
        tree.ids, tree.points, tree.slots, tree.rows, tree.n,
    )  # fmt: skip


def bound(tree: BoxTree, launch: Launcher) -> None:
    """Compute the boxes of a hierarchy whose coordinates are there."""
    program, n_leaves = tree.builder, tree.n_leaves
    launch.for_each(
        program, "bvh_boruvka_build_bound_leaves", n_leaves, tree.points, tree.ids, tree.boxes,
        tree.least, tree.dimensions, tree.rows, tree.n,
    )  # fmt: skip
    tree.each_level(
        launch, program, "bvh_boruvka_build_bound_nodes", tree.boxes, tree.least, tree.bases,
        tree.dimensions + tree.rows, n_leaves,
    )  # fmt: skip
