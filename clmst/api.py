"""The public face: a graph in, its minimum or maximum spanning forest out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any, Literal, TypeVar, cast, overload

from clmst.algorithms import direct
from clmst.algorithms.complete import spanning_tree
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.solving import check_named, solve_graph, solve_unread
from clmst.core.arguments import check_bools
from clmst.core.coercion import with_weight
from clmst.core.columns import WEIGHT
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.core.forest import Forest
from clmst.core.long_work import LongWork, lasting
from clmst.core.points import Points
from clmst.intake import on_device, put, taken
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.device_parts import DeviceParts
from clmst.runtime.discovery import default_device, get_device, is_named, pass_over
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher
from clmst.runtime.trust import NoFamilyLeftError

F = TypeVar("F", bound=Callable[..., Any])


@overload
def minimum_spanning_forest(
    graph: Any, *, algorithm: str = ..., device: Any = ..., devices: Any = ...,
    options: object = ..., keep_on_device: Literal[False] = ..., profile: bool = ...,
    verify: bool = ..., symmetrize: bool = ..., weight: Any = ..., columns: Any = ...,
) -> Forest: ...  # fmt: skip
@overload
def minimum_spanning_forest(
    graph: Any, *, algorithm: str = ..., device: Any = ..., devices: Any = ...,
    options: object = ..., keep_on_device: Literal[True], profile: bool = ..., verify: bool = ...,
    symmetrize: bool = ..., weight: Any = ..., columns: Any = ...,
) -> DeviceForest: ...  # fmt: skip
def minimum_spanning_forest(
    graph: Any,
    *,
    algorithm: str = "auto",
    device: Any = None,
    devices: Any = None,
    options: object = None,
    keep_on_device: bool = False,
    profile: bool = False,
    verify: bool = False,
    symmetrize: bool = False,
    weight: Any = WEIGHT,
    columns: Any = None,
) -> Forest | DeviceForest:
    """Compute the minimum spanning forest of an undirected weighted graph.

    Edges are ordered by weight and, among equal weights, by their place in the canonical order
    (lesser endpoint, greater endpoint, position in the input). That order is total, so the forest
    is unique: every algorithm and every device returns the same edges.

    Parameters
    ----------
    graph : Graph, DeviceGraph, DeviceParts, scipy.sparse matrix, or another library's graph
        Other libraries' graphs are those of NetworkX, rustworkx and igraph, whose edges have their
        `weight`, or 1; and data frames of edges, by their columns "source", "target" and `weight`.
        Or a complete graph: a :class:`DenseGraph`, :class:`Points`, :class:`DeviceMatrix`, or a
        symmetric matrix as a NumPy array or a list of rows, every cell of which off the diagonal is
        an edge; in a masked array masked cells are not (:meth:`Graph.from_masked`). Only "dense"
        takes complete graphs. Weights may be bool, int8-64, uint8-64 or float16/32/64; infinities
        are ordinary weights.
    algorithm : str
        A name of the table in docs/algorithms.md, which ``clmst solve --help`` lists too, or
        "auto": the one whose `options` are given, "dense" for complete graphs, else the quickest
        for the size of the graph and the device.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`; a :class:`DeviceGraph` brings its own.
    devices : sequence of devices
        Instead of `device`: several, each of which solves a part of the edges, for graphs that one
        device does not hold. :class:`DeviceParts` bring their own.
    options : object, optional
        The algorithm's own, as :class:`clmst.EclOptions` of "ecl".
    keep_on_device : bool
        Return a :class:`DeviceForest`, its edges still on the device.
    profile : bool
        Time every kernel; ``stats["profile"]`` maps kernels to launches and milliseconds, and
        ``stats["phases"]`` the steps of an algorithm that has such.
    verify : bool
        Prove, before it is returned, that it is the forest (as :func:`clmst.verify`, but on the
        device where it can); ``stats["proof"]`` tells where, and how long it took.
    symmetrize : bool
        Of a matrix without gaps (an array, masked or not, or a list of rows): whether its cells
        (i, j) and (j, i) may differ. The lesser of them is then the weight. Distances computed one
        by one differ in the last digits, as those of scikit-learn's `pairwise_distances` do.
    weight : hashable or None
        The attribute of edges, or the column, that holds the weight; all weights are 1 if it is
        None. For graphs of NetworkX and igraph, data frames and Arrow tables.
    columns : list or tuple of names, optional
        For data frames and Arrow tables: the columns of both ends and of the weight. With two
        names all weights are 1. By default the columns "source", "target" and `weight`.

    Returns
    -------
    Forest or DeviceForest

    Raises
    ------
    InvalidGraphError
        The graph is malformed.
    InvalidArgumentError
        Nothing has the name given as `algorithm` or `device`; the message lists what there is.
    UnsupportedDeviceError
        There is no usable device, and the call needs one: it names a device or an algorithm, has
        `options`, `keep_on_device` or `profile`, or the graph is a complete one of more than
        11,585 vertices. The message says what to install. Any other call is answered by the host,
        with one :class:`DeviceWarning` a process.
    OutOfDeviceMemoryError
        The device cannot hold what the solve needs. Where `algorithm`, `options`, `keep_on_device`
        and `profile` are as they are by default and the host has the graph, there is no such error:
        it is solved in parts (:func:`stream_minimum_spanning_forest`), with a
        :class:`StreamedWarning`.
    InvalidForestError
        `verify` found the forest wrong; names the first edge that shows it.

    Examples
    --------
    >>> import clmst, scipy.sparse
    >>> A = scipy.sparse.csr_array([[0, 2, 3], [0, 0, 4], [0, 0, 0]])
    >>> clmst.minimum_spanning_forest(A).total_weight
    5
    """
    return spanning_forest(
        graph, algorithm=algorithm, device=device, devices=devices, options=options,
        keep_on_device=keep_on_device, profile=profile, verify=verify, symmetrize=symmetrize,
        weight=weight, columns=columns, maximum=False,
    )  # fmt: skip


_DEFAULTS = dict(minimum_spanning_forest.__kwdefaults__ or {})


def _like(model: F) -> Callable[[Callable[..., Any]], F]:
    """Give a function the arguments of another one, for ``help`` and for type checkers."""

    def with_signature(function: Any) -> F:
        function.__signature__ = signature(model)
        return cast("F", function)

    return with_signature


@_like(minimum_spanning_forest)
def maximum_spanning_forest(graph: Any, **options: Any) -> Forest | DeviceForest:
    """Compute the maximum spanning forest; as :func:`minimum_spanning_forest` in all else.

    The order of weights is reversed; among equal weights the lesser edge id still wins. A SciPy
    matrix that stores both ``A[i, j]`` and ``A[j, i]`` means the lesser of them here as well.
    """
    if unknown := options.keys() - _DEFAULTS.keys():
        name = "maximum_spanning_forest()"  # which Python would not name
        raise TypeError(f"{name} got an unexpected keyword argument {unknown.pop()!r}")
    return spanning_forest(graph, **(_DEFAULTS | options), maximum=True)


@overload
def to_device(graph: DenseGraph | Points, device: Any = ...) -> DeviceMatrix: ...
@overload
def to_device(
    graph: Any, device: Any = ..., *, symmetrize: bool = ..., weight: Any = ...,
    columns: Any = ...,
) -> DeviceGraph: ...  # fmt: skip
@lasting("bringing a graph to a device")
def to_device(
    graph: Any, device: Any = None, *, symmetrize: bool = False, weight: Any = WEIGHT,
    columns: Any = None,
) -> DeviceGraph | DeviceMatrix:  # fmt: skip
    """Put a graph on a device, for several solves.

    Parameters
    ----------
    graph : Graph, DenseGraph, Points, or any other one that lies on the host
        As of :func:`minimum_spanning_forest`.
    device : None, str, Device or pyopencl.CommandQueue
        See :func:`clmst.get_device`.
    symmetrize, weight, columns
        As of :func:`minimum_spanning_forest`.

    Returns
    -------
    DeviceGraph, or DeviceMatrix for complete graphs
    """
    given = taken(with_weight(graph, weight, columns), symmetrize=symmetrize)
    return put(given, get_device(device))


def spanning_forest(graph: Any, **options: Any) -> Forest | DeviceForest:
    """Solve on the device that is meant; say so if it lasts."""
    with LongWork("computing a spanning forest"):
        return _spanning_forest(graph, **options)


def _spanning_forest(
    graph: Any, *, algorithm: str, device: Any, devices: Any, options: object,
    keep_on_device: bool, profile: bool, verify: bool, symmetrize: bool, weight: Any, maximum: bool,
    columns: Any = None,
) -> Forest | DeviceForest:  # fmt: skip
    """Solve on the device that is meant; a graph that does not fit it, in parts."""
    if weight is not WEIGHT or columns is not None:
        graph = with_weight(graph, weight, columns)
    check_named(algorithm, options)  # before anything is uploaded
    check_bools(keep_on_device=keep_on_device, profile=profile, verify=verify)
    graph = taken(graph, symmetrize=symmetrize)
    if devices is not None or isinstance(graph, DeviceParts):
        from clmst.scale.placement import forest_by_several

        found = forest_by_several(
            graph, devices, device=device, algorithm=algorithm, options=options, maximum=maximum,
            keep_on_device=keep_on_device, profile=profile, verify=verify,
        )  # fmt: skip
        if isinstance(found, Forest):
            return found
        device = found
    try:
        return _solve_whole(
            graph, algorithm=algorithm, device=device, options=options, maximum=maximum,
            keep_on_device=keep_on_device, profile=profile, verify=verify,
        )  # fmt: skip
    except OutOfDeviceMemoryError as error:
        from clmst.scale import fallback

        if algorithm != "auto" or options is not None or keep_on_device or profile:
            raise
        listed = fallback.streamable(graph, get_device(device))
        if listed is None:
            raise
        reason = str(error)  # whose frames hold what is on the device, until here
    return fallback.streamed(listed, device, maximum=maximum, verify=verify, reason=reason)


def _solve_whole(
    graph: Any, *, algorithm: str, device: Any, options: object, keep_on_device: bool,
    profile: bool, verify: bool, maximum: bool,
) -> Forest | DeviceForest:  # fmt: skip
    """Solve on the device that is meant, or on the next one where it passes no self-test."""
    while True:
        try:
            at_once, meant = not (keep_on_device or profile), device
            is_put = isinstance(graph, DeviceGraph | DeviceMatrix)
            if algorithm == "auto" and options is None and at_once and not is_put:
                meant = default_device() if device is None else get_device(device)
                or_host = device is None and not is_named()
                found = _solve_small(graph, meant, maximum=maximum, verify=verify, or_host=or_host)
                if found is not None:
                    return found
            behind = partial(solve_unread, algorithm=algorithm, options=options, maximum=maximum)
            behind_check = behind if at_once and not verify else None
            stored = on_device(graph, meant, algorithm=algorithm, solve=behind_check)
            if isinstance(stored, Forest):
                return stored
            launch = Launcher.of(stored.device, profile=profile)
            with stored.device.lock, Guard(stored.device, caches=stored.caches):
                forest: Forest | DeviceForest
                if isinstance(stored, DeviceMatrix):
                    tree = spanning_tree(
                        stored, launch, algorithm=algorithm, options=options, maximum=maximum
                    )
                    if not (keep_on_device or verify):
                        return tree.to_host(launch)
                    forest = tree.on_device(launch)
                else:
                    forest = solve_graph(
                        stored, launch, algorithm=algorithm, options=options, maximum=maximum,
                        wait=keep_on_device or verify,
                    )  # fmt: skip
                if isinstance(forest, Forest):
                    return forest
                if verify:
                    from clmst.algorithms.proof.prove import checked

                    forest = checked(forest, launch)
                return forest if keep_on_device else forest.copied(launch, look_up=verify)
        except NoFamilyLeftError as error:
            if isinstance(graph, DeviceGraph | DeviceMatrix) or not pass_over(device, error):
                raise


def _solve_small(
    graph: Any, device: Device | None, *, maximum: bool, verify: bool, or_host: bool
) -> Forest | None:
    """Return the forest of a small graph; of any one, where there is no device.

    None if it is to go the usual way.
    """
    if device is None:
        from clmst.on_host import solve_on_host

        return solve_on_host(graph, maximum=maximum, verify=verify)
    if verify:
        return None
    return direct.forest_of(graph, device, maximum=maximum, host_allowed=or_host)
