"""The algorithms by name: host side of ``cl/algorithms``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from clmst.algorithms import boruvka, ecl, filter_boruvka
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
}


def choose(name: str) -> tuple[str, Algorithm]:
    """Return the algorithm that `name` means, "auto" included.

    Raises
    ------
    InvalidArgumentError
        Nothing has that name; lists the names there are.
    """
    chosen = "ecl" if name == "auto" else name
    if chosen not in ALGORITHMS:
        known = ", ".join(repr(known) for known in ("auto", *ALGORITHMS))
        raise InvalidArgumentError(f"no algorithm is called {name!r}; there are {known}")
    return chosen, ALGORITHMS[chosen]
