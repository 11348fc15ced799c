"""The trial of lanes: a device whose lanes are wrong is used without them.

``tests/runtime/test_device.py`` has what makes a device unusable.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import clmst
from clmst import Device
from clmst.runtime.capabilities import detect
from tests.helpers.kernel_sources import changed
from tests.helpers.variants import GPU_SHAPE

# What a driver may get wrong, as changes of what lanes.cl calls.
WRONG = {
    "a shuffle": ("intel_sub_group_shuffle(value, lane)", "value"),
    "a minimum": ("sub_group_reduce_min(value)", "value"),
    "a sum": ("sub_group_scan_exclusive_add(value)", "sub_group_scan_exclusive_add(1u)"),
    "a maximum": ("sub_group_scan_exclusive_max(value)", "sub_group_scan_exclusive_max(1u)"),
    "a ballot": ("(uint)flag << lanes_id()", "0u"),
    "a broadcast": ("sub_group_broadcast(value, lane)", "sub_group_broadcast(value, 0)"),
    "a rank": ("sub_group_scan_exclusive_add((uint)flag)", "lanes_id()"),
    "a total": ("*total = sub_group_reduce_add((uint)flag)", "*total = LANES"),
    "an atomic beside": ("(ulong)of_other << 32 | value)", "(ulong)of_other << 32 | 1)"),
    "a build": ("sub_group_broadcast(value, lane)", "sub_group_cast_out(value, lane)"),
    "groups that differ": ("if (words[2 * groups + group]) {", "{"),
}


@pytest.fixture
def shaped(any_device: Device) -> Device:
    """Return a new device whose kernels use lanes."""
    if detect(any_device.cl_device).lanes != "khr":
        pytest.skip("no sub-groups of a fixed size here")
    return Device(any_device.cl_device, tuning=GPU_SHAPE, _optimised=False)


def test_right_lanes_are_used(shaped: Device) -> None:
    assert shaped.trial_failure is None
    assert shaped.capabilities.lanes == "khr"


@pytest.mark.parametrize("what", WRONG)
def test_wrong_lanes_are_not_used(shaped: Device, tmp_path: Path, what: str) -> None:
    """Which changes neither what else the device can do, nor whether it is usable."""
    can = shaped.capabilities
    with changed(tmp_path, WRONG[what]):
        assert shaped.trial_failure is None
    assert shaped.capabilities == can.without(("lanes",))
    macros = dict(shaped.program("primitives/histogram.cl").specialisation.defines)
    assert macros["LANES_IMPL"] == 0


def test_what_is_wrong_without_lanes_too_is_refused(shaped: Device, tmp_path: Path) -> None:
    text = "if (vertex == 7) rounds += 1; vertex = next;"
    with changed(tmp_path, ("vertex = next;", text), file="trial.cl"):
        assert str(shaped.trial_failure).startswith("computes wrongly: loops of 130816 rounds")


def test_devices_made_of_one_without_lanes_have_none(shaped: Device, tmp_path: Path) -> None:
    with changed(tmp_path, WRONG["a shuffle"]):
        shaped.check_usable()
    others = (
        shaped.with_policy(GPU_SHAPE), shaped.twin(),
        shaped.forcing_off("int64-atomics"),
    )  # fmt: skip
    assert [other.capabilities.lanes for other in others] == ["local"] * 3


def test_a_policy_that_begins_to_use_lanes_tries_them(
    any_device: Device, shaped: Device, tmp_path: Path
) -> None:
    """Where the device's own has work-groups of one, its trial says nothing about lanes."""
    plain = Device(any_device.cl_device)
    if plain.policy.work_group_size > 1:
        pytest.skip("its own policy uses lanes")
    plain.check_usable()
    with changed(tmp_path, WRONG["a minimum"]):
        other = plain.with_policy(GPU_SHAPE)
    assert (plain.capabilities.lanes, other.capabilities.lanes) == ("khr", "local")
    graph = clmst.generate("grid", rows=40, columns=40)
    other.trust.given = True
    found = clmst.minimum_spanning_forest(graph, algorithm="ecl", device=other)
    assert found.edge_ids.tolist() == clmst.kruskal(graph).edge_ids.tolist()
