"""The buffers of a solve by `dense`: the matrix, the entries of its blocks, words of vertices."""

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

# Cells of a block, at least, and blocks of a row, at most: entries stay O(n).
_WIDTH, _MOST_BLOCKS = 256, 64
# The work-items of the one work-group that takes all rounds of few vertices, as a multiple of those
# of other work-groups, and at most; and the registers of a compute unit.
_LARGER_GROUP, _LARGEST_GROUP, _REGISTERS = 4, 1024, 1 << 16
# The most vertices for which both ends of an edge share a word (reservation.cl).
_SHORT_IDS = 1 << 16
# Counts of a solve: of hooked components and listed blocks each round, and of pending parents each
# launch that follows them.
N_COUNTS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class DensePlan:
    """The buffers of a solve; kept with the graph for the next one."""

    device: Device
    n: int  # vertices
    panels: tuple[Panel, ...]
    dimensions: int  # as of DeviceMatrix
    program: Any  # of SOURCE
    wide: bool  # whether keys have 64 bits
    width: int  # cells of a block
    n_blocks: int  # blocks of a row
    keys: DeviceArray  # shape (n * n_blocks,): the entry of each block
    columns: DeviceArray
    component: DeviceArray  # uint32, shape (n,)
    parents: DeviceArray
    winners: DeviceArray  # uint32, shape (n * 4,)
    edges: DeviceArray  # uint64, shape (n,): each at the vertex whose component it has hooked
    blocks: DeviceArray  # uint32, shape (n * n_blocks,): blocks to be read again
    counts: DeviceArray  # uint32, shape (N_COUNTS,)

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
    ) -> DensePlan:
        """Allocate all buffers; blocks are of a multiple of `unit` cells."""
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
    """Return whether both ends of an edge of `n` vertices share a word."""
    return n <= _SHORT_IDS


def vertex_bits(n: int) -> int:
    """Return the number of bits of a vertex in an edge; no vertex has all of them set."""
    return max(n.bit_length(), 1)


def no_edge(n: int) -> int:
    """Return the value that stands for no edge: greater than every edge."""
    return (1 << 2 * vertex_bits(n)) - 1


def ends_of(edges: npt.NDArray[np.uint64], n: int) -> npt.NDArray[np.uint32]:
    """Return the ends of edges of `n` vertices, shape (k, 2), the lesser first."""
    ends, bits = np.empty((edges.size, 2), np.uint32), np.uint64(vertex_bits(n))
    ends[:, 0] = edges >> bits
    ends[:, 1] = edges & ((np.uint64(1) << bits) - np.uint64(1))
    return ends


def fits_one_work_group(matrix: DeviceMatrix, options: DenseOptions | None) -> bool:
    """Return whether one work-group takes all rounds of a solve by rows."""
    rereads_all = options is not None and options.reread == "all"
    is_small = route.in_one_work_group(matrix.n_vertices, matrix.device.facts)
    return is_small and len(matrix.panels) == 1 and not rereads_all


def one_group_defines(capabilities: Capabilities, tuning: Policy) -> dict[str, int]:
    """Return the macros of the size of the work-group of ONE_GROUP_SOURCE."""
    usual, most = tuning.work_group_size, min(_LARGEST_GROUP, capabilities.max_work_group_size)
    size = usual if usual == 1 else max(min(_LARGER_GROUP * usual, most), usual)
    return {"WG_SIZE": size, "MAX_REGISTERS": _REGISTERS // size}


def plan_of_matrix(matrix: DeviceMatrix, *, maximum: bool) -> DensePlan:
    """Return the plan of a complete graph, of the solve before if there was one."""
    key = ("dense", maximum)
    if key not in matrix.plans:
        defines = matrix.defines(maximum=maximum)
        matrix.plans[key] = DensePlan.make(
            matrix.device, matrix.n_vertices, tuple(matrix.panels), defines, matrix.dimensions
        )
    plan: DensePlan = matrix.plans[key]
    return plan


def plan_of_graph(graph: DeviceGraph, launch: Launcher, *, maximum: bool) -> DensePlan:
    """Return the plan of any graph, its matrix built unless the solve before has done that."""
    key = ("dense", maximum)
    if key not in graph.derived:
        graph.derived.pop(("dense", not maximum), None)  # memory may not suffice for two matrices
        wide = graph.encoded.is_wide
        with launch.phase("build"):
            panels = _build(graph, launch, maximum=maximum)
        defines = key_defines(wide=wide)
        graph.derived[key] = DensePlan.make(graph.device, graph.n_vertices, panels, defines)
    plan: DensePlan = graph.derived[key]
    return plan


def key_defines(*, wide: bool) -> dict[str, int]:
    """Return the macros of SOURCE for a matrix of keys, in which pairs may be missing."""
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
    """Return the least and the greatest weight of a graph of integers, found on its device."""
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
    """Return the dtype of the words of integers: 8-bit bools are such, too."""
    return np.dtype(f"{'i' if encoded.kind == 'signed' else 'u'}{encoded.encoding.word.itemsize}")


def free_key(encoded: EncodedWeights, ends: Callable[[], Array], *, maximum: bool) -> int:
    """Return a key that no weight has, or one above all keys; the matrix leaves it out.

    Keys above it move down by one, so that the greatest of all means that there is no edge. There
    are fewer weights than keys, so one is always free. O(1) but for `ends`, the least and the
    greatest weight; O(m log m) for integers that take both ends of 32 or 64 bits.
    """
    greatest = 2**64 - 1 if encoded.is_wide else 2**32 - 1
    if encoded.kind == "float" or encoded.encoding.word.itemsize < 4:
        return greatest  # keys of floats leave out those of NaN; short ones never get there
    low, high = sorted(order_keys(ends(), descending=maximum).tolist())
    if high < greatest:
        return greatest
    if low > 0:
        return 0
    keys = np.unique(order_keys(encoded.words().view(_integers(encoded)), descending=maximum))
    jumps = np.flatnonzero(keys[1:] - keys[:-1] > 1)
    return int(keys[jumps[0]]) + 1
