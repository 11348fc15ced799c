"""The algorithms by name: host side of ``cl/algorithms``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from clmst.algorithms import earned
from clmst.algorithms.auto import in_order, quickest
from clmst.algorithms.boruvka.options import BoruvkaOptions
from clmst.algorithms.boruvka.solve import solve as solve_boruvka
from clmst.algorithms.dense.options import DenseOptions
from clmst.algorithms.dense.solve import most_vertices as most_of_dense
from clmst.algorithms.dense.solve import solve as solve_dense
from clmst.algorithms.ecl.options import EclOptions
from clmst.algorithms.ecl.solve import solve as solve_ecl
from clmst.algorithms.edge_parallel.options import EdgeParallelOptions
from clmst.algorithms.edge_parallel.solve import solve as solve_edge_parallel
from clmst.algorithms.filter_boruvka.options import FilterBoruvkaOptions
from clmst.algorithms.filter_boruvka.solve import solve as solve_filter_boruvka
from clmst.algorithms.lone_boruvka.options import LoneBoruvkaOptions
from clmst.algorithms.lone_boruvka.solve import solve as solve_lone_boruvka
from clmst.algorithms.pma.options import PmaOptions
from clmst.algorithms.pma.solve import solve as solve_pma
from clmst.algorithms.prim.options import PrimOptions
from clmst.algorithms.prim.solve import solve as solve_prim
from clmst.algorithms.prim_boruvka.options import PrimBoruvkaOptions
from clmst.algorithms.prim_boruvka.solve import solve as solve_prim_boruvka
from clmst.algorithms.shared import links
from clmst.algorithms.shared.solution import Solution
from clmst.core.arguments import check_choice, shown
from clmst.core.graph_checks import MAX_VERTICES
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher


class Algorithm(Protocol):
    """What every algorithm is: the same contract, the same edge set."""

    def __call__(
        self, graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: Any
    ) -> Solution:
        """Enqueue the solve; the flags of the solution are complete when its queue has finished."""


ALGORITHMS: Mapping[str, Algorithm] = {
    "boruvka": solve_boruvka,
    "dense": solve_dense,
    "ecl": solve_ecl,
    "edge-parallel": solve_edge_parallel,
    "filter-boruvka": solve_filter_boruvka,
    "lone-boruvka": solve_lone_boruvka,
    "pma": solve_pma,
    "prim": solve_prim,
    "prim-boruvka": solve_prim_boruvka,
}

_BY_OPTIONS = {
    BoruvkaOptions: "boruvka",
    DenseOptions: "dense",
    EclOptions: "ecl",
    EdgeParallelOptions: "edge-parallel",
    FilterBoruvkaOptions: "filter-boruvka",
    LoneBoruvkaOptions: "lone-boruvka",
    PmaOptions: "pma",
    PrimBoruvkaOptions: "prim-boruvka",
    PrimOptions: "prim",
}


def check_name(name: str) -> None:
    """Raise :class:`InvalidArgumentError` unless an algorithm has that name; "auto" is one."""
    fact = f"no algorithm is called {shown(name)}; there are"
    check_choice("algorithm", name, ("auto", *ALGORITHMS), fact=fact)


def choose(
    name: str,
    device: Device,
    graph: DeviceGraph | None = None,
    *,
    options: Any = None,
    maximum: bool = False,
) -> tuple[str, Algorithm]:
    """Return the algorithm that `name` means, by its own name, and what solves by it.

    An algorithm that is to solve a graph has earned the device, or is tested now.

    Parameters
    ----------
    name : str
        A name in `ALGORITHMS`, or "auto": the one whose options are given, else the quickest that
        the device is trusted with (:mod:`clmst.algorithms.auto`).
    device : Device
    graph : DeviceGraph, optional
        What is to be solved; a large sparse graph when left out, of which only the name is wanted.
    options : object, optional
        The options of an algorithm.
    maximum : bool
        Whether a maximum spanning forest is wanted.

    Raises
    ------
    InvalidArgumentError
        Nothing has that name; lists the names there are.
    UnsupportedDeviceError
        The device is not trusted with the algorithm, or with none that "auto" could be.
    """
    check_name(name)
    if name == "auto" and type(options) in _BY_OPTIONS:
        name = _BY_OPTIONS[type(options)]
    if name == "auto":
        name = quickest(device, graph)
        if graph is not None and not device.trust.given:
            name = earned.first_trusted(graph, in_order(device, graph), maximum=maximum)
    elif graph is not None and (options is None or type(options) in _BY_OPTIONS):
        earned.require(name, graph, maximum=maximum, options=options)
    return name, ALGORITHMS[name]


def most_vertices(name: str, device: Device) -> int:
    """Return how many vertices an algorithm takes on a device, if 32 bits hold a weight's key.

    A graph of more is refused with an error, before anything is solved.
    """
    if name == "dense":
        return most_of_dense(device)
    return links.MAX_VERTICES if name in links.LIMITED else MAX_VERTICES
