"""Devices that fail in the middle of a round: others finish it, and the forest is right."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from clmst import (
    Device,
    DeviceArray,
    DeviceWarning,
    RepeatedSolver,
    UnsupportedDeviceError,
)
from tests.bounds import bounds
from tests.faults import interrupting
from tests.faults.injection import Injector, inject, opencl_error
from tests.repeated.device_sets import clustered_graph, every_device_set
from tests.repeated.rounds import check

both = pytest.mark.parametrize("strategy", ["split", "cores"])


class Fault:
    """Faults of devices: the next copy to or from one, or one after some more, is an error.

    A device that is `lost` copies nothing ever after.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch, self._armed = patch, list[Injector]()

    def inject(
        self, device: Device, kind: str = "copy", *, after: int = 0, lost: bool = False,
        error: type[BaseException] = cl.Error,
    ) -> None:  # fmt: skip
        """Let a device fail after so many more calls of a kind."""
        self._armed.append(inject(self._patch, kind, device))
        self._armed[-1].arm(after, lost=lost, error=error)

    def remove(self) -> None:
        for injector in self._armed:
            injector.disarm()
        self._armed.clear()


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fault]:
    with bounds(range_step=64):
        yield Fault(monkeypatch)


def solved(
    devices: list[Device], strategy: str = "split", count: int = 3
) -> tuple[RepeatedSolver, list[Any]]:
    """Return a solver that has solved the first of some weights, and these."""
    solver = RepeatedSolver(clustered_graph(), devices=devices, strategy=strategy)
    rng = np.random.default_rng(7)
    weights = [rng.integers(0, 200, solver.n_edges).astype("f4") for _ in range(count)]
    check(solver, weights[0])
    return solver, weights


def device_at(solver: RepeatedSolver, devices: list[Device], index: int) -> Device:
    """Return the device of the last pass, or the other one of two."""
    others = [device for device in devices if device is not solver.device]
    return others[0] if index else solver.device


def warned(device: Device) -> Any:
    return pytest.warns(DeviceWarning, match=r"failed: .*; the solver goes on without it, on ")


@every_device_set("two", "copying")
@both
@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("after", [0, 2])
@pytest.mark.parametrize("lost", [False, True])
def test_a_round_is_finished_by_the_other(
    devices: list[Device], strategy: str, index: int, fault: Fault, *, after: int, lost: bool
) -> None:
    """Whichever fails, early or in the last pass; later rounds go on without it, in silence."""
    solver, weights = solved(devices, strategy)
    failing = device_at(solver, devices, index)
    (other,) = [device for device in devices if device is not failing]
    fault.inject(failing, after=after if index == 0 else 0, lost=lost)
    with warned(failing):
        check(solver, weights[1])
    assert solver.device is other
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(solver, weights[2])
        weights[2][[4, 8]] = 1, 2
        check(solver, weights[2], solver.update([4, 8], [1, 2]))
        for one, forest in zip(weights, solver.solve_many(weights), strict=True):
            check(solver, one, forest)


@every_device_set("three")
def test_two_of_three_are_left(devices: list[Device], fault: Fault) -> None:
    """Edges are shared out anew; when all have failed, every call says so."""
    solver, weights = solved(devices)
    fault.inject(devices[1])
    with warned(devices[1]):
        forest = check(solver, weights[1])
    assert len(forest.stats["devices"]) == 2
    fault.inject(devices[0], lost=True)
    with warned(devices[0]):
        check(solver, weights[2])
    fault.inject(devices[2])
    for _ in range(2):
        with pytest.raises(UnsupportedDeviceError, match="it was the solver's last device"):
            solver.solve(weights[0])
    with pytest.raises(UnsupportedDeviceError, match="it was the solver's last device"):
        solver.update([0], [1])


@every_device_set("two")
def test_warnings_that_are_errors(devices: list[Device], fault: Fault) -> None:
    """Whoever wants no round without all devices gets none; the next one is as the others are."""
    solver, weights = solved(devices)
    fault.inject(devices[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeviceWarning, match="goes on without it"):
            solver.solve(weights[1])
        check(solver, weights[2])
    assert solver.device is devices[1]


@every_device_set("two", "copying")
@both
@pytest.mark.parametrize("lost", [False, True])
def test_weights_that_are_on_devices(
    devices: list[Device], strategy: str, fault: Fault, *, lost: bool
) -> None:
    """Those of an update are read back, if the device that failed gives them; else it is told."""
    for index in range(2):
        solver, weights = solved(devices, strategy)
        fault.inject(device_at(solver, devices, index), lost=lost)
        changed = weights[0].copy()
        changed[[9, 7]] = 0, 3
        if lost:
            with (
                warned(devices[0]),
                pytest.raises(UnsupportedDeviceError, match="were lost with it"),
            ):
                solver.update([9, 7, 9], [5, 3, 0])
            check(solver, changed)
        else:
            with warned(devices[0]):
                check(solver, changed, solver.update([9, 7, 9], [5, 3, 0]))
        fault.remove()


@every_device_set("two", "copying")
@both
@pytest.mark.parametrize("index", [0, 1])
def test_one_of_many_rounds(devices: list[Device], strategy: str, index: int, fault: Fault) -> None:
    """All forests come, in order, though what was on its way to the device that failed is lost."""
    solver, rounds = solved(devices, strategy, 6)
    same = np.empty(solver.n_edges, np.float32)
    failing = device_at(solver, devices, index)

    def filled() -> Iterator[Any]:
        for k, weights in enumerate(rounds):
            same[:] = weights
            if k == 2:
                fault.inject(failing)
            yield same

    with warned(devices[0]):
        for weights, forest in zip(rounds, solver.solve_many(filled()), strict=True):
            check(solver, weights, forest)


@every_device_set("copying")
def test_an_upload_that_fails(devices: list[Device], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of weights that are one ahead: it is no error of the weights, and none of theirs is lost."""
    solver, rounds = solved(devices, count=4)
    copies, uploads = inject(monkeypatch, "copy", devices[1]), list[Any]()

    def is_third_ahead(queue: Any, *_: Any) -> bool:
        is_ahead = queue != devices[1].queue  # but one of its own
        uploads.extend([queue] * is_ahead)
        return is_ahead and len(uploads) == 3

    copies.let_fail(is_third_ahead, opencl_error(-4, "clEnqueueWriteBuffer"))
    with warned(devices[1]):
        for weights, forest in zip(rounds, solver.solve_many(iter(rounds)), strict=True):
            check(solver, weights, forest)
    assert len(uploads) >= 3


@every_device_set("two")
def test_alone_and_then_the_other(devices: list[Device], fault: Fault) -> None:
    """Where one device does all, another takes its place; weights of the first are read back."""
    solver, weights = solved(devices, "alone")
    first = solver.device
    (other,) = [device for device in devices if device is not first]
    array = DeviceArray.from_host(weights[1], first)
    fault.inject(first)
    with warned(first):
        forest = solver.solve(array, keep_on_device=True)
    assert solver.device is forest.graph.device is other
    check(solver, weights[1], forest.to_host())
    elsewhere = DeviceArray.from_host(weights[2], first)  # a device that failed may still give
    check(solver, weights[2], solver.solve(elsewhere, keep_on_device=True).to_host())
    check(solver, weights[2], solver.solve(elsewhere))


@every_device_set("two")
def test_an_update_that_one_device_alone_did_not_finish(
    devices: list[Device], fault: Fault
) -> None:
    """Nobody knows which weights it has changed; another device takes new ones."""
    solver, weights = solved(devices, "alone")
    failing = solver.device
    fault.inject(failing, "kernel")
    with warned(failing), pytest.raises(UnsupportedDeviceError, match="they must be given again"):
        solver.update([3], [0])
    assert solver.device is not failing
    with pytest.raises(ValueError, match="no weights to change"):
        solver.update([3], [0])
    check(solver, weights[1])


@every_device_set("two")
@both
def test_what_breaks_a_round_off_is_no_failure(
    devices: list[Device], strategy: str, fault: Fault
) -> None:
    """Ctrl-C: both devices are there in the next round, and no weights that are half changed."""
    solver, weights = solved(devices, strategy)
    calls: list[Callable[[], object]] = [
        lambda: solver.solve(weights[1]),
        lambda: solver.update([3], [0]),
    ]
    for call, device in product(calls, devices):
        check(solver, weights[0])
        fault.inject(device, error=KeyboardInterrupt)
        with pytest.raises(KeyboardInterrupt):
            call()
        with pytest.raises(ValueError, match="no weights to change"):
            solver.update([0], [1])
        check(solver, weights[2])
    steps, rng = interrupting.steps_of(calls[0]), random.Random(1)
    broken_off = [interrupting.at_step(calls[0], rng, steps) for _ in range(9)]
    assert "interrupted" in broken_off
    assert len(check(solver, weights[2]).stats["devices"]) == 2
