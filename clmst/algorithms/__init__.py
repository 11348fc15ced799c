"""The algorithms by name: host side of ``cl/algorithms``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from clmst.algorithms import boruvka, ecl, filter_boruvka, lone_boruvka
from clmst.algorithms.boruvka_options import BoruvkaOptions
from clmst.algorithms.ecl_options import EclOptions
from clmst.algorithms.filter_boruvka_options import FilterBoruvkaOptions
from clmst.algorithms.lone_boruvka_options import LoneBoruvkaOptions
from clmst.algorithms.solution import Solution
from clmst.core.errors import InvalidArgumentError
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.launcher import Launcher


class Algorithm(Protocol):
    """What every algorithm is: the same contract, the same edge set."""

    def __call__(
        self, graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: Any
    ) -> Solution:
        """Enqueue the solve; the flags of the solution are complete when its queue has finished."""


ALGORITHMS: Mapping[str, Algorithm] = {
    "boruvka": boruvka.solve,
    "ecl": ecl.solve,
    "filter-boruvka": filter_boruvka.solve,
    "lone-boruvka": lone_boruvka.solve,
}

_BY_OPTIONS = {
    BoruvkaOptions: "boruvka",
    EclOptions: "ecl",
    FilterBoruvkaOptions: "filter-boruvka",
    LoneBoruvkaOptions: "lone-boruvka",
}


def choose(
    name: str, *, options: Any = None, n_vertices: int = 0, lone: bool = False
) -> tuple[str, Algorithm]:
    """Return the algorithm that `name` means.

    "auto" is the one whose options are given, else what was the quickest on every graph measured
    (docs/performance.md): lone-boruvka where work-groups are of one work-item, as on CPUs,
    filter-boruvka elsewhere; ecl where there are more vertices than those take.

    Parameters
    ----------
    name : str
        "auto" or a name in `ALGORITHMS`.
    options : object, optional
        The options of an algorithm.
    n_vertices : int
        Vertices of the graph.
    lone : bool
        Whether the device's work-groups are of one work-item.

    Raises
    ------
    InvalidArgumentError
        Nothing has that name; lists the names there are.
    """
    chosen = name
    if name == "auto":
        small = n_vertices <= filter_boruvka.MAX_VERTICES
        quickest = "lone-boruvka" if lone else "filter-boruvka"
        chosen = _BY_OPTIONS.get(type(options), quickest if small else "ecl")
    if chosen not in ALGORITHMS:
        known = ", ".join(repr(known) for known in ("auto", *ALGORITHMS))
        raise InvalidArgumentError(f"no algorithm is called {name!r}; there are {known}")
    return chosen, ALGORITHMS[chosen]
