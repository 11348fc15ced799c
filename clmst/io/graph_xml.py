"""GraphML and GEXF files, which NetworkX reads.

The arcs of a directed graph are edges, as in DIMACS files. Vertices have the names that the file
gives them. The names become integers if all of them look like integers. The weight of an edge is
its attribute "weight", or the attribute that the caller names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from clmst.core.arguments import shown
from clmst.core.columns import SOURCE, TARGET, WEIGHT
from clmst.core.errors import FileFormatError, optional_import
from clmst.core.graph import Graph
from clmst.core.vertex_names import NumberedEdges
from clmst.core.weight_keys import as_weights
from clmst.io.files import SourceFile, unreadable

_INTEGER = re.compile(r"0|-?[1-9]\d{0,17}")
_OWN = ("id", "key")  # attributes by which GEXF and GraphML number edges


def read_graphml(source: SourceFile, columns: Sequence[Any] | None = None) -> Graph:
    """Read a graph from the GraphML file `source`.

    `columns` is ("source", "target", attribute), which names the attribute with the weights, or
    ("source", "target"), which gives every edge the weight 1. None means the attribute "weight", or
    the weight 1 if the edges do not have numeric attributes.
    """
    return _read("read_graphml", "GraphML", source, columns)


def read_gexf(source: SourceFile, columns: Sequence[Any] | None = None) -> Graph:
    """Read a graph from the GEXF file `source`. `columns` are as in :func:`read_graphml`."""
    return _read("read_gexf", "GEXF", source, columns)


def _read(name: str, form: str, source: SourceFile, columns: Sequence[Any] | None) -> Graph:
    networkx = optional_import("networkx", extra="networkx")
    read: Callable[[Any], Any] = getattr(networkx, name)
    with unreadable(f"NetworkX reads no {form} ({{}}); the file must be such"):
        G = read(source.stream)
    weight = _weight_of(G, columns)
    nodes = list(G)
    number = {node: k for k, node in enumerate(nodes)}
    edges = [(number[a], number[b], w) for a, b, w in G.edges(data=weight, default=1)]
    u, v = np.array([edge[:2] for edge in edges], np.uint32).reshape(-1, 2).T
    weights = [_weight(edge, nodes, weight) for edge in edges]
    labels = _labels(nodes)
    return NumberedEdges(
        u=u, v=v, n_vertices=len(nodes), labels=labels,
        weights=as_weights(weights) if weights and weight is not None else None,
    ).merged(Graph)  # fmt: skip


def _weight_of(G: Any, columns: Sequence[Any] | None) -> str | None:
    """Return the attribute of `G` that holds the weights, or None if every weight is 1.

    `G` is a NetworkX graph. `columns` are as in :func:`read_graphml`: the caller's names, the third
    of which, if given, is the attribute. If `columns` is None, the attribute is "weight", and every
    weight is 1 if no edge has a numeric attribute. Raises :class:`FileFormatError` if no edge has
    the attribute.
    """
    if columns is not None and tuple(columns[:2]) != (SOURCE, TARGET):
        raise FileFormatError(
            f"the ends of an edge are called {shown(columns[0])} and {shown(columns[1])}; they are "
            f"{SOURCE} and {TARGET} in this format"
        )
    attributes: dict[str, Any] = {}
    for _, _, data in G.edges(data=True):
        attributes |= data
    numbers = [
        one for one in attributes if one not in _OWN and _number(attributes[one]) is not None
    ]
    wanted = (columns[2] if len(columns) > 2 else None) if columns is not None else WEIGHT
    if wanted is None or wanted in attributes:
        return wanted
    if columns is None and not numbers:
        return None
    listed = ", ".join(map(shown, attributes)) or "none"
    raise FileFormatError(
        f"no edge has the attribute {shown(wanted)}, and the attributes are {listed}; columns "
        f"(--columns) names it, as {SOURCE},{TARGET},{numbers[0] if numbers else WEIGHT}, and two "
        "names give every edge the weight 1"
    )


def _number(value: Any) -> int | float | None:
    """Convert the value of an attribute to a number, also from text, or return None.

    Some programs write numbers as text. NaN and booleans do not count as numbers.
    """
    if isinstance(value, int | float):
        return None if isinstance(value, bool) or value != value else value  # noqa: PLR0124 - NaN
    for kind in (int, float) if isinstance(value, str) else ():
        with suppress(ValueError):
            found: int | float = kind(value)
            return None if found != found else found  # noqa: PLR0124 - NaN
    return None


def _weight(edge: tuple[int, int, Any], nodes: list[Any], name: str | None) -> int | float:
    u, v, value = edge
    number = _number(value)
    if number is None:
        raise FileFormatError(
            f"attribute {name!r} of edge ({shown(nodes[u])}, {shown(nodes[v])}) is "
            f"{shown(value)}; weights must be real numbers"
        )
    return number


def _labels(nodes: list[Any]) -> Any:
    """Return the names of vertices as an array, or None if they are the numbers 0 to n - 1.

    The labels are integers if all names look like integers, else strings.
    """
    names: list[Any] = list(map(str, nodes))
    if all(map(_INTEGER.fullmatch, names)):
        names = list(map(int, names))
        if names == list(range(len(names))):
            return None
    labels = np.empty(len(names), object)
    labels[:] = names
    return labels
