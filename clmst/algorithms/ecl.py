"""ECL-MST: Kruskal's and Borůvka's algorithms unified, on worklists of edges.

Source: A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A High-Performance MST Implementation for
GPUs", SC '23. ``cl/algorithms/ecl.cl`` states what differs from it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clmst.algorithms.solution import Solution
from clmst.core.errors import InvalidArgumentError
from clmst.core.weight_keys import Array
from clmst.primitives.compact import flag_bytes
from clmst.runtime.device import Launcher, Program
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.policy import Policy

SOURCE = "algorithms/ecl.cl"
TOPOLOGY_SOURCE = "algorithms/ecl_topology.cl"

# The paper's constants (section 3.2): filtering starts at this average degree, ...
FILTER_DEGREE = 4.0
# ... and aims at this many times as many light edges as there are vertices (section 5.4).
FILTER_TARGET = 3.0

_MAX_KEY = 2**32 - 1
# Every round at least halves the sets that still have an edge, so a phase has at most 32 rounds
# that join any, one that finds none left, and those that were in flight by then.
_ROUNDS_A_PHASE = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class EclOptions:
    """The optimisations of the paper's section 5.3, each with its replacement when off.

    They change how long a solve takes, never its result.

    Attributes
    ----------
    atomic_guards : bool
        Look before an atomic minimum. Off: always do it.
    hybrid_parallelism : bool
        Rows of 4 or more slots go to a group of lanes. Off: every row to one work-item.
    filter : bool
        At average degree >= 4, light edges first; the heavy ones only if they still join two sets.
        Off: all edges at once.
    implicit_path_compression : bool
        Worklists hold representatives. Off: they hold vertices, and finds halve their paths.
    single_direction : bool
        Each edge is taken from its upper slot. Off: from both slots.
    tuples : bool
        Worklists are arrays of 4-tuples. Off: four arrays.
    data_driven : bool
        Rounds go over worklists. Off: over all edges of the graph.
    edge_centric : bool
        A work-item takes an edge. Off: a vertex with all its edges (needs ``data_driven=False``:
        worklists are made of edges).
    seed : int
        Seed of the sample of weights that sets the filter's threshold.
    samples : int
        Size of that sample. The paper takes 20; more cost nothing measurable and miss the target
        less.
    """

    atomic_guards: bool = True
    hybrid_parallelism: bool = True
    filter: bool = True
    implicit_path_compression: bool = True
    single_direction: bool = True
    tuples: bool = True
    data_driven: bool = True
    edge_centric: bool = True
    seed: int = 0
    samples: int = 1024

    def __post_init__(self) -> None:
        """Refuse combinations that mean nothing."""
        if self.data_driven and not self.edge_centric:
            raise InvalidArgumentError(
                "edge_centric is off but data_driven is on; worklists are made of edges, so "
                "vertex-centric work needs data_driven=False"
            )
        if self.samples < 1:
            raise InvalidArgumentError(f"samples is {self.samples}; it must be at least 1")

    @classmethod
    def ablation(cls, **common: Any) -> list[tuple[str, EclOptions]]:
        """Return the nine steps of the paper's Table 5: each takes one more optimisation away."""
        steps = [("ECL-MST", cls(**common))]
        for title, switch in (
            ("No Atomic Guards", "atomic_guards"),
            ("Thread-Based", "hybrid_parallelism"),
            ("No Filter", "filter"),
            ("No Impl. Path Compr.", "implicit_path_compression"),
            ("Both Edge Dir.", "single_direction"),
            ("No Tuples", "tuples"),
            ("Topology-Driven", "data_driven"),
            ("Vertex-Centric", "edge_centric"),
        ):
            steps.append((title, replace(steps[-1][1], **{switch: False})))
        return steps


def solve(graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: Any = None) -> Solution:
    """Solve by ECL-MST; see :class:`EclOptions`.

    Notes
    -----
    O((n + m) log n) work in O(log n) rounds, of two launches each (one more without 64-bit atomics,
    one more for 64-bit weights) and at most one read-back. Device memory beside the graph: 32 bytes
    an edge (two worklists), 20 a vertex (28 for 64-bit weights) and one a slot.
    """
    options = EclOptions() if options is None else options
    if not isinstance(options, EclOptions):
        raise InvalidArgumentError(
            f"options is a {type(options).__name__}; 'ecl' takes an EclOptions"
        )
    if not options.single_direction and not graph.graph.is_symmetric:
        graph = DeviceGraph.upload(graph.graph.symmetrised(), graph.device)
    run = _Run(graph, launch, maximum=maximum, options=options)
    sizes = [run.phase(*window, contracted=k > 0) for k, window in enumerate(run.windows())]
    stats = {"rounds": sum(map(len, sizes)), "worklist_sizes": sizes}
    return Solution(graph=graph, in_forest=run.in_forest, stats=stats)


def worklist_defines(options: EclOptions, tuning: Policy) -> dict[str, int | bool]:
    """Return the macros of ``ecl.cl`` beside those of the device and of the weights."""
    defines: dict[str, int | bool] = {
        "ATOMIC_GUARDS": options.atomic_guards,
        "SINGLE_DIRECTION": options.single_direction,
        "EDGES_PER_ITEM": tuning.edges_per_item,
        "ROWS_PER_ITEM": tuning.rows_per_item,
        "STAGE_CAPACITY": tuning.stage_capacity,
        "HYBRID_ROWS": options.hybrid_parallelism,
        "IMPLICIT_COMPRESSION": options.implicit_path_compression,
        "WORKLIST_TUPLES": options.tuples,
    }
    if not options.hybrid_parallelism:
        defines["LANES_IMPL"] = 0  # work-items on rows of their own do not run in step
    return defines


def topology_defines(options: EclOptions) -> dict[str, int | bool]:
    """Return the macros of ``ecl_topology.cl`` beside those of the device and of the weights."""
    return {
        "ATOMIC_GUARDS": options.atomic_guards,
        "SINGLE_DIRECTION": options.single_direction,
        "EDGE_CENTRIC": options.edge_centric,
    }


class _Run:
    """One solve: its programs, its buffers, its rounds."""

    def __init__(
        self, graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: EclOptions
    ) -> None:
        device = graph.device
        weight = graph.weight_defines(maximum=maximum)
        is_wide = weight["WEIGHT_BITS"] == 64
        self.graph, self.launch, self.options = graph, launch, options
        self.passes = (2 if is_wide else 1) + (not device.capabilities.int64_atomics)
        # Sampling and initialising are the worklist program's in either mode.
        defines = worklist_defines(options, device.policy)
        self.program = device.program(SOURCE, **weight, **defines)
        self.topology: Program | None = None
        if not options.data_driven:
            defines = topology_defines(options)
            self.topology = device.program(TOPOLOGY_SOURCE, **weight, **defines)
        self.words = 3 if is_wide else 2  # RESERVATION_WORDS
        self._allocate()

    def _allocate(self) -> None:
        graph, device = self.graph, self.graph.device
        n_slots, n_counts = graph.n_slots, 2 * (_ROUNDS_A_PHASE + 2)
        self.n = np.uint32(graph.n_vertices)
        self.capacity = graph.edge_bound if self.options.single_direction else n_slots
        self.parent = device.allocate(4 * graph.n_vertices)
        self.held = device.allocate(4 * self.words * graph.n_vertices)
        self.next = device.allocate(4 * self.words * graph.n_vertices)
        self.in_forest = device.allocate(flag_bytes(n_slots))
        self.counts = device.allocate(4 * n_counts)
        self.round = 0
        if self.options.data_driven:
            self.worklists = deque(device.allocate(16 * self.capacity) for _ in range(2))
        elif self.options.edge_centric:
            self.rows = device.allocate(4 * n_slots)
        n_flag_words = flag_bytes(n_slots) // 4
        self._launch(
            "ecl_initialise",
            self._grid_tiles(max(graph.n_vertices, n_flag_words)),
            self.parent, self.held, self.next, self.counts, self.in_forest,
            self.n, np.uint32(n_counts), np.uint32(n_flag_words),
        )  # fmt: skip

    def _launch(self, name: str, n_tiles: int, *arguments: Any) -> None:
        """Launch a kernel of the worklist program on a work-group a tile, or all that reside."""
        self.launch(self.program, name, self.launch.groups_for(n_tiles), *arguments)

    # ------------------------------------------------------------------ phases

    def windows(self) -> list[tuple[int, int]]:
        """Return the windows of leading key words that the phases take: all, or light and heavy.

        The threshold is the key that about ``FILTER_TARGET * n`` edges do not exceed, by a sample.
        """
        everything = [(0, _MAX_KEY)]
        graph, options = self.graph, self.options
        if not options.filter or graph.average_degree < FILTER_DEGREE:
            return everything
        share = FILTER_TARGET * graph.n_vertices / graph.edge_bound
        rank = int(share * options.samples)
        if rank >= options.samples:
            return everything
        threshold = int(np.sort(self._sample_keys())[rank])
        if threshold == _MAX_KEY:
            return everything
        return [(0, threshold), (threshold + 1, _MAX_KEY)]

    def _sample_keys(self) -> Array:
        """Read the leading key words of random slots; mirror images and loops do no harm."""
        device, samples = self.graph.device, self.options.samples
        generator = np.random.default_rng(self.options.seed)
        slots = generator.integers(self.graph.n_slots, size=samples, dtype=np.uint32)
        keys = np.empty(samples, np.uint32)
        on_device = device.allocate(slots.nbytes)
        sampled = device.allocate(keys.nbytes)
        self.launch.write(on_device, slots)
        self._launch(
            "ecl_sample_keys", 1, self.graph.weights, on_device, sampled, np.uint32(samples)
        )
        self.launch.read(sampled, keys)
        return keys

    def phase(self, lightest: int, heaviest: int, *, contracted: bool) -> list[int]:
        """Join all sets that edges of the window join; return how many edges each round had."""
        if contracted:  # sets that ran out of light edges still hold their last reservation
            self._forget(self.held)
            self._forget(self.next)
        window = (np.uint32(lightest), np.uint32(heaviest))
        if self.options.data_driven:
            return self._worklist_phase(window, contracted=contracted)
        return self._topology_phase(window)

    def _forget(self, reservations: Any) -> None:
        self.launch.fill(reservations, _MAX_KEY, self.words * self.graph.n_vertices)

    # --------------------------------------------------------------- worklists

    def _worklist_phase(self, window: tuple[Any, Any], *, contracted: bool) -> list[int]:
        """Algorithm 2: populate, then hook and contract until no edge is left."""
        graph, program = self.graph, self.program
        rows_a_tile = self.launch.device.policy.rows_per_item * program.work_group_size
        first, bound = self.round, self.capacity
        self._launch(
            "ecl_populate_worklist",
            -(-graph.n_vertices // rows_a_tile),
            graph.indptr, graph.indices, graph.weights, self.parent, self.held,
            self.worklists[0], self.counts, np.uint32(first), self.n,
            np.uint32(self.capacity), *window, np.uint32(contracted),
        )  # fmt: skip
        in_flight: deque[tuple[Any, Array]] = deque()
        while bound > 0:
            if self.round - first > _ROUNDS_A_PHASE:
                raise RuntimeError(f"no end after {_ROUNDS_A_PHASE} rounds: a bug in clmst")
            self._refine_reservations(bound)
            self._hook_components(bound)
            self._contract_worklist(bound)
            in_flight.append(self._read_count(self.round))
            if len(in_flight) > graph.device.policy.rounds_in_flight:
                event, count = in_flight.popleft()
                event.wait()
                bound = int(count[0])
        sizes = np.empty(self.round + 1 - first, np.uint32)
        self.launch.read(self.counts, sizes, offset=4 * first)
        self.round += 1
        return [int(size) for size in sizes if size]

    def _read_count(self, round_: int) -> tuple[Any, Array]:
        """Start reading the size of a round's worklist; return the event and where it will be."""
        count = np.empty(1, np.uint32)
        wait = self.graph.device.policy.rounds_in_flight == 0
        return self.launch.read(self.counts, count, offset=4 * round_, wait=wait), count

    def _refine_reservations(self, bound: int) -> None:
        for later_pass in range(1, self.passes):
            self._launch(
                "ecl_refine_reservations",
                self._grid_tiles(bound),
                self.worklists[0], self.graph.weights, self.parent, self.held, self.counts,
                np.uint32(self.round), self.n, np.uint32(self.capacity), np.uint32(later_pass),
            )  # fmt: skip

    def _hook_components(self, bound: int) -> None:
        self._launch(
            "ecl_hook_components",
            self._grid_tiles(bound),
            self.worklists[0], self.parent, self.held, self.next, self.in_forest, self.counts,
            np.uint32(self.round), self.n, np.uint32(self.capacity),
        )  # fmt: skip
        if not self.options.implicit_path_compression:
            self._forget(self.next)  # worklists of vertices do not tell which sets to clear

    def _contract_worklist(self, bound: int) -> None:
        """Make the next round's worklist, and enter that round."""
        source, target = self.worklists
        tile = self.program.work_group_size * self.launch.device.policy.edges_per_item
        self._launch(
            "ecl_contract_worklist",
            -(-bound // tile),
            source, target, self.graph.weights, self.parent, self.next, self.counts,
            np.uint32(self.round), self.n, np.uint32(self.capacity),
        )  # fmt: skip
        self.worklists.rotate()
        self.held, self.next = self.next, self.held
        self.round += 1

    # ---------------------------------------------------------------- topology

    def _topology_phase(self, window: tuple[Any, Any]) -> list[int]:
        """Section 5.3, items 7 and 8: every round goes over the whole graph."""
        assert self.topology is not None
        graph, first = self.graph, self.round
        n_items = graph.n_slots if self.options.edge_centric else graph.n_vertices
        groups = self.launch.groups_for(self._grid_tiles(n_items))
        rows = self.rows if self.options.edge_centric else graph.indptr
        if self.options.edge_centric and first == 0:
            tiles = self.launch.groups_for(self._grid_tiles(graph.n_vertices))
            expand = "ecl_topology_expand_rows"
            self.launch(self.topology, expand, tiles, graph.indptr, rows, self.n)
        arrays = (graph.indptr, rows, graph.indices, graph.weights, self.parent, self.held)
        crossing = np.ones(1, np.uint32)
        sizes: list[int] = []
        while crossing[0]:
            if self.round - first > _ROUNDS_A_PHASE:
                raise RuntimeError(f"no end after {_ROUNDS_A_PHASE} rounds: a bug in clmst")
            for pass_ in range(self.passes):
                self.launch(
                    self.topology, "ecl_topology_reserve", groups, *arrays, self.counts,
                    np.uint32(self.round), self.n, np.uint32(graph.n_slots), *window,
                    np.uint32(pass_),
                )  # fmt: skip
            self.launch.read(self.counts, crossing, offset=4 * self.round)
            self.launch(
                self.topology, "ecl_topology_hook", groups, *arrays, self.in_forest,
                self.n, np.uint32(graph.n_slots), *window,
            )  # fmt: skip
            self._forget(self.held)
            self.round += 1
            sizes.append(graph.n_slots)
        return sizes

    def _grid_tiles(self, n_items: int) -> int:
        """Return how many tiles of the kernels' GRID_FOR `n_items` make."""
        return -(-n_items // self.program.grid_tile)
