"""The kernel that solves small matrices in one launch, as a family that devices are tested for."""

from __future__ import annotations

from dataclasses import dataclass

from clmst.core.weight_keys import WeightKind
from clmst.runtime.device import Device
from clmst.runtime.trust import KernelFamily


@dataclass(frozen=True, slots=True)
class SmallMatrixCase:
    """What decides which kernel solves a small matrix in one launch.

    Attributes
    ----------
    bits, kind : int, str
        Words of weights.
    maximum : bool
    """

    bits: int = 32
    kind: WeightKind = "unsigned"
    maximum: bool = False

    def __str__(self) -> str:
        direction = "maximum" if self.maximum else "minimum"
        return f"{self.bits}-bit {self.kind} weights, {direction}"


def _failure(device: Device, case: SmallMatrixCase) -> str | None:
    from clmst.algorithms import self_test

    return self_test.small_matrix_failure(device, case)


def _suits(device: Device) -> bool:
    """Return whether one work-item is a work-group, and reads the host's arrays in place."""
    return device.policy.work_group_size == 1 and device.capabilities.host_arrays != "copied"


SMALL_MATRIX = KernelFamily(
    name="small-matrix",
    what="small SciPy matrices on CPUs; where it is refused, they go the usual way",
    test=_failure,
    cases=(SmallMatrixCase(), SmallMatrixCase(64, "float", maximum=True)),
    suits=_suits,
)
