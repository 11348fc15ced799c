"""Points that cannot be clustered: one clear error at every door, before anything is built."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, InvalidArgumentError, InvalidGraphError, OutOfDeviceMemoryError, Points
from clmst.cluster import HDBSCAN, SingleLinkage, single_linkage
from tests.capabilities import with_capabilities

DOORS: dict[str, Callable[[Any, Device], object]] = {
    "tree": lambda X, device: clmst.minimum_spanning_forest(Points(X), device=device),
    "core distances": lambda X, device: clmst.core_distances(X, 3, device=device),
    "single_linkage": lambda X, device: single_linkage(X, device=device),
    "SingleLinkage": lambda X, device: SingleLinkage(2, device=device).fit(X),
    "HDBSCAN": lambda X, device: HDBSCAN(3, device=device).fit(X),
}


@pytest.fixture
def new(any_device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Device:
    """Return a device that is not trusted with anything, and would have to test its kernels."""
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path))
    return Device(any_device.cl_device)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("d", [3, 100_000])
@pytest.mark.parametrize("lacks", ["global_memory", "max_allocation"])
def test_memory_is_said_before_anything_is_built(
    new: Device, caplog: pytest.LogCaptureFixture, door: str, d: int, lacks: str
) -> None:
    n = max(20, (1 << 18) // d)
    small = with_capabilities(new, **{lacks: 1 << 20})
    with (
        caplog.at_level(logging.INFO, "clmst"),
        pytest.raises(OutOfDeviceMemoryError, match=rf"^{n} points of {d} dimensions need .*; .* "),
    ):
        DOORS[door](np.zeros((n, d)), small)
    assert not [one for one in caplog.messages if "kernels" in one and "trial" not in one]


@pytest.mark.parametrize("door", DOORS)
def test_no_dimensions(any_device: Device, door: str) -> None:
    with pytest.raises(InvalidGraphError, match=r"shape \(5, 0\).*; "):
        DOORS[door](np.zeros((5, 0)), any_device)


@pytest.mark.parametrize("door", [name for name in DOORS if name != "HDBSCAN"])
@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_a_coordinate_that_is_no_number(
    any_device: Device, door: str, value: float, name: str
) -> None:
    """HDBSCAN leaves such rows out, as scikit-learn's does."""
    X = np.ones((5, 64))
    X[3, 61] = value
    message = f"^coordinate 61 of point 3 is {name}; all must be finite$"
    with pytest.raises(InvalidGraphError, match=message):
        DOORS[door](X, any_device)


def test_no_row_is_finite(any_device: Device) -> None:
    message = "^X has 5 rows, of which none is finite; a clustering takes one at least$"
    with pytest.raises(InvalidGraphError, match=message):
        HDBSCAN(3, device=any_device).fit(np.full((5, 64), np.inf))


@pytest.mark.parametrize("d", [2, 64])
def test_more_samples_than_points(any_device: Device, d: int) -> None:
    X = np.ones((20, d))
    with pytest.raises(InvalidArgumentError, match=r"^min_samples is 21; it must be 1 to 20$"):
        clmst.core_distances(X, 21, device=any_device)
    message = r"^min_samples \(21\) must be at most the number of points, and X has 20 samples; "
    for model in (HDBSCAN(3, min_samples=21, device=any_device), HDBSCAN(21, device=any_device)):
        with pytest.raises(InvalidArgumentError, match=message):
            model.fit(X)
