"""The public class for repeated solves of one graph under changing weights: RepeatedSolver."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from functools import cached_property, partial
from typing import Any, Literal, get_args, overload

import numpy as np

from clmst import route
from clmst.algorithms import solving
from clmst.algorithms.csr_validation.check import put_matrix
from clmst.algorithms.ecl import check_for_edges_once
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core import topology
from clmst.core.arguments import check_bool, check_bools, check_choice, errors_as, has, shown
from clmst.core.coercion import as_listed
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError, UnsupportedDeviceError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.long_work import lasting
from clmst.core.points import Points
from clmst.core.weight_keys import Array
from clmst.inputs import check_same_device, host_solves_first
from clmst.repeated.assignments import Strategy, plan
from clmst.repeated.on_host import GraphOnHost, PointsOnHost
from clmst.repeated.points import PointsOnDevice, points_of
from clmst.repeated.rounds import RoundOptions, Rounds, SingleDevice
from clmst.repeated.several_devices import SeveralDevices
from clmst.runtime import ahead
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.device_parts import check_one_of, named_devices
from clmst.runtime.discovery import (
    INABILITIES,
    DevicesInTurn,
    get_device,
    on_device_or_host,
)


class RepeatedSolver:
    """Computes minimum spanning forests of one graph whose weights change.

    Everything that depends only on the edges is prepared once, when the solver is created: each
    edge is stored once on the device, and the memory and kernels of a solve are allocated and
    built. Each solve, called a round, then takes only the weights, one per edge.

    Parameters
    ----------
    graph : Graph, DeviceGraph, Points, scipy.sparse array or matrix, networkx.Graph, ...
        Any graph that :func:`clmst.minimum_spanning_forest` accepts. Its weights are not used.
        :attr:`edges` lists the edges in the order in which a solve takes their weights. The edges
        of a dense distance matrix are listed in the order of SciPy's condensed form, which
        ``scipy.spatial.distance.pdist`` returns. The edges of :class:`Points` are not listed: a
        solve takes new coordinates of the points, with the metric of `graph`, and starts from
        scratch.
    device : None, str, Device or pyopencl.CommandQueue
        The device that solves; see :func:`clmst.get_device`. A :class:`DeviceGraph` is solved on
        the device that holds it. If it is None and no device is usable, the host may solve.
    devices : sequence of devices
        One or more devices, instead of `device`. If the graph is a :class:`DeviceGraph`, its device
        must be one of them.
    strategy : {"split", "cores"}, optional
        How several devices share the work. The forests do not depend on it. With "split", the
        default, each device solves a range of the edges, whose size is in proportion to the speed
        that was measured on devices of its kind. The fastest device then solves the union of the
        forests of the ranges. With "cores", the fastest device solves the dense parts of the graph
        by the algorithm "dense", and the second fastest solves all other edges. The fastest device
        then solves the union of the two forests. If the graph does not have dense parts, the
        fastest device solves the whole graph.
    maximum : bool
        Whether to compute maximum spanning forests.
    algorithm : str
        The name of an algorithm, or "auto", as in :func:`clmst.minimum_spanning_forest`.
    options : object, optional
        Options of the algorithm, for example :class:`clmst.FilterBoruvkaOptions`.
    warm_start : bool
        Whether a solve may reuse results of earlier solves, which is faster if the weights have
        hardly changed. The forests do not depend on it. With several devices, and for points, every
        solve starts from scratch.
    symmetrize : bool
        Allow the cells (i, j) and (j, i) of a dense matrix to differ, as in
        :func:`clmst.minimum_spanning_forest`.

    Raises
    ------
    InvalidGraphError
        The graph is malformed.
    InvalidArgumentError
        `algorithm`, `device`, `devices` or `strategy` is an unknown name; `devices` is empty or
        names a device twice; a strategy is given for a single device; or the options need both
        directions of every edge to be stored.
    UnsupportedDeviceError
        No usable device was found, and the call names a device, an algorithm or options.
        Otherwise the host solves, from scratch in each round, with a :class:`DeviceWarning`.
    OutOfDeviceMemoryError
        The device that the call names cannot hold the graph.

    Notes
    -----
    Creating the solver takes time O(n + m) for n vertices and m edges. On the device it takes 8
    bytes per edge and 4 per vertex, 4 more per edge if the edges are not listed in canonical order,
    two buffers of weights, and the memory of the algorithm. For sparse graphs,
    ``filter-boruvka`` takes 8 bytes per edge and 4 per vertex on a CPU device.

    Each of several devices takes the memory for its part of the edges. The device that solves the
    union takes 4 more bytes per edge of the whole graph, 8 per vertex, and about 24 per edge of the
    forests of the parts. If a device fails in a round, the round raises an error that names it.

    Several threads may use a solver. Their solves run one at a time. After an error the solver can
    still be used, unless the device itself has failed.

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
    _device: Device | None = None  # None if the host solves
    # If the host solves while the kernels for a device are built: the arguments with which the
    # graph will be prepared on the device.
    _later: dict[str, Any] | None = None

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
        solving.check_named(algorithm, options)  # raises before anything is uploaded
        check_for_edges_once(options, "a RepeatedSolver stores each edge once")
        check_bools(maximum=maximum, warm_start=warm_start)
        given: dict[str, Any] = {
            "maximum": maximum, "algorithm": algorithm, "options": options,
            "warm_start": warm_start, "symmetrize": symmetrize,
        }  # fmt: skip
        is_free = (
            device is None and devices is None and not isinstance(graph, DeviceGraph | DeviceMatrix)
        )
        if is_free and strategy is None and algorithm == "auto" and options is None:
            on_device_or_host(
                None,
                lambda found: self._prepare(graph, [found], None, **given),
                lambda way: self._prepare_on_host(
                    graph, way, maximum=maximum, symmetrize=symmetrize
                ),
                # A dense matrix is never solved by the host first, because the host would have to
                # list all pairs of its vertices, which takes long.
                host_first=lambda: not isinstance(graph, DenseGraph) and host_solves_first(graph),
                rehearsed=partial(_prepare_and_solve, graph, given),
            )
            if self._device is None:
                self._later = given | {"symmetrize": False}
        else:
            found = _devices_of(graph, device, devices, strategy)
            self._prepare(graph, found, strategy, **given)
        self._rounds.prepare_ms = 1e3 * (time.perf_counter() - began)

    def _prepare(
        self, graph: Any, found: list[Device], strategy: Strategy | None, *, maximum: bool,
        algorithm: str, options: object, warm_start: bool, symmetrize: bool,
    ) -> None:  # fmt: skip
        """Prepare the graph on the devices in `found`, of which there is at least one.

        `maximum`, `algorithm`, `options`, `warm_start` and `symmetrize` are arguments of the
        constructor. None as `strategy` means "split".
        """
        points = points_of(graph)
        of_solves: dict[str, Any] = {"algorithm": algorithm, "options": options}
        rounds: SingleDevice | SeveralDevices | PointsOnDevice
        if points is not None:
            check_bools(symmetrize=symmetrize)
            self._graph = points
            rounds = PointsOnDevice(points, found, maximum=maximum, **of_solves)
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
            rounds = several or SingleDevice(edges, found[0], maximum=maximum, **of_solves)
        self._rounds, self._device = rounds, rounds.device

    def _prepare_on_host(
        self, graph: Any, way: route.Way, *, maximum: bool, symmetrize: bool
    ) -> None:
        """Prepare the graph for rounds, which are solves for new weights, on the host.

        `way` says why the host solves. `maximum` and `symmetrize` are arguments of the constructor.
        """
        points = points_of(graph)
        if points is not None:
            check_bools(symmetrize=symmetrize)
            self._graph = points
            self._rounds = PointsOnHost(points, maximum=maximum, way=way)
        else:
            listed = _graph_of(graph, None, symmetrize=symmetrize)
            edges = self._graph = topology.edges_once(listed)
            self._rounds = GraphOnHost(edges, maximum=maximum, way=way)

    def _rounds_now(self, *, needs_device: bool = False) -> Rounds:
        """Return the rounds on the device, or those on the host while kernels are being built.

        If the call `needs_device`, the rounds are moved to the device at once, which blocks until
        its kernels are built.
        """
        host = self._rounds
        if self._later is not None and not host.is_closed:
            assert isinstance(host, GraphOnHost | PointsOnHost), "the host solves"
            with host.lock:  # one thread moves them, and no round is under way
                self._move(host, needs_device=needs_device)
        return self._rounds

    def _move(self, host: GraphOnHost | PointsOnHost, *, needs_device: bool) -> None:
        """Move the rounds from the `host` to the device, if its kernels are built by now.

        If the call `needs_device`, they are moved in any case, after a wait. If no device can solve
        them, they stay on the host for good.
        """
        turns = DevicesInTurn(None, host_first=None if needs_device else lambda: True)
        is_waiting = not needs_device and turns.found and ahead.is_building(turns.found)
        if is_waiting or turns.waits or self._later is None:  # or another thread has moved them
            return
        later, self._later = self._later, None
        if turns.found is None:
            return
        try:
            with turns:
                self._prepare(self._graph, [turns.found], None, **later)
        except ahead.NotBuiltError:
            self._later = later
        except INABILITIES:
            pass
        else:
            host.hand_over(self._rounds)

    @property
    def device(self) -> Device:
        """The device that holds the forests.

        If several devices share the work, it is the one that solves the union of their forests.
        While its first kernels are built, the host may solve. Reading this property then waits
        until the device can solve.

        Raises UnsupportedDeviceError if the host solves, because no device can.
        """
        self._rounds_now(needs_device=True)
        if self._device is None:
            raise UnsupportedDeviceError(
                "the host solves, because no device can; forests are in its memory"
            )
        return self._device

    @property
    def maximum(self) -> bool:
        """Whether the solver computes maximum spanning forests instead of minimum ones."""
        return self._rounds.maximum

    @property
    def n_vertices(self) -> int:
        """Number of vertices of the graph."""
        return self._graph.n_vertices

    @property
    def n_edges(self) -> int:
        """Number m of weights that a solve takes. For points, it is the number of pairs."""
        return self._graph.n_edges if isinstance(self._graph, Points) else self._graph.n_input

    @cached_property
    def edges(self) -> Array:
        """The edge to which each weight belongs, shape (m, 2), with the lesser endpoint first.

        If the graph was built from lists of edges, or from NetworkX, the rows are in the order of
        the lists. A row (-1, -1) stands for a self-loop, or for an edge that was merged into a
        parallel edge, and a solve ignores its weight. For any other graph the rows are in canonical
        order: by the lesser endpoint, then by the greater. The first access takes O(m).

        Raises InvalidArgumentError if the solver was built from points, whose edges are not listed.
        """
        return topology.endpoints(self._listed)

    @property
    def _listed(self) -> Graph:
        """The graph. Raises InvalidArgumentError for points, whose edges are not listed."""
        if isinstance(self._graph, Points):
            raise InvalidArgumentError(
                "the solver is made of points, which list no edges; forest.edges has the ends of "
                "a forest's edges, and points.to_graph() lists all pairs"
            )
        return self._graph

    def __repr__(self) -> str:
        on = "the host" if self._device is None else self._device.description
        state = "closed" if self._rounds.is_closed else f"on {on}"
        return f"RepeatedSolver(n_vertices={self.n_vertices}, n_edges={self.n_edges}, {state})"

    def weights_of(self, matrix: Any, *, symmetrize: bool = False) -> Array:
        """Return the weights of a SciPy matrix in the order of :attr:`edges`.

        Parameters
        ----------
        matrix : scipy.sparse array or matrix, or Graph, shape (n, n)
            A matrix with entries at the positions of the matrix from which the solver was built, or
            at their mirror images. If both ``A[i, j]`` and ``A[j, i]`` are stored, the lesser of
            the two is the weight.
        symmetrize : bool
            Allow the cells (i, j) and (j, i) of a dense matrix to differ.

        Returns
        -------
        ndarray, shape (m,)
            The weights, as :meth:`solve` takes them.

        Raises
        ------
        InvalidGraphError
            The matrix is malformed, or has entries at other positions.
        InvalidArgumentError
            The solver was built from a list of edges, whose order a matrix does not have, or from
            points.

        Notes
        -----
        The call takes time O(n + m).

        Examples
        --------
        >>> import clmst, scipy.sparse
        >>> A = scipy.sparse.csr_array([[0, 2, 3], [0, 0, 4], [0, 0, 0]])
        >>> with clmst.RepeatedSolver(A) as solver:
        ...     solver.weights_of(2 * A)
        array([4, 6, 8])
        """
        edges = self._listed
        if edges.edge_ids is not None:
            raise InvalidArgumentError(
                "the solver was made of a list of edges, whose order a matrix does not have; "
                "give weights in the order of that list"
            )
        graph = _graph_of(matrix, self._device, symmetrize=symmetrize)
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
        """Compute the minimum spanning forest for new weights, and block until it is found.

        Parameters
        ----------
        weights : array, DeviceArray or pyopencl.array.Array, shape (m,)
            One weight for each edge, in the order of :attr:`edges`. Any supported dtype is allowed,
            and it may differ from the dtype in the last solve. An array on the device is not
            copied. Do not change it during the solve, nor before a later :meth:`update`.

            A solver that was built from points takes new coordinates on the host, shape (n, d), or
            :class:`Points`. If its points have core distances, it takes only :class:`Points`.
        keep_on_device : bool
            Return a :class:`DeviceForest`, whose edges stay on the device.
        profile : bool
            Measure the time of every kernel, as in :func:`clmst.minimum_spanning_forest`. In
            addition, ``stats["times"]`` has the milliseconds of preparation, upload and solve, by
            the host's clock.
        verify : bool
            Prove that the result is the minimum spanning forest for the weights on the device, as
            in :func:`clmst.minimum_spanning_forest`.

        Returns
        -------
        Forest or DeviceForest
            The forest. Its ``edge_ids`` are rows of :attr:`edges`.

        Raises
        ------
        InvalidArgumentError
            There is not exactly one weight per edge; the number of points or of their dimensions
            differs; an array is on another OpenCL context; or the solver is closed.
        InvalidGraphError
            The dtype is not supported, or a weight or a coordinate is NaN. The message names the
            first one.
        OutOfDeviceMemoryError
            The device cannot hold the memory that the algorithm needs.

        Notes
        -----
        The call takes time O(m) in addition to the time of the algorithm. Weights of 64 bits on the
        host are converted to 32 bits if no value changes. Weights on the device are not converted.

        Examples
        --------
        >>> import clmst
        >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [2, 3, 4])
        >>> with clmst.RepeatedSolver(graph) as solver:
        ...     solver.solve([5, 3, 4]).edge_ids
        array([1, 2], dtype=int32)
        """
        options = RoundOptions(keep_on_device=keep_on_device, profile=profile, verify=verify)
        needs_device = options != RoundOptions() or not _is_on_host(weights)
        return self._rounds_now(needs_device=needs_device).solve(weights, options=options)

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
        """Change the weights of some edges, and compute the minimum spanning forest.

        The call blocks until the forest is found. All other edges keep their weights of the last
        solve or update. These weights are called the present weights.

        Parameters
        ----------
        edge_ids : array of int, DeviceArray or pyopencl.array.Array of (u)int32, shape (k,)
            The edges, as rows of :attr:`edges`. If an edge occurs several times, its last weight
            counts.
        weights : array, DeviceArray or pyopencl.array.Array, shape (k,)
            The new weights of these edges. An array on the host may have any dtype, if its values
            stay the same when they are converted to the dtype of the present weights. An array on
            the device must have the dtype of the present weights.
        keep_on_device, profile, verify
            The same as in :meth:`solve`.

        Returns
        -------
        Forest or DeviceForest
            The forest. Its ``edge_ids`` are rows of :attr:`edges`.

        Raises
        ------
        InvalidArgumentError
            The solver is without weights, because :meth:`solve` has not been called or has failed;
            the solver was built from points; an edge id is out of range (the message names the
            first one); there is not one weight per edge id; a weight would change when it is
            converted to the dtype of the present weights; or the solver is closed. All weights are
            unchanged then.
        InvalidGraphError
            A weight is NaN. All weights are unchanged then.
        OutOfDeviceMemoryError
            The device cannot hold the memory that the change or the algorithm needs.

        Notes
        -----
        The upload takes time O(k). If the present weights are in an array of the caller on the
        device, the first update copies them. If :meth:`solve` converted weights to 32 bits and a
        new weight does not fit into 32 bits, all weights are converted to 64 bits, in time O(m).

        Examples
        --------
        >>> import clmst
        >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [2, 3, 4])
        >>> with clmst.RepeatedSolver(graph) as solver:
        ...     print(solver.solve([2, 3, 4]).total_weight)
        ...     print(solver.update([0], [9]).total_weight)
        5
        7
        """
        options = RoundOptions(keep_on_device=keep_on_device, profile=profile, verify=verify)
        needs_device = options != RoundOptions() or not _is_on_host(edge_ids, weights)
        rounds = self._rounds_now(needs_device=needs_device)
        return rounds.update(edge_ids, weights, options=options)

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
        """Compute the forest for each element of an iterable of weights, and yield them in order.

        While a solve runs in a thread of its own, the next array of the iterable is requested and
        uploaded. So one array more is requested than forests are yielded. Arrays on the device do
        not need an upload, so the next one is requested only after the solve.

        Parameters
        ----------
        weights : iterable of arrays
            The weights of each round, as :meth:`solve` takes them. Arrays on the host are copied,
            so the iterable may reuse one array for all rounds.
        keep_on_device : bool
            Yield a :class:`DeviceForest`, whose edges stay on the device, in each round.
        progress : callable, optional
            A function that is called before each forest is yielded. Its arguments are the number of
            forests so far and the number of all rounds, which is None if the iterable does not have
            a length.
        verify : bool
            Prove each forest, as in :meth:`solve`.

        Yields
        ------
        Forest or DeviceForest
            The forest of each round, in the order of the weights.

        Raises
        ------
        ClmstError
            Any error of :meth:`solve`. It is raised after the forests of all earlier weights have
            been yielded.
        Exception
            Any error that the iterable or `progress` raises, unchanged. An error of the iterable is
            raised after the forests of all earlier weights have been yielded, and an error of
            `progress` at once.

        Notes
        -----
        After any of these errors, and after a loop that ends early, the iteration is over, all
        solves have ended, and the solver can be used again. Which weights :meth:`update` changes
        then depends on how the iteration ended:

        * If the iterable raised, or the loop ended early, it changes the weights of the last forest
          that was yielded.
        * If `progress` raised, it changes the weights of the forest for which `progress` was
          called. That forest is not yielded.
        * If weights were invalid, the solver is without weights. :meth:`update` raises until
          :meth:`solve` is called.

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
        # `weights` may be an iterator, and each array of weights may be on the host or on a device.
        # This is known only when the array is asked for, so a device is needed in any case.
        rounds = self._rounds_now(needs_device=True)
        return rounds.solve_many(*_rounds_of(weights, progress), options)

    # ------------------------------------------------------------------------ closing

    def close(self) -> None:
        """Return the solver's memory to the pool of the device, and close the solver.

        A call of ``solver.device.release_memory()`` then returns the pool's memory to the device.
        Forests on the device keep their memory. Closing a solver twice is allowed. Any later call
        that needs the device raises InvalidArgumentError.
        """
        self._rounds.close()

    def __enter__(self) -> RepeatedSolver:
        self._rounds.opened()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _is_on_host(*arrays: Any) -> bool:
    """Return whether all arguments are certainly on the host: NumPy arrays, lists or points."""
    return all(isinstance(one, np.ndarray | list | tuple | Points) for one in arrays)


def _devices_of(graph: Any, device: Any, devices: Any, strategy: Any) -> list[Device]:
    """Return the devices that the arguments of a solver name.

    If `device` and `devices` are None, the result is the device that holds the graph, or the
    default device for a graph on the host. `strategy` is checked as well. Raises
    InvalidArgumentError if the arguments contradict one another, or if the graph is on a device
    that they do not name.
    """
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
            f"the graph is on {graph.device.description}, which is not among the devices; name "
            "it as well, or give the host's graph"
        )
    if strategy is not None and len(found) == 1:
        raise InvalidArgumentError(
            f"strategy {strategy!r} is for several devices, and there is one, "
            f"{found[0].description}; leave the strategy out"
        )
    return found


def _rounds_of(weights: Any, progress: Any) -> tuple[Iterator[Any], Callable[[int], None]]:
    """Return an iterator over the weights of rounds, and a function that reports progress.

    The function takes the number of forests so far. It calls `progress` with this number and the
    number of all rounds, unless `progress` is None. Raises InvalidArgumentError if the weights are
    not iterable or `progress` is not callable.
    """
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


def _graph_of(graph: Any, device: Device | None, *, symmetrize: bool) -> Graph:
    """Convert a caller's graph to a Graph whose edges do not depend on the weights.

    A large SciPy matrix is checked on `device`. A small one is checked on the host, and so is every
    matrix if `device` is None. `symmetrize` is the argument of :class:`RepeatedSolver`.
    """
    check_bool("symmetrize", symmetrize)
    if has(graph, "tocsr"):
        canonical = None if device is None else put_matrix(graph, device, arrange=False)
        return topology.graph_of_matrix(graph) if canonical is None else canonical.graph
    return as_listed(graph, symmetrize=symmetrize)


def _prepare_and_solve(graph: Any, given: dict[str, Any], device: Device) -> None:
    """Prepare a graph for repeated solves on a device, and solve it twice, to build the kernels.

    `graph` is Points, a Graph or a SciPy matrix. `given` are further arguments of the constructor
    of :class:`RepeatedSolver`.
    """
    with RepeatedSolver(graph, device=device, **given) as solver:
        if isinstance(graph, Points):
            solver.solve(graph)
            return
        m, rng = solver.n_edges, np.random.default_rng(0)
        dtype = (graph.weights if isinstance(graph, Graph) else graph.data).dtype
        solve_twice(
            solver, (rng.random(m) if dtype.kind == "f" else rng.permutation(m)).astype(dtype)
        )


def solve_twice(solver: RepeatedSolver, weights: Array) -> None:
    """Solve under two sets of weights that differ little, so that the second solve is fast.

    So the programs for reusing an earlier solve are built, too. The first weights are `weights`,
    which are changed.
    """
    solver.solve(weights)
    weights[:10] = weights[9::-1].copy()
    solver.solve(weights)
