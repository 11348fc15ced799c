"""filter-boruvka on CPUs: each work-item takes a long contiguous range of edges and of vertices.

A work-item has a part of the edge list to itself, called its segment, from which it removes edges
in place. Work-items share only two kinds of values, both by atomics: the lightest edge found so far
of each supervertex (its reservation), and the numbers of supervertices. A supervertex is a set of
vertices that have been joined.

Source: see ``cl/algorithms/filter_boruvka/cpu.cl``. ``docs/inside_algorithms.md`` describes the
steps.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions
from clmst.algorithms.filter_boruvka.rounds import Change, FilterBoruvkaRun
from clmst.algorithms.shared.progress import no_progress
from clmst.algorithms.shared.solution import (
    flag_words,
    new_flags,
    reservation_shape,
    words_on_device,
)
from clmst.algorithms.shared.windows import Ends, contracts_slowly, least_of_draws, window_ends
from clmst.core import canonical, csr
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/filter_boruvka/cpu.cl"
FIRST_SOURCE = "algorithms/filter_boruvka/cpu_first.cl"

# A solve divides the range of weights into windows. The ends of the windows are chosen from a
# sample of this number of sort keys, which are integers that sort as the weights do.
_SAMPLES = 2048
# A work-item processes at least _MIN_SEGMENT slots (CSR entries) and _MIN_SHARE vertices. For a
# small graph, fewer work-items are started.
_MIN_SEGMENT = 4096
_MIN_SHARE = 1024
# With this number of vertices or more, the array with the component of each vertex does not fit a
# cache. One bit for each vertex then says whether it is in the largest component.
MARKED_FROM = 1 << 21
# A phase solves one window of weights by contractions, each of which at least halves the number of
# supervertices. As there are fewer than 2**32, this is the maximum number of contractions, plus one
# for the beginning of the phase.
_MAX_DEPTHS = 34
# Indices of words in the array state[] of cpu_list.cl. _OVERFLOW says whether a list of edges has
# overflowed. _COMPONENTS is the number of components after the first phase. The numbers of
# components after later phases follow it.
_OVERFLOW, _COMPONENTS = 0, 1
_STUCK = 2  # value of the word _OVERFLOW if the chosen edges close a cycle, which is an error
_COUNTS = 2
# Capacity of a list of undecided edges, as a share of the slots (CSR entries) of its segment. The
# slots of the graph are divided into segments, and each has a list. This share is used if there are
# several windows (ranges of the order of edges) and both directions of edges are stored. Each edge
# is listed in one direction. In the last window, only the edges that still join two components are
# listed. These edges are rarely more than a third of all edges.
_CAPACITY = 0.5

_KEPT = "slots of vertices"  # key in `graph.plans`, where the CSR entries of each vertex are kept

# The end of a window, which is a range of the order of edges by (sort key of the weight, slot).
# Three numbers: 1 if the window has an end, else 0; the key at its end; the slot at its end.
Window = tuple[np.uint32, np.uint64, np.uint32]


def defines(weights: dict[str, int]) -> dict[str, int | bool]:
    """Return the macros for the kernels in SOURCE, given the macros for the dtype of the weights.

    The macros that depend on the device are added elsewhere.
    """
    return {**weights, "WG_SIZE": 1}


class CpuRun(FilterBoruvkaRun):
    """One solve by the kernels for CPUs, in which a work-group has one work-item.

    A work-item has a segment of the edge list to itself. The edges are divided by weight into
    windows, which are solved one after the other. If a solve was given up, it is done again with
    `full_capacity` or `finer` set. With either of them, segments can hold all edges and there are
    more windows.
    """

    def __init__(
        self,
        graph: DeviceGraph,
        launch: Launcher,
        *,
        maximum: bool,
        options: FilterBoruvkaOptions,
        full_capacity: bool,
        finer: bool,
    ) -> None:
        self.graph, self.launch, self.n = graph, launch, graph.n_vertices
        self.options = options
        self.full_capacity = self.finer = full_capacity or finer
        weights = graph.weight_defines(maximum=maximum)
        self.defines = defines(weights)
        self.program = graph.device.program(SOURCE, **self.defines)
        self.wide = weights["WEIGHT_BITS"] == 64
        self.words, self.passes = reservation_shape(weights["WEIGHT_BITS"], graph.device)
        self.ends = window_ends(graph, options.targets, launch, samples=_SAMPLES, finer=self.finer)
        self.windows = _windows(graph, self.ends, launch, options.seed, maximum=maximum)
        self.n_phases = len(self.windows)
        self.segments = launch.groups_for(-(-graph.n_slots // _MIN_SEGMENT))
        self.stride = self._stride()
        self.reserved_stride = 0
        # With a single window (range of the order of edges), each vertex first searches its own CSR
        # entries for its lightest edge. With several windows this would take more time than it
        # saves, because most of these entries belong to heavy edges, which are never listed.
        self.incident = _incident_slots(graph) if self.n_phases == 1 else None
        self.vertices = self.n  # number of supervertices at the beginning of the phase
        # For each contraction of the phase: the index of its first link in the array of links, and
        # its number of links. A link is the word that leads from a vertex to its supervertex.
        self.depths: list[tuple[int, int]] = []
        self._allocate()

    def _stride(self) -> int:
        """Return the capacity of a work-item's segment of the edge list, as a number of edges."""
        share = -(-self.graph.n_slots // self.segments)
        if self.full_capacity or not self.ends.ranks or not self.graph.graph.is_symmetric:
            return share
        return min(share, usual_capacity(share, self.ends))

    def _allocate(self) -> None:
        n, graph, device = self.n, self.graph, self.graph.device
        capacity, word = self.segments * self.stride, 4 * self.words
        wide = 8 * capacity if self.wide else 0
        sizes = (word * n, word * (n // 2), 12 * n, 4 * -(-n // 32), 4 * self.segments)
        buffers = [device.allocate(max(size, 16)) for size in sizes]
        self.reserved, (self.links, self.in_largest, self.lengths) = buffers[:2], buffers[2:]
        lists = 16 * capacity, wide
        self.edges, self.listed = (device.allocate(max(size, 16), is_list=True) for size in lists)
        self.in_forest = new_flags(graph.n_slots, device)
        self.state = np.zeros(1 + self.n_phases * (1 + _COUNTS * _MAX_DEPTHS), np.uint32)
        self.on_device = device.allocate(self.state.nbytes)
        self.device_bytes = sum((*sizes, *lists)) + self.state.nbytes
        self.device_bytes += 4 * (flag_words(graph.n_slots) + n + 1 + graph.n_slots)
        self.device_bytes += graph.n_slots * graph.encoded.encoding.word.itemsize

    # ------------------------------------------------------------ the algorithm's steps

    def _prepare(self) -> None:
        self.launch.fill(self.on_device, 0, self.state.size)
        words = flag_words(self.graph.n_slots)
        self._step("clear", self._shares(words), self.in_forest.memory, words)

    def _filter(self, phase: int) -> None:
        """Write the edges of this phase's range of weights to the segments of the edge list.

        Each work-item has a segment of the list. If the graph is prepared for many solves and has
        only one range of weights (window), each vertex first chooses the lightest of its own edges.
        The chosen edges join components, and only edges between two components are written.
        """
        if self.incident is not None:
            self._first_round(*self.incident)
            return
        self.depths = []
        self.reserved_stride = self.vertices
        shares = self._shares(self.words * self.vertices)
        self._step("begin", shares, self.reserved[0], self.vertices)
        self._list_edges(phase)

    def _first_depth(self, phase: int) -> int:
        """Return the depth at which a phase begins, which is 0 or 1.

        A phase solves one window of weights. The depth is the number of contractions so far in the
        phase. It begins at 1 if :meth:`_filter` has let each vertex choose its lightest edge.
        """
        return 0 if self.incident is None else 1

    def _choose(self, phase: int, depth: int) -> bool:
        """Enqueue the kernels that link each supervertex along the lightest edge that leaves it.

        A supervertex is a set of vertices that have been joined.

        A phase solves one window (range) of the weights, and `depth` is the number of contractions
        so far in it. Returns False, without enqueuing anything, if the phase is finished.
        """
        n_vertices, edges = self._counts(phase, depth)
        if depth == 0:
            n_vertices = self.vertices
        elif not edges and phase + 1 == self.n_phases:
            return False
        if not n_vertices:
            return False
        last = self.depths[-1:] or [(0 if phase == 0 else self.n, 0)]
        begin = sum(last[0])
        self.depths.append((begin, n_vertices))
        shares, counts = self._shares(n_vertices), self._counts_at(phase, depth + 1)
        stride = n_vertices // 2  # maximum number of supervertices at the next depth
        self._step(
            "hook", shares, self.reserved[depth % 2], self.reserved[1 - depth % 2], self.edges,
            self.links, self.in_forest.memory, self.on_device, begin, counts, _COMPONENTS + phase,
            n_vertices, self.reserved_stride, stride,
        )  # fmt: skip
        self._step("follow", shares, self.links, self.on_device, begin, n_vertices)
        self.reserved_stride = stride
        return True

    def _contract(self, phase: int, depth: int) -> None:
        """Keep the edges that join two different new supervertices, and wait for the device.

        The new supervertices are the components that the chosen edges have joined. `depth` is the
        number of contractions so far in the phase, which solves one window of the weights. The
        host reads how many supervertices and edges remain. The solve is given up if an edge
        list was too short.
        """
        (begin, n_vertices), following = self.depths[-1], self.reserved[1 - depth % 2]
        self._step(
            "contract", self.segments, self.links, following, self.edges, self.listed,
            self.lengths, self.on_device, begin, self._counts_at(phase, depth + 1), self.stride,
        )  # fmt: skip
        self._refine(following)
        self._read_state(depth + 1)
        after, edges = self._counts(phase, depth + 1)
        before = self._counts(phase, depth)[1]
        self._check_round(phase, depth, (n_vertices, after), (before, edges))
        if self.state[_OVERFLOW]:
            self.full_capacity = self.given_up = True

    def _wants_finer(self, rounds: int, vertices: Change, edges: Change) -> bool:
        return rounds == 0 and contracts_slowly(edges, vertices[1])

    def _settle(self, phase: int) -> None:
        """Find the component of every original vertex, after all contractions of a phase.

        A phase solves the edges of one range of weights. The results of the contractions are
        followed one by one, from the last contraction to the first, and then from the components of
        the previous phase to the vertices. Raises DeviceError if the number of components has
        grown.
        """
        for (here, n_vertices), (there, _) in reversed(list(pairwise(self.depths))):
            self._settle_depth(here, there, n_vertices, anew=False)
        if phase > 0:
            self._settle_depth(0, self.n, self.n, anew=True)
        if self.n >= MARKED_FROM:
            shares = self._shares(-(-self.n // 32))
            self._step("mark_largest", shares, self.links, self.in_largest, self.n)
        components = int(self.state[_COMPONENTS + phase])
        if components > self.vertices:
            rule = "a phase leaves at most as many components as it had vertices"
            raise no_progress(
                "filter-boruvka", self.graph.device, rule, phase=phase, vertices=self.vertices,
                components=components,
            )  # fmt: skip
        self.vertices = components

    def _finish(self) -> None:
        """Do nothing, because the kernels of each round have set the flags of the chosen edges."""

    def stats(self) -> dict[str, Any]:
        """Return the statistics of the solve."""
        sizes = []
        for phase in range(self.n_phases):
            edges = (self._counts(phase, depth)[1] for depth in range(_MAX_DEPTHS))
            sizes.append([count for count in edges if count])
        return {
            "shape": "cpu",
            "rounds": sum(map(len, sizes)) + (self.incident is not None),
            "worklist_sizes": sizes,
            "device_bytes": self.device_bytes,
        }

    def _counts_at(self, phase: int, depth: int) -> int:
        return _COMPONENTS + self.n_phases + _COUNTS * (_MAX_DEPTHS * phase + depth)

    def _counts(self, phase: int, depth: int) -> tuple[int, int]:
        """Return the numbers of supervertices and edges after `depth` contractions of a phase.

        A phase solves the edges of one range of weights. A supervertex is a set of vertices that
        have been joined. The numbers were counted by the device and are those that the host has
        read last.
        """
        at = self._counts_at(phase, depth)
        return int(self.state[at]), int(self.state[at + 1])

    # ------------------------------------------------------------------ parts of steps

    def _read_state(self, done: int) -> None:
        """Read the device's counts of supervertices and edges to the host.

        The call waits until everything enqueued has finished. A supervertex is a set of vertices
        that have been joined. `done` is the number of rounds of the phase so far, for the message
        of the error. Raises DeviceError if the device has reported that chosen edges close a cycle.
        """
        self.launch.read(self.on_device, self.state)
        if self.state[_OVERFLOW] == _STUCK:
            rule = "edges that supervertices choose close no cycle"
            raise no_progress(
                "filter-boruvka", self.graph.device, rule, round=done, vertices=self.n
            )

    def _step(self, name: str, groups: int, *arguments: Any) -> None:
        self.launch.enqueue(self.program, f"filter_boruvka_cpu_{name}", groups, *arguments)

    def _shares(self, n_items: int) -> int:
        return self.launch.groups_for(-(-n_items // _MIN_SHARE))

    def _list_edges(self, phase: int, *, depth: int = 0) -> None:
        graph, reserved, contracted = self.graph, self.reserved[depth], phase > 0 or depth > 0
        self._step(
            "list_edges", self.segments, graph.indptr, graph.indices, graph.weights, self.links,
            self.in_largest, reserved, self.edges, self.listed, self.lengths, self.on_device,
            self._counts_at(phase, depth), self.n, graph.n_slots, self.stride, int(contracted),
            int(phase > 0 and self.n >= MARKED_FROM), *self.windows[phase],
        )  # fmt: skip
        self._refine(reserved)

    def _first_round(self, starts: Any, incident: Any) -> None:
        """Let each vertex choose its lightest edge, and list the edges that join two components.

        `starts` and `incident` are the result of :func:`_incident_slots`. The call waits for the
        device.
        """
        graph, n, counts = self.graph, self.n, self._counts_at(0, 1)
        shares, chosen, following = self._shares(n), *self.reserved
        program = graph.device.program(FIRST_SOURCE, **self.defines)
        self.launch.enqueue(
            program, "filter_boruvka_cpu_first_choose", shares, graph.rows, graph.indices,
            graph.weights, starts, incident, chosen, n,
        )  # fmt: skip
        self.launch.enqueue(
            program, "filter_boruvka_cpu_first_hook", shares, chosen, following, self.links,
            self.in_forest.memory, self.on_device, counts, _COMPONENTS, n, n // 2,
        )  # fmt: skip
        self._step("follow", shares, self.links, self.on_device, 0, n)
        self.reserved_stride = n // 2
        self._list_edges(0, depth=1)
        self._read_state(1)
        self.depths = [(0, n)]

    def _refine(self, reserved: Any) -> None:
        """Enqueue the remaining passes of the search for the lightest edge of each supervertex.

        A supervertex is a set of vertices that have been joined. A pass goes over all edges. One
        pass is not enough if an edge is compared by more bits than one atomic minimum takes.
        `reserved` has the words of the lightest edge so far of each supervertex.
        """
        for later in range(1, self.passes):
            self._step(
                "refine", self.segments, reserved, self.edges, self.listed, self.lengths,
                self.stride, self.reserved_stride, later,
            )  # fmt: skip

    def _settle_depth(self, here: int, there: int, n_vertices: int, *, anew: bool) -> None:
        shares = self._shares(n_vertices)
        self._step("settle", shares, self.links, here, there, n_vertices, int(anew))


def usual_capacity(share: int, ends: Ends) -> int:
    """Return the default capacity of a work-item's edge list, as a number of edges.

    `share` is the number of CSR entries from which the list is filled. `ends` are the ends of the
    windows of weights. The list has the edges of one window at a time.
    """
    return int(max(_CAPACITY, 2 * ends.largest_share) * share) + _MIN_SEGMENT


def _incident_slots(graph: DeviceGraph) -> tuple[Any, Any] | None:
    """Return the slots (CSR entries) of the edges of each vertex, as offsets and a list of slots.

    The slots of vertex v are those from ``offsets[v]`` to ``offsets[v + 1]`` of the list. For a
    graph that is prepared for many solves, offsets and list are computed once and kept with the
    graph. Returns None for any other graph.
    """
    if graph.rows is None:
        return None
    if _KEPT not in graph.plans:
        both = canonical.mirror(graph.n_vertices, graph.graph.rows, graph.graph.indices)
        arrays = (both.indptr, csr.as_uint32(both.positions))
        graph.plans[_KEPT] = (*graph.device.upload_all(*arrays), arrays)
    starts, incident, _ = graph.plans[_KEPT]
    return starts, incident


def _windows(
    graph: DeviceGraph, ends: Ends, launch: Launcher, seed: int, *, maximum: bool
) -> list[Window]:
    """Find the weight at which each window ends. The last window does not have an end.

    The weights are taken from a sorted random sample, and `ends` has the position in the sample at
    which each window ends. To draw the sample, the CSR entries are divided into equal parts, and
    one entry is drawn from each part, with a generator of this `seed`. `maximum` puts the heaviest
    edges into the first window. If only the device has the weights, the call waits for it.
    """
    last = (np.uint32(0), np.uint64(0), np.uint32(0))
    if not ends.ranks:
        return [last]
    n_draws = ends.samples << ends.draw_bits
    parts = np.arange(n_draws, dtype=np.float64) * (graph.n_slots / n_draws)
    offsets = np.random.default_rng(seed).random(n_draws) * (graph.n_slots / n_draws)
    slots = np.minimum((parts + offsets).astype(np.int64), graph.n_slots - 1)
    encoded = graph.encoded
    if callable(encoded.source):  # only the device has the weights, so it looks up the sample
        encoded = words_on_device(graph.weights, encoded.encoding, graph.n_slots, launch)
    drawn = encoded.keys(slots, descending=maximum)
    keys, places = least_of_draws(drawn, ends.draw_bits)
    order = np.argsort(keys, kind="stable")  # slots ascend, so this orders by (key, slot)
    cuts = order[list(ends.ranks)]
    limited = [(np.uint32(1), np.uint64(keys[at]), np.uint32(slots[places[at]])) for at in cuts]
    return [*limited, last]
