"""The self-tests of repeated solves reach what they are there for."""

from __future__ import annotations

from typing import Any

import pytest

from clmst import Device
from clmst.algorithms.reweighting import warm_start
from clmst.repeated.families import SERIES, WARM_START
from clmst.repeated.session import Session
from clmst.runtime.kernel_family import Case


@pytest.mark.parametrize(
    "case",
    [Case(), Case(64, "float", maximum=True), Case(32, "float")],
    ids=str,
)
def test_warm_starts_are_reached(
    any_device: Device, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round begins with what is settled, and in the last of all weights stray.

    Also where only larger graphs have warm starts, as where a solve is one launch.
    """
    monkeypatch.setattr(warm_start, "_LEAST_EDGES", 1 << 30)
    inner, warm = Session.solve, list[bool]()

    def solve(session: Session, weights: Any, **given: Any) -> Any:
        found = inner(session, weights, **given)
        warm.append("warm_start" in found.stats)
        return found

    monkeypatch.setattr(Session, "solve", solve)
    trusted = Device(any_device.cl_device, _trusted=True)
    assert WARM_START.failure(trusted, case) is None
    assert warm == [False, False, True, False]


def test_series_contraction_is_reached(any_device: Device) -> None:
    trusted = Device(any_device.cl_device, _trusted=True)
    assert SERIES.failure(trusted, Case()) is None
