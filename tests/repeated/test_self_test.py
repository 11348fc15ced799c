"""The self-tests of repeated solves reach what they are there for."""

from __future__ import annotations

import numpy as np
import pytest

from clmst import Device
from clmst.algorithms.reweighting import warm_start
from clmst.core.known_graphs import known_graph
from clmst.repeated import self_test
from clmst.repeated.families import SERIES
from clmst.repeated.session import RoundOptions
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
    known = known_graph("large")
    trusted = Device(any_device.cl_device, _trusted=True)
    session = self_test._session(known, trusted, case, warm_start=True)
    series = self_test._Series(known, case, session)
    rng, dtype = np.random.default_rng(1), case.dtype
    warm = []
    for weights in self_test.drifting(known.ranks.n_slots, dtype, rng):
        found = session.solve(series.by_edge(weights), options=RoundOptions(keep_on_device=True))
        warm.append("warm_start" in found.stats)
    assert warm == [False, False, True, False]


def test_series_contraction_is_reached(any_device: Device) -> None:
    trusted = Device(any_device.cl_device, _trusted=True)
    assert SERIES.failure(trusted, Case()) is None
