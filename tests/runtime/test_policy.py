"""Policies: what kernels need of the numbers, whichever device they are for."""

from __future__ import annotations

import pytest

from clmst import Device
from clmst.runtime import policy
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.tuning import Identity, shipped
from clmst.runtime.tuning_parameters import PARAMETERS
from clmst.runtime.tuning_rules import conflicts
from clmst.runtime.tuning_table import SHIPPED
from tests.variants import GPU_SHAPE

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


# The shapes that devices in the shipped table get.
MEASURED = {
    entry.title: shipped(
        Identity(device=entry.device or "", platform="", vendor=entry.vendor or "", driver=""),
        CAPABILITIES[entry.kind or ""],
    ).policy
    for entry in SHIPPED
}


@pytest.mark.parametrize(
    "tuning",
    [*map(policy.choose, CAPABILITIES.values()), GPU_SHAPE, *MEASURED.values()],
    ids=[*CAPABILITIES, "tests", *MEASURED],
)
def test_kernels_can_have_the_shape(tuning: Policy) -> None:
    """The legal ranges that cl/ states: lanes divide a work-group, the stage fits local memory."""
    assert tuning.work_group_size == 1 or tuning.work_group_size % 32 == 0
    assert tuning.work_group_size <= 256
    assert tuning.groups_per_compute_unit >= 1
    assert 1 <= tuning.edges_per_item <= 1024
    assert tuning.rows_per_item == 1 or tuning.work_group_size == 1
    assert tuning.stage_capacity >= tuning.work_group_size
    assert tuning.hub_row > 4  # as many slots already go to a lane group
    assert 16 * tuning.stage_capacity + 12 * tuning.work_group_size + 8 <= 32768
    assert 1 <= tuning.radix_bits <= 8
    assert (tuning.split_work_group_size == 1) == (tuning.work_group_size == 1)
    assert tuning.split_work_group_size == 1 or tuning.split_work_group_size % 32 == 0
    assert tuning.split_work_group_size * tuning.split_bytes_per_item <= 32768
    assert tuning.split_shares_per_compute_unit >= 1
    for name, parameter in PARAMETERS.items():
        assert parameter.allows(getattr(tuning, name)), name
    assert conflicts(tuning) == []


def test_cpus_get_single_work_items_and_others_do_not() -> None:
    assert policy.choose(CAPABILITIES["cpu"]).work_group_size == 1
    assert policy.choose(CAPABILITIES["gpu"]).work_group_size > 1
    assert policy.choose(CAPABILITIES["accelerator"]) == policy.choose(CAPABILITIES["gpu"])


def test_device_takes_the_policy_of_the_tables(device: Device) -> None:
    """Unless it was given one; forcing a capability off does not change the shape."""
    plain = Device(device.cl_device)
    assert plain.policy == shipped(Identity.of(device.cl_device), plain.capabilities).policy
    assert plain.with_policy(GPU_SHAPE).policy == GPU_SHAPE
    assert plain.with_policy(GPU_SHAPE).forcing_off("lanes").policy == GPU_SHAPE
    assert plain.forcing_off("lanes").policy == plain.policy
    assert device.policy.work_group_size <= device.capabilities.max_work_group_size
