"""Ways to launch solves in the shape of a GPU, and the programs that each needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:  # the record needs this, which loads no OpenCL
    from clmst.runtime.device import Device

UsualLaunches: TypeAlias = Literal["resident", "mixed", "separate"]


def usual_launches(device: Device, n_slots: int) -> UsualLaunches:
    """Return how a graph of so many slots is solved where options do not say it."""
    policy = device.policy
    if not (
        policy.resident_groups_per_compute_unit
        and device.groups_may_wait
        and device.capabilities.has_device_fence
    ):
        return "separate"
    return "resident" if n_slots <= policy.resident_slots else "mixed"
