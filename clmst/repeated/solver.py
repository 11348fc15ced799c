"""Repeated solves of one graph with other weights each time."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from typing import Any, Literal, overload

from clmst.algorithms import solving
from clmst.algorithms.ecl import check_for_edges_once
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core import topology
from clmst.core.arguments import check_bools
from clmst.core.forest import Forest
from clmst.core.long_work import lasting
from clmst.repeated.assignments import Strategy, plan
from clmst.repeated.points import PointsExecutor, points_of
from clmst.repeated.prepared import Prepared, devices_of, graph_of, rounds_of
from clmst.repeated.session import RoundOptions, Session
from clmst.repeated.several_devices import SeveralDevices
from clmst.repeated.single_device import SingleDevice


class RepeatedSolver(Prepared):
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
        found, points = devices_of(graph, device, devices, strategy), points_of(graph)
        of_solves: dict[str, Any] = {"algorithm": algorithm, "options": options}
        if points is not None:
            check_bools(symmetrize=symmetrize)
            self._graph = points
            of_points = PointsExecutor(points, found, maximum=maximum, **of_solves)
            self._session = Session(points, of_points, maximum=maximum)
        else:
            of_solves["warm_start"] = warm_start
            listed = graph_of(graph, found[0], symmetrize=symmetrize)
            edges = self._graph = topology.edges_once(listed)
            executor: SingleDevice | SeveralDevices | None = None
            if len(found) > 1:
                parts = plan(
                    strategy or "split", edges, found, algorithm=algorithm, options=options
                )
                found = [one.device for one in parts.assignments]
                if len(found) > 1:
                    executor = SeveralDevices(parts, maximum=maximum)
            executor = executor or SingleDevice(edges, found[0], maximum=maximum, **of_solves)
            self._session = Session(edges, executor, maximum=maximum)
        self._session.prepare_ms = 1e3 * (time.perf_counter() - began)

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
        return self._session.solve(weights, options=options)

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
        return self._session.update(edge_ids, weights, options=options)

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
        self._session.opened()
        options = RoundOptions(keep_on_device=keep_on_device, verify=verify)
        return self._session.solve_many(*rounds_of(weights, progress), options)

    # ------------------------------------------------------------------------ closing

    def close(self) -> None:
        """Give all memory back to the device's pool; forests on the device keep theirs.

        ``solver.device.release_memory()`` then gives it back to the device. Closing twice is no
        error; any other call that needs the device raises from then on.
        """
        self._session.close()

    def __enter__(self) -> RepeatedSolver:
        self._session.opened()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
