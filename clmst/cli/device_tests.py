"""``clmst devices --test``: every device put to all self-tests anew, in a child process.

A driver may end the process in the middle of a test. That family is refused, and another process
goes on with the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from clmst.core.errors import ClmstError
from clmst.families import FAMILIES, tested
from clmst.runtime.device import Device
from clmst.runtime.kernel_family import KernelFamily
from clmst.runtime.verdicts import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyReport:
    """What is known of a family on a device."""

    family: str
    state: Literal["passed", "refused", "not used", "not tried"]
    cases: int = 0  # tested ones: all of the usual ones, or up to the first that failed
    reason: str | None = None  # why the device was refused
    seconds: float = 0.0  # what the tests took, kernel builds included


def test_reports(device: Device) -> list[FamilyReport]:
    """Test all families on a device, even if its trial fails."""
    found = []
    for family in FAMILIES:
        try:
            found.append(_report(device, family, list(tested(device, family))))
        except (ClmstError, MemoryError) as error:  # which says nothing about the kernels
            one = FamilyReport(family=family.name, state="refused", cases=1, reason=str(error))
            found.append(one)
    return found


def known_reports(device: Device) -> list[FamilyReport]:
    """Return what is known of a device, family by family; tests nothing."""
    known = device.trust.verdicts()
    return [
        _report(device, family, [one for one in known if one.family == family.name])
        for family in FAMILIES
    ]


def _report(device: Device, family: KernelFamily, verdicts: Sequence[Verdict]) -> FamilyReport:
    """Return what some verdicts on a family come to."""
    if not family.suits(device):
        return FamilyReport(family=family.name, state="not used")
    if not verdicts:
        return FamilyReport(family=family.name, state="not tried")
    reason = None
    for one in verdicts:
        if reason is None and one.reason is not None:
            reason = f"{one.case}: {one.reason}" if one.case else one.reason
    return FamilyReport(
        family=family.name, state="refused" if reason else "passed", cases=len(verdicts),
        reason=reason, seconds=round(sum(one.seconds for one in verdicts), 3),
    )  # fmt: skip
