"""Profiles: every launch and transfer of a solve, under its name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import clmst
from clmst import Device
from clmst.runtime.launcher import KernelTime, Profile


def test_summary_adds_up_and_ranks() -> None:
    profile = Profile()
    for name, start, end in (("short", 10, 500_010), ("long", 0, 2_000_000), ("short", 5, 5)):
        event: Any = SimpleNamespace(profile=SimpleNamespace(start=start, end=end))
        profile.add(name, event)
    summary = profile.summary()
    assert list(summary) == ["long", "short"]
    assert summary["long"] == KernelTime(launches=1, milliseconds=2.0)
    assert summary["short"].launches == 2
    assert summary["short"].milliseconds == pytest.approx(0.5)


def test_profile_of_a_solve(device: Device) -> None:
    graph = clmst.generate("random", n=2000, seed=1)
    stats = clmst.minimum_spanning_forest(graph, algorithm="ecl", device=device, profile=True).stats
    profile = stats["profile"]
    assert {"ecl_initialise", "forest_gather_edges", "(read back)"} <= {*profile}
    assert any(name.startswith("compact_") for name in profile)
    assert all(time.launches >= 1 and time.milliseconds >= 0 for time in profile.values())
    assert sum(time.milliseconds for time in profile.values()) > 0
    times = [time.milliseconds for time in profile.values()]
    assert times == sorted(times, reverse=True)


def test_phases_of_a_solve(device: Device) -> None:
    """Every step of an algorithm that has phases; what is outside of them is in none."""
    graph = clmst.generate("random", n=500, seed=1)
    stats = clmst.minimum_spanning_forest(
        graph, algorithm="boruvka", device=device, profile=True
    ).stats
    phases = stats["phases"]
    assert list(phases)[:2] == ["rank edges", "first edge list"]
    assert {"append", "mark segments", "segmented minimum scan", "find successors"} <= {*phases}
    assert phases["append"].launches == stats["rounds"]
    inside = sum(time.milliseconds for time in phases.values())
    assert 0 < inside <= sum(time.milliseconds for time in stats["profile"].values())


def test_no_profile_unless_asked(any_device: Device) -> None:
    """Queues that keep times are slower."""
    graph = clmst.generate("random", n=50, seed=1)
    assert "profile" not in clmst.minimum_spanning_forest(graph, device=any_device).stats
