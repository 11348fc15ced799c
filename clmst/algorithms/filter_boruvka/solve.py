"""filter-boruvka: Borůvka's rounds, light edges first, in the shape of a GPU or of a CPU."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from clmst.algorithms.filter_boruvka.links import check_vertices
from clmst.algorithms.filter_boruvka.options import FilterBoruvkaOptions
from clmst.algorithms.shared.options import options_for
from clmst.algorithms.shared.solution import Solution, new_flags
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher


def solve(graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: Any = None) -> Solution:
    """Solve by filter-boruvka; see :class:`FilterBoruvkaOptions`.

    Notes
    -----
    O((n + m) log n) work in O(log n) rounds. In the shape of a GPU, what a solve needs beside the
    graph is kept with it for the next: at most 24 bytes an edge and 35 a vertex for 32-bit weights
    (``stats`` has the sum), unless a worklist turns out too small, which is then made as large as
    the graph.
    """
    options = options_for("filter-boruvka", FilterBoruvkaOptions, options)
    check_vertices(graph.n_vertices)
    shape = options.shape_under(graph.device.policy)
    if graph.n_slots == 0:
        stats = {"shape": shape, "rounds": 0, "worklist_sizes": [], "device_bytes": 0}
        return Solution(graph=graph, in_forest=new_flags(0, graph.device), stats=stats)
    solution: Solution = _module(shape).solve(graph, launch, maximum=maximum, options=options)
    return solution


@cache
def _module(shape: str) -> Any:
    """Return the module of a shape; only the one that is needed is loaded."""
    return import_module(f"clmst.algorithms.filter_boruvka.{shape}")
