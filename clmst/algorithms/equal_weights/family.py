"""The kernel for matrices of equal weights, as a family that devices are tested for."""

from __future__ import annotations

from clmst.runtime.device import Device
from clmst.runtime.trust import KernelFamily


def _failure(device: Device, _case: object) -> str | None:
    from clmst.algorithms.equal_weights import self_test

    return self_test.equal_weights_failure(device)


def _suits(device: Device) -> bool:
    """Return whether one work-item is a work-group, and reads the host's arrays in place."""
    return device.policy.work_group_size == 1 and device.capabilities.host_arrays == "shared"


EQUAL_WEIGHTS = KernelFamily(
    name="equal-weights",
    what="SciPy matrices of equal weights on CPUs; where it is refused, they go the usual way",
    test=_failure,
    suits=_suits,
)
