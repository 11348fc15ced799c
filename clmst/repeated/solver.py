"""Repeated solves of one graph with other weights each time."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from functools import cached_property
from typing import Any, Literal, get_args, overload

from clmst.algorithms import solving
from clmst.algorithms.csr_validation.check import put_matrix
from clmst.algorithms.ecl import check_for_edges_once
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core import topology
from clmst.core.arguments import check_bool, check_bools, check_choice, errors_as, has, shown
from clmst.core.coercion import as_listed
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.long_work import lasting
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.intake import check_same_device
from clmst.repeated.assignments import Strategy, plan
from clmst.repeated.points import PointsOnDevice, points_of
from clmst.repeated.rounds import RoundOptions, Rounds, SingleDevice
from clmst.repeated.several_devices import SeveralDevices
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.device_parts import check_one_of, named_devices
from clmst.runtime.discovery import get_device


class RepeatedSolver:
    """Minimum spanning forests of one graph whose weights change.

    All that depends only on the edges is prepared once: the device stores each edge once, and has
    the memory and kernels that solves need. A solve then takes one weight an edge.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy.sparse array or matrix, networkx.Graph, or any other one
        As of :func:`clmst.minimum_spanning_forest`. Its weights are not used. :attr:`edges` has the
        edge of each weight. Edges of a matrix without gaps are listed: weight k is entry k of
        SciPy's condensed form, as ``scipy.spatial.distance.pdist`` gives it. Of :class:`Points` no
        edge is listed: a solve takes other coordinates of as many points, by the same metric, and
        begins anew.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`. A :class:`DeviceGraph` brings its own.
    devices : sequence of devices
        Instead of `device`: several, or one. That of a :class:`DeviceGraph` must be among them.
    strategy : {"split", "cores"}, optional
        How several devices share the work; "split" by default. "split": each device solves a range
        of the edges, in proportion to the speed that was measured on devices of its kind; the
        quickest one then solves the union of the forests. "cores": the quickest device solves the
        dense parts by the algorithm "dense", and the union; the next one solves all other edges.
        Without a dense part the quickest device solves alone. The forest is the same.
    maximum : bool
        Whether to compute maximum spanning forests.
    algorithm : str
        As of :func:`clmst.minimum_spanning_forest`.
    options : object, optional
        As of :func:`clmst.minimum_spanning_forest`.
    warm_start : bool
        Whether a solve may reuse results of earlier ones, if weights have hardly changed. Forests
        are the same either way. Several devices always begin anew.
    symmetrize : bool
        As of :func:`clmst.minimum_spanning_forest`.

    Raises
    ------
    InvalidGraphError
        The graph is malformed.
    InvalidArgumentError
        `algorithm`, `device`, `devices` or `strategy` is an unknown name; no device, or one of them
        twice; one device, but a strategy for several; options of an algorithm that needs edges
        stored twice.
    UnsupportedDeviceError
        There is no usable device.
    OutOfDeviceMemoryError
        The device cannot hold the graph.

    Notes
    -----
    O(n + n_slots) to prepare. On the device 8 bytes an edge and 4 a vertex, 4 more an edge if the
    order of weights is not the canonical one, two buffers of weights, and what the algorithm keeps
    (``filter-boruvka`` in the shape of a CPU 8 bytes an edge and 4 a vertex of sparse graphs).

    Several devices: each needs its part of that. The device of the last pass needs 4 more bytes an
    edge of the whole graph, 8 a vertex, and some 24 an edge of the parts' forests. If a device
    fails in a round, the round raises an error that names it.

    Several threads may use a solver; their solves run one at a time. After any error but a failure
    of the device itself, the solver can be used as before.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [2, 3, 4])
    >>> with clmst.RepeatedSolver(graph) as solver:
    ...     [forest.total_weight for forest in solver.solve_many([[2, 3, 4], [9, 3, 4]])]
    [5, 7]
    """

    _graph: Graph | Points
    _rounds: Rounds

    @lasting("preparing a graph for repeated solves")
    def __init__(
        self,
        graph: Any,
        *,
        device: Any = None,
        devices: Any = None,
        strategy: Strategy | None = None,
        maximum: bool = False,
        algorithm: str = "auto",
        options: object = None,
        warm_start: bool = True,
        symmetrize: bool = False,
    ) -> None:
        began = time.perf_counter()
        solving.check_named(algorithm, options)  # before anything is uploaded
        check_for_edges_once(options, "a RepeatedSolver stores each edge once")
        check_bools(maximum=maximum, warm_start=warm_start)
        found, points = _devices_of(graph, device, devices, strategy), points_of(graph)
        of_solves: dict[str, Any] = {"algorithm": algorithm, "options": options}
        if points is not None:
            check_bools(symmetrize=symmetrize)
            self._graph = points
            self._rounds = PointsOnDevice(points, found, maximum=maximum, **of_solves)
        else:
            of_solves["warm_start"] = warm_start
            listed = _graph_of(graph, found[0], symmetrize=symmetrize)
            edges = self._graph = topology.edges_once(listed)
            several: SeveralDevices | None = None
            if len(found) > 1:
                parts = plan(
                    strategy or "split", edges, found, algorithm=algorithm, options=options
                )
                found = [one.device for one in parts.assignments]
                if len(found) > 1:
                    several = SeveralDevices(parts, maximum=maximum)
            self._rounds = several or SingleDevice(edges, found[0], maximum=maximum, **of_solves)
        self._rounds.prepare_ms = 1e3 * (time.perf_counter() - began)

    @property
    def device(self) -> Device:
        """The device that keeps forests: of several, the one that runs the last pass."""
        return self._rounds.device

    @property
    def maximum(self) -> bool:
        """Whether forests are maximum spanning forests."""
        return self._rounds.maximum

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
        state = "closed" if self._rounds.is_closed else f"on {self.device.description}"
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
        graph = _graph_of(matrix, self.device, symmetrize=symmetrize)
        return topology.weights_in_order(graph, edges)

    # ----------------------------------------------------------------------- solving

    @overload
    def solve(
        self,
        weights: Any,
        *,
        keep_on_device: Literal[False] = ...,
        profile: bool = ...,
        verify: bool = ...,
    ) -> Forest: ...
    @overload
    def solve(
        self,
        weights: Any,
        *,
        keep_on_device: Literal[True],
        profile: bool = ...,
        verify: bool = ...,
    ) -> DeviceForest: ...
    def solve(
        self,
        weights: Any,
        *,
        keep_on_device: bool = False,
        profile: bool = False,
        verify: bool = False,
    ) -> Forest | DeviceForest:
        """Compute the forest with other weights.

        Parameters
        ----------
        weights : array, DeviceArray or pyopencl.array.Array, shape (m,)
            One weight for each edge, in the order of :attr:`edges`, of any supported dtype; it may
            differ from the last round's. An array on the device's context is not copied. Do not
            change it during the solve, nor before an :meth:`update` of it.

            A solver of points takes coordinates on the host, shape (n, d), or :class:`Points`; if
            the points have core distances, only the latter.
        keep_on_device : bool
            Return a :class:`DeviceForest`.
        profile : bool
            As of :func:`clmst.minimum_spanning_forest`; and ``stats["times"]`` has the milliseconds
            of preparation, upload and solve, by the host's clock.
        verify : bool
            As of :func:`clmst.minimum_spanning_forest`, with the weights that the device has.

        Returns
        -------
        Forest or DeviceForest
            As of :func:`clmst.minimum_spanning_forest`; ``edge_ids`` index :attr:`edges`.

        Raises
        ------
        InvalidArgumentError
            Not one weight for each edge; not as many points in as many dimensions; an array of
            another context; the solver is closed.
        InvalidGraphError
            A dtype that is not supported; a weight or a coordinate that is NaN (the message names
            the first one).
        OutOfDeviceMemoryError
            The device cannot hold what the algorithm needs.

        Notes
        -----
        O(m) in addition to the algorithm. 64-bit weights of the host are narrowed to 32 bits where
        that is exact; those on the device are not.
        """
        options = RoundOptions(keep_on_device=keep_on_device, profile=profile, verify=verify)
        return self._rounds.solve(weights, options=options)

    @overload
    def update(
        self,
        edge_ids: Any,
        weights: Any,
        *,
        keep_on_device: Literal[False] = ...,
        profile: bool = ...,
        verify: bool = ...,
    ) -> Forest: ...
    @overload
    def update(
        self,
        edge_ids: Any,
        weights: Any,
        *,
        keep_on_device: Literal[True],
        profile: bool = ...,
        verify: bool = ...,
    ) -> DeviceForest: ...
    def update(
        self,
        edge_ids: Any,
        weights: Any,
        *,
        keep_on_device: bool = False,
        profile: bool = False,
        verify: bool = False,
    ) -> Forest | DeviceForest:
        """Change the weights of some edges, and compute the forest.

        Parameters
        ----------
        edge_ids : array of int, DeviceArray or pyopencl.array.Array of (u)int32, shape (k,)
            Rows of :attr:`edges`. If an edge occurs several times, its last weight counts.
        weights : array, DeviceArray or pyopencl.array.Array, shape (k,)
            Their new weights. On the host of any dtype, if the dtype of the present weights holds
            them exactly; on the device of that dtype.
        keep_on_device, profile, verify
            As of :meth:`solve`.

        Returns
        -------
        Forest or DeviceForest

        Raises
        ------
        InvalidArgumentError
            There are no present weights; the solver was made of points; an edge id out of range
            (the message names the first one); not one weight for each edge; a weight that the
            present dtype does not hold; the solver is closed. No weight changes then.
        InvalidGraphError
            A weight is NaN. No weight changes then.
        OutOfDeviceMemoryError
            The device cannot hold what the change or the algorithm needs.

        Notes
        -----
        Uploads the changes, O(k). Copies the caller's weights at the first update. Weights that
        were narrowed to 32 bits become 64 bits wide, O(m), when a new one does not fit 32 bits.
        """
        options = RoundOptions(keep_on_device=keep_on_device, profile=profile, verify=verify)
        return self._rounds.update(edge_ids, weights, options=options)

    @overload
    def solve_many(
        self,
        weights: Iterable[Any],
        *,
        keep_on_device: Literal[False] = ...,
        progress: Callable[[int, int | None], object] | None = ...,
        verify: bool = ...,
    ) -> Generator[Forest, None, None]: ...
    @overload
    def solve_many(
        self,
        weights: Iterable[Any],
        *,
        keep_on_device: Literal[True],
        progress: Callable[[int, int | None], object] | None = ...,
        verify: bool = ...,
    ) -> Generator[DeviceForest, None, None]: ...
    def solve_many(
        self,
        weights: Iterable[Any],
        *,
        keep_on_device: bool = False,
        progress: Callable[[int, int | None], object] | None = None,
        verify: bool = False,
    ) -> Generator[Any, None, None]:
        """Compute the forests of several weights in order.

        The next host array is taken and uploaded while a solve runs in a thread of its own: the
        iterable is one round ahead of the forests. Weights on the device need no upload; the next
        ones are taken after the solve.

        Parameters
        ----------
        weights : iterable of arrays
            Each as of :meth:`solve`. Host arrays are copied, so the iterable may reuse one array.
        keep_on_device : bool
            Yield :class:`DeviceForest`.
        progress : callable, optional
            Called before each forest is yielded, with the number of forests so far and the number
            of all (None if the iterable has no length).
        verify : bool
            As of :meth:`solve`.

        Yields
        ------
        Forest or DeviceForest
            In the order of the weights.

        Raises
        ------
        ClmstError
            As of :meth:`solve`, after the forests of all earlier weights have been yielded.
        Exception
            What the iterable or `progress` raises is raised unchanged: an error of the iterable
            after the forests of all earlier weights, an error of `progress` at once.

        Notes
        -----
        After any of these errors, and after a loop that ends early, the iteration is over, no solve
        is running, and the solver can be used again. What :meth:`update` changes then depends on
        the error:

        * The iterable raised, or the loop ended early: the weights of the last forest that was
          yielded.
        * `progress` raised: the weights of the forest that it was called for. This forest is not
          yielded.
        * Weights were refused: there are no present weights, so :meth:`update` raises until
          :meth:`solve` gives some.

        The iterable may have given one array more than there are forests, because it is one round
        ahead.

        Examples
        --------
        >>> import clmst
        >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [2, 3, 4])
        >>> def rounds():
        ...     yield [2, 3, 4]
        ...     raise TimeoutError("the next weights are late")
        >>> with clmst.RepeatedSolver(graph) as solver:
        ...     try:
        ...         for forest in solver.solve_many(rounds()):
        ...             print(forest.total_weight)
        ...     except TimeoutError as error:
        ...         print(error)
        ...     print(solver.update([0], [9]).total_weight)
        5
        the next weights are late
        7
        """
        self._rounds.opened()
        options = RoundOptions(keep_on_device=keep_on_device, verify=verify)
        return self._rounds.solve_many(*_rounds_of(weights, progress), options)

    # ------------------------------------------------------------------------ closing

    def close(self) -> None:
        """Give all memory back to the device's pool; forests on the device keep theirs.

        ``solver.device.release_memory()`` then gives it back to the device. Closing twice is no
        error; any other call that needs the device raises from then on.
        """
        self._rounds.close()

    def __enter__(self) -> RepeatedSolver:
        self._rounds.opened()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _devices_of(graph: Any, device: Any, devices: Any, strategy: Any) -> list[Device]:
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


def _rounds_of(weights: Any, progress: Any) -> tuple[Iterator[Any], Callable[[int], None]]:
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


def _graph_of(graph: Any, device: Device, *, symmetrize: bool) -> Graph:
    """Return a graph whose edges do not depend on its weights."""
    check_bool("symmetrize", symmetrize)
    if has(graph, "tocsr"):
        canonical = put_matrix(graph, device, arrange=False)
        return topology.graph_of_matrix(graph) if canonical is None else canonical.graph
    return as_listed(graph, symmetrize=symmetrize)
