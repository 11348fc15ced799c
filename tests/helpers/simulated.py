"""Solve small graphs of every kind inside Oclgrind, in one variant of its device.

``tests/whole/test_oclgrind.py`` starts it as ``python -m tests.helpers.simulated SHAPE [brief]
[CAPABILITY ...]`` in a process where Oclgrind is the only driver. The capabilities are forced off.
It prints the names of the graphs whose forests are wrong. With ``faults`` as the shape, it runs a
kernel that does everything wrong. With ``hashes``, it prints which forests have other hashes than
the table says.

With ``brief``, as in the standard run, each family of kernels has one graph for each kind of
launches that it has (`BRIEF_CASES`), and each algorithm one graph for each set of options that
changes its kernels (`BRIEF_RUNS`). What is left out repeats those kernels for weights of another
width, for the maximum, and on other graphs. Without 64-bit atomics, only what reserves edges runs.
What takes long runs in one of the two shapes only: `BRIEF_RUNS` in the shape of a GPU, and repeated
solves, solves by several devices and streams in the shape of a CPU. The two shapes take turns among
the sets and schedules of edge-parallel, the steps of ECL-MST's ablation and the cases of canonical
order (`in_turn`).
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, get_args

import numpy as np
import pyopencl as cl

import clmst
from clmst import (
    BoruvkaOptions,
    DenseOptions,
    Device,
    EclOptions,
    EdgeParallelOptions,
    FilterBoruvkaOptions,
    Graph,
    PmaOptions,
    PrimBoruvkaOptions,
    PrimOptions,
)
from clmst.algorithms import matrix_self_test, points_self_test, self_test
from clmst.algorithms.edge_parallel import Schedule, UnionFind
from clmst.algorithms.edge_stream import self_test as edge_stream_self_test
from clmst.algorithms.families import (
    CANONICAL_CSR,
    COMPLETE,
    COMPLETE_PROOF,
    CORE_NUMBERS,
    CSR_VALIDATION,
    DENDROGRAM,
    EDGE_PASSES,
    EDGE_STREAM,
    EQUAL_WEIGHTS,
    POINTS,
    PROOF,
    SMALL_MATRIX,
    TILES,
    family_of,
    with_options,
)
from clmst.algorithms.filter_boruvka import Launches
from clmst.algorithms.filter_boruvka import gpu as filter_boruvka
from clmst.algorithms.filter_boruvka import workspace as filter_boruvka_workspace
from clmst.algorithms.parts import union
from clmst.algorithms.proof import self_test as proof_self_test
from clmst.algorithms.reweighting import sensitivity
from clmst.algorithms.reweighting.series import contract_series
from clmst.algorithms.shared.self_test_cases import DIRECTED
from clmst.algorithms.small_matrix import solve as small_matrix
from clmst.core import known_graphs
from clmst.core.weight_keys import Array
from clmst.primitives import radix
from clmst.repeated.several_devices import SeveralDevices
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.kernel_family import Case, KernelFamily
from clmst.runtime.launcher import Launcher
from tests.conftest import SHARED_DATA
from tests.helpers.bounds import bounds
from tests.helpers.forests import solve
from tests.helpers.oclgrind import POLICIES, allocate_exactly, large_buffers, only_device
from tests.prove import hashes

Choice = TypeVar("Choice")


def small_cases() -> Iterator[tuple[str, Graph]]:
    """Yield the small cases of other projects, if the folder of shared data is there."""
    file = SHARED_DATA / "small_cases.json"
    for case in json.loads(file.read_text(encoding="utf-8")) if file.exists() else []:
        if "expected_weight" in case:
            u, v, w = np.array(case["edges"]).reshape(-1, 3).T
            yield case["id"], Graph.from_edges(u.astype(int), v.astype(int), w, case["n"])


# Numbers of vertices, of edges of the hub and of all edges of `hub`. In the shape `gpu` the row of
# the hub is longer than a work-group. In other shapes there are more vertices than work-items in a
# work-group, of which there are at most 64.
HUBS = {"gpu": (80, 270, 500), "gpu-shape": (70, 70, 150), "cpu": (70, 110, 230)}
# Numbers of points: more than a leaf of boxes has, or than a work-group of 64 work-items.
POINTS_OF_SHAPE = {"gpu": 45, "gpu-shape": 70, "cpu": 70}
_hub_of_shape = HUBS["gpu"]
_is_brief = False


def in_turn(choices: Iterable[Choice], shape: str) -> list[Choice]:
    """Return the choices of options that a shape takes: in a brief run, every second one.

    The shapes of a CPU and of a GPU, which run one after the other, together take all of them.
    """
    return [*choices][shape != "cpu" :: 2] if _is_brief else [*choices]


def hub(weights: np.dtype[Any], *sizes: int) -> Graph:
    """Return a graph with a long row, loops, parallel edges, and enough edges for the filter."""
    n, spokes, m = sizes or _hub_of_shape
    rng = np.random.default_rng(3)
    u = np.concatenate([np.zeros(spokes, int), rng.integers(1, n, m - spokes)])
    v = rng.integers(1, n, m)
    w = rng.integers(0, 60, m).astype(weights)
    if weights == np.float64:
        w += np.spacing(64.0) * rng.integers(0, 3, m)  # values that do not fit into 32 bits
    return Graph.from_edges(u, v, w, n_vertices=n + 3)


def is_right(forest: Any, graph: Graph, *, maximum: bool = False) -> bool:
    """Return whether a forest has the edges that the oracle finds."""
    return np.array_equal(forest.edge_ids, clmst.kruskal(graph, maximum=maximum).edge_ids)


def small_hub(weights: np.dtype[Any]) -> Graph:
    """Return a hub with two fifths of the edges and half of the vertices."""
    return hub(weights, 40, 100, 200)


def chain(n: int = 150) -> Graph:
    """Return a graph of degree 2, which hooks into one long tree."""
    return Graph.from_edges(np.arange(n - 1), np.arange(1, n), np.arange(n - 1) % 7)


Run: TypeAlias = tuple[str, Graph, Any, bool]  # name, graph, options, whether a maximum


def filter_by(launches: Launches, *targets: float) -> FilterBoruvkaOptions:
    return FilterBoruvkaOptions(launches=launches, targets=targets)


def runs(shape: str, *without: str) -> Iterator[Run]:
    """Yield what to solve.

    There are many launches, so for unusual ways a graph with two levels is enough. Work-groups of
    the shape `gpu` have hundreds of work-items, and otherwise equal `gpu-shape`. Therefore
    each algorithm has only one run in this shape.
    """
    narrow, wide = (hub(np.dtype(dtype)) for dtype in (np.int32, np.float64))
    rows, wide_rows = narrow.symmetrised(), wide.symmetrised()
    pma, prim, few = PmaOptions, PrimOptions, shape == "gpu"
    most: list[Run] = []
    if "int64-atomics" not in without:  # none of these kernels depends on them
        yield "hub by primitives", narrow, BoruvkaOptions(), False
        yield "hub by trees", narrow, pma(variant="hybrid", gamma=5), False
        yield "hub by heap", narrow, prim(queue="heap", components="apart"), False
        paper = BoruvkaOptions(numbering="split", duplicates="split")
        kept = pma(variant="min", gamma=3, remove_parallel=False)
        array = PrimBoruvkaOptions(rounds=1, prim=prim(queue="array", components="apart"))
        most += [
            ("chain by primitives", chain(100), BoruvkaOptions(duplicates="keep"), False),
            ("hub of doubles by the paper", small_hub(np.dtype(np.float64)), paper, True),
            # These cases have rows in both orders, and trees that touch others, become full, or
            # have no more edges.
            ("chain by trees", chain(), pma(), False),
            ("hub of doubles by trees", wide, kept, True),
            ("hub by array", narrow, array.prim, True),
            ("hub of doubles by array", wide, prim(queue="array"), False),
            ("hub of doubles by heap", wide, prim(queue="heap"), True),
            ("hub by Borůvka and heap", narrow, PrimBoruvkaOptions(rounds=1), False),
            ("chain by Borůvka and array", chain(), array, False),
        ]
    no_edge = Graph.from_edges([], [], np.array([], np.int32), n_vertices=5).symmetrised()
    yield "hub by rows", rows, filter_by("separate", 0.5), False
    most += [
        ("hub by slots", narrow, filter_by("separate", 0.5), True),
        ("hub by rows, mixed", rows, filter_by("mixed", 0.5), True),
        ("hub by slots, mixed", narrow, filter_by("mixed"), False),
        ("hub by rows, resident", rows, filter_by("resident", 0.25, 0.5), False),
        ("hub by slots, resident", narrow, filter_by("resident", 0.5), False),
        ("chain by rows, resident", chain().symmetrised(), filter_by("resident"), False),
        ("hub of doubles by rows, resident", wide_rows, filter_by("resident", 0.05, 0.5), False),
        # The fraction is so small that each key of the sample is the minimum of several slots.
        ("hub by rows, few edges first", rows, filter_by("separate", 0.02), False),
        ("no edges by rows", no_edge, filter_by("separate"), False),
        ("no edges by rows, resident", no_edge, filter_by("resident"), False),
    ]
    if shape == "cpu":  # its work-groups have one work-item in any case
        plain = FilterBoruvkaOptions(shape="cpu")
        windows = FilterBoruvkaOptions(shape="cpu", targets=(0.5, 1.5))
        for graph, both in ((narrow, rows), (wide, wide_rows)):
            title = f"hub of {graph.weights.dtype}, CPU shape"
            yield title, graph, plain, graph is narrow
            yield f"{title}, by rows", both, windows, False
        yield "chain, CPU shape", chain(), plain, False
    for union_find in in_turn(get_args(UnionFind), shape):
        sets = EdgeParallelOptions(union_find=union_find)
        yield f"hub by {union_find} sets", narrow, sets, True
        most.append((f"hub of doubles by {union_find} sets", wide_rows, sets, False))
        most.append((f"chain by {union_find} sets", chain(), sets, False))
    for schedule in in_turn(get_args(Schedule)[1:], shape):
        taken = EdgeParallelOptions(schedule=schedule)
        yield f"hub by a {schedule} schedule", narrow, taken, True
        most.append((f"hub of doubles by a {schedule} schedule", wide_rows, taken, False))
    yield "chain", chain(), EclOptions(), False
    for dtype in (np.int32, np.float64, np.uint8):
        yield f"hub of {dtype.__name__}", hub(np.dtype(dtype)), EclOptions(), dtype is np.uint8
    yield "hub, both directions stored", rows, EclOptions(), True
    for title, options in in_turn(EclOptions.ablation()[1:], shape):
        yield title, narrow, options, False
    most += [(name, graph, EclOptions(), False) for name, graph in small_cases()]
    if _is_brief:
        most = [one for one in most if one[0] in BRIEF_RUNS and shape != "cpu"]
    yield from most if not few else ()


def give_up(device: Device) -> Iterator[str]:
    """Yield what goes wrong if resident work-groups give up at their first barrier.

    Solves of other graphs on the device must then do without resident launches, and one warning
    must say so.
    """
    graph = hub(np.dtype(np.int32)).symmetrised()
    options = filter_by("resident", 0.5)
    resident = clmst.to_device(graph, device)
    ways, told = [], list[str]()
    for _ in range(3):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            forest = clmst.minimum_spanning_forest(resident, options=options)
        told += [str(one.message) for one in caught]
        ways.append(forest.stats["launches_as"])
        if not is_right(forest, graph):
            yield "hub by rows, given up" if len(ways) > 1 else "hub by rows, not given up"
        (workspace,) = resident.plans.values()
        # The state that grid_barrier of cl/device/resident.cl leaves: GAVE_UP, and the word for the
        # host. All words are written, since otherwise Oclgrind forgets the rest of the buffer.
        state = np.zeros(filter_boruvka_workspace.STATE_WORDS, np.uint32)
        state[:2] = 1 << 31, 1
        Launcher(device, device.queue).write(workspace.state, state)
        if len(ways) > 1:
            resident.plans.clear()  # the next solve is like a solve of another graph
    if ways != ["resident", "separate", "separate"]:
        yield f"launches went as {ways}"
    if [one.endswith("takes longer for small graphs") for one in told] != [True]:
        yield f"the warnings are {told}"
    device.groups_may_wait = True


def shrink_known_graphs() -> None:
    """Make the graphs of self-tests tiny: 46 vertices, or 84, which are two work-groups."""
    known_graphs.SCALES.update({"small": 2, "heavy": 2, "large": 2})
    self_test.SIZES, proof_self_test.SIZES = ("small",), ("tiny",)  # type: ignore[attr-defined]
    for module in (points_self_test, proof_self_test):
        module.VERTICES = (16,)  # type: ignore[attr-defined]
    points_self_test.TILED = ((140, 5),)
    edge_stream_self_test.CHUNKED = (("tiny", 15),)
    matrix_self_test.SMALL = ("tiny",)


def points_case(**facts: Any) -> Case:
    known: dict[str, Any] = {"metric": "euclidean", "dimension_class": 2}
    return Case(64, "float", maximum=False, **(known | facts))


# Cases of a family in place of its usual ones, so that all kernels run with few launches.
CASES: dict[KernelFamily, tuple[Hashable, ...]] = {
    COMPLETE: (
        *COMPLETE.cases,
        points_case(),
        points_case(metric="great-circle"),
        with_options(DIRECTED[0], DenseOptions(reread="all")),
    ),
    # The cases have neighbour lists in registers and in memory.
    POINTS: (
        *POINTS.cases,
        points_case(core=True),
        points_case(neighbours=4),
        points_case(neighbours=32),
    ),
    PROOF: PROOF.cases[1:3],
    COMPLETE_PROOF: (DIRECTED[0], points_case()),
}


# The cases of a brief run in place of those: a case for each kind of launches. For families with
# one kind, it is the first case.
BRIEF_CASES: dict[KernelFamily, tuple[Hashable, ...]] = {
    COMPLETE: (COMPLETE.cases[0], points_case()),
    # Three cases: points by boxes with core distances, points by one work-group, and neighbour
    # lists in registers. The shape of a CPU takes the first and last.
    POINTS: (points_case(core=True), POINTS.cases[-1], points_case(neighbours=4)),
    DENDROGRAM: DENDROGRAM.cases,
    EDGE_STREAM: EDGE_STREAM.cases[-1:],
    SMALL_MATRIX: SMALL_MATRIX.cases,
}
# The runs of a brief run in the shape of a GPU, beside those that every shape has.
BRIEF_RUNS = (
    "chain by trees",
    "hub by array",
    "hub by Borůvka and heap",
    "hub by slots, mixed",
    "hub by rows, resident",
    "hub of doubles by rows, resident",
    "no edges by rows",
)


def cases_of(family: KernelFamily, shape: str) -> Iterable[Hashable]:
    """Return the cases of a family that run."""
    every = CASES.get(family, family.cases)
    if family is CANONICAL_CSR:
        return in_turn(every, shape)
    some = BRIEF_CASES.get(family, every[:1]) if _is_brief else every
    return in_turn(some, shape) if family is POINTS else some


def family_wrongs(device: Device, *families: KernelFamily) -> Iterator[str]:
    """Yield the failures of families of kernels in their own self-tests with tiny graphs."""
    for family in families:
        shape = "cpu" if device.policy.work_group_size == 1 else "gpu"
        for case in cases_of(family, shape) if family.suits(device) else ():
            if (failure := family.failure(device, case)) is not None:
                yield f"{family.name}, {case}: {failure}"


def dense_wrongs(device: Device, shape: str) -> Iterator[str]:
    """Yield the failures of `dense` with complete graphs, and with matrices built from graphs."""
    if not _is_brief:
        yield from family_wrongs(device, COMPLETE)
    # In small graphs, like all here, both ends of an edge share a word.
    with bounds(dense_short_ids=4):
        yield from family_wrongs(device, COMPLETE, family_of("dense"))
    if shape == "gpu-shape" and os.environ.get("OCLGRIND_UNINITIALIZED") == "1":
        return  # with that check, tiles of work-groups end the process by a segmentation fault
    yield from family_wrongs(device, TILES)


def core_wrongs(device: Device) -> Iterator[str]:
    """Yield the failures of core numbers, with cascades that are cut short."""
    with bounds(k_core_capacity=2, k_core_serial_budget=20, k_core_group_budget=2):
        yield from family_wrongs(device, CORE_NUMBERS)


def repeated_wrongs(device: Device) -> Iterator[str]:
    """Yield the failures of repeated solves, in both orders, with weights from host and device."""
    cases = [
        ("in order", hub(np.dtype(np.float32), 130, 70, 150), True),
        ("of doubles in disorder", hub(np.dtype(np.float64)), False),
        ("in disorder", small_hub(np.dtype(np.float32)), False),
        ("of doubles in order", small_hub(np.dtype(np.float64)), True),
    ]
    for name, graph, in_order in cases[2:] if _is_brief else cases:
        u, v, w, ids = graph.edges()
        order = np.arange(ids.size) if in_order else np.argsort(ids)
        weights, first, second = w[order], u[order], v[order]
        listed = Graph.from_edges(first, second, weights, n_vertices=graph.n_vertices)
        solver = clmst.RepeatedSolver(listed, devices=device)
        for given in (weights, clmst.DeviceArray.from_host(weights, device)):
            if not is_right(solver.solve(given), listed):
                yield f"repeated {name}"
        changed = weights.copy()
        changed[[5, 9, 7]] = 0.125, 0.25, 0.375
        new = listed.replace(weights=changed[listed.edge_ids])
        if not is_right(solver.update([9, 5, 7, 9], [55.5, 0.125, 0.375, 0.25]), new):
            yield f"changed {name}"
        changed[[11, 13]] = np.nan
        try:
            solver.solve(clmst.DeviceArray.from_host(changed, device))
            yield f"NaN {name} is not found"
        except clmst.InvalidGraphError as error:
            if "edge 11 is NaN" not in str(error):
                yield f"another NaN {name} is found"


def warm_wrongs(device: Device) -> Iterator[str]:
    """Yield the failures of solves that reuse what earlier rounds have settled."""
    sensitivity._CUTS = 3
    rng = np.random.default_rng(0)
    graph = hub(np.dtype("f8"), 40, 90, 150)
    with clmst.RepeatedSolver(graph, devices=device) as solver:
        weights = np.exp2(rng.uniform(0, 8, solver.n_edges))
        for share in (0.01, 0.3) if _is_brief else (0.01, 0.01, 0.01, 0.3):
            weights *= 1 + share * rng.random(solver.n_edges)
            u, v = np.maximum(solver.edges, 0).T
            listed = Graph.from_edges(u, v, weights, n_vertices=graph.n_vertices)
            if not is_right(solver.solve(weights), listed):
                yield f"warm start, moved by {share}"


def chain_wrongs(device: Device) -> Iterator[str]:
    """Yield the failures of solves by series contraction."""
    rng = np.random.default_rng(1)
    launch = Launcher(device, device.queue)
    for n, m in ((60, 70),) if _is_brief else ((60, 30), (60, 70)):
        u, v = rng.integers(0, n, (2, m))
        graph = Graph.from_edges(u, v, rng.integers(0, 9, m).astype("f4"), n_vertices=n)
        resident = replace(DeviceGraph.upload(graph, device), rows=device.upload(graph.rows))
        candidates = contract_series(resident, launch)
        workspace = filter_boruvka_workspace.Workspace(
            resident, launch, maximum=False, options=FilterBoruvkaOptions(), candidates=candidates
        )
        run = filter_boruvka.begin_candidates(resident, workspace, launch)
        slots = np.flatnonzero(run.in_forest.to_host())
        assert graph.edge_ids is not None
        right = clmst.kruskal(graph).edge_ids
        if not run.is_done() or not np.array_equal(graph.edge_ids[slots], right):
            yield f"chains of {n} vertices, {m} edges"


def stream_wrongs(device: Device) -> Iterator[str]:
    """Yield the failures of streams of edges whose ids do not rise.

    Small buffers are used, since the usual ones, of a million edges, are never released here and
    make each later launch take many times as long.
    """
    n, m = 34, 200
    ids = np.arange(m)
    for dtype, maximum in (("uint32", False), ("float64", True))[_is_brief:]:
        u, v, w = ids * 7 % n, ids * ids % 31, (ids * 31 % 97).astype(dtype)
        halves = [(u[half], v[half], w[half], half) for half in np.split(ids, 2)]
        with bounds(stream_opens_from=0, stream_rows=128):
            found = clmst.stream_minimum_spanning_forest(
                halves[::-1], n, device=device, maximum=maximum, n_edges=m
            )
        right = clmst.kruskal(Graph.from_edges(u, v, w, n), maximum=maximum)
        if found != right or found.stats["edges_on_device"] != m:
            yield f"stream of {dtype} with ids that do not rise"


def move_whole(copies: Any, source: Device, target: Device, **_: Any) -> None:
    """Move buffers like `peer_copy.move`, but write whole buffers.

    Oclgrind treats what is written behind an offset as uninitialised.
    """
    for one in copies:
        sent, whole = np.empty(one.n_bytes, np.uint8), np.empty(one.target.size, np.uint8)
        if sent.size:
            Launcher(source, source.queue).read(one.source, sent, offset=one.begin)
            Launcher(target, target.queue).read(one.target, whole)
            whole[one.offset : one.offset + sent.size] = sent
            Launcher(target, target.queue).write(one.target, whole)


def work_in_turn(executor: SeveralDevices, _threads: Any, work: Any) -> list[Any]:
    """Work like `SeveralDevices._together`, but in one thread. Oclgrind does not survive two."""
    return [work(place) for place in range(len(executor.workers))]


def several_wrongs(device: Device) -> Iterator[str]:
    """Yield the failures of a solve by two devices, which are the same device, with merged lists.

    Both share a context, since each context writes Oclgrind's log from the beginning.
    """
    union.move = move_whole  # type: ignore[assignment, attr-defined]
    SeveralDevices._together = work_in_turn  # type: ignore[method-assign, assignment]
    graph = hub(np.dtype(np.float32), 120, 110, 230)
    u, v, w, ids = graph.edges()
    other = replace(device.policy, groups_per_compute_unit=5)
    twins = [
        device,
        Device(device.cl_device, queue=device.queue, without=device.without, tuning=other,
               _trusted=True),
    ]  # fmt: skip
    orders = ("in order", np.arange(ids.size)), ("in disorder", np.argsort(ids))
    for name, order in orders[_is_brief:]:
        listed = Graph.from_edges(u[order], v[order], w[order], n_vertices=graph.n_vertices)
        with clmst.RepeatedSolver(listed, devices=twins, strategy="split") as solver:
            if not is_right(solver.solve(w[order]), listed):
                yield f"several devices {name}"


# Reads memory that was never written, writes beyond the buffer, has races, and has a barrier that
# not all work-items reach.
FAULTY = """
kernel void faulty(global uint *values, local uint *scratch) {
  values[0] = get_local_id(0);
  if (values[1] > 5) values[2] = 1;
  values[4 + get_local_id(0)] = 1;
  if (get_local_id(0) == 0) barrier(CLK_LOCAL_MEM_FENCE);
}
"""


def run_faulty(device: Device) -> None:
    program = cl.Program(device.context, FAULTY).build()
    values = allocate_exactly(device, 16)
    program.faulty(device.queue, (2,), (2,), values, cl.LocalMemory(8))
    device.queue.finish()


def uploaded(device: Device, array: Array) -> Any:
    """Return a copy of an array.

    In the array itself, Oclgrind would treat everything as uninitialised.
    """
    memory = allocate_exactly(device, array.nbytes)
    cl.enqueue_copy(device.queue, memory, array)
    return memory


def small_matrix_wrongs(device: Device) -> Iterator[str]:
    """Yield the failures of the single launch for small matrices, valid and faulty ones."""
    # Another device would have a context of its own, which would begin another log.
    device.capabilities = replace(device.capabilities, host_arrays="wrapped")
    small_matrix.in_place = uploaded  # type: ignore[attr-defined]
    yield from family_wrongs(device, SMALL_MATRIX)


# Tiny inputs of the table of hashes. There is one for each width of weights, because building
# programs takes most of the time. Algorithms that take many launches, which is half a minute, only
# solve the first input.
HASHED = {
    "uniform, any bits u1, tiny": "minimum",
    "path, ruler f4, tiny": "maximum",
    "uniform, any bits f8, tiny": "minimum",
}
LONG = {"boruvka", "pma", "prim-boruvka"}


def hashed(device: Device) -> dict[str, Any]:
    """Return the number of forests that were hashed, and the hashes that differ from the table."""
    samples = dict(hashes.inputs("tiny"))
    differing, forests = [], 0
    for name, order in HASHED.items():
        graph = hashes.graph_of(samples[name])
        left_out = LONG if forests else set()
        for algorithm in set(hashes.algorithms_for(samples[name], device)) - left_out:
            forests += 1
            if hashes.hash_on(graph, order, algorithm, device) != hashes.committed()[name][order]:
                differing.append([name, order, algorithm])
    return {"forests": forests, "differing": differing}


def main(shape: str, *without: str) -> None:
    global _hub_of_shape, _is_brief  # noqa: PLW0603 - one shape a process
    _is_brief, without = "brief" in without, tuple(one for one in without if one != "brief")
    simulator = only_device()
    if shape == "faults":
        run_faulty(simulator)
        return
    of_hashes = shape == "hashes"
    shape = "gpu-shape" if of_hashes else shape
    _hub_of_shape = HUBS[shape]
    # Radix sort by one work-item takes a fifteenth of the time here. Sorting by a work-group, with
    # barriers and local memory, is checked in `tests/primitives/test_oclgrind.py`.
    tuning = POLICIES[shape].with_constants({radix.WORK_ITEMS: 1})
    device = Device(simulator.cl_device, without=without, tuning=tuning, _trusted=True)
    device.check_usable()
    # All samples are compared with one another, which an interpreter does slowly.
    samples = max(64, device.policy.work_group_size)
    filter_boruvka_workspace.SAMPLES = samples
    if of_hashes:
        print(json.dumps(hashed(device)))
        return
    shrink_known_graphs()
    with bounds(
        prim_steps=1000, weights_checked_from=0, warm_from=1, warm_most_left=100, range_step=16
    ):
        print(json.dumps([*wrongs(device, shape, *without), *large_buffers()]))


def other_wrongs(device: Device, shape: str, *, has_atomics: bool) -> Iterator[str]:
    """Yield the failures of kernels that a solve of a graph does not run.

    A brief run leaves most of them to one of the two shapes.
    """
    of_cpu, of_gpu = (shape == one or not _is_brief for one in ("cpu", "gpu-shape"))
    if of_gpu:
        yield from warm_wrongs(device)
        yield from chain_wrongs(device)
        yield from family_wrongs(device, PROOF)
    if of_cpu:
        yield from family_wrongs(device, COMPLETE_PROOF, EDGE_STREAM)
    if not has_atomics:
        return  # none of the following kernels depends on other capabilities
    if of_cpu:
        yield from core_wrongs(device)
        yield from repeated_wrongs(device)
        yield from several_wrongs(device)
        yield from stream_wrongs(device)
        yield from family_wrongs(device, EQUAL_WEIGHTS)
    if of_gpu:
        yield from family_wrongs(device, EDGE_PASSES, CSR_VALIDATION)
    yield from family_wrongs(device, CANONICAL_CSR)


def wrongs(device: Device, shape: str, *without: str) -> Iterator[str]:
    """Yield the names of everything that is wrong."""
    has_atomics = "int64-atomics" not in without
    if shape == "gpu-shape" and not _is_brief:
        yield from give_up(device)
    yield from dense_wrongs(device, shape)
    if has_atomics or not _is_brief:
        with bounds(known_points=(POINTS_OF_SHAPE[shape],)):
            yield from family_wrongs(device, POINTS)
    if has_atomics:
        yield from family_wrongs(device, DENDROGRAM)
    if shape != "gpu" and (has_atomics or not _is_brief):  # "gpu" differs from "gpu-shape" in sizes
        yield from other_wrongs(device, shape, has_atomics=has_atomics)
    for name, graph, options, maximum in runs(shape, *without):
        with bounds(marked_from=0):  # as for large graphs
            forest = solve(graph, device, maximum=maximum, options=options)
        if not is_right(forest, graph, maximum=maximum):
            yield name
    if shape == "cpu" and has_atomics:  # last, because it changes the device
        yield from small_matrix_wrongs(device)


if __name__ == "__main__":
    main(*sys.argv[1:])
