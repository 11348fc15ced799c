"""Build a tree of bounding boxes over points (a bounding-volume hierarchy) on a device.

The kernels are in ``cl/algorithms/bvh_boruvka/build.cl``.
"""

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
# Number of searches for near points that a work-group takes at a time, on devices whose work-groups
# have one work-item.
_SEARCHES_OF_A_TILE = 128

# Key in the dict `DeviceMatrix.forms`, which keeps data for later solves of the same points. Under
# this key are the numbers of the points in the order of the leaves of the tree of boxes.
ORDER = "order of leaves"
# How the tree of boxes is built. A segment is a range of points that becomes a subtree with 2**h
# leaves, where h is called its height. Segments are halved until each has one leaf.
#   LOCAL_HEIGHT    all halvings of a segment of at most this height are done by one work-group
#                   (a macro of halves.cl)
#   _SMALL_HEIGHT   takes the place of LOCAL_HEIGHT if work-groups have one work-item
#   _SHARES         used if work-groups have one work-item: once there are this number of segments
#                   per compute unit, a work-group does all further halvings of a segment, whatever
#                   its height
LOCAL_HEIGHT = 8
_SMALL_HEIGHT, _SHARES = 6, 4
# A level of the tree of boxes with at most this number of nodes is processed by a single
# work-group, which is faster than a launch of many.
_NODES_OF_A_GROUP = 512

# Maximum number of points in a tree of boxes with 8 children per node. For each level below the
# root, the search keeps a mask of 8 bits, and all masks are in one word of 64 bits. So there are at
# most 8 such levels, and 8**8 leaves of 8 points each.
_MOST_POINTS = 1 << 27


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoxTree:
    """A tree of bounding boxes over the points of a :class:`DeviceMatrix`; see ``tree.cl``."""

    device: Device
    n: int  # number of points
    dimensions: int
    rows: int  # number of dimensions, and one more if there are core distances
    defines: dict[str, int]  # macros of all kernels that search the hierarchy
    ids: DeviceArray  # uint32, shape (n,): the point at each position in the leaves
    slots: DeviceArray  # uint32, shape (n,): the position of each point in the leaves
    points: DeviceArray  # float64: coordinates, leaf by leaf; see tree.cl
    boxes: DeviceArray  # float64: boxes of nodes, grouped by parent; see tree.cl
    least: DeviceArray  # uint32, shape (n_nodes,): the least point number below each node
    bases: DeviceArray  # uint32, shape (top + 1,): where each level begins in arrays of nodes
    top: int  # the level of the root
    n_nodes: int

    @property
    def n_leaves(self) -> int:
        """Number of leaves, each of which has up to LEAF points."""
        return ceil(self.n / LEAF)

    @property
    def arguments(self) -> tuple[DeviceArray | int, ...]:
        """The arguments that come first in calls of kernels that search the tree of boxes."""
        return self.points, self.boxes, self.ids, self.least, self.bases, self.dimensions

    @property
    def builder(self) -> Program:
        """The program that builds trees of boxes. All trees on the device share it."""
        return self.device.program(BUILD_SOURCE)

    def each_level(
        self, launch: Launcher, program: Program, kernel: str, *arguments: KernelArgument
    ) -> None:
        """Enqueue a kernel over the nodes of all levels above the leaves, from the lowest level up.

        `kernel` is the name of the kernel in `program`. A level with many nodes is one launch. The
        small levels at the top share one launch, of one work-group. After the `arguments`, the
        kernel gets two numbers: the first level of the launch, and the number after the last level.
        """
        level, width = 1, ceil(self.n_leaves / fanout(self.device))
        while level < self.top:
            is_last = width <= _NODES_OF_A_GROUP
            end, n_items = (self.top, 1) if is_last else (level + 1, width)
            launch.for_each(program, kernel, n_items, *arguments, level, end)
            level, width = end, ceil(width / fanout(self.device))


def fanout(device: Device) -> int:
    """Return the number of children of a node in trees of boxes on a device.

    It is 8 if work-groups have one work-item, as on CPUs, and otherwise 4. In ``tree.cl`` it is
    called FANOUT.
    """
    return 8 if device.policy.work_group_size == 1 else 4


def search_defines(policy: Policy) -> dict[str, int]:
    """Return the macros with which kernels that search the tree of boxes are compiled.

    `policy` has the device's settings of kernels, such as the size of a work-group. If a work-group
    has one work-item, it takes few searches at a time, because one search may take long.
    """
    return {"GRID_TILE": _SEARCHES_OF_A_TILE} if policy.work_group_size == 1 else {}


def hierarchy_of(
    matrix: DeviceMatrix, launch: Launcher, *, local_height: int = LOCAL_HEIGHT
) -> BoxTree:
    """Return the tree of bounding boxes over points, and enqueue its construction if it is new.

    `matrix` has the points on the device. The tree is built once and kept with the matrix. The call
    does not wait for the device. Raises InvalidGraphError if there are more points than a tree on
    this device can have.

    `local_height` is the number of halvings of the points that the last launch of the sort does
    (:func:`order_of`). Few points need no other launch, because all their halvings are in the last
    one. A self-test passes a small value, so that even with few points it also runs the kernels for
    large ranges.
    """
    n = matrix.n_vertices
    if n > _MOST_POINTS and fanout(matrix.device) == 8:
        raise InvalidGraphError(
            f"there are {n} points; on {matrix.device.description} a hierarchy of boxes takes at "
            f"most 2**27 = {_MOST_POINTS}"
        )
    if "bvh" not in matrix.plans:
        with launch.phase("build the hierarchy"):
            matrix.plans["bvh"] = _build(matrix, launch, local_height)
    tree: BoxTree = matrix.plans["bvh"]
    return tree


def order_of(
    matrix: DeviceMatrix, launch: Launcher, local_height: int = LOCAL_HEIGHT
) -> DeviceArray:
    """Enqueue a sort that gives near points near positions, and return the points in that order.

    `matrix` has the points on the device. The result has the numbers of the points, as uint32. The
    order is found once and kept with the matrix.

    All points together are halved along the widest side of their box, and each half is halved in
    the same way, until the ranges have few points. While the ranges are large, all of them are
    halved at once, by a sort of all points, or by one launch if work-groups have one work-item.
    When at most `local_height` further halvings remain, a last launch does all of them, with one
    work-group for each range.
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
            bits = max(height - 1, 2)  # half as many cells as leaves: about 8 points share a cell
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
    """Allocate the tree of boxes over the points in `matrix`, and enqueue its construction.

    `local_height` is as in :func:`order_of`.
    """
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
    """Enqueue a copy of the coordinates of the points to the leaves of a tree of boxes.

    `matrix` has the coordinates on the device.
    """
    launch.for_each(
        tree.builder, "bvh_boruvka_build_gather", tree.n_leaves * LEAF, matrix.panels[0].cells,
        tree.ids, tree.points, tree.slots, tree.rows, tree.n,
    )  # fmt: skip


def bound(tree: BoxTree, launch: Launcher) -> None:
    """Enqueue the computation of all boxes of a tree, from the leaves up to the root.

    Enqueue :func:`gather`, which copies the coordinates to the leaves, before this.
    """
    program, n_leaves = tree.builder, tree.n_leaves
    launch.for_each(
        program, "bvh_boruvka_build_bound_leaves", n_leaves, tree.points, tree.ids, tree.boxes,
        tree.least, tree.dimensions, tree.rows, tree.n,
    )  # fmt: skip
    tree.each_level(
        launch, program, "bvh_boruvka_build_bound_nodes", tree.boxes, tree.least, tree.bases,
        tree.dimensions + tree.rows, n_leaves,
    )  # fmt: skip
