"""What runs inside Oclgrind: small graphs of every kind, solved in one variant of its device.

Started by ``tests/whole/test_oclgrind.py`` as ``python -m tests.helpers.simulated SHAPE
[CAPABILITY ...]`` in a process where Oclgrind is the only driver; the capabilities are
forced off. Prints the names of the graphs whose forests came out wrong. With ``faults`` for a
shape it runs a kernel that does everything wrong; with ``hashes`` it prints which forests have
other hashes than the table says.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias, get_args

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
from clmst.algorithms.edge_parallel import UnionFind
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
from clmst.algorithms.filter_boruvka import gpu_launches as filter_boruvka
from clmst.algorithms.filter_boruvka import plan as filter_boruvka_plan
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


def small_cases() -> Iterator[tuple[str, Graph]]:
    """Yield the small cases of other projects, where the folder of shared data is at hand."""
    file = SHARED_DATA / "small_cases.json"
    for case in json.loads(file.read_text(encoding="utf-8")) if file.exists() else []:
        if "expected_weight" in case:
            u, v, w = np.array(case["edges"]).reshape(-1, 3).T
            yield case["id"], Graph.from_edges(u.astype(int), v.astype(int), w, case["n"])


# Vertices, edges of the hub and edges of `hub`: in the shape `gpu` its row is longer than a
# work-group, in the others there are more vertices than a work-group has work-items, 64 at most.
HUBS = {"gpu": (80, 270, 500), "gpu-shape": (70, 70, 150), "cpu": (70, 110, 230)}
# Points: more than a leaf of boxes has, and than a work-group of 64 work-items.
POINTS_OF_SHAPE = {"gpu": 45, "gpu-shape": 70, "cpu": 70}
_hub_of_shape = HUBS["gpu"]


def hub(weights: np.dtype[Any], *sizes: int) -> Graph:
    """Return a row of several pieces, loops, parallel edges, and enough edges for the filter."""
    n, spokes, m = sizes or _hub_of_shape
    rng = np.random.default_rng(3)
    u = np.concatenate([np.zeros(spokes, int), rng.integers(1, n, m - spokes)])
    v = rng.integers(1, n, m)
    w = rng.integers(0, 60, m).astype(weights)
    if weights == np.float64:
        w += np.spacing(64.0) * rng.integers(0, 3, m)  # what no 32 bits hold
    return Graph.from_edges(u, v, w, n_vertices=n + 3)


def is_right(forest: Any, graph: Graph, *, maximum: bool = False) -> bool:
    """Return whether a forest has the edges that the oracle finds."""
    return np.array_equal(forest.edge_ids, clmst.kruskal(graph, maximum=maximum).edge_ids)


def small_hub(weights: np.dtype[Any]) -> Graph:
    """Return a hub of two fifths of the edges and half of the vertices."""
    return hub(weights, 40, 100, 200)


def chain(n: int = 150) -> Graph:
    """Return a graph of degree 2, which hooks into one long tree."""
    return Graph.from_edges(np.arange(n - 1), np.arange(1, n), np.arange(n - 1) % 7)


Run: TypeAlias = tuple[str, Graph, Any, bool]  # by options, which tell the algorithm; a maximum?


def filter_by(launches: Launches, *targets: float) -> FilterBoruvkaOptions:
    return FilterBoruvkaOptions(launches=launches, targets=targets)


def runs(shape: str, *without: str) -> Iterator[Run]:
    """Yield what to solve.

    Launches are many: what has two levels is enough for the ways that are not the usual ones.
    Work-groups of the shape `gpu` are of hundreds, and differ from those of `gpu-shape` in nothing
    else: there each algorithm has one run.
    """
    narrow, wide = (hub(np.dtype(dtype)) for dtype in (np.int32, np.float64))
    rows, wide_rows = narrow.symmetrised(), wide.symmetrised()
    pma, prim, few = PmaOptions, PrimOptions, shape == "gpu"
    most: list[Run] = []
    if "int64-atomics" not in without:  # no kernel of these looks at them: programs are the same
        yield "hub by primitives", narrow, BoruvkaOptions(), False
        yield "hub by trees", narrow, pma(variant="hybrid", gamma=5), False
        yield "hub by heap", narrow, prim(queue="heap", components="apart"), False
        paper = BoruvkaOptions(numbering="split", duplicates="split")
        kept = pma(variant="min", gamma=3, remove_parallel=False)
        array = PrimBoruvkaOptions(rounds=1, prim=prim(queue="array", components="apart"))
        most += [
            ("chain by primitives", chain(100), BoruvkaOptions(duplicates="keep"), False),
            ("hub of doubles by the paper", small_hub(np.dtype(np.float64)), paper, True),
            # Rows in both orders, trees that touch, fill up and finish.
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
        # Shares so small that each key of the sample is the least of several slots.
        ("hub by rows, few edges first", rows, filter_by("separate", 0.02), False),
        ("no edges by rows", no_edge, filter_by("separate"), False),
        ("no edges by rows, resident", no_edge, filter_by("resident"), False),
    ]
    if shape == "cpu":  # its work-groups are of one work-item whatever the shape
        plain = FilterBoruvkaOptions(shape="cpu")
        windows = FilterBoruvkaOptions(shape="cpu", targets=(0.5, 1.5))
        for graph, both in ((narrow, rows), (wide, wide_rows)):
            title = f"hub of {graph.weights.dtype}, CPU shape"
            yield title, graph, plain, graph is narrow
            yield f"{title}, by rows", both, windows, False
        yield "chain, CPU shape", chain(), plain, False
    for union_find in get_args(UnionFind):
        sets = EdgeParallelOptions(union_find=union_find)
        yield f"hub by {union_find} sets", narrow, sets, True
        most.append((f"hub of doubles by {union_find} sets", wide_rows, sets, False))
        most.append((f"chain by {union_find} sets", chain(), sets, False))
    yield "chain", chain(), EclOptions(), False
    for dtype in (np.int32, np.float64, np.uint8):
        yield f"hub of {dtype.__name__}", hub(np.dtype(dtype)), EclOptions(), dtype is np.uint8
    yield "hub, both directions stored", rows, EclOptions(), True
    for title, options in EclOptions.ablation()[1:]:
        yield title, narrow, options, False
    most += [(name, graph, EclOptions(), False) for name, graph in small_cases()]
    yield from most if not few else ()


def give_up(device: Device) -> Iterator[str]:
    """Yield what goes wrong where resident work-groups give up at their first barrier.

    Solves of other graphs on the device then do without them, and one warning says so.
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
        (plan,) = resident.plans.values()
        # As grid_barrier of cl/device/resident.cl leaves it: GAVE_UP, and the word for the host.
        # All of it is written, since Oclgrind knows nothing of the rest of a buffer afterwards.
        state = np.zeros(filter_boruvka_plan.STATE_WORDS, np.uint32)
        state[:2] = 1 << 31, 1
        Launcher(device, device.queue).write(plan.state, state)
        if len(ways) > 1:
            resident.plans.clear()  # the next solve is as of another graph
    if ways != ["resident", "separate", "separate"]:
        yield f"launches went as {ways}"
    if [one.endswith("takes longer for small graphs") for one in told] != [True]:
        yield f"the warnings are {told}"
    device.groups_may_wait = True


def shrink_known_graphs() -> None:
    """Make the graphs of self-tests tiny: of 46 vertices, or of 84, which are two work-groups."""
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


# Cases that are not the usual ones of a family: all kernels are to run, and as few launches.
CASES: dict[KernelFamily, tuple[Hashable, ...]] = {
    COMPLETE: (
        *COMPLETE.cases,
        points_case(),
        points_case(metric="great-circle"),
        with_options(DIRECTED[0], DenseOptions(reread="all")),
    ),
    # Lists in registers, and others.
    POINTS: (
        *POINTS.cases,
        points_case(core=True),
        points_case(neighbours=4),
        points_case(neighbours=32),
    ),
    PROOF: PROOF.cases[1:3],
    COMPLETE_PROOF: (DIRECTED[0], points_case()),
}


def family_wrongs(device: Device, *families: KernelFamily) -> Iterator[str]:
    """Yield what families of kernels compute wrongly in their own self-tests, of tiny graphs."""
    for family in families:
        for case in CASES.get(family, family.cases) if family.suits(device) else ():
            if (failure := family.failure(device, case)) is not None:
                yield f"{family.name}, {case}: {failure}"


def dense_wrongs(device: Device, shape: str) -> Iterator[str]:
    """Yield what `dense` solves wrongly: complete graphs, and matrices that it builds of graphs."""
    yield from family_wrongs(device, COMPLETE)
    # Both ends of an edge share a word where a graph has few vertices, as all here.
    with bounds(dense_short_ids=4):
        yield from family_wrongs(device, COMPLETE, family_of("dense"))
    if shape == "gpu-shape" and os.environ.get("OCLGRIND_UNINITIALIZED") == "1":
        return  # that check ends the process by a segmentation fault in tiles of work-groups
    yield from family_wrongs(device, TILES)


def core_wrongs(device: Device) -> Iterator[str]:
    """Yield whose core numbers come out wrong, cascades being cut short."""
    with bounds(k_core_capacity=2, k_core_serial_budget=20, k_core_group_budget=2):
        yield from family_wrongs(device, CORE_NUMBERS)


def repeated_wrongs(device: Device) -> Iterator[str]:
    """Yield what is wrong with repeated solves: in both orders, weights from host and device."""
    cases = [
        ("in order", hub(np.dtype(np.float32), 130, 70, 150), True),
        ("of doubles in disorder", hub(np.dtype(np.float64)), False),
        ("in disorder", small_hub(np.dtype(np.float32)), False),
        ("of doubles in order", small_hub(np.dtype(np.float64)), True),
    ]
    for name, graph, in_order in cases:
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
    """Yield what is wrong with solves that begin with what earlier ones have settled."""
    sensitivity._CUTS = 3
    rng = np.random.default_rng(0)
    graph = hub(np.dtype("f8"), 40, 90, 150)
    with clmst.RepeatedSolver(graph, devices=device) as solver:
        weights = np.exp2(rng.uniform(0, 8, solver.n_edges))
        for share in (0.01, 0.01, 0.01, 0.3):
            weights *= 1 + share * rng.random(solver.n_edges)
            u, v = np.maximum(solver.edges, 0).T
            listed = Graph.from_edges(u, v, weights, n_vertices=graph.n_vertices)
            if not is_right(solver.solve(weights), listed):
                yield f"warm start, moved by {share}"


def chain_wrongs(device: Device) -> Iterator[str]:
    """Yield what is wrong with solves by chains."""
    rng = np.random.default_rng(1)
    launch = Launcher(device, device.queue)
    for n, m in ((60, 30), (60, 70)):
        u, v = rng.integers(0, n, (2, m))
        graph = Graph.from_edges(u, v, rng.integers(0, 9, m).astype("f4"), n_vertices=n)
        resident = replace(DeviceGraph.upload(graph, device), rows=device.upload(graph.rows))
        candidates = contract_series(resident, launch)
        plan = filter_boruvka_plan.Plan(
            resident, launch, maximum=False, options=FilterBoruvkaOptions(), candidates=candidates
        )
        run = filter_boruvka.begin_candidates(resident, plan, launch)
        slots = np.flatnonzero(run.in_forest.to_host())
        assert graph.edge_ids is not None
        right = clmst.kruskal(graph).edge_ids
        if not run.is_done() or not np.array_equal(graph.edge_ids[slots], right):
            yield f"chains of {n} vertices, {m} edges"


def stream_wrongs(device: Device) -> Iterator[str]:
    """Yield which streams of edges with ids that do not rise come out wrong.

    The usual buffers, of a million edges, are never given back here, and let each later launch take
    many times as long.
    """
    n, m = 34, 200
    ids = np.arange(m)
    for dtype, maximum in (("uint32", False), ("float64", True)):
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
    """Do as `peer_copy.move`: Oclgrind takes what is written behind an offset for uninitialised."""
    for one in copies:
        sent, whole = np.empty(one.n_bytes, np.uint8), np.empty(one.target.size, np.uint8)
        if sent.size:
            Launcher(source, source.queue).read(one.source, sent, offset=one.begin)
            Launcher(target, target.queue).read(one.target, whole)
            whole[one.offset : one.offset + sent.size] = sent
            Launcher(target, target.queue).write(one.target, whole)


def work_in_turn(executor: SeveralDevices, _threads: Any, work: Any) -> list[Any]:
    """Do as `SeveralDevices._together`, in one thread: Oclgrind does not survive two."""
    return [work(place) for place in range(len(executor.workers))]


def several_wrongs(device: Device) -> Iterator[str]:
    """Yield what is wrong where the device is two: lists of several work-items, merged.

    They share a context, since each writes Oclgrind's log from the beginning.
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
    for name, order in (("in order", np.arange(ids.size)), ("in disorder", np.argsort(ids))):
        listed = Graph.from_edges(u[order], v[order], w[order], n_vertices=graph.n_vertices)
        with clmst.RepeatedSolver(listed, devices=twins, strategy="split") as solver:
            if not is_right(solver.solve(w[order]), listed):
                yield f"several devices {name}"


# Reads what was never written, writes behind the buffer, races, and parts at a barrier.
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
    """Return a copy of an array; in the array itself Oclgrind takes all for never written."""
    memory = allocate_exactly(device, array.nbytes)
    cl.enqueue_copy(device.queue, memory, array)
    return memory


def small_matrix_wrongs(device: Device) -> Iterator[str]:
    """Yield the small matrices that the one launch solves wrongly, sound and faulty ones."""
    # Another device would have a context of its own, which begins another log.
    device.capabilities = replace(device.capabilities, host_arrays="wrapped")
    small_matrix.in_place = uploaded  # type: ignore[attr-defined]
    yield from family_wrongs(device, SMALL_MATRIX)


# Tiny inputs of the table of hashes: one of each width of weights, since programs take most of the
# time; and algorithms that take many launches, half a minute of them, for the first one only.
HASHED = {
    "uniform, any bits u1, tiny": "minimum",
    "path, ruler f4, tiny": "maximum",
    "uniform, any bits f8, tiny": "minimum",
}
LONG = {"boruvka", "pma", "prim-boruvka"}


def hashed(device: Device) -> dict[str, Any]:
    """Return how many forests were hashed, and which hashes are not those of the table."""
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
    global _hub_of_shape  # noqa: PLW0603 - one shape a process
    simulator = only_device()
    if shape == "faults":
        run_faulty(simulator)
        return
    of_hashes = shape == "hashes"
    shape = "gpu-shape" if of_hashes else shape
    _hub_of_shape = HUBS[shape]
    # Radix sort by one work-item takes a fifteenth of the time here. How a work-group sorts, with
    # its barriers and local memory, is what `tests/primitives/test_oclgrind.py` checks.
    tuning = POLICIES[shape].with_constants({radix.WORK_ITEMS: 1})
    device = Device(simulator.cl_device, without=without, tuning=tuning, _trusted=True)
    device.check_usable()
    # All samples are compared with one another, which takes an interpreter long.
    samples = max(64, device.policy.work_group_size)
    filter_boruvka_plan.SAMPLES = samples
    if of_hashes:
        print(json.dumps(hashed(device)))
        return
    shrink_known_graphs()
    with bounds(
        prim_steps=1000, weights_checked_from=0, warm_from=1, warm_most_left=1.0, range_step=16
    ):
        print(json.dumps([*wrongs(device, shape, *without), *large_buffers()]))


def wrongs(device: Device, shape: str, *without: str) -> Iterator[str]:
    """Yield the names of what comes out wrong."""
    if shape == "gpu-shape":
        yield from give_up(device)
    yield from dense_wrongs(device, shape)
    with bounds(known_points=(POINTS_OF_SHAPE[shape],)):
        yield from family_wrongs(device, POINTS)
    has_atomics = "int64-atomics" not in without
    if has_atomics:
        yield from family_wrongs(device, DENDROGRAM)
        yield from core_wrongs(device)
    if shape != "gpu":  # whose work-groups differ from those of "gpu-shape" in their size alone
        yield from warm_wrongs(device)
        yield from chain_wrongs(device)
        yield from family_wrongs(device, PROOF, COMPLETE_PROOF, EDGE_STREAM)
        if has_atomics:  # at which no other kernel of these looks: the programs are the same
            yield from repeated_wrongs(device)
            yield from several_wrongs(device)
            yield from stream_wrongs(device)
            yield from family_wrongs(
                device, EDGE_PASSES, CSR_VALIDATION, CANONICAL_CSR, EQUAL_WEIGHTS
            )
    for name, graph, options, maximum in runs(shape, *without):
        with bounds(marked_from=0):  # as of large graphs
            forest = solve(graph, device, maximum=maximum, options=options)
        if not is_right(forest, graph, maximum=maximum):
            yield name
    if shape == "cpu" and has_atomics:  # at last, as it changes the device
        yield from small_matrix_wrongs(device)


if __name__ == "__main__":
    main(*sys.argv[1:])
