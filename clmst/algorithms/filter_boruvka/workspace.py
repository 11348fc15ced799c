"""A prepared solve by filter-boruvka: its windows, its memory, and what kernels take of it."""

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
# Kernels of resident work-groups: the whole solve, or the end of a phase.
RESIDENT_SOURCE = "algorithms/filter_boruvka/resident.cl"
FINISH_SOURCE = "algorithms/filter_boruvka/finish.cl"

SAMPLES = 1024
_MAX_DEPTHS = 40
# Of 32 bits, of a compute unit of NVIDIA's: what resident work-groups share, and the multiple of
# them that a work-item gets.
_REGISTERS = 65536
_REGISTERS_AT_ONCE = 8
_WEIGHTS = 2  # the position of the weights among the arguments of all kernels
# The layout of state[], as filter_boruvka/solve.cl has it.
_GAVE_UP, _WINDOWS = 1, 3
_OVERFLOW = _WINDOWS + 3 * MAX_PHASES
_REFUSED = _OVERFLOW + 1
_COUNTS = _REFUSED + 1
STATE_WORDS = _COUNTS + 3 * MAX_PHASES * _MAX_DEPTHS

# Bytes that both worklists may take together, for each edge and each vertex: a solve then keeps
# within 40 bytes an edge and 40 a vertex. Where that is too little it is done again with more;
# where that is foreseen, it begins with more.
_LIST_BYTES = {True: (21, 13), False: (31, 7)}  # both directions stored, or one
_FEW_EDGES = 256  # capacity that the smallest graphs have beyond that

# What follows was measured on an H200 (docs/performance_log.md), as a share of the time with the
# value in use: on the nine largest of the fifteen benchmark graphs, but where six small ones are
# named. It counts where work-groups wait for one another, which needs these GPUs. POINTER_STEPS
# counts everywhere.
#
# Parent pointers that a work-item follows in one launch on the way to a root, at most. 16, 64, 128
# and 512 take 0.995 to 0.998, which is noise.
POINTER_STEPS = Constant("filter_boruvka.POINTER_STEPS", 32)
# Registers of a work-item, at most, of the compilers that take a limit: NVIDIA's. 32 take 1.073,
# 48 take 1.013.
_MAX_REGISTERS = 40
# Of the launch that does a whole solve: work-items of a work-group (512 take 1.035 on the six small
# graphs), and what each takes from a tile of the graph (2 slots take 1.130, 8 take 1.007) and from
# a tile of a worklist (2 and 4 edges change nothing on the six small graphs).
RESIDENT_ITEMS = Constant("filter_boruvka.RESIDENT_ITEMS", 256)
RESIDENT_SLOTS_PER_ITEM = Constant("filter_boruvka.RESIDENT_SLOTS_PER_ITEM", 4)
RESIDENT_EDGES_PER_ITEM = Constant("filter_boruvka.RESIDENT_EDGES_PER_ITEM", 1)
# Of the launch that ends a phase: work-groups of a compute unit (3 take 1.002, 4 take 1.014),
# their work-items (1,024 take 1.026), and edges that each takes (4 take 1.001, 8 take 1.028).
FINISH_GROUPS = Constant("filter_boruvka.FINISH_GROUPS", 2)
FINISH_ITEMS = Constant("filter_boruvka.FINISH_ITEMS", 512)
FINISH_EDGES_PER_ITEM = Constant("filter_boruvka.FINISH_EDGES_PER_ITEM", 2)
# Vertices up to which each goes the whole way to its component after a window; in larger graphs
# depths are gone through one by one. Other values were not measured.
DIRECT_VERTICES = Constant("filter_boruvka.DIRECT_VERTICES", 1 << 20)

_SPILLING, _SERIAL = 8, 256  # slots of a work-item: from which it spills, and is alone


def slots_per_item(tuning: Policy, *, wide: bool) -> int:
    """Return the slots that a work-item takes of a tile, by whether weights have 64 bits.

    These take twice the registers: with as many slots as others, kernels of NVIDIA's spill.
    """
    slots = tuning.slots_per_item
    return slots * 3 // 4 if wide and _SPILLING <= slots < _SERIAL else slots


def defines(tuning: Policy, *, symmetric: bool, wide: bool = False) -> dict[str, int | bool]:
    """Return the macros of SOURCE beside those of the device and of the weights."""
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
    """Return the macros of RESIDENT_SOURCE, as :func:`defines` does."""
    size, groups = RESIDENT_ITEMS.under(tuning), tuning.resident_groups_per_compute_unit
    return _waiting(tuning, size, groups, symmetric=symmetric) | {
        "TILE_ITEMS": RESIDENT_SLOTS_PER_ITEM.under(tuning),
        "EDGES_PER_ITEM": RESIDENT_EDGES_PER_ITEM.under(tuning),
        "ONE_WINDOW": one_window,
    }


def finish_defines(tuning: Policy, *, symmetric: bool) -> dict[str, int | bool]:
    """Return the macros of FINISH_SOURCE, as :func:`defines` does."""
    size, groups = FINISH_ITEMS.under(tuning), FINISH_GROUPS.under(tuning)
    edges = {"EDGES_PER_ITEM": FINISH_EDGES_PER_ITEM.under(tuning)}
    return _waiting(tuning, size, groups, symmetric=symmetric) | edges


def _waiting(tuning: Policy, size: int, groups: int, *, symmetric: bool) -> dict[str, int | bool]:
    """Return the macros of work-groups that wait for one another, `groups` on a compute unit."""
    registers = _REGISTERS // (size * max(groups, 1))
    return defines(tuning, symmetric=symmetric) | {
        "WG_SIZE": size,
        "MAX_REGISTERS": min(registers // _REGISTERS_AT_ONCE * _REGISTERS_AT_ONCE, 255),
        "DIRECT_VERTICES": DIRECT_VERTICES.under(tuning),
    }


def _tile_bytes(n_slots: int, tile: int) -> int:
    """Return the bytes of the array that describes the tiles of a graph."""
    return 4 * (3 * -(-n_slots // tile) + 1)


def usual_capacities(n: int, m: int, *, symmetric: bool, lists_light: bool) -> tuple[int, int]:
    """Return how many edges of 16 bytes the worklists of even and odd depths hold as a rule.

    Where both directions are stored, the even one begins as a list of 8 bytes an edge.
    """
    an_edge, a_vertex = _LIST_BYTES[symmetric]
    half = min(m, (an_edge * m + a_vertex * n) // 32 + _FEW_EDGES)
    at_least = -(-m // 2) if symmetric and lists_light else 0
    return max(at_least, half), half


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The graph of a larger graph's candidates; other edges are in the forest or out of it."""

    # What candidates join: vertices of the larger graph, or components of what is in for certain.
    n_vertices: int
    # Of uint64, one a candidate: the numbers of what it joins, one twice if it is never chosen.
    ends: DeviceArray
    # Of uint32: the candidates' slots in the larger graph; rising, if each is one edge.
    slots: DeviceArray
    # A bit a slot of the larger graph, set for edges of the forest and of degree-2 paths.
    kept: Memory
    # Of uint32: where in `slots` each candidate's degree-2 path begins, of which all but the
    # heaviest edge are in the forest, and where the last ends; None where each is one edge.
    starts: DeviceArray | None = None

    @property
    def n_edges(self) -> int:
        """Number of candidates, k."""
        return self.ends.size


class Workspace:
    """What solves of one graph share; made once, so that a small solve is all launches.

    With `full_capacity` worklists hold all edges; with `candidates` these are the remaining graph,
    and each edge is stored once.
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
        # Not the graph itself: it keeps its plans, and neither would go before a collection.
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
        self.solves = 0  # so far
        self._presets: dict[tuple[Any, ...], Any] = {}  # kernels, their arguments set
        self.clear_state(launch)

    def _set_windows(self, graph: DeviceGraph, launch: Launcher) -> None:
        draw_bits, targets = 0, self.options.targets
        if not self.one_window:
            ends = window_ends(graph, targets, launch, samples=SAMPLES, finer=self.finer)
            self.ranks, draw_bits = ends.ranks, ends.draw_bits
        # Small graphs, or equal weights: nearly all edges outlive the first round.
        degree, least = graph.average_degree, graph.device.policy.filter_degree
        self.full_capacity |= targets is None and not self.ranks and degree >= least
        # Seed, draws and ranks, as kernels take them.
        none = [SAMPLES] * (MAX_PHASES - 1 - len(self.ranks))
        self.window_arguments = (int(self.options.seed), draw_bits, *self.ranks, *none)

    # A program is built when a solve needs it, which takes seconds.

    @property
    def slots_per_item(self) -> int:
        """Slots that a work-item takes of a tile, in the launches of single steps."""
        return slots_per_item(self.device.policy, wide=self.is_wide)

    @cached_property
    def program(self) -> Program:
        """The kernels of one step each."""
        return self._program(SOURCE, defines, wide=self.is_wide)

    @cached_property
    def resident_program(self) -> Program:
        """The kernel of a whole solve."""
        return self._program(RESIDENT_SOURCE, resident_defines, one_window=self.one_window)

    @cached_property
    def finish_program(self) -> Program:
        """The kernel that ends a phase."""
        return self._program(FINISH_SOURCE, finish_defines)

    def _program(
        self, source: str, defines: Callable[..., dict[str, Any]], **more: bool
    ) -> Program:
        shape = defines(self.device.policy, symmetric=self.symmetric, **more)
        return self.device.program(source, **self.weights, **shape)

    # -------------------------------------------------------------------- memory

    def _allocate(self, graph: DeviceGraph) -> None:
        device, tuning, few = graph.device, graph.device.policy, self.candidates
        n, n_slots = self.n_vertices, self.n_slots
        m = graph.edge_bound if few is None else few.n_edges
        takes_all = self.full_capacity or few is not None
        even, odd = self.capacities = (
            (m, m)
            if takes_all
            else usual_capacities(n, m, symmetric=self.symmetric, lists_light=bool(self.ranks))
        )
        tile = min(
            tuning.work_group_size * self.slots_per_item,
            RESIDENT_ITEMS.under(tuning) * RESIDENT_SLOTS_PER_ITEM.under(tuning),
        )
        self._tile_bytes = _tile_bytes(n_slots if few is None else 0, tile)
        word = 4 * self.words
        reserved_even, reserved_odd = (n >> 2, n >> 1) if self.symmetric else (n, n)
        first = n if self.symmetric else 0
        links = 2 * n if self.symmetric else 3 * n
        sizes = (self._tile_bytes, 4 * first, 4 * links, word * reserved_even,
                 word * reserved_odd, 16 * even, 16 * odd, 4 * -(-n_slots // 32),
                 4 * flag_words(n_slots), 4 * STATE_WORDS)  # fmt: skip
        *self.buffers, flags, self.state = device.allocate_all(*sizes)
        self.in_forest = DeviceArray.unchecked(n_slots, FLAG, device, flags)
        # The arrays of the solve, as all kernels take them (filter_boruvka/solve.cl).
        self.arguments = (
            graph.indptr, graph.indices, graph.weights, *self.buffers, self.state, n, n_slots,
            even, odd,
        )  # fmt: skip
        self.device_bytes = sum(sizes) + 4 * (graph.n_vertices + 1 + n_slots)
        self.device_bytes += n_slots * self.weights["WEIGHT_BITS"] // 8
        self.host_state = np.zeros(STATE_WORDS, np.uint32)

    def have_tiles(self, tile: int) -> None:
        """Allocate memory for tiles of `tile` slots, if they are smaller than the policy's."""
        n_bytes = _tile_bytes(self.n_slots, tile)
        if n_bytes > self._tile_bytes:
            self._tile_bytes = n_bytes
            self.buffers[0] = self.device.allocate(n_bytes)
            self._set_argument(_WEIGHTS + 1, self.buffers[0])

    def set_weights(self, weights: Any) -> None:
        """Take the weights of the next solve from another buffer, of words of the same kind."""
        if weights is not self.arguments[_WEIGHTS]:
            self._set_argument(_WEIGHTS, weights)

    def _set_argument(self, index: int, memory: Memory) -> None:
        self.arguments = (*self.arguments[:index], memory, *self.arguments[index + 1 :])
        for kernel in self._presets.values():
            kernel.set_arg(index, memory)

    def preset(self, program: Program, name: str, arguments: tuple[Any, ...]) -> Any:
        """Return a kernel whose arguments are set: the workspace's own, then these."""
        kernel = self._presets.get((name, arguments))
        if kernel is None:
            kernel = program.preset(name, (*self.arguments, *arguments))
            self._presets[name, arguments] = kernel
        return kernel

    # --------------------------------------------------------------------- state

    def clear_state(self, launch: Launcher) -> None:
        """Enqueue the state that a solve begins with, and leaves behind unless it gives up."""
        launch.fill(self.state, 0, STATE_WORDS)
        self.tile_slots = 0  # of the tiles whose rows are known

    def read_state(self, launch: Launcher) -> None:
        """Read the counts back; waits for everything enqueued."""
        launch.read(self.state, self.host_state)

    def has_ended(self, launch: Launcher) -> bool:
        """Return whether resident work-groups came to their end, by what was read last.

        If one waited too long, none will wait for another in any solve of the device.
        """
        if not self.host_state[_GAVE_UP]:
            return True
        self.clear_state(launch)
        if self.device.groups_may_wait:
            warnings.warn(
                f"work-groups of {self.device.description} waited for one another in vain; solves "
                "do without, which takes longer for small graphs",
                RuntimeWarning,
                stacklevel=2,
            )
        self.device.groups_may_wait = False
        return False

    @property
    def overflowed(self) -> bool:
        """Whether a solve that came to its end lacked edges, by what was read last."""
        return bool(self.host_state[_OVERFLOW]) and not self.host_state[_GAVE_UP]

    @property
    def refused(self) -> bool:
        """Whether the graph is not what the solve takes, by what was read last."""
        return bool(self.host_state[_REFUSED])

    def worklist_sizes(self, n_phases: int) -> list[list[int]]:
        """Return how many edges the depths of the first phases had, by what was read last.

        Depths without an edge are left out: the first, where a phase begins at the next, and those
        behind its last round. Plain lists from one conversion: a small solve notices microseconds.
        """
        last = _COUNTS + 3 * _MAX_DEPTHS * n_phases
        edges = self.host_state[_COUNTS:last:3].tolist()
        sizes = []
        for at in range(0, n_phases * _MAX_DEPTHS, _MAX_DEPTHS):
            first = at + (not edges[at])
            sizes.append(edges[first : edges.index(0, first)])
        return sizes

    def counts(self, phase: int) -> Array:
        """Return (edges, vertices, pending) of each depth of a phase, by what was read last."""
        table: Array = self.host_state[_COUNTS:].reshape(MAX_PHASES, _MAX_DEPTHS, 3)
        counts: Array = table[phase]
        return counts
