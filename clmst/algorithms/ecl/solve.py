"""ECL-MST: Kruskal's and Borůvka's algorithms unified, on lists of the undecided edges.

Source: A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A High-Performance MST Implementation for
GPUs", SC '23. ``cl/algorithms/ecl/ecl.cl`` lists the differences from the paper.
"""

from __future__ import annotations

import numpy as np

from clmst.algorithms.ecl import (
    EclOptions,
    populate_defines,
    round_defines,
    rows_per_item,
    topology_defines,
)
from clmst.algorithms.shared.algorithm_record import options_for
from clmst.algorithms.shared.progress import no_progress
from clmst.algorithms.shared.solution import Solution, flag_words, new_flags, reservation_shape
from clmst.algorithms.shared.windows import ends_of, least_of_draws
from clmst.core.weight_keys import Array
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import KernelArgument, Memory
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/ecl/ecl.cl"
POPULATE_SOURCE = "algorithms/ecl/populate.cl"
TOPOLOGY_SOURCE = "algorithms/ecl/topology.cl"

# The paper's constant (section 3.2): filtering starts at this average degree.
FILTER_DEGREE = 4.0

_MAX_KEY = 2**32 - 1
# A pass solves the light edges, or all other edges, in rounds. Every round at least halves the
# number of components that still have an edge to another component. So a pass has at most 32 rounds
# that join components, and one last round that finds no edge.
_ROUNDS_A_PASS = 33


def solve(
    graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object = None
) -> Solution:
    """Solve by ECL-MST; see :class:`EclOptions` for `options`. None means the defaults.

    `maximum` asks for the maximum spanning forest. The solve takes O((n + m) log n) work in O(log
    n) rounds. A round has two launches, one more without 64-bit atomics, and one more for 64-bit
    weights. The host reads from the device at most once a round. In addition to the graph the solve
    takes device memory: 32 bytes for each edge (two worklists), 20 bytes for each vertex (28 for
    64-bit weights), and one byte for each CSR entry.
    """
    options = options_for("ecl", EclOptions, options)
    if not options.single_direction and not graph.graph.is_symmetric:
        graph = DeviceGraph.upload(graph.graph.symmetrised(), graph.device)
    run = _EclRun(graph, launch, maximum=maximum, options=options)
    sizes = [
        run.filter_pass(*weight_range, contracted=k > 0)
        for k, weight_range in enumerate(run.weight_ranges())
    ]
    stats = {"rounds": sum(map(len, sizes)), "worklist_sizes": sizes}
    return Solution(graph=graph, in_forest=run.in_forest, stats=stats)


class _EclRun:
    """One solve by `ecl`: the programs, the buffers and the rounds."""

    def __init__(
        self, graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: EclOptions
    ) -> None:
        device = graph.device
        weight = graph.weight_defines(maximum=maximum)
        self.graph, self.launch, self.options = graph, launch, options
        self.words, self.passes = reservation_shape(weight["WEIGHT_BITS"], device)
        # This program has the kernels of rounds over worklists, which only the option `data_driven`
        # uses. It also has the kernels that draw the sample of weights and set initial values, so
        # it is always needed.
        self.program = device.program(SOURCE, **weight, **round_defines(options, device.policy))
        if options.data_driven:
            defines = populate_defines(options, device.policy)
            self.populating = device.program(POPULATE_SOURCE, **weight, **defines)
        else:
            self.topology = device.program(TOPOLOGY_SOURCE, **weight, **topology_defines(options))
        self._allocate()

    def _allocate(self) -> None:
        graph, device = self.graph, self.graph.device
        n_slots, n_counts = graph.n_slots, 2 * (_ROUNDS_A_PASS + 3)
        self.n = np.uint32(graph.n_vertices)
        self.capacity = graph.edge_bound if self.options.single_direction else n_slots
        self.parent = device.allocate(4 * graph.n_vertices)
        self.reservations = [device.allocate(4 * self.words * graph.n_vertices) for _ in range(2)]
        self.in_forest = new_flags(n_slots, device)
        self.counts = device.allocate(4 * n_counts)
        self.round, self.hub_round = 0, n_counts
        if self.options.data_driven:
            self.worklists = [device.allocate(16 * self.capacity) for _ in range(2)]
        elif self.options.edge_centric:
            self.rows = device.allocate(4 * n_slots)
        n_flag_words = flag_words(n_slots)
        groups = self._groups(max(graph.n_vertices, n_flag_words))
        self.launch(
            self.program, "ecl_initialise", groups, self.parent, *self.reservations, self.counts,
            self.in_forest.memory, self.n, np.uint32(n_counts), np.uint32(n_flag_words),
        )  # fmt: skip

    def _groups(self, n_items: int, *, tile: int | None = None) -> int:
        """Return the number of work-groups to launch for `n_items` items.

        A work-group takes `tile` items at a time. None as `tile` means the number of items that a
        work-group takes in the loop GRID_FOR of the kernels.
        """
        return self.launch.groups_for(-(-n_items // (tile or self.program.grid_tile)))

    # ------------------------------------------------------------------ filter passes

    def weight_ranges(self) -> list[tuple[int, int]]:
        """Return the range of weights of each filter pass, as (least, greatest) key words.

        A filter pass solves the edges with weights in its range. A key word is the first 32-bit
        word of an integer that sorts as the weight does. There is either one range of all weights,
        or a range of light edges followed by a range of heavy edges. The limit between the two is
        estimated from a sample, so that about ``filter_factor * n / 2`` edges are light. The call
        waits until the sample is read.
        """
        everything = [(0, _MAX_KEY)]
        graph, options = self.graph, self.options
        if not options.filter or graph.average_degree < FILTER_DEGREE:
            return everything
        part = options.filter_factor / 2 * graph.n_vertices / graph.edge_bound
        if part >= 1:
            return everything
        ends = ends_of([part], options.samples)
        threshold = int(np.sort(self._sample_keys(ends.draw_bits))[ends.ranks[0]])
        if threshold == _MAX_KEY:
            return everything
        return [(0, threshold), (threshold + 1, _MAX_KEY)]

    def _sample_keys(self, draw_bits: int) -> Array:
        """Sample the weights of the graph, as the leading 32-bit words of sort keys.

        A sort key is an integer that sorts as the weight does. Each returned word is the minimum
        over ``1 << draw_bits`` randomly chosen CSR entries. The sample may contain both directions
        of an edge, and self-loops, which does no harm. The call waits for the device.
        """
        device, samples = self.graph.device, self.options.samples << draw_bits
        generator = np.random.default_rng(self.options.seed)
        slots = generator.integers(self.graph.n_slots, size=samples, dtype=np.uint32)
        keys = np.empty(samples, np.uint32)
        on_device, sampled = device.allocate(slots.nbytes), device.allocate(keys.nbytes)
        self.launch.write(on_device, slots)
        self.launch(
            self.program, "ecl_sample_keys", self._groups(samples), self.graph.weights, on_device,
            sampled, np.uint32(samples),
        )  # fmt: skip
        self.launch.read(sampled, keys)
        return least_of_draws(keys, draw_bits)[0]

    def filter_pass(self, lightest: int, heaviest: int, *, contracted: bool) -> list[int]:
        """Do all rounds for the edges of one range of weights.

        The range is from `lightest` to `heaviest`, as first 32-bit words of sort keys, which are
        integers that sort as the weights do. `contracted` is True if an earlier pass has merged
        vertices already. Returns, for each round, the number of edges that it goes over.
        """
        # `reservations` are words for each component, in which atomic minima find the lightest edge
        # that leaves it. If an earlier pass has solved the light edges, these words still hold old
        # values for components that no light edge leaves any more, so they are reset.
        if contracted:
            for reservations in self.reservations:
                self._forget(reservations)
        weight_range = (np.uint32(lightest), np.uint32(heaviest))
        if self.options.data_driven:
            return self._worklist_pass(weight_range, contracted=contracted)
        return self._topology_pass(weight_range)

    def _check_progress(self, first: int, edges: int) -> None:
        """Raise DeviceError if the pass that began with round `first` has had too many rounds.

        A pass solves the edges of one range of weights. On a device without faults it takes at most
        _ROUNDS_A_PASS rounds. `edges` is the number of remaining edges, for the message.
        """
        if self.round - first > _ROUNDS_A_PASS:
            rule = f"a filter pass has {_ROUNDS_A_PASS} rounds at most, since each halves its sets"
            raise no_progress(
                "ecl", self.graph.device, rule, round=self.round - first, edges=edges,
                vertices=self.graph.n_vertices,
            )  # fmt: skip

    def _forget(self, reservations: Memory) -> None:
        self.launch.fill(reservations, _MAX_KEY, self.words * self.graph.n_vertices)

    # --------------------------------------------------------------- worklists

    def _worklist_pass(
        self, weight_range: tuple[KernelArgument, KernelArgument], *, contracted: bool
    ) -> list[int]:
        """Do all rounds for the edges of a range of weights, with worklists of edges (Algorithm 2).

        `weight_range` has the least and the greatest weight, as words of sort keys, which are
        integers that sort as the weights do. The first worklist is filled with the edges of the
        range. `contracted` is True if an earlier pass has merged vertices. Each round merges
        components and writes the next worklist, until no edge remains. Returns the length of the
        worklist in each round.
        """
        first, sizes = self.round, [self.capacity]
        self._populate_worklist(weight_range, contracted=contracted)
        counts = np.empty(2, np.uint32)  # numbers of edges in this round and in the next
        while sizes[-1]:
            self._check_progress(first, sizes[-1])
            self._enqueue_round(sizes[-1], is_first=self.round == first)
            self.launch.read(self.counts, counts, offset=4 * (self.round - 1))
            sizes[-1:] = counts.tolist()
            self._check_sizes(sizes)
        self.round += 1
        return [size for size in sizes if size]

    def _check_sizes(self, sizes: list[int]) -> None:
        """Raise DeviceError if a list of remaining edges is longer than is possible.

        The last two of `sizes` are the lengths of this round's list and of the next round's.
        """
        if max(sizes[-2:]) > self.capacity or sizes[-1] > sizes[-2]:
            rule = (
                f"a worklist holds {self.capacity} edges, and each has no more than the one before"
            )
            raise no_progress(
                "ecl", self.graph.device, rule, round=self.round, edges=sizes[-2],
                edges_left=sizes[-1],
            )  # fmt: skip

    def _populate_worklist(
        self, weight_range: tuple[KernelArgument, KernelArgument], *, contracted: bool
    ) -> None:
        """Enqueue the kernels that write the first worklist of a filter pass.

        A filter pass solves the edges of a range of weights. `weight_range` has the least and the
        greatest weight, as words of sort keys, which are integers that sort as the weights do.
        `contracted` is True if an earlier pass has merged vertices. Long rows of the CSR are cut
        into pieces, which are listed in the memory of the worklist for the next round.
        """
        graph, program, launch = self.graph, self.populating, self.launch
        side = self.round % 2
        worklist, pieces = self.worklists[side], self.worklists[1 - side]
        self.hub_round -= 1  # counts of long rows are stored from the end of the array backwards
        common = (
            graph.indptr, graph.indices, graph.weights, self.parent, self.reservations[side],
            worklist, pieces, self.counts, np.uint32(self.round), np.uint32(self.hub_round),
        )  # fmt: skip
        given = (np.uint32(self.capacity), *weight_range, np.uint32(contracted))
        tile = program.work_group_size * rows_per_item(graph.device.policy)
        groups = self._groups(graph.n_vertices, tile=tile)
        launch(program, "ecl_populate_from_rows", groups, *common, self.n, *given)
        if program.work_group_size > 1 and self.options.hybrid_parallelism:
            groups = self._groups(graph.n_slots)
            launch(program, "ecl_populate_from_hubs", groups, *common, *given)

    def _enqueue_round(self, bound: int, *, is_first: bool) -> None:
        """Enqueue a round over a worklist of at most `bound` edges, and increment ``self.round``.

        A worklist has the edges that may still enter the forest. `is_first` says whether it is the
        first round of a pass over a range of weights.
        """
        launch, program = self.launch, self.program
        side, round_ = self.round % 2, np.uint32(self.round)
        here, there = self.worklists[side], self.worklists[1 - side]
        winners, following = self.reservations[side], self.reservations[1 - side]
        weights, parent, counts = self.graph.weights, self.parent, self.counts
        extent, groups = (self.n, np.uint32(self.capacity)), self._groups(bound)
        for later_pass in range(1, self.passes):
            launch(
                program, "ecl_refine_reservations", groups, round_, np.uint32(later_pass), here,
                weights, parent, winners, counts, *extent,
            )  # fmt: skip
        launch(
            program, "ecl_hook_components", groups, round_, np.uint32(is_first), here, parent,
            winners, following, self.in_forest.memory, counts, *extent,
        )  # fmt: skip
        if not self.options.implicit_path_compression:
            # `following` has the words in which the next round finds the lightest edge of each
            # component. With `implicit_path_compression`, the ends of the worklist's edges are the
            # components, and the kernel above resets the words of these components. Without it, the
            # ends are vertices of the graph, so the words of all vertices are reset here.
            self._forget(following)
        tile = program.work_group_size * self.graph.device.policy.edges_per_item
        launch(
            program, "ecl_contract_worklist", self._groups(bound, tile=tile), round_, here, there,
            weights, parent, following, counts, *extent,
        )  # fmt: skip
        self.round += 1

    # ---------------------------------------------------------------- topology

    def _topology_pass(self, weight_range: tuple[KernelArgument, KernelArgument]) -> list[int]:
        """Do all rounds for the edges of a range of weights, each round over the whole graph.

        No list of the remaining edges is kept. Items 7 and 8 of section 5.3 of the paper describe
        this. `weight_range` has the least and the greatest weight, as words of sort keys, which are
        integers that sort as the weights do. Returns the number of CSR entries that each round goes
        over.
        """
        graph, program, first = self.graph, self.topology, self.round
        winners, rows = self.reservations[0], graph.indptr
        groups = self._groups(graph.n_vertices)
        if self.options.edge_centric:
            rows, expand = self.rows, "ecl_topology_expand_rows"
            if first == 0:
                self.launch(program, expand, groups, graph.indptr, rows, self.n)
            groups = self._groups(graph.n_slots)
        arrays = (graph.indptr, rows, graph.indices, graph.weights, self.parent, winners)
        extent = (self.n, np.uint32(graph.n_slots), *weight_range)
        crossing = np.ones(1, np.uint32)
        while crossing[0]:
            self._check_progress(first, graph.n_slots)
            for pass_ in range(self.passes):
                self.launch(
                    program, "ecl_topology_reserve", groups, *arrays, self.counts,
                    np.uint32(self.round), *extent, np.uint32(pass_),
                )  # fmt: skip
            self.launch.read(self.counts, crossing, offset=4 * self.round)
            self.launch(
                program, "ecl_topology_hook", groups, *arrays, self.in_forest.memory, *extent
            )
            self._forget(winners)
            self.round += 1
        return [graph.n_slots] * (self.round - first)
