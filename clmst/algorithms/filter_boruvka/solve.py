"""filter-boruvka: Borůvka's rounds, light edges first, in the shape of a GPU or of a CPU.

Source: Borůvka's algorithm with the filter of V. Osipov, P. Sanders, J. Singler, "The
Filter-Kruskal Minimum Spanning Tree Algorithm", ALENEX '09. The edges are cut into windows, light
ones first; a phase contracts the graph along the edges of one window. The steps are in ``gpu.py``
and ``cpu.py``; ``docs/inside_algorithms.md`` explains them.
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
    """Solve by filter-boruvka; see :class:`FilterBoruvkaOptions`.

    Notes
    -----
    O((n + m) log n) work in O(log n) rounds. In the shape of a GPU, what a solve needs beside the
    graph is kept with it for the next: at most 24 bytes an edge and 35 a vertex for 32-bit weights
    (``stats`` has the sum). Where a worklist turns out too small, or light edges do not go first in
    a graph of many edges, worklists are as large as the graph.
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
        del run  # the next one may need its memory


def begin(
    graph: DeviceGraph,
    launch: Launcher,
    *,
    maximum: bool,
    options: Any = None,
    verdict: Memory | None = None,
) -> Solution | None:
    """Enqueue a solve in one launch; as :class:`Begin`, else as :func:`solve`."""
    options = options_for("filter-boruvka", FilterBoruvkaOptions, options)
    shape = options.shape_under(graph.device.policy)
    if shape == "cpu" or not graph.n_slots:
        return None
    from clmst.algorithms.filter_boruvka import gpu_launches

    return gpu_launches.begin(graph, launch, maximum=maximum, options=options, verdict=verdict)


@cache
def _new_run(shape: str) -> Callable[..., FilterBoruvkaRun]:
    """Return what begins a solve in a shape; only the module that is needed is loaded."""
    if shape == "cpu":
        from clmst.algorithms.filter_boruvka import cpu

        return cpu.CpuRun
    from clmst.algorithms.filter_boruvka import gpu_launches

    return gpu_launches.new_run
