"""The same graph again and again, with other weights each time."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from typing import Any, Literal, overload

from clmst import algorithms
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.core.arguments import check_bools
from clmst.core.forest import Forest
from clmst.repeated.devices.pool import DevicePool
from clmst.repeated.prepared import Prepared
from clmst.repeated.session import Session
from clmst.repeated.single_device import SingleDevice
from clmst.repeated.source import check_options, devices_of, edges_of, rounds_of


class RepeatedSolver(Prepared):
    """Minimum spanning forests of one graph whose weights change.

    What depends on the edges alone is prepared once: each edge is stored once, on the device, with
    all memory and kernels that solves need. A solve then takes one weight an edge.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy.sparse array or matrix, or networkx.Graph
        Its weights are not used. :attr:`edges` tells which edge each weight belongs to.
    devices : None, str, Device, pyopencl.CommandQueue, or sequence of such
        One device or several; see :func:`clmst.get_device`. A :class:`DeviceGraph` brings its own,
        which must be among several.
    strategy : {"auto", "alone", "split", "cores"}
        What several devices do. "alone": the quickest does all. "split": each gets a range of the
        weights, by its speed, and solves those edges; one of them then solves the union of the
        forests. "cores": the same with other parts; one device solves dense parts, which k-core
        decomposition finds, by the algorithm "dense", another one the rest. "auto": the quickest of
        these, as far as tables of costs tell (:mod:`clmst.repeated.devices.costs`). The forest is
        the same.
    maximum : bool
        Whether maximum spanning forests are wanted.
    algorithm : str
        As of :func:`clmst.minimum_spanning_forest`.
    options : object, optional
        As of :func:`clmst.minimum_spanning_forest`.
    warm_start : bool
        Whether a solve may begin with what earlier ones have settled, if weights turn out to have
        hardly moved since. Forests are the same either way.

    Raises
    ------
    InvalidGraphError
        The graph is malformed.
    InvalidArgumentError
        The graph is complete and has no edges listed; nothing has the name given as `algorithm`,
        `devices` or `strategy`; no device, or one of them twice; one device where the strategy is
        for several; the options are those of an algorithm that needs edges stored twice.
    UnsupportedDeviceError
        There is no usable device.
    OutOfDeviceMemoryError
        The device cannot hold the graph.

    Notes
    -----
    O(n + n_slots) to prepare. On the device 8 bytes an edge and 4 a vertex, 4 more an edge if the
    order of weights is not the canonical one, two buffers of weights, and what the algorithm keeps
    (``lone-boruvka`` 8 bytes an edge and 4 a vertex of sparse graphs).

    Several devices: each has its part of that; that of the last pass also 4 bytes an edge of the
    whole graph, 8 a vertex, and some 24 an edge of the parts' forests. One that fails in the middle
    of a round is left out from then on, which a :class:`clmst.DeviceWarning` tells; others finish
    the round.

    Several threads may use a solver; their solves take turns. After any error but a failure of the
    device itself it is as usable as before.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [2, 3, 4])
    >>> with clmst.RepeatedSolver(graph) as solver:
    ...     [forest.total_weight for forest in solver.solve_many([[2, 3, 4], [9, 3, 4]])]
    [5, 7]
    """

    def __init__(
        self,
        graph: Any,
        *,
        devices: Any = None,
        strategy: str = "auto",
        maximum: bool = False,
        algorithm: str = "auto",
        options: Any = None,
        warm_start: bool = True,
    ) -> None:
        began = time.perf_counter()
        algorithms.check_name(algorithm)  # what nothing has the name of is refused at once
        check_options(options)
        check_bools(maximum=maximum, warm_start=warm_start)
        found = devices_of(graph, devices, strategy)
        self._graph = edges_of(graph, found[0])
        of_solves = {"algorithm": algorithm, "options": options, "warm_start": warm_start}
        if len(found) > 1:
            self._session = DevicePool(
                self._graph, found, strategy=strategy, maximum=maximum, **of_solves
            )
        else:
            executor = SingleDevice(self._graph, found[0], maximum=maximum, **of_solves)
            self._session = Session(self._graph, executor, maximum=maximum)
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
        """Compute the forest under other weights.

        Parameters
        ----------
        weights : array, DeviceArray or pyopencl.array.Array, shape (m,)
            One an edge, in the order of :attr:`edges`, of any supported dtype, whatever that of the
            round before. An array on the device's context is not copied; do not change it while
            the solve runs, nor before an :meth:`update` of it.
        keep_on_device : bool
            Return a :class:`DeviceForest`.
        profile : bool
            As of :func:`clmst.minimum_spanning_forest`; and ``stats["times"]`` has the milliseconds
            that preparing the solver, uploading weights, and solving took on the host's clock.
        verify : bool
            As of :func:`clmst.minimum_spanning_forest`, against the weights as the device has them.

        Returns
        -------
        Forest or DeviceForest
            As :func:`clmst.minimum_spanning_forest` gives; ``edge_ids`` index :attr:`edges`.

        Raises
        ------
        InvalidArgumentError
            Not one weight an edge; an array of another context; the solver is closed.
        InvalidGraphError
            A dtype that is not supported; a weight that is NaN, the first one being named.
        OutOfDeviceMemoryError
            The device cannot hold what the algorithm needs.

        Notes
        -----
        O(m) beside what the algorithm takes. Weights of 64 bits are narrowed to 32 on the host
        where that is exact, those on the device are not.
        """
        check_bools(keep_on_device=keep_on_device, profile=profile, verify=verify)
        return self._session.solve(
            weights, profile=profile, keep_on_device=keep_on_device, verify=verify
        )

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
            Rows of :attr:`edges`. Of an edge that is named several times the last weight counts.
        weights : array, DeviceArray or pyopencl.array.Array, shape (k,)
            Their weights from now on. On the host of any dtype, if the dtype of the present weights
            holds them exactly; on the device of that dtype.
        keep_on_device, profile, verify
            As of :meth:`solve`.

        Returns
        -------
        Forest or DeviceForest

        Raises
        ------
        InvalidArgumentError
            No weights have been solved yet, or the last ones could not be; an edge that there is
            not, the first one being named; not one weight an edge; a weight that the present dtype
            does not hold; the solver is closed. All weights are as before then.
        InvalidGraphError
            A weight is NaN. All weights are as before then.
        OutOfDeviceMemoryError
            The device cannot hold what the change or the algorithm needs.

        Notes
        -----
        Uploads what changes, O(k), and copies weights that are the caller's once. Weights that were
        narrowed to 32 bits become 64 bits wide, O(m), when one comes that has no room in 32.
        """
        check_bools(keep_on_device=keep_on_device, profile=profile, verify=verify)
        return self._session.update(
            edge_ids, weights, profile=profile, keep_on_device=keep_on_device, verify=verify
        )

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
        """Compute the forests under several weights, one after the other.

        While one solve runs, in a thread of its own, the next weights are asked for and uploaded:
        the iterable is one ahead of the forests, if weights are host arrays. Weights on the device
        need no upload, and the next ones are asked for when they are done with.

        Parameters
        ----------
        weights : iterable of arrays
            Each as of :meth:`solve`. Host arrays are copied: the iterable may fill one array again
            and again.
        keep_on_device : bool
            Yield :class:`DeviceForest`.
        progress : callable, optional
            Called with the number of forests so far, and of all if the iterable has a length, else
            None, before each is yielded.
        verify : bool
            As of :meth:`solve`.

        Yields
        ------
        Forest or DeviceForest
            In the order of the weights.

        Raises
        ------
        ClmstError
            As :meth:`solve`, after the forests of all weights before have been yielded; as whatever
            the iterable itself raises. The solver can be used again.
        """
        self._session.opened()
        check_bools(keep_on_device=keep_on_device, verify=verify)
        each, on_progress = rounds_of(weights, progress)
        return self._session.solve_many(
            each, on_progress, keep_on_device=keep_on_device, verify=verify
        )

    # ------------------------------------------------------------------------ closing

    def close(self) -> None:
        """Give all memory back to the device's pool; forests kept on the device stay theirs.

        ``solver.device.release_memory()`` then gives it back to the device. Closing twice is no
        error; anything else that needs the device is one from then on.
        """
        self._session.close()

    def __enter__(self) -> RepeatedSolver:
        self._session.opened()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
