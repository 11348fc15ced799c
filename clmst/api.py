"""The main public functions: they compute spanning forests, and copy graphs to a device."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

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
from clmst.inputs import host_solves_first, on_device, put, taken
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.device_parts import DeviceParts
from clmst.runtime.discovery import (
    INABILITIES,
    DevicesInTurn,
    get_device,
    on_trusted_device,
)
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher

if TYPE_CHECKING:
    from clmst.blocks.solve import DividedPoints
    from clmst.blocks.tasks import Workers

F = TypeVar("F", bound=Callable[..., Any])

_WORK = "computing a spanning forest"  # what is shown if it takes long


@overload
def minimum_spanning_forest(
    graph: Any, *, algorithm: str = ..., device: Any = ..., devices: Any = ...,
    options: object = ..., keep_on_device: Literal[False] = ..., profile: bool = ...,
    verify: bool = ..., symmetrize: bool = ..., weight: Any = ..., columns: Any = ...,
    block_points: Any = ...,
) -> Forest: ...  # fmt: skip
@overload
def minimum_spanning_forest(
    graph: Any, *, algorithm: str = ..., device: Any = ..., devices: Any = ...,
    options: object = ..., keep_on_device: Literal[True], profile: bool = ..., verify: bool = ...,
    symmetrize: bool = ..., weight: Any = ..., columns: Any = ..., block_points: Any = ...,
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
    block_points: Any = None,
) -> Forest | DeviceForest:
    """Compute the minimum spanning forest of an undirected weighted graph.

    A spanning forest has one tree for each connected component; of all spanning forests this one
    has the least total weight. Equal weights are ordered by the edges' position in the canonical
    order (lesser endpoint, greater endpoint, position in the input). The forest is therefore
    unique, and every algorithm and every device returns the same edges. The call blocks until the
    result is available.

    Parameters
    ----------
    graph : Graph, DeviceGraph, DeviceParts, scipy.sparse matrix, or another library's graph
        The graph to solve. Weights may be bool, int8 to int64, uint8 to uint64, or float16, float32
        or float64. Infinite weights are allowed, NaN is not.

        * In a SciPy sparse matrix or array every stored entry is an edge.
        * The edges of a NetworkX, rustworkx or igraph graph have the weight of their attribute
          `weight`, or 1.
        * A data frame or an Arrow table has one edge per row; see `columns`.
        * A :class:`DenseGraph`, :class:`Points`, :class:`DeviceMatrix`, a NumPy array or a list of
          rows is a complete graph: every cell off the diagonal is an edge, zeros included. Only the
          algorithm "dense" solves complete graphs. A masked array is different: its masked cells
          are not edges (:meth:`Graph.from_masked`).
    algorithm : str
        The name of an algorithm from docs/algorithms.md, which ``clmst solve --help`` lists too.
        "auto" selects the algorithm to which `options` belong; without options it selects "dense"
        for complete graphs and otherwise the fastest algorithm for the size of the graph and the
        device. The choice does not change the result.
    device : None, str, Device or pyopencl.CommandQueue
        The device that solves; see :func:`clmst.get_device`. A :class:`DeviceGraph` is solved on
        the device that holds it.
    devices : sequence of devices
        Several devices, instead of `device`, each of which solves a part of the edges. Use it for
        graphs that are too large for one device. :class:`DeviceParts` are solved on the devices
        that hold them.
    options : object, optional
        Options of the algorithm, for example :class:`clmst.EclOptions` for "ecl".
    keep_on_device : bool
        Return a :class:`DeviceForest`, whose edges stay on the device.
    profile : bool
        Measure the time of every kernel. ``stats["profile"]`` of the result maps each kernel to its
        launches and milliseconds. ``stats["phases"]`` does so for the steps of algorithms that have
        named steps.
    verify : bool
        Prove that the result is the minimum spanning forest before it is returned, on the device if
        possible. ``stats["proof"]`` says where the proof ran and how long it took. See also
        :func:`clmst.verify`.
    symmetrize : bool
        Allow the cells (i, j) and (j, i) of a dense matrix (an array, masked or not, or a list of
        rows) to differ; the weight is the lesser of the two. This is needed for distances that were
        computed one by one, which may differ in the last digits, as in the result of scikit-learn's
        `pairwise_distances`.
    weight : hashable or None
        The edge attribute, or the column, that contains the weights. With None all weights are 1.
        It applies to graphs of NetworkX and igraph, data frames and Arrow tables.
    columns : list or tuple of names, optional
        The columns of a data frame or an Arrow table that contain the source, the target and the
        weight. With two names all weights are 1. By default the columns "source", "target" and
        `weight`.
    block_points : int or BlockOptions, optional
        For :class:`Points`: solve them block by block, with at most so many points in a block, so
        that a device never holds more than two blocks. Use it for points that are too many for one
        device. With `devices` several blocks are solved at the same time. The result does not
        depend on the blocks.

    Returns
    -------
    Forest or DeviceForest
        The forest on the host; a :class:`DeviceForest` if `keep_on_device` is true.

    Raises
    ------
    InvalidGraphError
        The graph is malformed.
    InvalidArgumentError
        No algorithm or device has the given name. The message lists the available names.
    UnsupportedDeviceError
        No usable device was found, and the call needs one: it names a device or an algorithm, sets
        `options`, `keep_on_device` or `profile`, or the graph is a complete graph of more than
        11,585 vertices. The message says what to install. Any other call is then solved on the
        host, with one :class:`DeviceWarning` per process.
    OutOfDeviceMemoryError
        The graph does not fit into the memory of the device. If `algorithm`, `options`,
        `keep_on_device` and `profile` have their default values and the graph is on the host, the
        graph is solved in parts instead, as by :func:`stream_minimum_spanning_forest`, with a
        :class:`StreamedWarning`. :class:`Points` are solved block by block, with the same warning.
    InvalidForestError
        `verify` is true and the forest is wrong. The message names the first edge that shows it.

    Notes
    -----
    docs/algorithms.md lists the algorithms, what each is good for, and how "auto" decides. The
    algorithms for sparse graphs are variants of Borůvka's algorithm (O. Borůvka, 1926), with O(log
    n) rounds, and of Prim's algorithm (R. C. Prim, 1957). docs/inside_algorithms.md describes their
    steps and cites their sources.

    Examples
    --------
    >>> import clmst, scipy.sparse
    >>> A = scipy.sparse.csr_array([[0, 2, 3], [0, 0, 4], [0, 0, 0]])
    >>> forest = clmst.minimum_spanning_forest(A)
    >>> forest.total_weight
    5
    >>> forest.edges
    array([[0, 1],
           [0, 2]], dtype=int32)
    """
    with LongWork(_WORK):
        return _spanning_forest(
            graph, algorithm=algorithm, device=device, devices=devices, options=options,
            keep_on_device=keep_on_device, profile=profile, verify=verify, symmetrize=symmetrize,
            weight=weight, columns=columns, block_points=block_points, maximum=False,
        )  # fmt: skip


_DEFAULTS = dict(minimum_spanning_forest.__kwdefaults__ or {})


def _like(model: F) -> Callable[[Callable[..., Any]], F]:
    """Return a decorator that gives a function the signature of the function `model`.

    ``help`` and type checkers then see this signature.
    """

    def with_signature(function: Any) -> F:
        function.__signature__ = signature(model)
        return cast("F", function)

    return with_signature


@_like(minimum_spanning_forest)
def maximum_spanning_forest(graph: Any, **options: Any) -> Forest | DeviceForest:
    """Compute the maximum spanning forest of an undirected weighted graph.

    All arguments, results and errors are the same as in :func:`minimum_spanning_forest`. Heavier
    edges are preferred, but among edges of equal weight the one that is first in the canonical
    order is still preferred. If a SciPy matrix stores both ``A[i, j]`` and ``A[j, i]``, the weight
    of the edge is still the lesser of the two.

    Returns
    -------
    Forest or DeviceForest
        The forest, whose `maximum` is True.

    Examples
    --------
    >>> import clmst, scipy.sparse
    >>> A = scipy.sparse.csr_array([[0, 2, 3], [0, 0, 4], [0, 0, 0]])
    >>> clmst.maximum_spanning_forest(A).total_weight
    7
    """
    if unknown := options.keys() - _DEFAULTS.keys():
        name = "maximum_spanning_forest()"  # Python would name another function
        raise TypeError(f"{name} got an unexpected keyword argument {unknown.pop()!r}")
    with LongWork(_WORK):
        return _spanning_forest(graph, **(_DEFAULTS | options), maximum=True)


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
    """Copy a graph to a device, so that it can be solved several times without another copy.

    Parameters
    ----------
    graph : Graph, DenseGraph, Points, or any other graph on the host
        Any graph that :func:`minimum_spanning_forest` takes, unless it is on a device already.
    device : None, str, Device or pyopencl.CommandQueue
        The device; see :func:`clmst.get_device`.
    symmetrize, weight, columns
        The same as in :func:`minimum_spanning_forest`.

    Returns
    -------
    DeviceGraph or DeviceMatrix
        A :class:`DeviceMatrix` if the graph is complete, otherwise a :class:`DeviceGraph`. The copy
        is complete when the call returns. A device that shares the host's memory may use the host's
        arrays in place, so do not change them.

    Raises
    ------
    InvalidGraphError
        The graph is malformed.
    InvalidArgumentError
        No device matches the name given as `device`.
    UnsupportedDeviceError
        No usable device was found.
    OutOfDeviceMemoryError
        The graph does not fit into the memory of the device.

    Examples
    --------
    >>> import clmst, scipy.sparse
    >>> A = scipy.sparse.csr_array([[0, 2, 3], [0, 0, 4], [0, 0, 0]])
    >>> stored = clmst.to_device(A)
    >>> clmst.minimum_spanning_forest(stored).total_weight
    5
    """
    given = taken(with_weight(graph, weight, columns), symmetrize=symmetrize)
    return put(given, get_device(device))


def _spanning_forest(
    graph: Any, *, algorithm: str, device: Any, devices: Any, options: object,
    keep_on_device: bool, profile: bool, verify: bool, symmetrize: bool, weight: Any, maximum: bool,
    columns: Any = None, block_points: Any = None,
) -> Forest | DeviceForest:  # fmt: skip
    """Solve a graph on the chosen device, or in parts if the device does not have enough memory.

    The caller shows a notice if this takes long. The arguments are explained in
    :func:`minimum_spanning_forest`, except `maximum`, which asks for the maximum forest.
    """
    if weight is not WEIGHT or columns is not None:
        graph = with_weight(graph, weight, columns)
    check_named(algorithm, options)  # before the upload, so that a wrong name fails at once
    check_bools(keep_on_device=keep_on_device, profile=profile, verify=verify)
    graph = taken(graph, symmetrize=symmetrize)
    if block_points is not None:
        from clmst.blocks.placement import forest_by_blocks

        given = {
            "algorithm": algorithm, "options": options, "keep_on_device": keep_on_device,
            "profile": profile, "verify": verify, "maximum": maximum,
        }  # fmt: skip
        usual = _DEFAULTS | {"maximum": False}
        return forest_by_blocks(
            graph, block_points, device=device, devices=devices, solve=_solve_block,
            unsuitable={name: value for name, value in given.items() if value != usual[name]},
        )  # fmt: skip
    if devices is not None or isinstance(graph, DeviceParts):
        from clmst.scale.placement import forest_by_several

        found = forest_by_several(
            graph, devices, device=device, algorithm=algorithm, options=options, maximum=maximum,
            keep_on_device=keep_on_device, profile=profile, verify=verify,
        )  # fmt: skip
        if isinstance(found, Forest):
            return found
        device = found
    automatic = algorithm == "auto" and options is None and not (keep_on_device or profile)
    solve = partial(
        _solve_or_stream, graph, algorithm=algorithm, options=options, maximum=maximum,
        keep_on_device=keep_on_device, profile=profile, verify=verify, automatic=automatic,
    )  # fmt: skip
    if isinstance(graph, DeviceGraph | DeviceMatrix):
        return solve(device, or_host=False)
    # The function `on_device_or_host` has the same loop. It is not called here, because `runtime`,
    # which is a lower layer, would then call back functions of this module during a solve.
    turns = DevicesInTurn(
        device, may_pass=automatic,
        host_first=None if verify else partial(host_solves_first, graph),
        rehearsed=solve,
    )  # fmt: skip
    while turns.found is not None:
        try:
            with turns:
                return turns.with_skipped(solve(turns.found, or_host=turns.may_pass))
        except INABILITIES as error:
            turns.skip(error)
    from clmst.on_host import solve_on_host

    return solve_on_host(graph, maximum=maximum, verify=verify, way=turns.way_of_host)


def _solve_or_stream(
    graph: Any, device: Any, *, automatic: bool, maximum: bool, verify: bool,
    or_host: bool = True, **options: Any,
) -> Forest | DeviceForest:  # fmt: skip
    """Solve a graph on a device, or in parts if it does not fit there and `automatic` allows that.

    `device` is as in :func:`minimum_spanning_forest`. `automatic` is True if the call leaves the
    choice of the algorithm to clmst and wants the forest on the host. `maximum` asks for the
    maximum forest. With `verify` the forest is proved. `or_host` and `options` are further
    arguments of :func:`_solve_whole`.
    """
    try:
        return _solve_whole(
            graph, device, automatic=automatic, maximum=maximum, verify=verify, or_host=or_host,
            **options,
        )  # fmt: skip
    except OutOfDeviceMemoryError as error:
        from clmst.scale import fallback

        if not automatic:
            raise
        in_blocks = graph if isinstance(graph, Points) and not (maximum or verify) else None
        listed = fallback.streamable(graph, get_device(device))
        if listed is None and in_blocks is None:
            raise
        reason = str(error)  # a text: the error's traceback would keep buffers on the device
    if in_blocks is not None:
        from clmst.blocks.placement import forest_in_small_blocks

        return forest_in_small_blocks(in_blocks, device, solve=_solve_block, reason=reason)
    assert listed is not None, "it was raised otherwise"
    return fallback.streamed(listed, device, maximum=maximum, verify=verify, reason=reason)


def tree_of_blocks(divided: DividedPoints, points: Points, workers: Workers) -> Forest:
    """Compute the minimum spanning tree of points that are divided into blocks.

    `divided` is the division, and `points` are the points that were divided, with the core
    distances that the tree is to have. `workers` compute the trees of the blocks.
    """
    from clmst.blocks.placement import tree_of_divided

    return tree_of_divided(divided, points, workers, solve=_solve_block)


def _solve_block(points: Points, device: Any) -> Forest:
    """Compute the minimum spanning tree of points that are one block of a larger set.

    `device` is the caller's argument. If the device fails the self-tests of all algorithms, and the
    argument is not a Device but a name or None, the next device is tried.
    """
    found = on_trusted_device(
        device,
        lambda one: _solve_whole(
            points, one, algorithm="auto", options=None, maximum=False, keep_on_device=False,
            profile=False, verify=False, automatic=True, or_host=False,
        ),
    )  # fmt: skip
    assert isinstance(found, Forest), "it is not kept on a device"
    return found


def _solve_whole(
    graph: Any, device: Any, *, algorithm: str, options: object, keep_on_device: bool,
    profile: bool, verify: bool, maximum: bool, automatic: bool, or_host: bool,
) -> Forest | DeviceForest:  # fmt: skip
    """Solve a graph that fits into the memory of one device.

    `or_host` allows the host to solve a small graph although there is a device. `automatic` is
    True if the call leaves the choice of the algorithm to clmst. All other arguments are as in
    :func:`minimum_spanning_forest`.
    """
    at_once = not (keep_on_device or profile)
    if automatic and not verify and not isinstance(graph, DeviceGraph | DeviceMatrix):
        found = direct.forest_of(graph, device, maximum=maximum, host_allowed=or_host)
        if found is not None:
            return found
    behind = partial(solve_unread, algorithm=algorithm, options=options, maximum=maximum)
    behind_check = behind if at_once and not verify else None
    stored = on_device(graph, device, algorithm=algorithm, solve=behind_check)
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
