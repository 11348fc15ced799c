"""What a device cannot do goes to the next one, and at last to the host, with one warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import clmst
from clmst import Device, DeviceWarning, Points, RepeatedSolver
from clmst.cluster import (
    HDBSCAN,
    approximate_predict,
    neighbour_forest,
    single_linkage,
    validity_index,
)
from clmst.core.errors import OutOfDeviceMemoryError, UnsupportedDeviceError
from clmst.runtime.device_matrix import DeviceMatrix
from tests.helpers.caches import resolving_anew
from tests.helpers.variants import as_variant

X = np.random.default_rng(0).normal(size=(300, 3))
X[:150] += 9
PAIRS = (np.arange(300) ^ 1)[:, None]

CALLS: dict[str, Callable[[Any], Any]] = {
    "a tree": lambda device: clmst.minimum_spanning_forest(Points(X), device=device).weights,
    "core distances": lambda device: clmst.core_distances(X, 5, device=device),
    "HDBSCAN": lambda device: HDBSCAN(device=device).fit_predict(X),
    "its tree": lambda device: HDBSCAN(device=device).fit(X).forest_.weights,
    "by another metric": lambda device: HDBSCAN(metric="manhattan", device=device).fit_predict(X),
    "single linkage": lambda device: single_linkage(X, device=device),
    "predictions": lambda device: approximate_predict(HDBSCAN(device=device).fit(X), X + 0.1)[1],
    "validity": lambda device: validity_index(X, np.arange(300) // 150, device=device),
    "near points": lambda device: neighbour_forest(X, PAIRS, device=device).weights,
    "a verified tree": lambda device: clmst.minimum_spanning_forest(
        Points(X), device=device, verify=True
    ).weights,
}  # fmt: skip


@contextmanager
def unable(device: Device | None, error: Exception) -> Iterator[list[Device]]:
    """Let no points come to a device: it raises `error`. Yield the devices to which points come.

    If `device` is None, points come to all devices.
    """
    came, upload = list[Device](), DeviceMatrix.upload

    def refusing(graph: Any, to: Device) -> DeviceMatrix:
        if to is device:
            raise error
        came.append(to)
        return upload(graph, to)

    with patch.object(DeviceMatrix, "upload", refusing):
        yield came


def gpu_without_doubles(device: Device) -> Device:
    """Return a device that says that it is a GPU without doubles, and gets the kernels of one."""
    made = as_variant(device, "gpu-shape").forcing_off("doubles")
    made.capabilities = replace(made.capabilities, kind="gpu")
    return made


ERRORS: dict[str, Callable[[Device], Exception]] = {
    "trust": lambda one: UnsupportedDeviceError(f"{one.description} is not trusted"),
    "memory": lambda one: OutOfDeviceMemoryError(f"{one.description}: a buffer is too large"),
}


@pytest.mark.parametrize("lacking", ERRORS)
def test_ten_calls_go_to_the_next_device(any_device: Device, lacking: str) -> None:
    first, second = Device(any_device.cl_device), any_device.forcing_off("lanes")
    expected = {name: call(any_device) for name, call in CALLS.items()}
    error = ERRORS[lacking](first)
    with (
        resolving_anew(first, second), unable(first, error) as came,
        warnings.catch_warnings(record=True) as said,
    ):  # fmt: skip
        warnings.simplefilter("always")
        for name, call in CALLS.items():
            came.clear()
            found = call(None)
            assert np.asarray(found).tobytes() == np.asarray(expected[name]).tobytes(), name
            assert set(came) == {second}, name
            assert clmst.get_device() is first  # for all else it stays the default
        forest = clmst.minimum_spanning_forest(Points(X))
    (message,) = [str(one.message) for one in said if one.category is DeviceWarning]
    assert message.startswith(f"{first.description} cannot do this: ")
    assert f"{second.description} does it instead, with the same results" in message
    because = forest.stats["route"]["because"]
    # If memory is lacking, the reason goes on: blocks of points were tried, and do not fit either.
    assert f"(after {first.description}: {reason_of(first, error)}" in because
    assert because.endswith(")")


def test_ten_calls_of_a_gpu_without_doubles(any_device: Device) -> None:
    """It answers itself, with the bits of the CPU that comes after it, and nothing is said."""
    gpu, cpu = gpu_without_doubles(any_device), any_device
    expected = {name: call(cpu) for name, call in CALLS.items()}
    with (
        resolving_anew(gpu, cpu), unable(None, Exception()) as came,
        warnings.catch_warnings(record=True) as said,
    ):  # fmt: skip
        warnings.simplefilter("always")
        for name, call in CALLS.items():
            came.clear()
            found = call(None)
            assert np.asarray(found).tobytes() == np.asarray(expected[name]).tobytes(), name
            assert set(came) == {gpu}, name
        forest = clmst.minimum_spanning_forest(Points(X))
    assert [one for one in said if one.category is DeviceWarning] == []
    assert forest.stats["device"] == gpu.description
    assert "after" not in forest.stats["route"]["because"]


def test_a_gpu_without_doubles_that_fails_is_followed_by_the_cpu(any_device: Device) -> None:
    """The CPU answers ten calls, and one warning says why."""
    gpu, cpu = gpu_without_doubles(any_device), any_device
    expected = {name: call(cpu) for name, call in CALLS.items()}
    error = UnsupportedDeviceError(f"{gpu.description} is not trusted with points")
    with (
        resolving_anew(gpu, cpu), unable(gpu, error) as came,
        warnings.catch_warnings(record=True) as said,
    ):  # fmt: skip
        warnings.simplefilter("always")
        for name, call in CALLS.items():
            came.clear()
            assert np.asarray(call(None)).tobytes() == np.asarray(expected[name]).tobytes(), name
            assert set(came) == {cpu}, name
    (message,) = [str(one.message) for one in said if one.category is DeviceWarning]
    assert message.startswith(f"{gpu.description} cannot do this: is not trusted with points")
    assert f"{cpu.description} does it instead, with the same results" in message


def reason_of(device: Device, error: Exception) -> str:
    return str(error).removeprefix(device.description).strip(" :")


@pytest.mark.parametrize("lacking", ERRORS)
def test_at_last_the_host(any_device: Device, lacking: str) -> None:
    only = Device(any_device.cl_device)
    expected = {name: call(any_device) for name, call in CALLS.items()}
    with (
        resolving_anew(only), unable(only, ERRORS[lacking](only)),
        warnings.catch_warnings(record=True) as said,
    ):  # fmt: skip
        warnings.simplefilter("always")
        for name, call in CALLS.items():
            assert np.asarray(call(None)).tobytes() == np.asarray(expected[name]).tobytes(), name
        forest = clmst.minimum_spanning_forest(Points(X))
        graph = clmst.Graph.from_edges([0, 1], [1, 2], [1, 2])
        with RepeatedSolver(graph) as solver:
            assert solver.device is only
        with RepeatedSolver(Points(X)) as solver:
            assert solver.solve(X) == forest
    (message,) = [str(one.message) for one in said if one.category is DeviceWarning]
    assert "the host does it instead, with the same results" in message
    assert forest.stats["device"] == "host"
    assert forest.stats["route"]["record"] == "host"
    assert forest.stats["route"]["because"].startswith("there is no further device (after ")


@pytest.mark.parametrize("named", ["by an object", "by a name", "by the environment"])
def test_a_named_device_raises(
    any_device: Device, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    first, second = Device(any_device.cl_device), any_device.forcing_off("lanes")
    device: Any = {"by an object": first, "by a name": first.name}.get(named)
    if device is None:
        monkeypatch.setenv("CLMST_DEVICE", first.name)
    error = UnsupportedDeviceError("it is not trusted")
    with resolving_anew(first, second), unable(first, error):
        for name, call in CALLS.items():
            with pytest.raises(UnsupportedDeviceError, match="it is not trusted"):
                call(device)
            assert name
