"""Named, seeded graph families: the same graph for the same parameters, everywhere.

Each family is a pure function of its keyword parameters. Nothing depends on the platform, the
version of NumPy, or any global state; every number is a hash of the seed and a counter. Graphs
are simple, their edge ids count the edges in canonical order.

``weights`` chooses among

* ``int``: 1 + hash(u, v) mod n, the same from both ends, int32;
* ``float``: uniform in [0, 1), float64;
* ``equal``: 1, int32: every forest is minimal, only the order of edge ids decides;
* ``rising``: 1, 2, 3, ... in canonical order, int64;
* ``ruler``: 1 + trailing zero bits of that number, int32: the worst case of Borůvka on a path.

Surrogates of the graphs that papers measure are in :mod:`clmst.generators.surrogates`.

>>> from clmst import generators
>>> generators.generate("grid", rows=2, columns=3, weights="equal")
Graph(n_vertices=6, n_edges=7, weights=int32)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from clmst.core.arguments import shown
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.generators.classic import (
    caveman,
    circulant,
    cliques,
    complete,
    delaunay,
    grid,
    path,
    star,
)
from clmst.generators.edges import WeightChoice
from clmst.generators.family import Family, Parameter
from clmst.generators.random_graphs import clustered, kronecker, preferential, random, rmat
from clmst.generators.road_map import road

__all__ = [
    "FAMILIES",
    "Family",
    "Parameter",
    "WeightChoice",
    "caveman",
    "circulant",
    "cliques",
    "clustered",
    "complete",
    "delaunay",
    "generate",
    "grid",
    "kronecker",
    "path",
    "preferential",
    "random",
    "rmat",
    "road",
    "star",
]

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        function.__name__: Family.of(function)
        for function in (
            grid,
            road,
            random,
            rmat,
            kronecker,
            clustered,
            delaunay,
            preferential,
            cliques,
            path,
            star,
            complete,
            circulant,
            caveman,
        )
    }
)
"""Every family by name."""


def generate(kind: str, **parameters: Any) -> Graph:
    """Generate a graph of a named family.

    Parameters
    ----------
    kind : str
        A key of :data:`FAMILIES`.
    **parameters
        What the family takes; see ``FAMILIES[kind].parameters`` or the function of that name.

    Raises
    ------
    InvalidArgumentError
        The family is unknown, or a parameter is unknown, missing or illegal.
    """
    if not isinstance(kind, str) or str.__str__(kind) not in FAMILIES:
        raise InvalidArgumentError(
            f"there is no graph family {shown(kind)}; it must be one of {', '.join(FAMILIES)}"
        )
    return FAMILIES[kind](**parameters)
