"""filter-boruvka: Borůvka's rounds, light edges first, by kernels for GPUs or for CPUs.

Source: Borůvka's algorithm with the filter of V. Osipov, P. Sanders, J. Singler, "The
Filter-Kruskal Minimum Spanning Tree Algorithm", ALENEX '09. The edges are cut into windows, which
are ranges of the total order of edges, light ones first. A phase contracts the graph along the
edges of one window. The steps are in ``gpu.py`` and ``cpu.py``; ``docs/inside_algorithms.md``
explains them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from clmst.algorithms import filter_boruvka
from clmst.algorithms.filter_boruvka import FilterBoruvkaOptions
from clmst.algorithms.filter_boruvka.rounds import FilterBoruvkaRun
from clmst.algorithms.shared.algorithm_record import options_for
from clmst.algorithms.shared.solution import Solution, new_flags
from clmst.core.errors import InvalidArgumentError
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher


def solve(graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: Any = None) -> Solution:
    """Solve by filter-boruvka; see :class:`FilterBoruvkaOptions` for `options`.

    `maximum` asks for the maximum spanning forest. None as `options` means the defaults.

    Notes
    -----
    The solve takes O((n + m) log n) work in O(log n) rounds. In addition to the graph, the kernels
    for GPUs need device memory, which is kept with the graph for the next solve. For 32-bit weights
    it is usually at most 24 bytes for each edge and 35 for each vertex; ``stats["device_bytes"]``
    has the sum, graph included. Lists that can hold all edges are needed in two cases: if a smaller
    list has overflowed, and for graphs of many edges in which light edges are not solved first.
    """
    options = options_for("filter-boruvka", FilterBoruvkaOptions, options)
    if graph.n_vertices > filter_boruvka.MAX_VERTICES:
        raise InvalidArgumentError(
            f"the graph has {graph.n_vertices} vertices; 'filter-boruvka' takes at most "
            f"{filter_boruvka.MAX_VERTICES}, 'ecl' more"
        )
    shape = options.shape_under(graph.device.policy)
    if graph.n_slots == 0:
        stats = {"shape": shape, "rounds": 0, "worklist_sizes": [], "device_bytes": 0}
        return Solution(graph=graph, in_forest=new_flags(0, graph.device), stats=stats)
    full_capacity = finer = False
    while True:
        run = _new_run(shape)(
            graph, launch, maximum=maximum, options=options, full_capacity=full_capacity,
            finer=finer,
        )  # fmt: skip
        if run.solve():
            return run.solution(stats=run.stats())
        full_capacity, finer = run.full_capacity, run.finer
        del run  # the next run may need its memory


def begin(
    graph: DeviceGraph,
    launch: Launcher,
    *,
    maximum: bool,
    options: Any = None,
    verdict: Memory | None = None,
) -> Solution | None:
    """Enqueue a solve in one launch, without waiting.

    `maximum` asks for the maximum spanning forest, and `options` are the options of the algorithm,
    or None. `verdict` is the buffer to which an enqueued check of the graph writes the faults that
    it finds, or None if the graph is known to be valid. Returns None, with nothing enqueued, if the
    solve takes more than one launch.
    """
    options = options_for("filter-boruvka", FilterBoruvkaOptions, options)
    shape = options.shape_under(graph.device.policy)
    if shape == "cpu" or not graph.n_slots:
        return None
    from clmst.algorithms.filter_boruvka import gpu

    return gpu.begin(graph, launch, maximum=maximum, options=options, verdict=verdict)


@cache
def _new_run(shape: str) -> Callable[..., FilterBoruvkaRun]:
    """Return the function that creates the object for one solve.

    `shape` is "gpu" for the kernels for GPUs, or "cpu". Only the module of these kernels is
    imported.
    """
    if shape == "cpu":
        from clmst.algorithms.filter_boruvka import cpu

        return cpu.CpuRun
    from clmst.algorithms.filter_boruvka import gpu

    return gpu.new_run
