"""The table of all kernel families. A family is a group of kernels with a common self-test.

``runtime/trust.py`` decides when a family is tested.
"""

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
    """Run the self-tests of a kernel family again, and yield the result of each default case.

    A result says whether the device passed one case, and why not. Each test runs in a child
    process, so a crash of the driver cannot end this process. The iterator ends after the first
    failure. Nothing is yielded if the family's kernels are not meant for the device.
    """
    for case in family.cases if family.suits(device) else ():
        verdict = device.trust.test(family, case, apart=True)
        yield verdict
        if not verdict.passed:
            return
