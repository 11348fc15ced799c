"""Prim's algorithm: a tree grows by the lightest edge that leaves it, one vertex after another.

Source: R. C. Prim, "Shortest connection networks and some generalizations", Bell System Technical
Journal 36 (1957); ``cl/algorithms/prim/prim.cl`` has the details.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.algorithms.prim import PrimOptions
from clmst.algorithms.shared.algorithm_record import options_for
from clmst.algorithms.shared.progress import no_progress
from clmst.algorithms.shared.solution import Solution, flag_words, new_flags
from clmst.core.graph_checks import check_size
from clmst.primitives.compact import positions
from clmst.primitives.sort import bits_of, sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/prim/prim.cl"
MIRROR_SOURCE = "algorithms/prim/mirror.cl"
COMPONENTS_SOURCE = "algorithms/prim/components.cl"

# Maximum number of slots (CSR entries) that a worker looks at in one launch. A worker is the
# work-item or work-group that grows a tree. A slot takes some microseconds, so a launch takes a
# second at worst. GPUs that also drive a display abort a kernel after about two seconds.
STEPS_A_LAUNCH = 1 << 18
# In graphs of at most this number of vertices, work-groups grow the trees. In each step, a
# work-group looks at all vertices for the one with the lightest edge. In larger graphs, single
# work-items grow the trees with a heap.
ARRAY_VERTICES = 4096
# If the number of slots (CSR entries) is more than this multiple of the number of pairs of
# vertices, rows consist mostly of parallel edges. Then a single work-item with a heap grows each
# tree, not a work-group.
_ARRAY_PARALLEL = 4
# A solve first finds the components of the graph if the graph has at least APART_VERTICES vertices,
# and if the device has at least _APART_COMPUTE_UNITS compute units or work-groups of several
# work-items. The trees of all components can then grow at the same time. On two cores, finding the
# components takes as long as growing the trees, and is useless if there is only one component.
APART_VERTICES = 4096
_APART_COMPUTE_UNITS = 8

# Constants of the kernels: the macros HEAP_TAKE_STEPS and ARRAY_CHOOSE_STEPS, and the number of
# words of a cursor for each kind of priority queue. A cursor says how far a worker has come, so
# that the next launch can continue there.
_TAKE_STEPS, _CHOOSE_STEPS = 16, 8
_CURSOR_WORDS = {"heap": 6, "array": 2}
# If each edge is stored once, its other direction is made as a record of the vertex to which it
# leads and its weight, and the records are sorted. This is the record for weights of 64 bits,
# image_t of the kernels.
_PAIR = np.dtype([("target", np.uint64), ("weight", np.uint64)])
_KEPT = "mirrored rows"  # key in `graph.derived`, where rows with both directions are kept


def solve(
    graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object = None
) -> Solution:
    """Solve by Prim's algorithm; see :class:`PrimOptions` for `options`. None means the defaults.

    `maximum` asks for the maximum spanning forest. With a heap the solve takes O(m log n) work, and
    one work-item does all work of a component. With "array" it takes O(n^2 + m) work, and one
    work-group does all work of a component. So Prim's algorithm suits small graphs, dense graphs,
    and graphs of many components. :func:`grow` says how much device memory is needed. If the graph
    stores each edge once, :func:`rows_of` needs further memory.
    """
    options = options_for("prim", PrimOptions, options)
    in_forest = new_flags(graph.n_slots, graph.device)
    launch.fill(in_forest.memory, 0, flag_words(graph.n_slots))
    if graph.n_slots == 0:
        stats = {"queue": "none", "patches": 0, "growing_launches": 0}
        return Solution(graph=graph, in_forest=in_forest, stats=stats)
    rows = rows_of(graph, launch, maximum=maximum)
    trees = grow(rows, launch, options)
    program = graph.device.program(SOURCE, **rows.defines)
    with launch.phase("mark edges"):
        launch.for_each(
            program, "prim_mark_edges", rows.n, graph.indptr, graph.indices, graph.weights,
            trees.parents, in_forest, rows.n,
        )  # fmt: skip
    return Solution(graph=graph, in_forest=in_forest, stats=trees.stats)


def rows_of(graph: DeviceGraph, launch: Launcher, *, maximum: bool) -> SortedRows:
    """Return the rows of a graph with both directions of every edge, sorted by column.

    `maximum` says whether heavier edges come first. A graph that stores both directions is used as
    it is. If each edge is stored once, the other direction is made by a stable sort of the CSR
    entries, in O(k log n) for k entries, and kept with the graph for the next solve. That takes 10
    to 24 bytes for each entry, depending on the width of the weights, and 24 or 40 bytes more
    during the sort.
    """
    if graph.graph.is_symmetric:
        arrays = (graph.indptr, graph.indices, graph.weights)
    else:
        if _KEPT not in graph.derived:
            with launch.phase("mirror rows"):
                graph.derived[_KEPT] = _mirror(graph, launch)
        arrays = tuple(array.memory for array in graph.derived[_KEPT])
    indptr, indices, weights = arrays
    return SortedRows(
        n=graph.n_vertices,
        n_slots=graph.n_slots if graph.graph.is_symmetric else 2 * graph.n_slots,
        indptr=indptr,
        indices=indices,
        weights=weights,
        defines=graph.weight_defines(maximum=maximum),
    )


def _mirror(graph: DeviceGraph, launch: Launcher) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    n, n_slots, device = graph.n_vertices, graph.n_slots, graph.device
    check_size(n, 2 * n_slots)
    word = graph.encoded.encoding.word
    program = device.program(MIRROR_SOURCE, WEIGHT_BITS=8 * word.itemsize)
    sources = DeviceArray.empty(n_slots, np.uint32, device)
    images = DeviceArray.empty(n_slots, _PAIR if word.itemsize == 8 else np.uint64, device)
    arrays = (graph.indptr, graph.indices, graph.weights)
    launch.for_each(program, "prim_mirror_list", n_slots, *arrays, sources, images, n, n_slots)
    sources, images = sort_by_key(sources, images, key_bits=bits_of(n), launch=launch)
    rows = DeviceArray.empty(n + 1, np.uint32, device)
    launch.for_each(
        program, "prim_mirror_find_rows", n + 1, graph.indptr, sources, rows, n, n_slots
    )
    both = DeviceArray.empty(2 * n_slots, np.uint32, device)
    weights = DeviceArray.empty(2 * n_slots, word, device)
    launch.for_each(
        program, "prim_mirror_put_images", n_slots, graph.indptr, sources, images, both,
        weights, n_slots,
    )  # fmt: skip
    launch.for_each(
        program, "prim_mirror_put_slots", n_slots, *arrays, rows, both, weights, n, n_slots
    )
    return rows, both, weights


# --------------------------------------------------------- growing, on the rows of any graph


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedRows:
    """A graph on a device, as a CSR that contains both directions of every edge.

    The entries of each row are sorted by column.
    """

    n: int  # number of vertices, at least one
    n_slots: int  # number of CSR entries
    indptr: Memory  # this array and the next two are the CSR, as in a DeviceGraph
    indices: Memory
    weights: Memory
    defines: Mapping[str, int]  # macros of the kernels for the dtype of the weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """All trees that Prim's algorithm has grown, and statistics about their growth."""

    parents: DeviceArray  # uint32: the other end of each vertex's edge; all bits set for a root
    stats: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Patches:
    """A division of the vertices into sets, called patches, that no edge leaves.

    One worker, which is a work-item or a work-group, grows all trees of a patch. There are `count`
    patches. Patch i begins at ``offsets[i]`` in `vertices`.
    """

    count: int
    vertices: DeviceArray
    offsets: DeviceArray


def grow(rows: SortedRows, launch: Launcher, options: PrimOptions) -> Trees:
    """Grow a tree in every component, and wait until all trees are complete.

    `rows` is the graph. `options` say whether a heap or an array is used to find lightest edges,
    and whether the trees of different components grow at the same time. With a heap, the work is
    O(m log n), and one work-item grows the tree of a component, or all trees. With an array, the
    work is O(n^2 + m), and one work-group does so. After every `STEPS_A_LAUNCH` steps of the
    busiest work-item or work-group, the host reads a word and launches the kernel again. The device
    memory is 24 bytes for each vertex, or 32 for keys of 64 bits. While components are searched
    for, it is 25 bytes more.
    """
    growing = _Growing(rows, launch, options)
    with launch.phase("plant trees"):
        patches = growing.begin()
    if growing.looks_for_components:
        with launch.phase("find components"):
            patches = growing.find_components(patches)
    with launch.phase("grow trees"):
        launches = growing.grow(patches)
    stats = {"queue": growing.queue, "patches": patches.count, "growing_launches": launches}
    return Trees(parents=growing.parents, stats=stats)


class _Growing:
    """One call of :func:`grow`: the arrays and arguments that its steps share."""

    def __init__(self, rows: SortedRows, launch: Launcher, options: PrimOptions) -> None:
        self.rows, self.launch = rows, launch
        self.device: Device = launch.device
        self.program = self.device.program(SOURCE, **rows.defines)
        self.width = self.program.work_group_size
        self.queue = self._choose_queue() if options.queue == "auto" else options.queue
        self.looks_for_components = (
            self._has_many_workers() and rows.n >= APART_VERTICES
            if options.components == "auto"
            else options.components == "apart"
        )
        wide = rows.defines["WEIGHT_BITS"] == 64
        self.parents, self.positions, self.occupants = (self._new(rows.n) for _ in range(3))
        self.lightest, self.keys = (
            self._new(rows.n, np.uint64 if wide else np.uint32) for _ in range(2)
        )
        self.unfinished = self._new(1)

    def _choose_queue(self) -> str:
        n, n_slots = self.rows.n, self.rows.n_slots
        fits_array = n <= ARRAY_VERTICES and n_slots <= _ARRAY_PARALLEL * n * n
        return "array" if fits_array and self.width > 1 else "heap"

    def _has_many_workers(self) -> bool:
        units = self.device.capabilities.compute_units
        return self.width > 1 or units >= _APART_COMPUTE_UNITS

    def _new(self, size: int, dtype: npt.DTypeLike = np.uint32) -> DeviceArray:
        return DeviceArray.empty(size, dtype, self.device)

    def begin(self) -> _Patches:
        """Enqueue the initial state: no vertex is in a tree, and one worker has all vertices."""
        n = self.rows.n
        vertices, offsets = self._new(n), self._new(1)
        self.launch.for_each(
            self.program, "prim_initialise", n, vertices, offsets, self.parents,
            self.positions, self.lightest, self.unfinished, n,
        )  # fmt: skip
        return _Patches(count=1, vertices=vertices, offsets=offsets)

    def find_components(self, whole: _Patches) -> _Patches:
        """Find the components, so that each can have a worker of its own, and wait for the device.

        A patch is a set of vertices whose trees one worker grows. `whole` has one patch with all
        vertices. In the result each component is a patch. The vertices of a patch are stored
        together, in ascending order.
        """
        rows, n, launch = self.rows, self.rows.n, self.launch
        program = self.device.program(COMPONENTS_SOURCE)
        sets, roots = self._new(n), self._new(n)
        launch.copy(whole.vertices.memory, sets.memory, sets.nbytes)  # 0, 1, 2, ...
        launch.for_each(
            program, "prim_components_unite", rows.n_slots, rows.indptr, rows.indices,
            sets, n, rows.n_slots,
        )  # fmt: skip
        launch.for_each(program, "prim_components_find_roots", n, sets, roots, n)
        roots, vertices = sort_by_key(roots, whole.vertices, key_bits=bits_of(n), launch=launch)
        heads = self._new(n, np.uint8)
        launch.for_each(program, "prim_components_mark_heads", n, roots, heads, n)
        offsets, count = positions(heads, launch=launch)
        return _Patches(
            count=launch.read_count(count.memory, n), vertices=vertices, offsets=offsets
        )

    def grow(self, patches: _Patches) -> int:
        """Grow the trees of all patches, and return the number of launches.

        A patch is a set of vertices that no edge leaves. The call waits for the device. Raises
        DeviceError if the trees need more launches than possible.
        """
        rows, width = self.rows, self.width
        serial = self.queue == "heap"  # then a worker is a work-item, otherwise a work-group
        groups = self.launch.groups_for(-(-patches.count // width) if serial else patches.count)
        workers = groups * width if serial else groups
        cursors = self._new(_CURSOR_WORDS[self.queue] * workers)
        arrays = (
            rows.indptr, rows.indices, rows.weights, self.parents, self.positions, self.lightest,
            self.occupants, self.keys, patches.vertices, patches.offsets, cursors, self.unfinished,
        )  # fmt: skip
        extent = (rows.n, patches.count, STEPS_A_LAUNCH)
        most = self._most_steps()
        launches, suffice = 0, most <= STEPS_A_LAUNCH
        while True:
            self.launch.enqueue(
                self.program, f"prim_{self.queue}_grow", groups, *arrays, *extent,
                launches,
            )  # fmt: skip
            launches += 1
            if suffice or self.launch.read_word(self.unfinished.memory) < launches:
                return launches
            if launches > most // STEPS_A_LAUNCH + 1:  # each launch except the last uses all steps
                rule = f"growing all trees takes {most} steps at most, {STEPS_A_LAUNCH} a launch"
                raise no_progress(
                    "prim", self.device, rule, launches=launches, patches=patches.count,
                    vertices=rows.n, slots=rows.n_slots,
                )  # fmt: skip

    def _most_steps(self) -> int:
        """Return the maximum number of steps that one worker takes to grow all trees."""
        n, n_slots = self.rows.n, self.rows.n_slots
        if self.queue == "heap":
            return n_slots + (_TAKE_STEPS + 1) * n
        return _CHOOSE_STEPS * n + (n * n + n_slots) // self.width
