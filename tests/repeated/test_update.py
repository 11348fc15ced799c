"""Changes of some weights: as good as a solve from scratch; a wrong one changes nothing."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pytest
from hypothesis import given

from clmst import Device, DeviceArray, RepeatedSolver
from clmst.algorithms.reweighting import repeated
from tests.helpers.strategies import EXHAUSTIVE, edge_arrays, examples, weight_arrays
from tests.repeated.device_sets import Place, either_order, every_place
from tests.repeated.rounds import (
    check,
    every_device,
    random_graph,
    refused,
    sorted_graph,
)
from tests.whole.test_contract import ONE_OF_EACH_WIDTH, weights_of

on_every_device = pytest.mark.parametrize("variant", every_device())
every_order = pytest.mark.parametrize("make", [random_graph, sorted_graph])


@every_place()
@examples(share=1 / 2)
@given(data=st.data())
def test_update_is_a_solve_from_scratch(place: Place, data: st.DataObject) -> None:
    """Any change of any weights, loops' and edges named again and again among them."""
    edges = data.draw(edge_arrays())
    m = edges.u.size
    some = weights_of(place.device) if EXHAUSTIVE else ONE_OF_EACH_WIDTH
    dtype, maximum = data.draw(st.sampled_from(some))
    solver = place.solver(edges.graph(), maximum=maximum, range_step=1)
    weights = data.draw(weight_arrays(m, [dtype])).copy()
    check(solver, weights)
    for _ in range(3):
        ids = np.array(data.draw(st.lists(st.integers(0, m - 1), max_size=2 * m) if m else
                                 st.just([])), int)  # fmt: skip
        new = data.draw(weight_arrays(ids.size, [dtype]))
        forest = solver.update(ids, new)
        for edge, weight in zip(ids, new, strict=True):
            weights[edge] = weight
        check(solver, weights, forest)


@every_place("two", "copying")
@either_order
@pytest.mark.parametrize("dtype", ["u1", "f4", "i8"])
@pytest.mark.covering("place is_sorted")
def test_changes_on_the_device(place: Place, is_sorted: bool, dtype: str) -> None:
    """Edges and weights from wherever they are; the caller's first weights stay the caller's."""
    rng, solver = np.random.default_rng(1), place.solver(place.graph(is_sorted=is_sorted))
    first = rng.integers(0, 99, solver.n_edges).astype(dtype)
    array = DeviceArray.from_host(first, place.device)
    solver.solve(array)
    weights, queue = first.copy(), cl.CommandQueue(place.device.context)
    puts: list[Any] = [
        lambda values: DeviceArray.from_host(values, place.devices[0]),
        lambda values: cl_array.to_device(queue, values),
        lambda values: values,
    ]
    for put, other in zip(puts, puts[1:] + puts[:1], strict=True):
        for kind in ("u4", "i4"):
            ids = rng.choice(solver.n_edges, 200, replace=False).astype(kind)
            new = rng.integers(0, 99, 200).astype(dtype)
            weights[ids] = new
            check(solver, weights, solver.update(put(ids), put(new)))
            check(solver, weights, solver.update(put(ids), other(new)))
            check(solver, weights, solver.update(ids.tolist(), put(new)))
    np.testing.assert_array_equal(array.to_host(), first)


def test_a_host_array_is_the_callers_again(any_device: Device) -> None:
    """A change builds on the weights that were solved, whatever their array holds by then."""
    for make in (random_graph, sorted_graph):
        solver = RepeatedSolver(make(), devices=any_device)
        weights = np.arange(solver.n_edges, dtype=np.float32)
        solved = weights.copy()
        solver.solve(weights)
        weights[:] = 0
        solved[5] = -1
        check(solver, solved, solver.update([5], [-1]))


@on_every_device
@every_order
def test_a_wrong_change_changes_nothing(variant: Device, make: Any) -> None:
    """Only device arrays are tested here, because host arrays are checked before."""
    solver = RepeatedSolver(make(), devices=variant)
    weights = np.random.default_rng(2).random(solver.n_edges, np.float32)
    check(solver, weights)

    def put(values: Any, dtype: str) -> Any:
        return DeviceArray.from_host(np.array(values, dtype), variant)

    m = solver.n_edges
    ids, new = put([3, m, 4, m + 1], "u4"), put([1, 2, 3, 4], "f4")
    rule = f"edge_ids[1] is {m} where there are {m} edges; edge ids are rows of solver.edges"
    assert rule in refused(solver.update, ids, new)
    negative = refused(solver.update, put([3, -1], "i4"), put([1, 2], "f4"))
    assert f"edge_ids[1] is {2**32 - 1}" in negative
    nan = put([1, np.nan, np.nan], "f4")
    assert "the weight of edge 8 is NaN" in refused(solver.update, put([7, 8, 9], "u4"), nan)
    check(solver, weights, solver.update([], []))
    weights[7] = -1
    check(solver, weights, solver.update([7], [-1]))


@every_place("two")
def test_a_change_that_makes_no_sense(place: Place) -> None:
    solver = place.solver(place.graph())
    m = solver.n_edges
    assert "no weights to change; solve() gives them" in refused(solver.update, [0], [1])
    solver.solve(np.ones(solver.n_edges, np.int16))
    for ids, weights, rule in (
        ([0, 1], [1], "shape (1,) for 2 edge_ids"),
        ([0], 1, "shape () for 1 edge_ids"),
        ([0.5], [1], "edge_ids has dtype float64; it must have an integer dtype"),
        ([[0]], [1], "edge_ids has 2 dimensions; it must have one"),
        (["a"], [1], "it must have an integer dtype"),
        ([0, 1], [7, 1 << 15], "weights[1] is 32768, which int16, the dtype of the present"),
        ([0], [0.5], "weights[0] is 0.5, which int16"),
        ([0], [np.inf], "weights[0] is inf, which int16"),
        ([0], [1j], "must be one of bool"),
        ([3, m], [1, 2], f"edge_ids[1] is {m} where there are {m} edges"),
        ([3, -1], [1, 2], "edge_ids[1] is -1"),
        ([7, 8], [1, np.nan], "the weight of edge 8 is NaN"),
    ):
        assert rule in refused(solver.update, ids, weights)
    check(solver, np.ones(m, np.int16), solver.update([], []))
    double = DeviceArray.from_host(np.ones(1), place.device)
    assert "dtype float64 where the present ones have int16" in refused(solver.update, [0], double)
    assert "on the device they must be (u)int32" in refused(solver.update, double, [1])


@on_every_device
@every_order
@pytest.mark.parametrize("dtype", ["i8", "u8", "f8"])
def test_narrowed_weights_and_one_that_is_too_wide(variant: Device, make: Any, dtype: str) -> None:
    """64-bit weights stay narrowed to 32 bits as long as that is exact. All forests are exact.

    One work-item would take them as they are, so an algorithm is named.
    """
    solver = RepeatedSolver(make(), devices=variant, algorithm="filter-boruvka")
    rng = np.random.default_rng(3)
    base = 1 << 40
    weights = (rng.integers(0, 50, solver.n_edges) + base).astype(dtype)
    check(solver, weights)
    present = solver._rounds.opened().graph.present
    assert present is not None
    assert present.encoding.stored.itemsize == 4
    wide = [base + 51, 3, 2**53 - 1, base + 7]
    sizes = []
    for edge, weight in enumerate(wide, 20):
        weights[edge] = weight
        check(solver, weights, solver.update([edge], np.array([weight], dtype)))
        present = solver._rounds.opened().graph.present
        assert present is not None
        sizes.append(present.encoding.stored.itemsize)
    assert sizes[0] == 4
    assert sizes[-1] == 8
    weights[5] = base
    on_device = DeviceArray.from_host(weights[5:6], variant)
    check(solver, weights, solver.update([5], on_device))
    check(solver, weights)


def test_numbers_of_claims_begin_anew(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """After 2**32 changes an old claim must not look like a new one.

    One work-item needs no claims, so an algorithm is named.
    """
    solver = RepeatedSolver(random_graph(), devices=any_device, algorithm="filter-boruvka")
    weights = np.arange(solver.n_edges, dtype=np.uint32)
    solver.solve(weights)
    solver.update([1, 2, 3], [5, 5, 5])
    weights[1:4] = 5
    rounds = solver._rounds.opened().graph
    rounds._next_claim = repeated._NONE - 2
    for k in range(4):
        weights[[3, 4]] = k, k + 9
        check(solver, weights, solver.update([3, 4, 3], [77, k + 9, k]))
    assert rounds._next_claim < 20
