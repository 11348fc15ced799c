"""``clmst.warm``: build and test in advance everything that first calls on a device need.

The first call on a device builds programs and tests them, which takes seconds. ``warm`` makes small
calls of all usual kinds, so that later calls, in this process or another, find programs and results
of self-tests in the caches. Afterwards it builds the further programs that a table lists for first
calls (``runtime/ahead.py``).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from clmst.algorithms.families import COMPLETE, POINTS, TILES
from clmst.core.arguments import check_choice
from clmst.core.atomic_file import write_text
from clmst.core.errors import ClmstError, FileWriteError
from clmst.core.long_work import Display, LongWork
from clmst.core.machine import cache_folder, may_write
from clmst.families import BY_NAME
from clmst.route.limits import LIMITS
from clmst.runtime import ahead, program
from clmst.runtime.device import Device
from clmst.runtime.discovery import on_trusted_device
from clmst.runtime.specialisation import Prelude, Specialisation

What: TypeAlias = Literal["graphs", "points", "all"]
WHAT: tuple[What, ...] = ("graphs", "points", "all")

Call: TypeAlias = Callable[[], object]

# Names of the families of kernels for points. A family is a group of kernels with a common
# self-test. In a call about points, the self-test of one of these families runs first.
_OF_POINTS = frozenset(one.name for one in (COMPLETE, TILES, POINTS))
_SMALL = 1000  # vertices of a graph that one launch solves on a CPU
_DEGREE, _SPARSE_DEGREE = 16, 4
_EQUAL = "equal"  # of weights that are all equal
# The kinds of weights for which kernels are built: floats and integers of 64 and 32 bits, and
# numbers of 64 bits whose values fit into 32 bits.
_WEIGHTS = ("float64", "float32", "int64", "int32", "float64 of 32 bits", "int64 of 32 bits")
_FLOATS = ("float64", "float32")


@dataclass(frozen=True, slots=True, kw_only=True)
class Warmed:
    """The result of :func:`clmst.warm`: what was built, and how long that took."""

    device: Device  # the device whose programs were built
    n_built: int  # number of programs that were compiled
    n_ready: int  # number of programs that were in the caches before
    # The families of kernels that have failed their self-test on the device. Calls do not use these
    # kernels.
    refused: tuple[str, ...]
    seconds: float  # duration


def warm(what: What = "all", device: Any = None) -> Warmed:
    """Build and test all kernels that the usual first calls on a device need.

    Without it, the first call of each kind takes seconds on a new machine, with a new driver or in
    a new container. The results are kept in the caches of clmst and of the driver, so one call
    serves all later processes of the user. A second call finds everything there. If work takes more
    than a second, a line on stderr shows how far it has come.

    Parameters
    ----------
    what : {"graphs", "points", "all"}
        "graphs" are spanning forests of SciPy matrices and of lists of edges, and
        :class:`RepeatedSolver`, with weights of 32 and 64 bits. "points" are
        :class:`clmst.cluster.HDBSCAN`, with the default number of neighbours,
        :func:`clmst.cluster.single_linkage` and :func:`clmst.cluster.validity_index`, with
        Euclidean and with precomputed distances.
    device : None, str, Device or pyopencl.CommandQueue
        The device; see :func:`clmst.get_device`.

    Returns
    -------
    Warmed
        `device`, the :class:`Device`; `n_built` and `n_ready`, the numbers of programs that were
        compiled now and that were in the caches before; `refused`, the names of the families of
        kernels that are not used because the device has failed a self-test; and `seconds`. If the
        driver has a cache of its own, as NVIDIA's and PoCL, a program counts as compiled if that
        took more than 0.04 s.

    Raises
    ------
    InvalidArgumentError
        `what` is none of the three words, or no device matches the name given as `device`.
    UnsupportedDeviceError
        No usable device was found.
    FileWriteError
        The caches cannot be written, so nothing would be kept.
    OutOfDeviceMemoryError
        The device does not have enough memory. The largest call needs some 200 MB.

    Notes
    -----
    With empty caches it takes one to two minutes on two cores; a second call takes a second or two.
    Options of algorithms, primitives, maximum forests, proofs (``verify=True``) and other metrics
    are not included: their kernels are built when they are first used.

    Examples
    --------
    >>> import clmst
    >>> clmst.warm("graphs").refused
    ()
    """
    return warmed(check_choice("what", what, WHAT), device)


def warmed(what: str, device: Any, *, display: Display | None = None) -> Warmed:
    """Do the work of :func:`warm`, after checking that the cache folder can be written.

    `what` is "graphs", "points" or "all". `display` shows the progress. None means a line on
    stderr.
    """
    if not may_write(folder := cache_folder()):
        raise FileWriteError(
            f"{folder} cannot be written, so nothing is kept; CLMST_CACHE names another folder"
        )
    return on_trusted_device(device, lambda found: _warmed(what, found, display))


def _warmed(what: str, device: Device, display: Display | None) -> Warmed:
    if not program.is_shared(device.cl_device):
        raise FileWriteError(
            f"the driver of {device.description} keeps no programs; its cache must be on, and its "
            "folder writable"
        )
    began, n_before = time.perf_counter(), sum(device.built.values())
    calls = [call for name, call in calls_of(device) if what in (name, "all")]
    record = device.trust.store.folder / f"warmed-{what}.json"
    steps = _recorded(device, record, len(calls))
    is_recorded = bool(steps)
    steps = steps or [*calls, partial(_build_listed, device, what)]
    n_done = 0
    work = LongWork(
        f"building kernels of {device.name} for first calls",
        done=lambda: f"{n_done} of {len(steps)} steps",
        display=display,
    )
    with work:
        for step in steps:
            step()
            n_done += 1
        device.release_memory()
    if not is_recorded:
        _record(device, record, len(calls))
    n_built = sum(device.built.values()) - n_before
    return Warmed(
        device=device,
        n_built=n_built,
        n_ready=len(device.built) - n_built,
        refused=tuple(dict.fromkeys(one.family for one in device.trust.verdicts() if one.reason)),
        seconds=time.perf_counter() - began,
    )


def _build_listed(device: Device, what: str) -> None:
    """Build the programs that the table ``programs.json`` lists for first calls.

    `what` says which first calls: "graphs", "points" or "all". If a helper process is building one
    of the programs, wait for it.
    """
    names = BY_NAME.keys()
    families = {"points": _OF_POINTS, "graphs": names - _OF_POINTS, "all": names}[what]
    for one in ahead.specialisations(device, families):
        if one not in device.built:
            _build(device, one)


def _build(device: Device, one: Specialisation) -> None:
    device.program(one.source, one.prelude, **dict(one.defines))


# The programs of an earlier call are recorded beside the verdicts, which belong to one device, one
# driver and one version of the kernels. A later call loads these programs, and builds each program
# that is lost.


def _record(device: Device, path: Path, n_calls: int) -> None:
    programs = [(one.source, one.prelude and asdict(one.prelude), one.defines)
                for one in device.built]  # fmt: skip
    with suppress(OSError, ClmstError):  # the next call does everything again
        device.trust.store.make_folder()
        write_text(path, json.dumps({"calls": n_calls, "programs": programs}), durable=False)


def _recorded(device: Device, path: Path, n_calls: int) -> list[Call]:
    """Return functions that build the programs of an earlier call of `warm`, one per program.

    The programs are read from the record at `path`. The list is empty if the record cannot be read,
    or was written when `warm` made another number of calls than `n_calls`.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        programs = [
            Specialisation.of(source, dict(defines), prelude and Prelude(**prelude))
            for source, prelude, defines in record["programs"]
        ]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return []
    if record["calls"] != n_calls:
        return []
    return [partial(_build, device, one) for one in programs]


# ------------------------------------------------------------------------------- the calls


def calls_of(device: Device) -> Iterator[tuple[What, Call]]:
    """Yield small calls on a device that need the usual programs, each as (kind, function).

    The kind is "graphs" or "points".
    """
    for function, *arguments in _graphs():
        yield "graphs", partial(function, device, *arguments)
    for function, *arguments in _trees_of_points(device):
        yield "points", partial(function, device, *arguments)


def _graphs() -> Iterator[tuple[Any, ...]]:
    """Yield calls about graphs, each as a function and its arguments.

    They solve matrices, lists of edges, and a graph with new weights.
    """
    large = LIMITS.small_matrix // _DEGREE + 1
    sizes = ((_SMALL, _DEGREE), (large, _DEGREE), (large, _SPARSE_DEGREE))
    for size, weights in product(sizes, _WEIGHTS):
        yield _solve_matrix, _symmetric, *size, weights
    unsorted = LIMITS.small_unsorted_matrix // _DEGREE + 1
    for n, weights in product((_SMALL, large, unsorted), _FLOATS):
        yield _solve_matrix, _neighbours, n, _DEGREE, weights
    yield _solve_matrix, _neighbours, _SMALL, _DEGREE, _EQUAL
    lengths = (_SMALL, 2 * LIMITS.device_order, LIMITS.small_list + _DEGREE)
    for length, weights in product(lengths, _WEIGHTS):
        yield _solve_list, 2 * length // _DEGREE, _DEGREE, weights
    rounds = ((_SMALL, _DEGREE), (2 * LIMITS.prim, _DEGREE), (LIMITS.series, 2))
    for size, weights in product(rounds, _WEIGHTS[:4]):
        yield _solve_rounds, *size, weights


def _trees_of_points(device: Device) -> Iterator[tuple[Any, ...]]:
    """Yield calls that cluster points or distances, each as a function and its arguments.

    The calls have different sizes and dimensions, and so build different kernels of `device`.
    """
    for n, d in product((_SMALL // 2, _SMALL, 5 * _SMALL), (2, 3, 8, 64)):
        yield _cluster, n, d
    larger = [(50 * _SMALL, 2), (50 * _SMALL, 3)]
    if not device.facts.alone:  # a CPU would take long, and needs no other programs
        larger += [(50 * _SMALL, 64), (150 * _SMALL, 8)]
    yield from ((_cluster, *size) for size in larger)
    yield _cluster_distances, _SMALL // 2, True
    yield from ((_cluster_distances, n, False) for n in (_SMALL, LIMITS.one_work_group + 1))
    yield from ((_validate, 2 * _SMALL, d) for d in (2, 64))


def _solve_matrix(device: Device, make: Callable[..., Any], *arguments: Any) -> None:
    from clmst.api import minimum_spanning_forest

    minimum_spanning_forest(make(*arguments), device=device)


def _solve_list(device: Device, n: int, degree: int, weights: str) -> None:
    from clmst.api import minimum_spanning_forest
    from clmst.core.graph import Graph

    graph = Graph.from_edges(*_edges(n, degree, weights), n_vertices=n)
    minimum_spanning_forest(graph, device=device)


def _solve_rounds(device: Device, n: int, degree: int, weights: str) -> None:
    """Solve a graph under two sets of weights that differ little, so that the second solve is fast.

    The graph is the ring of :func:`_edges` with `n` vertices. `weights` is the kind of the weights.
    """
    from clmst.repeated.solver import RepeatedSolver, solve_twice

    solver = RepeatedSolver(_symmetric(n, degree, weights), device=device)
    solve_twice(solver, _weights(len(solver.edges), weights))


def _cluster(device: Device, n: int, d: int) -> None:
    _cluster_given(device, _points(n, d), "euclidean")


def _cluster_distances(device: Device, n: int, is_sparse: bool) -> None:
    from scipy import sparse

    points = _points(n, 2)
    distances = np.abs(points[:, None] - points).sum(axis=2)
    _cluster_given(device, sparse.csr_array(distances) if is_sparse else distances, "precomputed")


def _cluster_given(device: Device, given: Any, metric: str) -> None:
    from clmst.points.hdbscan import HDBSCAN
    from clmst.points.single_linkage import single_linkage

    HDBSCAN(metric=metric, device=device).fit(given)
    single_linkage(given, metric=metric, device=device)


def _validate(device: Device, n: int, d: int) -> None:
    from clmst.points.validity import validity_index

    validity_index(_points(n, d), np.arange(n) % 4, device=device)


# ------------------------------------------------------------------- arguments of the calls


def _weights(m: int, kind: str) -> np.ndarray:
    """Return `m` weights in random order.

    If `kind` is "equal", all weights are equal. Otherwise they all differ, and `kind` begins with
    the name of their dtype.
    """
    if kind == _EQUAL:
        return np.ones(m)
    rng = np.random.default_rng(m)
    if kind in _FLOATS:
        return rng.random(m).astype(kind)
    weights = rng.permutation(m).astype(kind.split(maxsplit=1)[0])
    return weights << 32 if kind == "int64" else weights


def _edges(n: int, degree: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ends u, the ends v and the weights of the edges of a ring of `n` vertices.

    Each vertex is joined to the `degree` nearest vertices on the ring. The weights are of the
    `kind` that :func:`_weights` takes. If the degree is 2, every eighth vertex is also joined to a
    distant one, as crossings in a map of roads are.
    """
    u = np.repeat(np.arange(n), degree // 2)
    v = (u + np.tile(np.arange(1, degree // 2 + 1), n)) % n
    if degree == 2:
        crossings = np.arange(0, n, 8)
        u, v = np.concatenate((u, crossings)), np.concatenate((v, (crossings + 800) % n))
    return u, v, _weights(u.size, kind)


def _symmetric(n: int, degree: int, kind: str) -> Any:
    """Return the ring of :func:`_edges` as a symmetric SciPy matrix with sorted rows.

    The arguments are the same as in :func:`_edges`.
    """
    from scipy import sparse

    u, v, weights = _edges(n, degree, kind)
    ends = np.concatenate((u, v)), np.concatenate((v, u))
    return sparse.csr_array((np.concatenate((weights, weights)), ends), shape=(n, n))


def _neighbours(n: int, degree: int, kind: str) -> Any:
    """Return a SciPy matrix that resembles a graph of nearest neighbours.

    It has `n` rows with `degree` entries each, whose columns are random and not sorted. The weights
    are of the `kind` that :func:`_weights` takes.
    """
    from scipy import sparse

    columns = np.random.default_rng(n).integers(0, n, n * degree)
    starts = np.arange(0, columns.size + 1, degree)
    return sparse.csr_array((_weights(columns.size, kind), columns, starts), shape=(n, n))


def _points(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, d))
