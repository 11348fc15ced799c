"""The bounding-volume hierarchy of points; host side of ``cl/algorithms/bvh_boruvka/build.cl``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import ceil

import numpy as np

from clmst.core.errors import InvalidGraphError
from clmst.primitives.permute import number
from clmst.primitives.split import split
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.handles import KernelArgument
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy
from clmst.runtime.program import Program

BUILD_SOURCE = "algorithms/bvh_boruvka/build.cl"

LEAF = 8
# Where work-items search alone, and share out the items of a kernel tile by tile.
_SEARCHES_OF_A_TILE = 128

# Among the forms of coordinates that are kept with a matrix: the points in the order of leaves.
ORDER = "order of leaves"
# Heights of segments, of 2**height leaves, that one work-group halves: LOCAL_HEIGHT of halves.cl;
# where work-items are alone, so small ones, or so many for each compute unit.
LOCAL_HEIGHT = 8
_SMALL_HEIGHT, _SHARES = 6, 4
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
        """The program that builds hierarchies: one for all points."""
        return self.device.program(BUILD_SOURCE)

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


def hierarchy_of(
    matrix: DeviceMatrix, launch: Launcher, *, local_height: int = LOCAL_HEIGHT
) -> BoxTree:
    """Return the hierarchy of points, that of the call before if there was one; enqueued.

    Lower segments than usual in local memory have few points ordered as many are.
    """
    n = matrix.n_vertices
    if n > _MOST_POINTS and fanout(matrix.device) == 8:
        raise InvalidGraphError(
            f"there are {n} points; on {matrix.device.description} a hierarchy has up to "
            f"2**27 = {_MOST_POINTS}"
        )
    if "bvh" not in matrix.plans:
        with launch.phase("build the hierarchy"):
            matrix.plans["bvh"] = _build(matrix, launch, local_height)
    tree: BoxTree = matrix.plans["bvh"]
    return tree


def order_of(
    matrix: DeviceMatrix, launch: Launcher, local_height: int = LOCAL_HEIGHT
) -> DeviceArray:
    """Return points in the order of leaves, near ones near each other; enqueued.

    Segments of 2**height leaves are halved along their widest side, from that of all points down:
    by a sort of all, or each by one work-group, in one launch, where these are small enough.
    """
    if ORDER in matrix.forms:
        known: DeviceArray = matrix.forms[ORDER]
        return known
    n, device = matrix.n_vertices, matrix.device
    leaves, is_alone = ceil(n / LEAF), device.policy.work_group_size == 1
    ids, groups = DeviceArray.empty(n, np.uint32, device), launch.groups_for(leaves)
    keys = DeviceArray.empty(n, np.float64 if is_alone else np.uint32, device)

    def enqueue(kernel: str, part: int, *arguments: int) -> None:
        launch.enqueue(
            device.program(BUILD_SOURCE), f"bvh_boruvka_build_{kernel}",
            launch.groups_for(ceil(leaves / (1 << part))), matrix.panels[0].cells, ids, keys,
            matrix.dimensions, n, height, *arguments,
        )  # fmt: skip

    number(launch, ids)
    height = (leaves - 1).bit_length()
    shares = _SHARES * device.capabilities.compute_units
    while height > (_SMALL_HEIGHT if is_alone else local_height):
        if not is_alone:
            part = min(height, max(local_height, (leaves // groups).bit_length()))
            bits = max(height - 1, 2)  # half as many cells as leaves: eight points or so share one
            enqueue("encode", part, part, bits)
            key_bits = bits + ((leaves - 1) >> height).bit_length()
            keys, ids = split(keys, key_bits=key_bits, values=ids, launch=launch)
        elif leaves >> height < shares:
            enqueue("halve", height, height - 1)
        else:
            break
        height -= 1
    if height > 0:
        enqueue("halve", height, 0)
    matrix.forms[ORDER] = ids
    return ids


def _build(matrix: DeviceMatrix, launch: Launcher, local_height: int) -> BoxTree:
    """Return the hierarchy of points; enqueued."""
    n, device, dimensions = matrix.n_vertices, matrix.device, matrix.dimensions
    rows = dimensions + int(matrix.has_core_distances)
    children, width, bases = fanout(device), ceil(n / LEAF), [0]
    while width > 1:
        width = ceil(width / children)
        bases.append(bases[-1] + children * width)
    n_nodes = bases[-1] + children
    new = partial(DeviceArray.empty, device=device)
    tree = BoxTree(
        device=device, n=n, dimensions=dimensions, rows=rows,
        defines=matrix.defines(maximum=False) | search_defines(device.policy),
        ids=order_of(matrix, launch, local_height), slots=new(n, np.uint32),
        points=new(ceil(n / LEAF) * rows * LEAF, np.float64),
        boxes=new(n_nodes * (dimensions + rows), np.float64), least=new(n_nodes, np.uint32),
        bases=DeviceArray.from_host(np.array(bases, np.uint32), device), top=len(bases) - 1,
        n_nodes=n_nodes,
    )  # fmt: skip
    gather(tree, matrix, launch)
    bound(tree, launch)
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
