"""The table of all families of kernels, which devices are tested for (``runtime/trust.py``)."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms import families as of_algorithms
from clmst.primitives import families as of_primitives
from clmst.repeated import families as of_rounds
from clmst.runtime.device import Device
from clmst.runtime.kernel_family import KernelFamily
from clmst.runtime.verdicts import Verdict

FAMILIES = (*of_algorithms.FAMILIES, *of_rounds.FAMILIES, *of_primitives.FAMILIES)
BY_NAME = {family.name: family for family in FAMILIES}


def tested(device: Device, family: KernelFamily) -> Iterator[Verdict]:
    """Test a family anew in each of its usual cases, in a child process, till one fails.

    In none if its kernels are not for such a device.
    """
    for case in family.cases if family.suits(device) else ():
        verdict = device.trust.test(family, case, apart=True)
        yield verdict
        if not verdict.passed:
            return
