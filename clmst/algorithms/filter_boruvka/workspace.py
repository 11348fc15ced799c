"""What all solves of one graph by filter-boruvka share: memory, windows and kernel arguments.

A window is a range of weights. The windows are solved one after the other, in one phase each.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from clmst.algorithms.filter_boruvka import MAX_PHASES, FilterBoruvkaOptions
from clmst.algorithms.shared.solution import FLAG, flag_words, reservation_shape
from clmst.algorithms.shared.windows import may_have_windows, window_ends
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Constant, Policy
from clmst.runtime.program import Program

SOURCE = "algorithms/filter_boruvka/filter_boruvka.cl"
# The sources of two kernels whose work-groups all run at the same time and wait for one another.
# The first kernel does a whole solve. The second does the last rounds of a phase, which solves one
# window of weights.
RESIDENT_SOURCE = "algorithms/filter_boruvka/resident.cl"
FINISH_SOURCE = "algorithms/filter_boruvka/finish.cl"

SAMPLES = 1024
_MAX_DEPTHS = 40
# _REGISTERS is the number of 32-bit registers of a compute unit of NVIDIA's GPUs, which its
# work-groups share. Each work-item gets a multiple of _REGISTERS_AT_ONCE registers.
_REGISTERS = 65536
_REGISTERS_AT_ONCE = 8
_WEIGHTS = 2  # the position of the weights among the arguments of all kernels
# Indices of words in the array state[] of filter_boruvka/solve.cl: whether a work-group has given
# up waiting for others, the ends of the windows of weights, whether a worklist has overflowed,
# whether the graph was refused as invalid, and the counts of each round.
_GAVE_UP, _WINDOWS = 1, 3
_OVERFLOW = _WINDOWS + 3 * MAX_PHASES
_REFUSED = _OVERFLOW + 1
_COUNTS = _REFUSED + 1
STATE_WORDS = _COUNTS + 3 * MAX_PHASES * _MAX_DEPTHS

# Maximum number of bytes, for each edge and for each vertex, that the two worklists (lists of
# undecided edges) take together. A whole solve then takes at most 40 bytes for each edge and 40 for
# each vertex. If a worklist overflows, the solve is done again with larger worklists. If the
# overflow can be foreseen, the solve begins with larger worklists.
_LIST_BYTES = {True: (21, 13), False: (31, 7)}  # True if both directions are stored
_FEW_EDGES = 256  # added to the capacity of worklists, which helps the smallest graphs

# How the following constants were chosen: solves were timed with other values on an H200
# (benchmarks/log.md). A comment such as "64: 0.998" means that with 64 a solve takes 0.998 times as
# long as with the present value. The times are of the nine largest of the fifteen benchmark graphs,
# except where the comment says "six small graphs". POINTER_STEPS is used in all launches. The other
# constants are for launches in which work-groups wait for one another.
#
# POINTER_STEPS is the maximum number of parent pointers that a work-item follows in one launch on
# the way to a root. 16, 64, 128 and 512: 0.995 to 0.998, which is noise.
POINTER_STEPS = Constant("filter_boruvka.POINTER_STEPS", 32)
# Maximum number of registers of a work-item. Only NVIDIA's compiler takes such a limit. A solve
# takes 1.073 times as long with 32 registers, and 1.013 times as long with 48.
_MAX_REGISTERS = 40
# Constants of the launch that does a whole solve. The numbers in brackets say how many times as
# long a solve takes with another value.
#   RESIDENT_ITEMS            work-items of a work-group (512: 1.035, on six small graphs)
#   RESIDENT_SLOTS_PER_ITEM   slots (CSR entries) that a work-item takes from a tile of the graph
#                             (2: 1.130, 8: 1.007)
#   RESIDENT_EDGES_PER_ITEM   edges that a work-item takes from a tile of a worklist (2 and 4: the
#                             same time, on six small graphs)
RESIDENT_ITEMS = Constant("filter_boruvka.RESIDENT_ITEMS", 256)
RESIDENT_SLOTS_PER_ITEM = Constant("filter_boruvka.RESIDENT_SLOTS_PER_ITEM", 4)
RESIDENT_EDGES_PER_ITEM = Constant("filter_boruvka.RESIDENT_EDGES_PER_ITEM", 1)
# Constants of the launch that does the last rounds of a phase. The numbers in brackets say how many
# times as long a solve takes with another value.
#   FINISH_GROUPS           work-groups for each compute unit (3: 1.002, 4: 1.014)
#   FINISH_ITEMS            work-items of a work-group (1,024: 1.026)
#   FINISH_EDGES_PER_ITEM   edges that a work-item takes from a tile (4: 1.001, 8: 1.028)
FINISH_GROUPS = Constant("filter_boruvka.FINISH_GROUPS", 2)
FINISH_ITEMS = Constant("filter_boruvka.FINISH_ITEMS", 512)
FINISH_EDGES_PER_ITEM = Constant("filter_boruvka.FINISH_EDGES_PER_ITEM", 2)
# After a window of weights is solved, every vertex must find its component. In graphs of at most
# this number of vertices, each vertex follows its path of links through all contractions. In larger
# graphs, the supervertices of the last contraction find their components first, then the
# supervertices of the contraction before it, and so on. Other values were not measured.
DIRECT_VERTICES = Constant("filter_boruvka.DIRECT_VERTICES", 1 << 20)

# Limits of the number of slots (CSR entries) that a work-item takes from a tile. If it takes
# _SPILLING or more, its registers do not suffice for weights of 64 bits. Only a work-item that is
# alone in its work-group, as on CPUs, takes _SERIAL or more.
_SPILLING, _SERIAL = 8, 256


def slots_per_item(tuning: Policy, *, wide: bool) -> int:
    """Return the number of CSR entries (slots) that a work-item takes at a time.

    `tuning` has the device's settings of kernels, with the usual number. `wide` is True if weights
    have 64 bits. Kernels then use twice as many registers, and a work-item takes fewer entries,
    because otherwise NVIDIA's compiler would spill registers to memory.
    """
    slots = tuning.slots_per_item
    return slots * 3 // 4 if wide and _SPILLING <= slots < _SERIAL else slots


def defines(tuning: Policy, *, symmetric: bool, wide: bool = False) -> dict[str, int | bool]:
    """Return the macros for the kernels in SOURCE, one for each step of the algorithm.

    `tuning` has the device's settings of kernels, such as how many edges a work-item takes at a
    time. `symmetric` is True if both directions of every edge are stored, and `wide` if weights
    have 64 bits. The macros that depend on other properties of the device and on the dtype of the
    weights are added elsewhere.
    """
    return {
        "SYMMETRIC": symmetric,
        "MAX_PHASES": MAX_PHASES,
        "MAX_DEPTHS": _MAX_DEPTHS,
        "SAMPLES": SAMPLES,
        "EDGES_PER_ITEM": tuning.worklist_edges_per_item,
        "TILE_ITEMS": slots_per_item(tuning, wide=wide),
        "POINTER_STEPS": POINTER_STEPS.under(tuning),
        "MAX_REGISTERS": _MAX_REGISTERS,
    }


def resident_defines(tuning: Policy, *, symmetric: bool, one_window: bool) -> dict[str, int | bool]:
    """Return the macros for the kernel in RESIDENT_SOURCE, which does a whole solve.

    `tuning` has the device's settings of kernels, and `symmetric` is True if both directions of
    every edge are stored. `one_window` is True if the edges are never divided by weight. The macros
    that depend on other properties of the device and on the dtype of the weights are added
    elsewhere.
    """
    size, groups = RESIDENT_ITEMS.under(tuning), tuning.resident_groups_per_compute_unit
    return _waiting(tuning, size, groups, symmetric=symmetric) | {
        "TILE_ITEMS": RESIDENT_SLOTS_PER_ITEM.under(tuning),
        "EDGES_PER_ITEM": RESIDENT_EDGES_PER_ITEM.under(tuning),
        "ONE_WINDOW": one_window,
    }


def finish_defines(tuning: Policy, *, symmetric: bool) -> dict[str, int | bool]:
    """Return the macros for the kernel in FINISH_SOURCE, which does the last rounds of a phase.

    A phase solves one window of weights. `tuning` has the device's settings of kernels, and
    `symmetric` is True if both directions of every edge are stored. The macros that depend on other
    properties of the device and on the dtype of the weights are added elsewhere.
    """
    size, groups = FINISH_ITEMS.under(tuning), FINISH_GROUPS.under(tuning)
    edges = {"EDGES_PER_ITEM": FINISH_EDGES_PER_ITEM.under(tuning)}
    return _waiting(tuning, size, groups, symmetric=symmetric) | edges


def _waiting(tuning: Policy, size: int, groups: int, *, symmetric: bool) -> dict[str, int | bool]:
    """Return the macros for kernels whose work-groups wait for one another on the device.

    `tuning` and `symmetric` are as in :func:`defines`. Each compute unit must run `groups`
    work-groups of `size` work-items at the same time, which limits the registers of a work-item.
    """
    registers = _REGISTERS // (size * max(groups, 1))
    return defines(tuning, symmetric=symmetric) | {
        "WG_SIZE": size,
        "MAX_REGISTERS": min(registers // _REGISTERS_AT_ONCE * _REGISTERS_AT_ONCE, 255),
        "DIRECT_VERTICES": DIRECT_VERTICES.under(tuning),
    }


def _tile_bytes(n_slots: int, tile: int) -> int:
    """Return the number of bytes of the array that describes the tiles of a CSR.

    The CSR has `n_slots` entries. A tile has `tile` consecutive entries, which a work-group takes
    at a time.
    """
    return 4 * (3 * -(-n_slots // tile) + 1)


def usual_capacities(n: int, m: int, *, symmetric: bool, lists_light: bool) -> tuple[int, int]:
    """Return the default capacities of the two worklists, in edges.

    The graph has `n` vertices and `m` edges. One worklist holds the undecided edges after an even
    number of contractions, and the other after an odd number. An edge takes 16 bytes. `symmetric`
    is True if both directions of every edge are stored. If `lists_light` is also true, the memory
    of the first worklist is at first used for another list, with up to 8 bytes for each of the `m`
    edges.
    """
    an_edge, a_vertex = _LIST_BYTES[symmetric]
    half = min(m, (an_edge * m + a_vertex * n) // 32 + _FEW_EDGES)
    at_least = -(-m // 2) if symmetric and lists_light else 0
    return max(at_least, half), half


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """A graph of the candidates: the edges that may or may not be in the forest of a graph.

    Of all other edges of that graph it is known whether they are in the forest.
    """

    # Number of vertices of the graph of the candidates. To make this graph, edges of the original
    # graph that are certainly in the forest are contracted. So each vertex stands for one or more
    # vertices of the original graph.
    n_vertices: int
    # uint64 for each candidate: the two vertices that it joins, in one word. The two are equal if
    # the candidate is never chosen.
    ends: DeviceArray
    # uint32 for each candidate: its slot (CSR entry) in the original graph. Slots ascend unless a
    # candidate stands for a whole path.
    slots: DeviceArray
    # One bit for each slot of the original graph. It is set for edges that are known to be in the
    # forest, and for edges of paths whose inner vertices have two edges each (degree-2 paths).
    kept: Memory
    # None if each candidate is one edge. Otherwise a candidate stands for a degree-2 path, whose
    # edges except the heaviest are all in the forest. Then this array (uint32) has the position in
    # `slots` at which the path of each candidate begins. Its last element is the end of the last
    # path.
    starts: DeviceArray | None = None

    @property
    def n_edges(self) -> int:
        """Number of candidates, the edges to be solved."""
        return self.ends.size


class Workspace:
    """The buffers, programs and kernel arguments that all solves of one graph share.

    They are made once, so that a small solve consists only of launches. With `full_capacity`,
    worklists, which are arrays of the undecided edges, can hold all edges. With `finer`, the edges
    are divided by weight into more ranges, called windows, than usual. With `candidates`, only
    these edges are solved, as a graph that stores each edge once.
    """

    def __init__(
        self,
        graph: DeviceGraph,
        launch: Launcher,
        *,
        maximum: bool,
        options: FilterBoruvkaOptions,
        full_capacity: bool = False,
        finer: bool = False,
        candidates: Candidates | None = None,
    ) -> None:
        # Store the device, but not the graph. The graph keeps its workspaces, so a reference back
        # would keep both alive until a garbage collection.
        self.device, self.options, self.candidates = graph.device, options, candidates
        self.n_vertices = graph.n_vertices if candidates is None else candidates.n_vertices
        self.n_slots = graph.n_slots
        device, tuning = graph.device, graph.device.policy
        self.symmetric = graph.graph.is_symmetric
        self.weights = graph.weight_defines(maximum=maximum)
        bits = self.weights["WEIGHT_BITS"]
        self.is_wide = bits == 64
        self.words, self.passes = reservation_shape(bits, device, by_leading=True)
        self.one_window = not may_have_windows(graph, options.targets)
        self.ranks: tuple[int, ...] = ()
        self.finer, self.full_capacity = finer, full_capacity
        if candidates is None:
            self._set_windows(graph, launch)
        self.n_phases = 1 + len(self.ranks)
        self._allocate(graph)
        has_fence = device.capabilities.has_device_fence
        self.resident_groups = tuning.resident_groups_per_compute_unit if has_fence else 0
        self.finish_groups = FINISH_GROUPS.under(tuning) if self.resident_groups else 0
        self.solves = 0  # number of solves so far
        self._presets: dict[tuple[Any, ...], Any] = {}  # kernels whose arguments stay set
        self.clear_state(launch)

    def _set_windows(self, graph: DeviceGraph, launch: Launcher) -> None:
        draw_bits, targets = 0, self.options.targets
        if not self.one_window:
            ends = window_ends(graph, targets, launch, samples=SAMPLES, finer=self.finer)
            self.ranks, draw_bits = ends.ranks, ends.draw_bits
        # A dense graph usually has several windows, so that worklists hold few edges. If it has a
        # single window, because it is small or its weights are equal, nearly all edges remain after
        # the first round. The worklists must then hold all edges.
        degree, least = graph.average_degree, graph.device.policy.filter_degree
        self.full_capacity |= targets is None and not self.ranks and degree >= least
        # Kernels find the ends of the windows of weights in a sorted sample of keys, each of which
        # is the least key of several random slots (CSR entries). These are their arguments: the
        # seed, the base-2 logarithm of the number of slots for each key, and the position of each
        # end in the sample.
        none = [SAMPLES] * (MAX_PHASES - 1 - len(self.ranks))
        self.window_arguments = (int(self.options.seed), draw_bits, *self.ranks, *none)

    # The properties below build a program when a solve first needs it, because building takes
    # seconds.

    @property
    def slots_per_item(self) -> int:
        """Number of CSR entries that a work-item takes at a time, in :attr:`program`."""
        return slots_per_item(self.device.policy, wide=self.is_wide)

    @cached_property
    def program(self) -> Program:
        """The program with one kernel for each step of the algorithm."""
        return self._program(SOURCE, defines, wide=self.is_wide)

    @cached_property
    def resident_program(self) -> Program:
        """The program whose kernel does a whole solve."""
        return self._program(RESIDENT_SOURCE, resident_defines, one_window=self.one_window)

    @cached_property
    def finish_program(self) -> Program:
        """The program whose kernel does the last rounds for a range of weights in one launch."""
        return self._program(FINISH_SOURCE, finish_defines)

    def _program(
        self, source: str, defines: Callable[..., dict[str, Any]], **more: bool
    ) -> Program:
        shape = defines(self.device.policy, symmetric=self.symmetric, **more)
        return self.device.program(source, **self.weights, **shape)

    # -------------------------------------------------------------------- memory

    def _allocate(self, graph: DeviceGraph) -> None:
        device, tuning, candidates = graph.device, graph.device.policy, self.candidates
        n, n_slots = self.n_vertices, self.n_slots
        m = graph.edge_bound if candidates is None else candidates.n_edges
        takes_all = self.full_capacity or candidates is not None
        even, odd = self.capacities = (
            (m, m)
            if takes_all
            else usual_capacities(n, m, symmetric=self.symmetric, lists_light=bool(self.ranks))
        )
        tile = min(
            tuning.work_group_size * self.slots_per_item,
            RESIDENT_ITEMS.under(tuning) * RESIDENT_SLOTS_PER_ITEM.under(tuning),
        )
        self._tile_bytes = _tile_bytes(n_slots if candidates is None else 0, tile)
        word = 4 * self.words
        reserved_even, reserved_odd = (n >> 2, n >> 1) if self.symmetric else (n, n)
        first = n if self.symmetric else 0
        links = 2 * n if self.symmetric else 3 * n
        sizes = (self._tile_bytes, 4 * first, 4 * links, word * reserved_even,
                 word * reserved_odd, 16 * even, 16 * odd, 4 * -(-n_slots // 32),
                 4 * flag_words(n_slots), 4 * STATE_WORDS)  # fmt: skip
        *self.buffers, flags, self.state = device.allocate_all(*sizes)
        self.in_forest = DeviceArray.unchecked(n_slots, FLAG, device, flags)
        # The arguments that all kernels take first (filter_boruvka/solve.cl).
        self.arguments = (
            graph.indptr, graph.indices, graph.weights, *self.buffers, self.state, n, n_slots,
            even, odd,
        )  # fmt: skip
        self.device_bytes = sum(sizes) + 4 * (graph.n_vertices + 1 + n_slots)
        self.device_bytes += n_slots * self.weights["WEIGHT_BITS"] // 8
        self.host_state = np.zeros(STATE_WORDS, np.uint32)

    def have_tiles(self, tile: int) -> None:
        """Allocate the array that describes tiles of `tile` slots, unless it is large enough.

        A tile has consecutive slots (CSR entries), which a work-group takes at a time.
        """
        n_bytes = _tile_bytes(self.n_slots, tile)
        if n_bytes > self._tile_bytes:
            self._tile_bytes = n_bytes
            self.buffers[0] = self.device.allocate(n_bytes)
            self._set_argument(_WEIGHTS + 1, self.buffers[0])

    def set_weights(self, weights: Any) -> None:
        """Use another buffer of weights in the next solve. The weights must have the same dtype."""
        if weights is not self.arguments[_WEIGHTS]:
            self._set_argument(_WEIGHTS, weights)

    def _set_argument(self, index: int, memory: Memory) -> None:
        self.arguments = (*self.arguments[:index], memory, *self.arguments[index + 1 :])
        for kernel in self._presets.values():
            kernel.set_arg(index, memory)

    def preset(self, program: Program, name: str, arguments: tuple[Any, ...]) -> Any:
        """Return the kernel `name` of a program as an object whose arguments are already set.

        The object is made once and kept. The kernel's arguments are those that all kernels of the
        workspace take, followed by `arguments`.
        """
        kernel = self._presets.get((name, arguments))
        if kernel is None:
            kernel = program.preset(name, (*self.arguments, *arguments))
            self._presets[name, arguments] = kernel
        return kernel

    # --------------------------------------------------------------------- state

    def clear_state(self, launch: Launcher) -> None:
        """Enqueue the reset of the counters and flags in device memory to their initial values.

        The kernels of a solve also reset the counters and flags for the next solve, unless a
        work-group has given up.
        """
        launch.fill(self.state, 0, STATE_WORDS)
        # A tile is a range of slots (CSR entries) that a work-group takes at a time. `buffers[0]`
        # has the row of the first slot of each tile. `tile_slots` is the number of slots in these
        # tiles, or 0 if the buffer is not filled yet.
        self.tile_slots = 0

    def read_state(self, launch: Launcher) -> None:
        """Read the counters and flags of the last solve to the host.

        The call waits until everything enqueued has finished.
        """
        launch.read(self.state, self.host_state)

    def has_ended(self, launch: Launcher) -> bool:
        """Return False if a work-group gave up waiting for another one in the last solve.

        The flags that :meth:`read_state` has read last say so. If a work-group gave up, the call
        also resets the counters and flags on the device and gives a RuntimeWarning. From then on,
        solves on this device do not use work-groups that wait for one another.
        """
        if not self.host_state[_GAVE_UP]:
            return True
        self.clear_state(launch)
        if self.device.groups_may_wait:
            warnings.warn(
                f"work-groups of {self.device.description} waited too long for one another; from "
                "now on this process solves with separate launches there, which takes longer for "
                "small graphs",
                RuntimeWarning,
                stacklevel=2,
            )
        self.device.groups_may_wait = False
        return False

    @property
    def overflowed(self) -> bool:
        """Whether a list of edges overflowed in the last solve whose counters the host has read."""
        return bool(self.host_state[_OVERFLOW]) and not self.host_state[_GAVE_UP]

    @property
    def refused(self) -> bool:
        """Whether the device found the graph faulty in the last solve whose flags were read."""
        return bool(self.host_state[_REFUSED])

    def worklist_sizes(self, n_phases: int) -> list[list[int]]:
        """Return the lengths of the worklists of the first `n_phases` phases, round by round.

        A phase solves one window of weights. Each of its rounds has a worklist of the edges that
        still join two components, and ends with a contraction. The first round is left out if it
        reads the edges from the graph itself. The numbers are those that :meth:`read_state` has
        read last. The result is a list of lists, because building arrays would take a notable part
        of the time of a small solve.
        """
        last = _COUNTS + 3 * _MAX_DEPTHS * n_phases
        edges = self.host_state[_COUNTS:last:3].tolist()
        sizes = []
        for at in range(0, n_phases * _MAX_DEPTHS, _MAX_DEPTHS):
            first = at + (not edges[at])
            sizes.append(edges[first : edges.index(0, first)])
        return sizes

    def counts(self, phase: int) -> Array:
        """Return the numbers of edges, supervertices and pending vertices at each depth of a phase.

        The result has one row for each depth, which is the number of contractions since the
        beginning of the phase. A supervertex is a set of vertices that have been joined. A vertex
        is pending if its parent pointers have not been followed to a root yet. The numbers are
        those that :meth:`read_state` has read last.
        """
        table: Array = self.host_state[_COUNTS:].reshape(MAX_PHASES, _MAX_DEPTHS, 3)
        counts: Array = table[phase]
        return counts
