"""Checks of the graph and devices of a solver, and its edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any

from clmst.algorithms.csr_validation.check import put_matrix
from clmst.algorithms.ecl.options import EclOptions
from clmst.core import topology
from clmst.core.arguments import check_bool, check_choice, has, shown
from clmst.core.coercion import as_listed
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.intake import check_same_device
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.device_parts import check_distinct
from clmst.runtime.discovery import get_device

STRATEGIES = ("auto", "alone", "split", "cores")
_FOR_SEVERAL = ("split", "cores")


def devices_of(graph: Any, devices: Any, strategy: str) -> list[Device]:
    """Return the devices of a solver.

    Parameters
    ----------
    graph : object
        If it is on a device and `devices` is None, that device is used.
    devices : None, str, Device, pyopencl.CommandQueue, or sequence of such
    strategy : str

    Raises
    ------
    InvalidArgumentError
        No devices, one of them twice, not the device of the graph, an unknown strategy, or a
        strategy that needs several devices.
    """
    fact = f"no strategy is called {shown(strategy)}; there are"
    check_choice("strategy", strategy, STRATEGIES, fact=fact)
    several = isinstance(devices, Iterable) and not isinstance(devices, str)
    named = list(iterator_of(devices, "devices")[0]) if several else [devices]
    if not named:
        raise InvalidArgumentError("devices is empty; name one at least, or leave it out")
    resident = isinstance(graph, DeviceGraph | DeviceMatrix)
    if resident and not several:
        check_same_device(graph, devices)
        found = [graph.device]
    else:
        found = [get_device(one) for one in named]
    check_distinct(found)
    if resident and not any(one is graph.device for one in found):
        raise InvalidArgumentError(
            f"the graph is on {graph.device.description}, which is none of the devices; "
            "name that one as well, or give the graph itself"
        )
    if strategy in _FOR_SEVERAL and len(found) == 1:
        raise InvalidArgumentError(
            f"strategy {strategy!r} is for several devices, and there is one, "
            f"{found[0].description}; 'auto' and 'alone' are for one"
        )
    return found


def iterator_of(values: Any, name: str = "weights") -> tuple[Iterator[Any], int | None]:
    """Return an iterator, and its length if it is known."""
    try:
        given: Any = values if isinstance(values, Iterable | Sized) else None
        each = iter(given)
        return each, len(values) if isinstance(values, Sized) else None
    except Exception as error:
        raise InvalidArgumentError(f"{name} are {shown(values)}; they must be iterable") from error


def rounds_of(weights: Any, progress: Any) -> tuple[Iterator[Any], Callable[[int], None]]:
    """Return an iterator over the weights of rounds, and a function that calls `progress`."""
    each, total = iterator_of(weights)
    if progress is not None and not callable(progress):
        raise InvalidArgumentError(f"progress is {shown(progress)}; it must be callable")

    def on_progress(done: int) -> None:
        if progress is not None:
            progress(done, total)

    return each, on_progress


def edges_of(graph: Any, device: Device, *, symmetrize: bool) -> Graph:
    """Return the graph's edges, each once."""
    return topology.edges_once(graph_of(graph, device, symmetrize=symmetrize))


def weights_of(matrix: Any, edges: Graph, device: Device, *, symmetrize: bool) -> Array:
    """Return the weights of a matrix in the order of a solver's edges, or raise.

    See :meth:`clmst.RepeatedSolver.weights_of`.
    """
    if edges.edge_ids is not None:
        raise InvalidArgumentError(
            "the solver was made of a list of edges, whose order a matrix does not have; "
            "give weights in the order of that list"
        )
    graph = graph_of(matrix, device, symmetrize=symmetrize)
    return topology.weights_in_order(graph, edges)


def check_options(options: object) -> None:
    """Raise if options are for edges that are stored in both directions."""
    if isinstance(options, EclOptions) and not options.single_direction:
        raise InvalidArgumentError(
            "EclOptions(single_direction=False) is for both directions of edges; a "
            "RepeatedSolver stores each edge once"
        )


def graph_of(graph: Any, device: Device, *, symmetrize: bool) -> Graph:
    """Return a graph whose edges do not depend on its weights."""
    check_bool("symmetrize", symmetrize)
    if has(graph, "tocsr"):
        canonical = put_matrix(graph, device, arrange=False)
        return topology.graph_of_matrix(graph) if canonical is None else canonical.graph
    return as_listed(graph, symmetrize=symmetrize)
