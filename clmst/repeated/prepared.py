"""A graph prepared for solves with many weights: checks, its facts, the edge of each weight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from functools import cached_property
from typing import Any, get_args

from clmst.algorithms.csr_validation.check import put_matrix
from clmst.core import topology
from clmst.core.arguments import check_bool, check_choice, errors_as, has, shown
from clmst.core.coercion import as_listed
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.intake import check_same_device
from clmst.repeated.assignments import Strategy
from clmst.repeated.session import Session
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.device_parts import check_one_of, named_devices
from clmst.runtime.discovery import get_device


class Prepared:
    """The attributes of a :class:`clmst.RepeatedSolver`."""

    _graph: Graph | Points
    _session: Session

    @property
    def device(self) -> Device:
        """The device that keeps forests: of several, the one that runs the last pass."""
        return self._session.device

    @property
    def maximum(self) -> bool:
        """Whether forests are maximum spanning forests."""
        return self._session.maximum

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self._graph.n_vertices

    @property
    def n_edges(self) -> int:
        """Number of weights that a solve takes, m; of points, the number of pairs."""
        return self._graph.n_edges if isinstance(self._graph, Points) else self._graph.n_input

    @cached_property
    def edges(self) -> Array:
        """The edge that each weight belongs to, shape (m, 2), the lesser endpoint first.

        For a graph from lists of edges, or from NetworkX, in the order of those lists; a weight
        whose row is (-1, -1) belongs to none (a self-loop, or an edge that was merged into a
        parallel one) and is never looked at. For any other graph in canonical order: by lesser
        endpoint, then by greater one. O(m) the first time. A solver of points raises: it lists no
        edges.
        """
        return topology.endpoints(self._listed)

    @property
    def _listed(self) -> Graph:
        """The graph, or an error if it lists no edges."""
        if isinstance(self._graph, Points):
            raise InvalidArgumentError(
                "the solver is made of points, which list no edges; forest.edges has the ends of "
                "a forest's edges, and points.to_graph() lists all pairs"
            )
        return self._graph

    def __repr__(self) -> str:
        state = "closed" if self._session.is_closed else f"on {self.device.description}"
        return f"RepeatedSolver(n_vertices={self.n_vertices}, n_edges={self.n_edges}, {state})"

    def weights_of(self, matrix: Any, *, symmetrize: bool = False) -> Array:
        """Return the weights of a SciPy matrix in the order of :attr:`edges`.

        Parameters
        ----------
        matrix : scipy.sparse array or matrix, or Graph, shape (n, n)
            Its entries must be those of the matrix that the solver was made of, or their mirror
            images. Where both ``A[i, j]`` and ``A[j, i]`` are stored, the lesser is the weight.

        Returns
        -------
        ndarray, shape (m,)

        Raises
        ------
        InvalidGraphError
            It is malformed, or its pattern is another one.
        InvalidArgumentError
            The solver was made of a list of edges, whose order no matrix has; or of points.

        Notes
        -----
        O(n + n_slots).
        """
        edges = self._listed
        if edges.edge_ids is not None:
            raise InvalidArgumentError(
                "the solver was made of a list of edges, whose order a matrix does not have; "
                "give weights in the order of that list"
            )
        graph = graph_of(matrix, self.device, symmetrize=symmetrize)
        return topology.weights_in_order(graph, edges)


def devices_of(graph: Any, device: Any, devices: Any, strategy: Any) -> list[Device]:
    """Return the devices of a solver, or raise; by default that of the graph, if it is on one."""
    if strategy is not None:
        fact = f"no strategy is called {shown(strategy)}; there are"
        check_choice("strategy", strategy, get_args(Strategy), fact=fact)
    check_one_of(device, devices)
    several = isinstance(devices, Iterable) and not isinstance(devices, str)
    devices = devices if device is None else device
    resident = isinstance(graph, DeviceGraph | DeviceMatrix)
    if resident and not several:
        check_same_device(graph, devices)
        found = [graph.device]
    else:
        found = named_devices(devices) if several else [get_device(devices)]
    if resident and not any(one is graph.device for one in found):
        raise InvalidArgumentError(
            f"the graph is on {graph.device.description}, which is none of the devices; "
            "name that one as well, or give the graph itself"
        )
    if strategy is not None and len(found) == 1:
        raise InvalidArgumentError(
            f"strategy {strategy!r} is for several devices, and there is one, "
            f"{found[0].description}; leave the strategy out"
        )
    return found


def rounds_of(weights: Any, progress: Any) -> tuple[Iterator[Any], Callable[[int], None]]:
    """Return an iterator over the weights of rounds, and a function that calls `progress`."""
    with errors_as(
        lambda _: InvalidArgumentError(f"weights are {shown(weights)}; they must be iterable")
    ):
        given: Any = weights if isinstance(weights, Iterable | Sized) else None
        each: Iterator[Any] = iter(given)
        total = len(weights) if isinstance(weights, Sized) else None
    if progress is not None and not callable(progress):
        raise InvalidArgumentError(f"progress is {shown(progress)}; it must be callable")

    def on_progress(done: int) -> None:
        if progress is not None:
            progress(done, total)

    return each, on_progress


def graph_of(graph: Any, device: Device, *, symmetrize: bool) -> Graph:
    """Return a graph whose edges do not depend on its weights."""
    check_bool("symmetrize", symmetrize)
    if has(graph, "tocsr"):
        canonical = put_matrix(graph, device, arrange=False)
        return topology.graph_of_matrix(graph) if canonical is None else canonical.graph
    return as_listed(graph, symmetrize=symmetrize)
