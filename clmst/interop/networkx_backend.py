"""The functions that NetworkX calls if a caller chooses ``backend="clmst"``.

NetworkX finds this module through the entry point ``networkx.backends``. For a call, NetworkX first
asks `can_run` and `should_run`, then converts the graph with `convert_from_nx`, and then calls the
function of the same name in this module. docs/networkx.md is the page for users.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from clmst import peeling, route
from clmst.core.arguments import shown
from clmst.core.errors import ClmstError, InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.networkx_graphs import list_slots, stores_its_edges
from clmst.interop.networkx_graph import (
    ConvertedGraph,
    GraphReading,
    WeightedEdges,
    convert_from_nx,
    convert_to_nx,
    is_nan,
)
from clmst.runtime.discovery import default_device, get_device

__all__ = [
    "can_run",
    "convert_from_nx",
    "convert_to_nx",
    "core_number",
    "maximum_spanning_edges",
    "maximum_spanning_tree",
    "minimum_spanning_edges",
    "minimum_spanning_tree",
    "should_run",
]

_ALGORITHMS = ("kruskal", "prim", "boruvka", "borůvka")
# For some functions of NetworkX, the positions of the arguments `algorithm` and `weight`.
_POSITIONS = {
    "minimum_spanning_tree": (2, 1),
    "maximum_spanning_tree": (2, 1),
    "minimum_spanning_edges": (1, 2),
    "maximum_spanning_edges": (1, 2),
}


# For mypy the class of NetworkX is Any, because NetworkX is not typed.
class UnsupportedGraphError(InvalidGraphError, nx.NetworkXNotImplemented):  # type: ignore[misc]
    """The graph is of a kind that neither clmst nor NetworkX supports.

    The error is an :class:`InvalidGraphError` and also NetworkX's NetworkXNotImplemented.
    """


class WeightTypeError(InvalidGraphError, TypeError):
    """A weight is not a number. The error is also a TypeError, because NetworkX raises one."""


# ------------------------------------------------------------------- what may run


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if clmst and NetworkX give the same result, otherwise the reason as a text.

    `name` is the function of NetworkX, and `args` and `kwargs` are the arguments of its call.
    """
    G = _graph(args, kwargs)
    if not stores_its_edges(G):
        return f"the class {type(G).__name__} has its own way to list neighbours"
    if name not in _POSITIONS:
        return True
    algorithm = _argument("algorithm", _POSITIONS[name][0], args, kwargs, "kruskal")
    if algorithm in ("prim", "boruvka", "borůvka"):
        if name.endswith("_edges"):
            return f"edges come in the order of Kruskal's algorithm, not of {algorithm!r}"
        if G.is_multigraph() and algorithm != "prim":
            return f"{algorithm!r} does not take multigraphs"
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if clmst is likely to be faster than NetworkX, otherwise the reason as a text.

    `name` is the function of NetworkX, and `args` and `kwargs` are the arguments of its call. The
    reason may also be that clmst cannot compute the result, for example without a device.
    """
    G = _graph(args, kwargs)
    if not route.pays_for_networkx(len(G)):
        edges = sum(len(row) for _, row in G.adjacency()) // (1 if G.is_directed() else 2)
        if not route.pays_for_networkx(edges):
            return f"the graph has {edges} edges; from {route.LIMITS.networkx} on it pays"
    if name in _POSITIONS:
        weight = _argument("weight", _POSITIONS[name][1], args, kwargs, "weight")
        value = next(iter(G.edges(data=weight, default=1)), (0, 0, 1))[-1]
        if not isinstance(value, int | float | np.bool_ | np.number):
            return f"weights of class {type(value).__name__} are compared one by one in Python"
    device = _device(kwargs.get("device"))
    try:
        if name in _POSITIONS and device is None:
            default_device()  # without a device the host computes trees
        else:
            get_device(device)
    except ClmstError as error:
        return str(error)
    return True


def _graph(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the NetworkX graph in the arguments of a call.

    If the argument is a ConvertedGraph, the graph from which it was made is returned.
    """
    G = _argument("G", 0, args, kwargs, None)
    return G.graph if isinstance(G, ConvertedGraph) else G


def _argument(
    name: str, position: int, args: tuple[Any, ...], kwargs: dict[str, Any], default: Any
) -> Any:
    """Return the argument `name` of a call, or `default` if the call does not have it.

    The argument may be given by its position or by its name.
    """
    return args[position] if position < len(args) else kwargs.get(name, default)


def _device(device: Any) -> Any:
    """Return the device for a call, given the call's argument `device`.

    If the argument is None, the device in NetworkX's settings is returned, or None if they do not
    name one.
    """
    if device is not None or not hasattr(nx, "config"):  # NetworkX 3.2 does not have settings
        return device
    settings = nx.config.backends
    return settings.clmst.device if "clmst" in settings else None  # exists if clmst is installed


# ----------------------------------------------------------------- spanning trees


def _tree(name: str, *, maximum: bool) -> Callable[..., Any]:
    """Create clmst's version of NetworkX's function `name`, which returns a spanning tree.

    The tree is a NetworkX graph. If `maximum` is true, it is a maximum spanning tree.
    """

    def tree(
        G: Any,
        weight: Any = "weight",
        algorithm: str = "kruskal",
        ignore_nan: bool = False,
        *,
        device: Any = None,
    ) -> Any:
        _check_algorithm(algorithm)
        if G.is_directed():
            raise UnsupportedGraphError(
                "not implemented for directed type; a spanning tree needs an undirected graph "
                "(G.to_undirected() makes one)"
            )
        graph = convert_from_nx(G).read()
        weighted = graph.weighted(weight)
        if algorithm != "kruskal" and not _is_unique(weighted):
            raise NotImplementedError(
                f"weights are equal, not finite or not numbers, and algorithm={algorithm!r} breaks "
                "ties in its own way; clmst breaks them as 'kruskal' does"
            )
        return graph.with_edges(_positions(graph, weighted, ignore_nan, device, maximum))

    return _called(tree, name, f"Return what ``networkx.{name}`` returns, solved on a device.")


def _edges(name: str, *, maximum: bool) -> Callable[..., Iterator[tuple[Any, ...]]]:
    """Create clmst's version of NetworkX's function `name`, which yields the edges of a tree.

    The tree is a minimum spanning tree, or a maximum one if `maximum` is true. The function
    computes the whole tree when it is called. Only the error for a weight that is NaN is raised
    later, when the first edge is requested, as in NetworkX.
    """

    def edges(  # noqa: PLR0917 - NetworkX's signature
        G: Any,
        algorithm: str = "kruskal",
        weight: Any = "weight",
        keys: bool = True,
        data: bool = True,
        ignore_nan: bool = False,
        *,
        device: Any = None,
    ) -> Iterator[tuple[Any, ...]]:
        _check_algorithm(algorithm)
        graph = convert_from_nx(G).read()
        try:
            positions = _positions(graph, graph.weighted(weight), ignore_nan, device, maximum)
        except InvalidGraphError as error:
            return _raising(error)
        found: Iterator[tuple[Any, ...]] = graph.tuples(positions, keys=keys, data=data)
        return found

    return _called(edges, name, f"Return the edges that ``networkx.{name}`` yields, in its order.")


def _called(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    """Give a function a public name and a docstring, and return the function."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


minimum_spanning_tree = _tree("minimum_spanning_tree", maximum=False)
maximum_spanning_tree = _tree("maximum_spanning_tree", maximum=True)
minimum_spanning_edges = _edges("minimum_spanning_edges", maximum=False)
maximum_spanning_edges = _edges("maximum_spanning_edges", maximum=True)


def _raising(error: Exception) -> Iterator[tuple[Any, ...]]:
    """Return an iterator that raises an error when the first item is requested."""
    raise error
    yield


def _check_algorithm(algorithm: str) -> None:
    """Raise InvalidArgumentError unless NetworkX knows an algorithm of this name."""
    if algorithm not in _ALGORITHMS:
        raise InvalidArgumentError(
            f"{algorithm} is not a valid choice for an algorithm; it must be one of "
            f"{', '.join(_ALGORITHMS)}"
        )


def _is_unique(weighted: WeightedEdges) -> bool:
    """Return whether all of NetworkX's algorithms would find the same forest of weighted edges.

    They would if all weights are different finite numbers.
    """
    array = weighted.array
    return array is not None and bool(np.isfinite(array).all()) and weighted.all_differ


def _positions(
    graph: GraphReading, weighted: WeightedEdges, ignore_nan: bool, device: Any, maximum: bool
) -> Any:
    """Compute the spanning forest of a graph, and return the positions of its edges in `graph`.

    `weighted` has the weights. If `maximum` is true, it is the maximum forest. If `ignore_nan` is
    true, edges whose weight is NaN are left out. Otherwise, InvalidGraphError is raised if a weight
    is NaN, and names the first edge with a NaN. WeightTypeError is raised if a weight is not a
    number.
    """
    if weighted.array is None:
        _check_numbers(graph, weighted)
    if weighted.nans.size and not ignore_nan:
        edge = next(graph.tuples(weighted.nans[:1], keys=True, data=True))
        raise InvalidGraphError(
            f"the weight of edge {edge} is NaN; weights must be numbers, or ignore_nan=True "
            "leaves such edges out"
        )
    return weighted.forest(maximum=maximum, device=_device(device))


def _check_numbers(graph: GraphReading, weighted: WeightedEdges) -> None:
    """Raise WeightTypeError if a weight is not a number. The message names the edge."""
    for position, value in enumerate(weighted.values):
        try:
            is_nan(value)
        except TypeError:
            edge = next(graph.tuples(np.array([position]), keys=True, data=True))
            raise WeightTypeError(
                f"the weight of edge {edge} is {shown(value)}; weights must be numbers"
            ) from None


# ------------------------------------------------------------------- core numbers


def core_number(G: Any, *, device: Any = None) -> dict[Any, int]:
    """Return the core number of each node, like ``networkx.core_number``, computed on a device.

    Parameters
    ----------
    G : networkx.Graph or networkx.DiGraph
        The graph. An arc of a directed graph counts at both of its ends.
    device : None, str or clmst.Device, optional
        The device that computes; by default the one in NetworkX's settings, or the best one.

    Returns
    -------
    dict
        The core number by node.

    Raises
    ------
    UnsupportedGraphError
        The graph has self-loops.
    ClmstError
        Any error that :func:`clmst.core_numbers` raises.

    Examples
    --------
    >>> import networkx
    >>> networkx.core_number(networkx.cycle_graph(3), backend="clmst")
    {0: 2, 1: 2, 2: 2}
    """
    if G.is_directed():
        labels, u, v = list_slots(G)
    else:
        edges = convert_from_nx(G).read().edges
        labels, u, v = edges.labels, edges.u, edges.v
    if bool(np.any(u == v)):
        raise UnsupportedGraphError(
            "Input graph has self loops; core numbers are defined only without self loops "
            "(G.remove_edges_from(nx.selfloop_edges(G)) removes them)"
        )
    graph = Graph.from_edges(u, v, n_vertices=len(labels))
    numbers = peeling.core_numbers(graph, device=_device(device))
    return dict(zip(labels, numbers.tolist(), strict=True))
