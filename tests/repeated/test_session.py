"""Many weights one after the other: in order, one ahead, and usable whatever goes wrong."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from clmst import (
    Device,
    DeviceArray,
    Forest,
    InvalidArgumentError,
    InvalidGraphError,
    RepeatedSolver,
)
from tests.faults.injection import inject
from tests.helpers.bounds import bounds
from tests.helpers.threads import all_end, own_threads
from tests.repeated.device_sets import Place, either_order, every_place
from tests.repeated.rounds import check, every_device, random_graph, refused, sorted_graph

on_every_device = pytest.mark.parametrize("variant", every_device())
every_order = pytest.mark.parametrize("make", [random_graph, sorted_graph])


def rounds_for(solver: RepeatedSolver, count: int, dtype: Any = np.float32) -> list[Any]:
    rng = np.random.default_rng(9)
    return [rng.integers(0, 500, solver.n_edges).astype(dtype) for _ in range(count)]


@every_place("two", "copying")
@either_order
@pytest.mark.parametrize("dtype", ["u1", "f4", "f8"])
@pytest.mark.covering("place is_sorted")
def test_forests_in_order(place: Place, is_sorted: bool, dtype: str) -> None:
    """Whatever is solved between, and whoever stops."""
    solver = place.solver(place.graph(is_sorted=is_sorted))
    rounds = rounds_for(solver, 6, dtype)
    seen: list[tuple[int, int | None]] = []
    forests = solver.solve_many(rounds, progress=lambda *done: seen.append(done))
    for k, (weights, forest) in enumerate(zip(rounds, forests, strict=True), 1):
        check(solver, weights, forest)
        check(solver, weights[::-1].copy())
        assert seen[-1] == (k, 6)
    assert list(solver.solve_many([])) == []
    some = solver.solve_many(rounds)
    check(solver, rounds[0], next(some))
    some.close()
    source = iter(rounds)
    kept = list(
        solver.solve_many(source, keep_on_device=True, progress=lambda *done: seen.append(done))
    )
    assert seen[-2:] == [(5, None), (6, None)]  # the length of an iterator is unknown
    for weights, on_device in zip(rounds, kept, strict=True):
        check(solver, weights, on_device.to_host())
    rounds[-1][:9] = 2  # what is changed are the weights of the last forest
    check(solver, rounds[-1], solver.update(np.arange(9), np.full(9, 2)))


@every_place("two", "copying")
@either_order
def test_one_array_for_all(place: Place, is_sorted: bool) -> None:
    """A generator may fill the same array, or the same buffer, for every round."""
    solver = place.solver(place.graph(is_sorted=is_sorted))
    rounds = rounds_for(solver, 5)
    same = np.empty_like(rounds[0])
    buffer = DeviceArray.from_host(same, place.device)

    def filled() -> Iterator[Any]:
        for weights in rounds:
            same[:] = weights
            yield same

    def written() -> Iterator[Any]:
        for weights in rounds:
            buffer.write(weights)
            yield buffer

    for source in (filled(), written()):
        for weights, forest in zip(rounds, solver.solve_many(source), strict=True):
            check(solver, weights, forest)


class OutOfWeightsError(Exception):
    """The error of a source."""


@on_every_device
@every_order
@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("large", [False, True])
def test_weights_that_are_wrong(variant: Device, make: Any, where: str, large: bool) -> None:
    """NaN, wrong lengths and a source that fails stop it in their turn; all before is yielded."""
    with bounds(weights_checked_from=0) if large else nullcontext():
        check_wrong_weights(variant, make, where)


def check_wrong_weights(variant: Device, make: Any, where: str) -> None:
    solver = RepeatedSolver(make(), devices=variant)
    rounds = rounds_for(solver, 4)
    nan = rounds[2].copy()
    place = int(np.flatnonzero(solver.edges[:, 0] >= 0)[7])
    nan[place] = np.nan
    wrongs: list[tuple[Any, type[Exception], str]] = [
        (nan, InvalidGraphError, f"edge {place} is NaN"),
        (rounds[0][:-1], InvalidArgumentError, "must be one for each"),
        (OutOfWeightsError("gone"), OutOfWeightsError, "gone"),
    ]
    for wrong, error, rule in wrongs:

        def source(wrong: Any = wrong) -> Iterator[Any]:
            for weights in (*rounds[:2], wrong, rounds[3]):
                if isinstance(weights, Exception):
                    raise weights
                yield DeviceArray.from_host(weights, variant) if where == "device" else weights

        found: list[Forest] = []
        with pytest.raises(error, match=rule):
            found.extend(solver.solve_many(source()))
        for weights, forest in zip(rounds[:2], found, strict=True):
            check(solver, weights, forest)
        if error is not OutOfWeightsError:
            assert "no weights to change" in refused(solver.update, [0], [1])
        check(solver, rounds[3])


@every_place("two", "copying")
@pytest.mark.parametrize("who", ["iterable", "progress", "nobody"])
def test_errors_of_the_caller_leave_the_last_weights(place: Place, who: str) -> None:
    """An error goes through as it is, and an update changes the weights of the last forest."""
    solver = place.solver(place.graph(is_sorted=True))
    rounds = rounds_for(solver, 5)
    error, taken = OutOfWeightsError("the caller's own"), 0

    def source() -> Iterator[Any]:
        nonlocal taken
        for taken, weights in enumerate(rounds, 1):
            if who == "iterable" and taken == 4:
                raise error
            yield weights

    def progress(done: int, total: int | None) -> None:
        if who == "progress" and done == 3:
            raise error

    for _ in range(2):  # the second time of the same solver
        found: list[Forest] = []
        forests = solver.solve_many(source(), progress=progress)
        with pytest.raises(OutOfWeightsError) if who != "nobody" else nullcontext() as caught:
            for forest in forests:
                found.append(forest)
                if who == "nobody" and len(found) == 3:
                    forests.close()
        assert who == "nobody" or (caught is not None and caught.value is error)
        assert len(found) == (2 if who == "progress" else 3)
        assert taken == 4
        changed = rounds[2].copy()
        changed[:9] = 2
        check(solver, changed, solver.update(np.arange(9), np.full(9, 2)))
        with pytest.raises(StopIteration):
            next(forests)
        for weights, forest in zip(rounds, found, strict=False):
            check(solver, weights, forest)


@on_every_device
def test_iteration_that_stops_early(variant: Device) -> None:
    """Weights that were on their way give their memory back, and no thread stays."""
    solver = RepeatedSolver(sorted_graph(), devices=variant)
    rounds = rounds_for(solver, 10)
    before = own_threads("clmst-solve")
    for _ in range(5):
        forests = solver.solve_many(rounds)
        check(solver, rounds[0], next(forests))
        assert own_threads("clmst-solve") - before
        forests.close()
        for weights in rounds[:3]:
            check(solver, weights)
    assert all_end(own_threads("clmst-solve") - before)
    stages = solver._rounds.opened().graph._stages
    assert len(stages._free) + len(stages._in_use) <= 2


def test_the_next_is_asked_for_while_one_is_solved(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source's own work is hidden behind the solve: one ahead, and no more."""
    solver = RepeatedSolver(random_graph(), devices=any_device)
    rounds = rounds_for(solver, 4)
    log = list[str]()

    def slow(*_: Any) -> bool:
        log.append("kernel")
        time.sleep(0.01)
        return False

    def source() -> Iterator[Any]:
        for weights in rounds:
            log.append("asked")
            yield weights

    inject(monkeypatch, "kernel", any_device).let_fail(slow)
    for _ in solver.solve_many(source()):
        log.append("solved")
    one_ahead = r"asked ((kernel )*asked (kernel )+solved ){3}(kernel )+solved"
    assert re.fullmatch(one_ahead, " ".join(log)), log
