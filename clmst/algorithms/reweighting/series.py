"""Series contraction: make a graph smaller by its edges alone, whatever their weights are.

The kernels are in ``cl/algorithms/reweighting/series.cl``.

Road networks have dead ends and long paths without crossings. An edge that is not on a cycle is in
every forest. A degree-2 path is a path whose inner vertices have two edges each. At most one of its
edges is not in the forest, and only the heaviest edge can be that one. So the whole path becomes
one edge of the smaller graph.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from clmst import route
from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions
from clmst.algorithms.filter_boruvka.gpu import begin_candidates
from clmst.algorithms.filter_boruvka.workspace import Candidates, Workspace
from clmst.algorithms.k_core.core_numbers import core_numbers
from clmst.algorithms.shared.solution import Solution
from clmst.primitives.compact import positions
from clmst.primitives.scan import exclusive_scan
from clmst.primitives.sort import bits_of, sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import KernelArgument
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/reweighting/series.cl"

_PAIR = np.dtype(np.uint64)  # holds two words of 32 bits


# Series contraction replaces each path whose inner vertices have two edges by one edge. It is only
# used if a solve has the default options, or options that differ from them only by asking for the
# kernels for GPUs.
_PLAIN = (FilterBoruvkaOptions(), FilterBoruvkaOptions(shape="gpu"))


class SeriesContraction:
    """The series contraction of one graph, which later solves use in place of the graph.

    In it, each path whose inner vertices have two edges becomes one edge. The contraction is used
    only if it is so small that solves are faster. With `always`, it is used in any case.
    """

    def __init__(self, *, maximum: bool, always: bool = False) -> None:
        self.maximum, self._always = maximum, always
        self._candidates: Candidates | None = None
        self._pays: bool | None = None  # whether the contraction is used; None if not known yet
        self._workspace: Workspace | None = None

    def serves(self, algorithm: str, options: object, device: Device) -> bool:
        """Return whether solves by an algorithm with these options may use the series contraction.

        The contracted graph is solved by the kernels of "filter-boruvka" for GPUs, with default
        options. All options except `shape` are meant for whole graphs, so none of them may be set.
        """
        if algorithm != "filter-boruvka" or options not in (None, *_PLAIN):
            return False
        return (options or _PLAIN[0]).shape_under(device.policy) == "gpu"

    def solve(self, graph: DeviceGraph, launch: Launcher) -> Solution | None:
        """Solve a graph with the present weights by its contraction, which the first call makes.

        The call waits for the device. `graph` must have the same edges in every call, and store
        each edge once, with the row of each CSR entry. Returns None if the contraction is not small
        enough to be used, or if the solve has failed and has to be done in another way.
        """
        if self._pays is None:
            self._contract(graph, launch)
        if self._candidates is None:
            return None
        word = graph.weight_defines(maximum=self.maximum)
        if self._workspace is None or self._workspace.weights != word:
            self._workspace = Workspace(
                graph, launch, maximum=self.maximum, options=_PLAIN[0], candidates=self._candidates
            )
        run = begin_candidates(graph, self._workspace, launch)
        if not run.is_done():
            return None
        remaining = {"edges": self._candidates.n_edges, "vertices": self._candidates.n_vertices}
        return run.solution(stats={**run.stats(), "series_contraction": remaining})

    def forget(self) -> None:
        """Forget the counters and flags that an unfinished solve may have left."""
        self._workspace = None

    def _contract(self, graph: DeviceGraph, launch: Launcher) -> None:
        m = graph.n_slots
        self._pays = self._always or route.looks_for_series(m, graph.n_vertices)
        if self._pays:
            candidates = contract_series(graph, launch)
            self._pays = self._always or route.series_pays(candidates.n_edges, m)
            self._candidates = candidates if self._pays else None


def contract_series(graph: DeviceGraph, launch: Launcher) -> Candidates:
    """Contract each path whose inner vertices have degree 2 to one edge, and return the result.

    Dead ends are left out, because their edges are in every forest. The weights are not used. The
    graph must store each edge once, with the row of each CSR entry. The call waits for the device.
    It takes O(m) in addition to :func:`clmst.core_numbers`. The device memory is 17 bytes for each
    edge and 20 for each vertex, of which 4 for each edge and 12 for each path are kept.
    """
    cores, _ = core_numbers(graph, launch)
    return _ContractionSteps(graph, cores, launch).run()


class _ContractionSteps:
    """One contraction of paths to single edges: the arrays and arguments that its steps share."""

    def __init__(self, graph: DeviceGraph, cores: DeviceArray, launch: Launcher) -> None:
        self.graph, self.cores, self.launch = graph, cores, launch
        self.m, self.n = graph.n_slots, graph.n_vertices
        self.program = graph.device.program(SOURCE)
        self.degrees = self._new(self.n)

    def _new(self, size: int, dtype: npt.DTypeLike = np.uint32) -> DeviceArray:
        return DeviceArray.empty(size, dtype, self.graph.device)

    def _each(self, kernel: str, n_items: int, *arguments: KernelArgument) -> None:
        self.launch.for_each(self.program, f"series_{kernel}", n_items, *arguments)

    def run(self) -> Candidates:
        """Contract all paths, and return the smaller graph, each of whose edges stands for a path.

        The call waits for the device.
        """
        m, n_words = self.m, -(-self.m // 32)
        firsts, slots = self._name_paths()
        heads, kept = self._new(m + 1, np.uint8), self.graph.device.allocate(max(4 * n_words, 4))
        self.launch.fill(kept, 0, n_words)
        self._each("flag_heads", m + 1, firsts, slots, heads, kept, m)
        starts, total = positions(heads, launch=self.launch)
        k = self.launch.read_count(total.memory, m + 1) - 1
        starts = starts[: k + 1]
        numbers, n_ends = self._number_ends()
        ends = self._new(k, _PAIR)
        rows, indices = self.graph.rows, self.graph.indices
        self._each("find_ends", k, starts, slots, rows, indices, self.degrees, numbers, ends, k)
        # Each path becomes one edge of the contracted graph. If a path is a whole cycle, this edge
        # is a self-loop at vertex 0. So the contracted graph needs at least one vertex.
        n_vertices = max(n_ends, 1)
        return Candidates(n_vertices=n_vertices, ends=ends, slots=slots, kept=kept, starts=starts)

    def _name_paths(self) -> tuple[DeviceArray, DeviceArray]:
        """Enqueue kernels that group the edges by the path to which they belong, without waiting.

        The inner vertices of a path have two edges each. A path is named by its first edge. Returns
        two arrays: the name of the path of each edge, in ascending order, and the CSR entries of
        the edges in the same order.
        """
        m, n = self.m, self.n
        rows, indices = self.graph.rows, self.graph.indices
        cores, degrees = self.cores, self.degrees
        parent, least, firsts, slots = self._new(n), self._new(n), self._new(m), self._new(m)
        self.launch.fill(degrees.memory, 0, n)
        self._each("count", m, rows, indices, cores, degrees, m)
        self._each("begin", n, parent, least, n)
        self._each("join", m, rows, indices, degrees, parent, m)
        self._each("find_first", m, rows, indices, cores, degrees, parent, least, m)
        self._each("name", m, rows, indices, cores, degrees, parent, least, firsts, slots, m)
        return sort_by_key(firsts, slots, key_bits=bits_of(m + 1), launch=self.launch)

    def _number_ends(self) -> tuple[DeviceArray, int]:
        """Give numbers to the vertices at which paths end, and return the numbers and their count.

        The call waits for the device.
        """
        flags, total = self._new(self.n), self._new(1)
        self._each("flag_ends", self.n, self.degrees, flags, self.n)
        numbers = exclusive_scan(flags, total=total, launch=self.launch)
        return numbers, self.launch.read_count(total.memory, self.n)
