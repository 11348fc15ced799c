"""Random histories of changes: the forest is always that of the edges that are present."""

from __future__ import annotations

import pytest

import clmst
from clmst import Device
from tests.dynamic.histories import run_many
from tests.helpers.strategies import EXHAUSTIVE

_SHARE = 100 if EXHAUSTIVE else 50  # histories of a case


@pytest.mark.parametrize(
    "case", [pytest.param(k, marks=[pytest.mark.exhaustive] if k >= 10 else []) for k in range(100)]
)
def test_histories(case: int) -> None:
    """Ties, loops, parallel edges, empty batches, new vertices, expiry, files: any order."""
    seeds = range(_SHARE * case, _SHARE * (case + 1))
    # Every other case goes the way of a call that does not name a device.
    device = clmst.get_device() if case % 2 else None
    assert run_many(seeds, device) > _SHARE


@pytest.mark.usefixtures("in_steps")
def test_histories_in_steps(device: Device) -> None:
    """Small graphs by the ways of large ones, on every device and variant."""
    assert run_many(range(20_000, 20_008), device) > 8
