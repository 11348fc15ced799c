"""Repeated solves: the forest of each round is the oracle's, whatever the round before was."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pytest
from hypothesis import given
from scipy import sparse

import clmst
from clmst import (
    Device,
    DeviceArray,
    DeviceGraph,
    EclOptions,
    Graph,
    RepeatedSolver,
)
from tests.helpers.bounds import bounds
from tests.helpers.forests import assert_same_forest, solve
from tests.helpers.settings import SETTINGS
from tests.helpers.strategies import DRAWN_DTYPES, LAYOUTS, edge_arrays, examples, weight_arrays
from tests.helpers.threads import all_end, own_threads
from tests.helpers.variants import is_native, variants_elsewhere
from tests.repeated.device_sets import Place, either_order, every_place
from tests.repeated.rounds import (
    assert_closed,
    check,
    copying,
    every_device,
    expected,
    random_graph,
    refused,
    sorted_graph,
)


def in_orders() -> list[Any]:
    """Return each variant with minima, and devices as they are with maxima, too.

    The order is a matter of how weights become keys, which no variant changes.
    """
    return [
        pytest.param(one.device, maximum, id=f"{one.name}-{maximum}")
        for one in variants_elsewhere()
        for maximum in ((False, True) if is_native(one.device) else (False,))
    ]


on_every_device = pytest.mark.parametrize("variant", every_device())


# ------------------------------------------------------------------------- the forest


@every_place()
@examples(share=1 / 2)
@given(data=st.data())
def test_any_graph_under_any_weights(place: Place, data: st.DataObject) -> None:
    """Every layout, loops, parallel edges, nothing at all; a dtype of its own in every round.

    `test_every_dtype` of ``tests/repeated/test_warm_start.py`` takes the dtypes that the standard
    run does not draw here.
    """
    edges = data.draw(edge_arrays())
    layout = data.draw(st.sampled_from(LAYOUTS))
    pairs = [(u, v) for u, v, _ in edges.canonical()]
    maximum = data.draw(st.booleans()) if is_native(place.device) else False
    with place.solver(edges.graph(layout), maximum=maximum, range_step=1) as solver:
        if layout in ("edges", "symmetrised"):
            loops = edges.u == edges.v
            assert solver.n_edges == edges.u.size
            ends = np.sort(np.column_stack((edges.u, edges.v)), axis=1)
            np.testing.assert_array_equal(solver.edges, np.where(loops[:, None], -1, ends))
        else:
            assert [tuple(pair) for pair in solver.edges.tolist()] == pairs
        for _ in range(3):
            dtype = data.draw(st.sampled_from(DRAWN_DTYPES))
            check(solver, data.draw(weight_arrays(solver.n_edges, [dtype])))


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(("variant", "maximum"), in_orders())
def test_every_algorithm(variant: Device, setting: str, maximum: bool) -> None:
    """What an algorithm has made of the weights of a round must not be there in the next."""
    rng = np.random.default_rng(1)
    solver = RepeatedSolver(random_graph(), devices=variant, maximum=maximum, **SETTINGS[setting])
    for dtype in ("u4", "u4", "f8", "u4"):
        forest = check(solver, rng.integers(0, 1000, solver.n_edges).astype(dtype))
        assert forest.stats["algorithm"] == SETTINGS[setting]["algorithm"]


@every_place("two", "three")
def test_same_as_one_solve(place: Place) -> None:
    """Attributes and all, where the canonical order is the caller's; kept forests stay right."""
    graph, rng = place.graph(is_sorted=True), np.random.default_rng(2)
    solver, kept = place.solver(graph), []
    for dtype in ("f4", "i8", "f8"):
        weights = rng.integers(-500, 500, solver.n_edges).astype(dtype)
        again = graph.replace(weights=weights[graph.edge_ids])
        once = clmst.minimum_spanning_forest(again, device=place.devices[0])
        kept.append((solver.solve(weights, keep_on_device=True), once))
    for forest, once in kept:
        assert forest.graph.device is solver.device
        assert_same_forest(forest.to_host(), once)
        assert forest.to_host().edges.dtype == once.edges.dtype
    if len(place.devices) > 1:
        graph_there = kept[0][0].graph
        assert isinstance(graph_there, DeviceGraph)
        assert "on several devices" in refused(graph_there.encoded.words)


# -------------------------------------------------------------------------- matrices


def matrix_of(pairs: Any, weights: Any, n: int) -> Any:
    u, v = np.array(pairs).T
    return sparse.csr_array((weights, (u, v)), shape=(n, n))


@pytest.mark.parametrize("shape", ["upper", "symmetric", "loops", "lower", "both, unlike", "coo"])
@pytest.mark.parametrize("maximum", [False, True])
def test_weights_of_a_matrix(any_device: Device, shape: str, maximum: bool) -> None:
    """The edges do not depend on what the matrix weighs; what is stored twice is the lesser."""
    present = np.random.default_rng(3).random((50, 50)) < 0.2

    def matrix(seed: int) -> Any:
        full = np.where(present, np.random.default_rng(seed).integers(1, 99, (50, 50)), 0)
        upper = np.triu(full, 1)
        both = upper + upper.T
        layouts = {
            "upper": upper, "symmetric": both, "loops": both + np.eye(50, dtype=int),
            "lower": upper.T, "both, unlike": full, "coo": upper,
        }  # fmt: skip
        return (sparse.coo_array if shape == "coo" else sparse.csr_array)(layouts[shape])

    solver = RepeatedSolver(matrix(0), devices=any_device, maximum=maximum)
    assert (solver.edges[:, 0] < solver.edges[:, 1]).all()
    for seed in (0, 1, 2):
        A = matrix(seed)
        forest = check(solver, solver.weights_of(A))
        once = solve(A, any_device, maximum=maximum)
        np.testing.assert_array_equal(forest.edges, once.edges)


def test_large_matrix_is_uploaded_as_it_is(any_device: Device) -> None:
    """A matrix that the device has checked gives the same edges as one that the host has."""
    grid = clmst.generate("grid", rows=300, columns=300).symmetrised()
    A = sparse.csr_array((np.ones(grid.n_slots), grid.indices.view("i4"), grid.indptr.view("i4")))
    assert A.nnz > 1 << 18
    solver = RepeatedSolver(A, devices=any_device)
    assert "which solver.weights_of(matrix) makes" in refused(solver.solve, A)
    assert solver.n_edges == A.nnz // 2
    weights = np.random.default_rng(4).random(solver.n_edges)
    B = matrix_of(solver.edges, weights, A.shape[0])
    B = sparse.csr_array(B + B.T)
    np.testing.assert_array_equal(solver.weights_of(B), weights)
    once = clmst.minimum_spanning_forest(B, device=any_device)
    np.testing.assert_array_equal(solver.solve(weights).edges, once.edges)


def test_matrix_of_another_pattern(any_device: Device) -> None:
    ring = [(0, 1), (1, 2), (2, 3)]
    solver = RepeatedSolver(matrix_of(ring, [1, 2, 3], 4), devices=any_device)
    for pairs, fact in (
        ([(0, 1), (1, 2)], "no entry for edge 2 (2, 3)"),
        ([(0, 1), (2, 3)], "no entry for edge 1 (1, 2)"),
        ([*ring, (0, 3)], "an entry for the edge (0, 3), which the solver does not know"),
        ([*ring, (3, 3)], None),
        ([(1, 0), (2, 1), (3, 2)], None),
    ):
        A = matrix_of(pairs, np.arange(len(pairs)) + 1, 4)
        if fact is None:
            assert solver.weights_of(A).tolist() == [1, 2, 3]
        else:
            assert fact in refused(solver.weights_of, A)
            assert "must have the same pattern" in refused(solver.weights_of, A)
    assert "5 rows for 4 vertices" in refused(solver.weights_of, matrix_of(ring, [1, 2, 3], 5))
    of_lists = RepeatedSolver(Graph.from_edges([1, 0], [2, 1]), devices=any_device)
    assert "made of a list of edges" in refused(of_lists.weights_of, matrix_of(ring, [1, 2, 3], 4))


# ------------------------------------------------------------------- weights on the device


@every_place("two", "copying")
@either_order
@pytest.mark.parametrize("dtype", ["u1", "f4", "i8"])
@pytest.mark.covering("place is_sorted")
def test_weights_on_the_device(place: Place, is_sorted: bool, dtype: str) -> None:
    """Whatever they are made with; of another queue too. They stay what they are.

    Of several devices, the others get theirs through the host.
    """
    rng = np.random.default_rng(5)
    solver = place.solver(place.graph(is_sorted=is_sorted))
    for device in place.devices * (3 - len(place.devices)):
        weights = rng.integers(0, 99, solver.n_edges).astype(dtype)
        queue = cl.CommandQueue(device.context)
        for array in (
            DeviceArray.from_host(weights, device),
            DeviceArray.from_host(weights, clmst.get_device(cl.CommandQueue(device.context))),
            cl_array.to_device(queue, weights),
            cl_array.to_device(queue, weights, async_=True),
            cl_array.to_device(queue, np.concatenate([weights, weights]))[: weights.size],
        ):
            assert_same_forest(solver.solve(array), expected(solver, weights))
            found = array.to_host() if isinstance(array, DeviceArray) else array.get()
            np.testing.assert_array_equal(found, weights)


def test_weights_on_the_device_are_not_copied(any_device: Device) -> None:
    solver = RepeatedSolver(sorted_graph(), devices=any_device)
    weights = DeviceArray.from_host(np.ones(solver.n_edges, np.float32), any_device)
    solver.solve(weights)
    present = solver._rounds.opened().graph.present
    assert present is not None
    assert present.memory is weights.memory


@every_place("two")
def test_weights_of_another_context(place: Place) -> None:
    solver = place.solver(place.graph())
    elsewhere = DeviceArray.from_host(np.ones(solver.n_edges), copying(place.device))
    assert "another context" in refused(solver.solve, elsewhere)
    swapped = np.dtype("f8").newbyteorder()
    foreign = DeviceArray.from_host(np.ones(solver.n_edges, swapped), place.device)
    assert "native byte order" in refused(solver.solve, foreign)


# -------------------------------------------------------------------------- bad input


@every_place("two")
def test_not_one_weight_an_edge(place: Place) -> None:
    solver = place.solver(place.graph())
    m = solver.n_edges
    wrong: list[Any] = [[], np.ones(m - 1), np.ones((m, 1)), np.float32(1)]
    for weights in wrong:
        message = refused(solver.solve, weights)
        assert f"shape {np.shape(weights)} for {m} edges" in message
    for dtype in ("c8", "M8[s]", "O", "S3"):
        assert "must be one of bool" in refused(solver.solve, np.zeros(m, dtype))
    array = DeviceArray.from_host(np.ones(3), place.device)
    solver.solve(np.arange(m))
    assert f"shape (3,) for {m} edges" in refused(solver.solve, array)
    assert "no weights to change" in refused(solver.update, [0], [1])
    check(solver, np.arange(m))


@every_place("two")
@either_order
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("checks_from", [0, 1 << 30])
@pytest.mark.covering("place is_sorted", "dtype checks_from")
def test_first_nan_is_named(place: Place, is_sorted: bool, dtype: str, checks_from: int) -> None:
    """By host and device alike, in the caller's numbers; the next round is as good as ever."""
    with bounds(weights_checked_from=checks_from):
        check_first_nan(place, is_sorted, dtype)


def check_first_nan(place: Place, is_sorted: bool, dtype: str) -> None:
    solver = place.solver(place.graph(is_sorted=is_sorted))
    rng = np.random.default_rng(6)
    right = rng.integers(0, 50, solver.n_edges).astype(dtype)
    for sign, first in ((1, 77), (-1, 700)):
        wrong = right.copy()
        places = np.flatnonzero(solver.edges[:, 0] >= 0)[[first, 1200, 900]]
        wrong[places] = np.copysign(np.nan, sign)
        rule = f"the weight of edge {places[0]} is NaN; weights must be ordered"
        for given_weights in (wrong, DeviceArray.from_host(wrong, place.device)):
            assert rule in refused(solver.solve, given_weights)
            assert rule in refused(list, solver.solve_many([right, given_weights]))
            assert "no weights to change" in refused(solver.update, [0], [1])
        check(solver, right)
        check(solver, right, solver.solve(DeviceArray.from_host(right, place.device)))


def test_nan_is_named_by_labels(any_device: Device) -> None:
    """By the caller's index and names; the graph has its edges in another order."""
    graph = Graph.from_edges([20, 30, 20], [30, 10, 20], [1.0, 2.0, 3.0], relabel=True)
    solver = RepeatedSolver(graph, devices=any_device)
    rule = "the weight of edge 1 (10, 30) is NaN; weights must be ordered"
    wrong = np.array([1, np.nan, 1], np.float32)
    for checks_from in (0, 1 << 30):  # by the device, by the host
        with bounds(weights_checked_from=checks_from):
            assert rule in refused(solver.solve, wrong)
    solver.solve([1.0, 2.0, 3.0])
    assert rule in refused(solver.update, [1], [np.nan])
    assert "the weight of edge 2 is NaN" in refused(solver.update, [2], [np.nan])  # a self-loop


class _OfACaller(EclOptions):
    """Options of a class that clmst does not know, whose comparison raises."""

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError

    __hash__ = None  # type: ignore[assignment]


def test_what_cannot_be_solved_again(any_device: Device) -> None:
    """Options are refused before a round, which would compare them to the usual ones."""
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"algorithm": "guess"}, "no algorithm is called 'guess'"),
        ({"options": EclOptions(single_direction=False)}, "stores each edge once"),
        ({"algorithm": "ecl", "options": clmst.DenseOptions()}, "options is a DenseOptions; 'ecl'"),
    ]
    for options in (np.array(3), np.zeros(2), 3, EclOptions, _OfACaller()):
        wrong.append(({"options": options}, "must be one of"))
        wrong.append(({"algorithm": "ecl", "options": options}, "'ecl' takes an EclOptions"))
    graph = random_graph()
    for given_options, rule in wrong:
        assert rule in refused(RepeatedSolver, graph, devices=any_device, **given_options)
        if rule != "stores each edge once":
            solve = clmst.minimum_spanning_forest
            assert rule in refused(solve, graph, device=any_device, **given_options)
    message = refused(RepeatedSolver, "roads.gr", devices=any_device)
    assert "the graph is of type str; it must be a clmst.Graph" in message


def test_graph_on_a_device_brings_it(any_device: Device) -> None:
    resident = clmst.to_device(random_graph(), any_device)
    solver = RepeatedSolver(resident)
    assert solver.device is any_device
    check(solver, np.arange(1500)[::-1])
    elsewhere = any_device.forcing_off("lanes")
    assert "leave device out" in refused(RepeatedSolver, resident, devices=elsewhere)


@every_place("two")
def test_closed(place: Place) -> None:
    """After close, forests stay valid, calls raise a clear error, and threads have ended."""
    before = own_threads("clmst-device")
    with place.solver(place.graph()) as solver:
        m = solver.n_edges
        kept = solver.solve(np.arange(m), keep_on_device=True)
        many = solver.solve_many([np.ones(m)] * 3)
        next(many)
        assert len(place.devices) == 1 or own_threads("clmst-device") - before
    assert_same_forest(kept.to_host(), expected(solver, np.arange(m)))
    solver.close()
    assert_closed(solver, many, m)
    assert all_end(own_threads("clmst-device") - before)


# ------------------------------------------------------------------------ many threads


@every_place("two", "three")
def test_threads_take_turns(place: Place) -> None:
    """Each gets the forest of its own weights; others solve on the devices at the same time."""
    solver = place.solver(place.graph())
    aside = random_graph(seed=1)
    alone = clmst.kruskal(aside)
    weights = [np.random.default_rng(k).integers(0, 99, solver.n_edges) for k in range(4)]
    right = [expected(solver, one) for one in weights]
    start = threading.Barrier(4)

    def work(k: int) -> None:
        start.wait()
        for _ in range(5):
            assert_same_forest(solver.solve(weights[k]), right[k])
            for device in place.devices if k == 0 else ():
                assert clmst.minimum_spanning_forest(aside, device=device) == alone
        for forest in solver.solve_many([weights[k]] * 3):
            assert_same_forest(forest, right[k])

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(work, k) for k in range(4)]:
            done.result()


# ------------------------------------------------------------------------------- stats


@on_every_device
def test_times_and_profile(variant: Device) -> None:
    solver = RepeatedSolver(random_graph(), devices=variant)
    weights = np.arange(1500, dtype=np.float32)[::-1].copy()
    array = DeviceArray.from_host(weights, variant)
    for forest in (
        solver.solve(weights, profile=True),
        solver.solve(array, profile=True),
        solver.update([0, 1], [weights[0], weights[1]], profile=True),
    ):
        check(solver, weights, forest)
        assert set(forest.stats["times"]) == {"prepare", "upload", "solve"}
        assert min(forest.stats["times"].values()) > 0
        assert forest.stats["profile"]["forest_gather_weights"].launches >= 1
    assert "profile" not in check(solver, weights).stats
