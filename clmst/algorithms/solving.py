"""Solve a graph on a device: choose the algorithm, enqueue it, and copy its forest to the host.

"auto" tries algorithms in order of expected speed (the `rank` in their records). Measured times are
in ``docs/algorithms.md``.
"""

from __future__ import annotations

from collections.abc import Iterator

from clmst import route
from clmst.algorithms import families
from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.shared.algorithm_record import Solve, options_for
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.algorithms.shared.solution import Solution, comes_at_once, forest_at_once, forest_of
from clmst.core.arguments import check_choice, shown
from clmst.core.errors import (
    InvalidArgumentError,
    OutOfDeviceMemoryError,
    logger,
)
from clmst.core.forest import Forest, routed
from clmst.core.graph_checks import MAX_VERTICES
from clmst.route import Way
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import gigabytes
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy
from clmst.runtime.trust import NoFamilyLeftError

# ------------------------------------------------------------------------- the choice


def check_name(name: str) -> None:
    """Raise :class:`InvalidArgumentError` unless `name` is an algorithm or "auto"."""
    if type(name) is str and (name == "auto" or name in ALGORITHMS):
        return
    fact = f"no algorithm is called {shown(name)}; there are"
    check_choice("algorithm", name, ("auto", *ALGORITHMS), fact=fact)


def check_named(name: str, options: object) -> None:
    """Raise InvalidArgumentError unless `name` is an algorithm or "auto" and the options fit it.

    The options must be an object of the algorithm's own class of options, or None.
    """
    check_name(name)
    if options is not None:
        _check_options(name, options)


def _check_options(name: str, options: object) -> None:
    """Raise InvalidArgumentError unless the options are of the class of an algorithm.

    If `name` is "auto", they may be of the class of any algorithm.
    """
    if name != "auto":
        options_for(name, ALGORITHMS[name].options, options)
    elif _chosen_by(options) is None:
        kinds = ", ".join(record.options.__name__ for record in ALGORITHMS.values())
        raise InvalidArgumentError(f"options are {shown(options)}; they must be one of {kinds}")


def choose(
    name: str,
    device: Device,
    graph: DeviceGraph | None = None,
    *,
    options: object = None,
    maximum: bool = False,
) -> tuple[str, Solve]:
    """Choose the algorithm that `name` stands for, and return its name and its solve function.

    "auto" stands for the algorithm to which the options belong. If `options` is None, "auto" stands
    for the quickest algorithm whose self-test the device passes. `maximum` asks for the maximum
    forest. If `graph` is given, the device is tested now for graphs like it, unless that was done
    before. If `graph` is None, the result is the choice for a large sparse graph.

    Raises
    ------
    InvalidArgumentError
        No algorithm is called `name`, or the options belong to another algorithm.
    NoFamilyLeftError
        The name is "auto", and the device has failed the self-tests of all algorithms.
    UnsupportedDeviceError
        The device has failed the self-test of the named algorithm.
    """
    check_name(name)
    of_options = None if options is None else _chosen_by(options)
    if name == "auto" and of_options is not None:
        name = of_options
    if name == "auto":
        name = _quickest(device, graph, maximum=maximum)
    elif graph is not None and (options is None or of_options is not None):
        families.require(name, graph, maximum=maximum, options=options)
    if graph is not None:
        logger.debug("algorithm %s on %s", name, device.description)
    return name, ALGORITHMS[name].solve


def _quickest(device: Device, graph: DeviceGraph | None, *, maximum: bool) -> str:
    """Return the first algorithm in the order of "auto" whose self-test the device has passed.

    `maximum` asks for the maximum forest. None as `graph` stands for a large sparse graph. Raises
    NoFamilyLeftError if no algorithm is trusted.
    """
    reasons = []
    for name in in_order(device, graph):
        reason = None if graph is None else families.refusal(name, graph, maximum=maximum)
        if reason is None:
            return name
        reasons.append(f"{name}: {reason}")
    raise NoFamilyLeftError(device, f"no algorithm passed its self-test ({'; '.join(reasons)})")


def in_order(device: Device, graph: DeviceGraph | None, *, n_vertices: int = 0) -> Iterator[str]:
    """Yield the algorithms that "auto" may choose, by rank, which is the expected order of speed.

    None as `graph` stands for a large sparse graph of `n_vertices` vertices. Complete graphs that
    do not list their edges are not meant here, because "dense" solves them.
    """
    policy, n = device.policy, n_vertices if graph is None else graph.n_vertices
    ranked = []
    for record in ALGORITHMS.values():  # a plain loop, since every solve executes it
        rank = record.rank
        if rank is not None:
            ranked.append((rank(policy, graph) if callable(rank) else rank, record.name))
    for _, name in sorted(ranked):
        if ALGORITHMS[name].takes(device, n):
            yield name


def _chosen_by(options: object) -> str | None:
    for record in ALGORITHMS.values():
        if type(options) is record.options:
            return record.name
    return None


def most_vertices(name: str, device: Device) -> int:
    """Return the maximum number of vertices that the algorithm `name` can solve on a device.

    The number holds for weights whose sort key, an integer that sorts as the weight does, fits 32
    bits. A larger graph is refused with an error before anything is solved.
    """
    limit = ALGORITHMS[name].most_vertices
    return MAX_VERTICES if limit is None else limit(device)


# -------------------------------------------------------------------------- the solve


def solve_graph(
    graph: DeviceGraph, launch: Launcher, *, algorithm: str, options: object, maximum: bool,
    wait: bool,
) -> Forest | DeviceForest:  # fmt: skip
    """Solve a graph that lists its edges, and return the forest.

    `algorithm` is a name or "auto"; `options` and `maximum` are as in :func:`choose`. If `wait` is
    true, the forest is a DeviceForest, whose kernels have finished. Otherwise it is a DeviceForest
    whose kernels may still run, or, if it is small, a Forest on the host.

    Raises
    ------
    OutOfDeviceMemoryError
        The error says how much memory the whole solve needs.
    """
    name, solve = choose(algorithm, graph.device, graph, options=options, maximum=maximum)
    try:
        forest = _solve_in_few_reads(
            name, solve, graph, launch, options=options, maximum=maximum, wait=wait
        )
    except OutOfDeviceMemoryError as error:
        raise with_needs(error, graph, name) from error.__cause__
    return routed(forest, way_of_steps(name, graph, algorithm=algorithm, options=options))


def _solve_in_few_reads(
    name: str, solve: Solve, graph: DeviceGraph, launch: Launcher, *, options: object,
    maximum: bool, wait: bool,
) -> Forest | DeviceForest:  # fmt: skip
    """Solve a graph by the algorithm `name`, and read from the device only once if that suffices.

    A small forest can be read to the host in one read, together with the counts that say whether
    the solve succeeded. This is done only if `wait` is False. `solve` is the function of the
    algorithm, `options` are its options, and `maximum` asks for the maximum spanning forest.
    """
    at_once = not wait and comes_at_once(graph, launch)
    if at_once:
        found = _begun(name, graph, launch, options=options, maximum=maximum)
        if found is not None:
            return found
    solution = solve(graph, launch, maximum=maximum, options=options)
    if solution.graph is not graph:  # a solve may have brought the graph into another form
        at_once = at_once and comes_at_once(solution.graph, launch)
    if at_once:
        found = forest_at_once(solution, launch, algorithm=name, maximum=maximum)
        if found is not None:
            return found
    return forest_of(solution, launch, algorithm=name, maximum=maximum, wait=wait)


def solve_unread(
    graph: DeviceGraph,
    verdict: Memory,
    *,
    algorithm: str = "auto",
    options: object = None,
    maximum: bool = False,
) -> Forest | None:
    """Solve a graph before the result of its check is known, and read both results together.

    The check of the graph's arrays has been enqueued. `verdict` is the buffer to which it writes
    the faults that it finds. `algorithm` is a name or "auto"; `options` and `maximum` are as in
    :func:`choose`. The call waits for the device. Returns None if the graph is faulty, or if the
    solve must know the result of the check before it ends.
    """
    launch = Launcher(graph.device, graph.device.queue)
    if not comes_at_once(graph, launch):
        return None
    name, _ = choose(algorithm, graph.device, graph, options=options, maximum=maximum)
    try:
        found = _begun(name, graph, launch, options=options, maximum=maximum, verdict=verdict)
    except OutOfDeviceMemoryError as error:
        raise with_needs(error, graph, name) from error.__cause__
    if found is None:
        return None
    return routed(found, way_of_steps(name, graph, algorithm=algorithm, options=options))


def way_of_steps(name: str, graph: DeviceGraph, *, algorithm: str, options: object) -> Way:
    """Return the name of the algorithm that solves a graph on a device, with the reasons for it.

    ``forest.stats["route"]`` shows this result. `name` is the chosen algorithm. `algorithm` and
    `options` are what the caller has asked for.
    """
    given = algorithm if algorithm != "auto" else None if options is None else "options"
    return route.way_of_steps(
        name, given, n_vertices=graph.n_vertices, n_slots=graph.n_slots,
        symmetric=graph.graph.is_symmetric, alone=graph.device.facts.alone,
    )  # fmt: skip


def _begun(
    name: str, graph: DeviceGraph, launch: Launcher, *, options: object, maximum: bool,
    verdict: Memory | None = None,
) -> Forest | None:  # fmt: skip
    """Solve by the algorithm `name` with a single read from the device, and return the forest.

    `options` are the options of the algorithm, and `maximum` asks for the maximum spanning forest.
    `verdict` is the buffer to which an enqueued check of the graph writes its result, or None if
    the graph is known to be valid. The call waits for the device. Returns None if the algorithm
    cannot solve this graph with a single read, or if the solve did not succeed.
    """
    begin = ALGORITHMS[name].begin
    if begin is None:
        return None
    solution = begin(graph, launch, maximum=maximum, options=options, verdict=verdict)
    if solution is None:
        return None
    return forest_at_once(solution, launch, algorithm=name, maximum=maximum)


def solution_by(
    name: str, graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object = None
) -> tuple[str, Solution]:
    """Enqueue the solve of a graph, and return the name of the algorithm and the solution.

    The solution has, on the device, a flag for each CSR entry that is in the forest. `name` may be
    "auto". `maximum` and `options` are as in :func:`choose`.
    """
    name, solve = choose(name, graph.device, graph, options=options, maximum=maximum)
    return name, solve(graph, launch, maximum=maximum, options=options)


def forest_by(
    name: str, graph: DeviceGraph, launch: Launcher, *, maximum: bool, options: object = None,
    wait: bool = True,
) -> DeviceForest:  # fmt: skip
    """Solve a graph by the algorithm `name`, or by a chosen one for "auto", and return the forest.

    `maximum` and `options` are as in :func:`choose`. The forest stays on the device. If `wait` is
    false, kernels that fill its arrays may still run on return.
    """
    name, solution = solution_by(name, graph, launch, maximum=maximum, options=options)
    return forest_of(solution, launch, algorithm=name, maximum=maximum, wait=wait)


# ------------------------------------------------------------------ the memory it needs


def bytes_needed(algorithm: str, policy: Policy, n_vertices: int, n_edges: int) -> int | None:
    """Estimate the peak of device memory that a solve needs in addition to the graph, in bytes.

    The graph has `n_vertices` vertices and `n_edges` edges. `policy` has the device's settings of
    kernels, on which the need of some algorithms depends. Returns None for an algorithm whose
    record gives no figures. This is so for "dense", which checks its memory itself. The figures in
    the records are measured by tests/algorithms/test_memory_needs.py.
    """
    needs = ALGORITHMS[algorithm].bytes_needed
    needs = needs(policy) if callable(needs) else needs
    return None if needs is None else needs[0] * n_vertices + needs[1] * n_edges


def with_needs(
    error: OutOfDeviceMemoryError, graph: DeviceGraph, algorithm: str
) -> OutOfDeviceMemoryError:
    """Return `error` with a message that also says how much memory the solve needs.

    The message also says what would be possible: a graph of some smaller size, or an algorithm that
    needs less memory. The error was raised while `algorithm` solved `graph`. It is returned
    unchanged if it is not known how much memory the algorithm needs.
    """
    n, m = graph.n_vertices, graph.edge_bound
    policy = graph.device.policy
    needed = bytes_needed(algorithm, policy, n, m)
    if needed is None:
        return error
    word = graph.encoded.encoding.word.itemsize
    stored = 4 * (n + 1) + (4 + word) * graph.n_slots
    memory = graph.device.capabilities.global_memory
    facts = [
        str(error),
        f"{algorithm!r} needs about {gigabytes(needed)} for {n} vertices and {m} edges, beside "
        f"{gigabytes(stored)} for the graph",
    ]
    if needed + stored > memory:
        facts.append(
            f"a graph of this average degree fits with up to {m * memory // (needed + stored)} "
            "edges or so"
        )
    offered = [name for name, record in ALGORITHMS.items() if record.takes_any_graph]
    needs = {name: bytes_needed(name, policy, n, m) for name in offered}
    least, name = min((need, name) for name, need in needs.items() if need is not None)
    if least < needed:
        facts.append(f"{name!r} needs least, about {gigabytes(least)}")
    return OutOfDeviceMemoryError("; ".join(facts))
