"""Policies: what kernels need of the numbers, which policy a device gets, and its constants."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from clmst import Device
from clmst.algorithms import ecl
from clmst.algorithms.filter_boruvka import workspace
from clmst.core.errors import CacheWarning
from clmst.primitives import radix
from clmst.primitives.radix import RADIX_BITS, WORK_ITEMS
from clmst.primitives.shares import BYTES_PER_ITEM
from clmst.runtime import policy
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import CPU, GPU, NVIDIA, Policy
from tests.helpers.variants import GPU_SHAPE

CAPABILITIES = {
    kind: Capabilities(
        kind=kind,
        compute_units=2,
        max_work_group_size=256,
        local_memory=32768,
        global_memory=1 << 30,
        max_allocation=1 << 28,
        host_arrays="copied",
        buffer_alignment=128,
        int64_atomics=True,
        doubles=True,
        lanes="local",
        lane_width=32,
    )
    for kind in ("gpu", "cpu", "accelerator")
}


SAMPLES = 1024  # of cl/algorithms/filter_boruvka/sample.cl


@pytest.mark.parametrize(
    "tuning", [CPU, GPU, NVIDIA, GPU_SHAPE], ids=["cpu", "gpu", "nvidia", "tests"]
)
def test_kernels_can_have_the_shape(tuning: Policy) -> None:
    """The ranges that cl/ states, and the rules between fields."""
    size = tuning.work_group_size
    assert size == 1 or size % 32 == 0
    assert SAMPLES % size == SAMPLES % workspace.RESIDENT_ITEMS.under(tuning) == 0
    assert (size > 1) == (tuning is not CPU)
    assert tuning.slots_per_item >= 256 if size == 1 else tuning.slots_per_item <= 16
    assert workspace.RESIDENT_SLOTS_PER_ITEM.under(tuning) <= 16
    assert tuning.stage_capacity >= size
    assert ecl.HUB_ROW.under(tuning) > 4  # as many slots already go to a lane group
    assert 16 * tuning.stage_capacity + 12 * size + 8 <= 32768
    assert radix.WORK_ITEMS.under(tuning) * tuning.split_bytes_per_item <= 32768
    scanned = tuning.chain_bytes_per_item, BYTES_PER_ITEM.under(tuning)
    for loaded, unit in (*((one, 16) for one in scanned), (tuning.split_bytes_per_item, 4)):
        assert 0 < loaded <= 128
        assert loaded % unit == 0


@pytest.mark.parametrize(
    ("kind", "vendor", "expected"),
    [
        ("gpu", "NVIDIA Corporation", NVIDIA),
        ("cpu", "NVIDIA Corporation", CPU),
        ("accelerator", "NVIDIA Corporation", GPU),
        ("gpu", "Cards Inc.", GPU),
        ("cpu", "The pocl project", CPU),
    ],
)
def test_which_policy_a_device_gets(kind: str, vendor: str, expected: Policy) -> None:
    assert policy.choose(CAPABILITIES[kind], vendor) is expected


def test_work_items_are_alone_where_work_groups_are_too_small() -> None:
    small = replace(CAPABILITIES["gpu"], max_work_group_size=policy.LEAST_WORK_GROUP - 1)
    assert policy.choose(small, "NVIDIA Corporation") is CPU


def test_a_policy_has_other_numbers_in_the_place_of_constants(any_device: Device) -> None:
    """Also in another process, which gets the policy as a pickle; and other devices keep theirs."""
    changed = GPU.with_constants({RADIX_BITS: 3}).with_constants({WORK_ITEMS: 64, RADIX_BITS: 4})
    for one in (changed, pickle.loads(pickle.dumps(changed))):
        assert one == changed
        assert (RADIX_BITS.under(one), WORK_ITEMS.under(one)) == (4, 64)
    assert (RADIX_BITS.under(GPU), WORK_ITEMS.under(GPU)) == (RADIX_BITS.value, WORK_ITEMS.value)
    assert changed != GPU
    given = any_device.with_policy(changed)
    assert given.policy is changed
    assert given.forcing_off("lanes").policy is changed


def test_a_table_of_tuned_values_is_ignored(
    any_device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One warning a process says so, whatever is in the table."""
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path))
    (path := tmp_path / "tuning.json").write_text("no JSON")
    policy.warn_of_old_table.cache_clear()
    devices = [Device(any_device.cl_device) for _ in range(2)]
    with pytest.warns(CacheWarning) as caught:
        policies = [device.policy for device in devices]
    assert len(caught) == 1
    assert str(caught[0].message).startswith(f"{path} is ignored")
    assert policies == [any_device.policy] * 2
