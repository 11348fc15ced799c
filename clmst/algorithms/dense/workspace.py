"""The workspace of a solve by the algorithm `dense`.

It consists of the buffers of the solve, and the sizes and macros of the kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.algorithms.dense import DenseOptions
from clmst.core.weight_keys import Array, EncodedWeights, order_keys
from clmst.primitives.monoid import Monoid
from clmst.primitives.scan import reduce
from clmst.runtime.array import DeviceArray
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix, Panel, make_panels
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy

SOURCE = "algorithms/dense/dense.cl"
ONE_GROUP_SOURCE = "algorithms/dense/one_group.cl"
CORE_SOURCE = "algorithms/dense/core.cl"
BUILD_SOURCE = "algorithms/dense/build.cl"

# Rows of the matrix are divided into blocks, and the lightest cell of each block is remembered.
# _WIDTH is the minimum number of cells in a block. _MOST_BLOCKS is the maximum number of blocks in
# a row, which keeps the memory for the lightest cells of all blocks at O(n).
_WIDTH, _MOST_BLOCKS = 256, 64
# With few vertices, one work-group does all rounds. It has _LARGER_GROUP times as many work-items
# as the work-groups of other kernels, but at most _LARGEST_GROUP. _REGISTERS is the number of
# registers of a compute unit, which the work-items share.
_LARGER_GROUP, _LARGEST_GROUP, _REGISTERS = 4, 1024, 1 << 16
# Maximum number of vertices for which the numbers of both ends of an edge fit into one word of 32
# bits (reservation.cl).
_SHORT_IDS = 1 << 16
# The number of counters in the memory of a solve. Each round needs one for the hooked components
# and one for the blocks of the matrix that must be read again. Each launch that shortens the paths
# of parent pointers needs one for the vertices that do not point to their root yet.
N_COUNTS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class DenseWorkspace:
    """The buffers of a solve by the algorithm `dense`, kept with the graph for the next solve."""

    device: Device
    n: int  # number of vertices
    panels: tuple[Panel, ...]  # the matrix, in buffers of consecutive rows, or the points
    dimensions: int  # number of coordinates of a point; 0 if a matrix is stored
    program: Any  # built from SOURCE
    wide: bool  # whether keys have 64 bits
    width: int  # number of cells in a block
    n_blocks: int  # number of blocks in a row
    keys: DeviceArray  # shape (n * n_blocks,): the key of the lightest cell of each block
    columns: DeviceArray  # uint32, shape (n * n_blocks,): the column of this cell
    component: DeviceArray  # uint32, shape (n,): the root of each vertex's component
    parents: DeviceArray  # uint32, shape (n,): the parent of each vertex; see _DenseRun._components
    winners: DeviceArray  # uint32, shape (n * 4,): the reservations of components (winners.cl)
    edges: DeviceArray  # uint64, shape (n,): the edge along which each former root was hooked
    blocks: DeviceArray  # uint32, shape (n * n_blocks,): blocks to be read again
    counts: DeviceArray  # uint32, shape (N_COUNTS,): the counters of all rounds

    @classmethod
    def make(
        cls,
        device: Device,
        n: int,
        panels: tuple[Panel, ...],
        defines: dict[str, int],
        dimensions: int = 0,
        *,
        unit: int = 32,
    ) -> DenseWorkspace:
        """Allocate the buffers of a solve of `n` vertices.

        `panels` are the buffers of the matrix, each with consecutive rows. `dimensions` is the
        number of coordinates of a point, or 0 for a matrix. The solve divides each row into blocks
        of consecutive cells, and the number of cells in a block is a multiple of `unit`. `defines`
        are the macros of the kernels. Sort keys of weights have 64 bits if they set ``WEIGHT_BITS``
        to 64, and otherwise 32 bits.
        """
        wide = defines["WEIGHT_BITS"] == 64
        width = max(_WIDTH, unit * ceil(n / (unit * _MOST_BLOCKS)))
        n_blocks = ceil(n / width)

        def new(size: int, dtype: npt.DTypeLike = np.uint32) -> DeviceArray:
            return DeviceArray.empty(size, dtype, device)

        return cls(
            device=device,
            n=n,
            panels=panels,
            dimensions=dimensions,
            program=device.program(SOURCE, **defines),
            wide=wide,
            width=width,
            n_blocks=n_blocks,
            keys=new(n * n_blocks, np.uint64 if wide else np.uint32),
            columns=new(n * n_blocks),
            component=new(n),
            parents=new(n),
            winners=new(n * 4),
            edges=new(n, np.uint64),
            blocks=new(n * n_blocks),
            counts=new(N_COUNTS),
        )


def has_short_ids(n: int) -> bool:
    """Return whether the numbers of `n` vertices fit 16 bits, so that two fit a 32-bit word."""
    return n <= _SHORT_IDS


def vertex_bits(n: int) -> int:
    """Return the number of bits of a vertex number in an edge packed into one integer.

    The packed edge is ``lesser << bits | greater``, where `lesser` and `greater` are its ends. The
    bits hold the numbers of `n` vertices and one more value, so that the value with all bits set is
    not a vertex; see :func:`no_edge`.
    """
    return max(n.bit_length(), 1)


def no_edge(n: int) -> int:
    """Return the value of a packed edge that means "no edge", for `n` vertices.

    The value is greater than all packed edges.
    """
    return (1 << 2 * vertex_bits(n)) - 1


def ends_of(edges: npt.NDArray[np.uint64], n: int) -> npt.NDArray[np.uint32]:
    """Unpack edges of a graph with `n` vertices to ends of shape (k, 2), the lesser end first."""
    ends, bits = np.empty((edges.size, 2), np.uint32), np.uint64(vertex_bits(n))
    ends[:, 0] = edges >> bits
    ends[:, 1] = edges & ((np.uint64(1) << bits) - np.uint64(1))
    return ends


def fits_one_work_group(matrix: DeviceMatrix, options: DenseOptions | None) -> bool:
    """Return whether one work-group does all rounds of a solve.

    There are three conditions: the graph is small for this device, the whole matrix is in one
    buffer, and the option `reread` is not "all". None as `options` means the defaults.
    """
    rereads_all = options is not None and options.reread == "all"
    is_small = route.in_one_work_group(matrix.n_vertices, matrix.device.facts)
    return is_small and len(matrix.panels) == 1 and not rereads_all


def one_group_defines(capabilities: Capabilities, tuning: Policy) -> dict[str, int]:
    """Return the macros for ONE_GROUP_SOURCE: the work-group size and the limit of registers.

    `capabilities` and `tuning` are the properties and the settings of the device. `tuning` has the
    usual size of a work-group.
    """
    usual, most = tuning.work_group_size, min(_LARGEST_GROUP, capabilities.max_work_group_size)
    size = usual if usual == 1 else max(min(_LARGER_GROUP * usual, most), usual)
    return {"WG_SIZE": size, "MAX_REGISTERS": _REGISTERS // size}


def workspace_of_matrix(matrix: DeviceMatrix, *, maximum: bool) -> DenseWorkspace:
    """Return the buffers and sizes for solves of a complete graph.

    The buffers are made once for each value of `maximum` and kept with the matrix.
    """
    key = ("dense", maximum)
    if key not in matrix.plans:
        defines = matrix.defines(maximum=maximum)
        matrix.plans[key] = DenseWorkspace.make(
            matrix.device, matrix.n_vertices, tuple(matrix.panels), defines, matrix.dimensions
        )
    workspace: DenseWorkspace = matrix.plans[key]
    return workspace


def workspace_of_graph(graph: DeviceGraph, launch: Launcher, *, maximum: bool) -> DenseWorkspace:
    """Return the buffers and sizes for solves of a graph, and build the adjacency matrix.

    Buffers and matrix are kept with the graph and not built again. A matrix is large, so only one
    is kept: for the minimum or for the maximum spanning forest, whichever was asked for last.
    """
    key = ("dense", maximum)
    if key not in graph.derived:
        graph.derived.pop(("dense", not maximum), None)  # two matrices may not fit
        wide = graph.encoded.is_wide
        with launch.phase("build"):
            panels = _build(graph, launch, maximum=maximum)
        defines = key_defines(wide=wide)
        graph.derived[key] = DenseWorkspace.make(graph.device, graph.n_vertices, panels, defines)
    workspace: DenseWorkspace = graph.derived[key]
    return workspace


def key_defines(*, wide: bool) -> dict[str, int]:
    """Return the macros for SOURCE for a matrix of sort keys in which edges may be missing.

    A sort key is an unsigned integer that sorts as the weight does. `wide` is True if keys have 64
    bits.
    """
    return {
        "WEIGHT_BITS": 64 if wide else 32,
        "WEIGHT_KIND": 0,
        "WEIGHT_DESCENDING": 0,
        "COMPLETE": 0,
    }


def _build(graph: DeviceGraph, launch: Launcher, *, maximum: bool) -> tuple[Panel, ...]:
    device, n = graph.device, graph.n_vertices
    item_bytes = 8 if graph.encoded.is_wide else 4
    program = device.program(BUILD_SOURCE, **graph.weight_defines(maximum=maximum))
    gap = np.uint64(free_key(graph.encoded, lambda: _ends(graph, launch), maximum=maximum))

    def build(first: int, last: int) -> Any:
        size = (last - first) * n
        cells = device.allocate(size * item_bytes)
        launch.fill(cells, 0xFFFFFFFF, size * item_bytes // 4)
        lanes = dict(program.specialisation.defines)["LANES"]
        groups = launch.groups_for(ceil(n * lanes / program.work_group_size))
        launch(
            program, "dense_build_cells", groups, graph.indptr, graph.indices, graph.weights,
            cells, np.uint32(first), np.uint32(last - first), np.uint32(n), gap,
            np.uint32(graph.graph.is_symmetric),
        )  # fmt: skip
        return cells

    return make_panels(n, item_bytes, device, build)


def _ends(graph: DeviceGraph, launch: Launcher) -> Array:
    """Compute the minimum and the maximum weight of a graph on the device, and wait for them.

    The weights must be integers. Returns both in an array of shape (2,).
    """
    dtype = _integers(graph.encoded)
    weights = DeviceArray(
        device=graph.device, dtype=dtype, size=graph.n_slots, memory=graph.weights,
        base=graph.weights,
    )  # fmt: skip
    ends = np.empty(2, dtype)
    for end, monoid in zip((ends[:1], ends[1:]), (Monoid.minimum, Monoid.maximum), strict=True):
        launch.read(reduce(weights, monoid=monoid(dtype), launch=launch).memory, end)
    return ends


def _integers(encoded: EncodedWeights) -> np.dtype[Any]:
    """Return the integer dtype in which weights are stored. Bools are stored as 8-bit integers.

    `encoded` are the weights, which must not be floats.
    """
    return np.dtype(f"{'i' if encoded.kind == 'signed' else 'u'}{encoded.encoding.word.itemsize}")


def free_key(encoded: EncodedWeights, ends: Callable[[], Array], *, maximum: bool) -> int:
    """Find a sort key that no weight has, so that the matrix can mark missing edges.

    A sort key is an unsigned integer that sorts as the weight does. There are fewer weights than
    possible keys, so a key that no weight has exists. Every greater key is decreased by one before
    it is stored in the matrix, which keeps the order. Then no stored key is the greatest possible
    key, and that key marks a missing edge.

    `encoded` are the weights. `ends` returns the minimum and the maximum weight. It is called only
    for integers of 32 and 64 bits. Besides this call the work is O(1), or O(m log m) if the least
    and the greatest integer of the dtype both occur.
    """
    greatest = 2**64 - 1 if encoded.is_wide else 2**32 - 1
    if encoded.kind == "float" or encoded.encoding.word.itemsize < 4:
        return greatest  # `greatest` is the key of a NaN, or above all keys of short integers
    low, high = sorted(order_keys(ends(), descending=maximum).tolist())
    if high < greatest:
        return greatest
    if low > 0:
        return 0
    keys = np.unique(order_keys(encoded.words().view(_integers(encoded)), descending=maximum))
    jumps = np.flatnonzero(keys[1:] - keys[:-1] > 1)
    return int(keys[jumps[0]]) + 1
