"""``clmst devices --test``: every device put to all self-tests anew, in a child process.

A driver may end the process in the middle of a test. That family is refused, and another process
goes on with the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from clmst.core.errors import ClmstError
from clmst.families import FAMILIES, tested
from clmst.runtime.device import Device
from clmst.runtime.verdicts import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTestOutcome:
    """What came of testing a family on a device."""

    family: str
    # How many were tested: all of the usual ones, or up to the first that failed; none if its
    # kernels are not for such a device.
    cases: int
    reason: str | None  # why the device was refused; None if it passed
    seconds: float  # what the tests took, kernel builds included


def outcomes(device: Device) -> Iterator[DeviceTestOutcome]:
    """Test all families on a device, even if its trial fails."""
    for family in FAMILIES:
        try:
            yield outcome_of(family.name, list(tested(device, family)))
        except (ClmstError, MemoryError) as error:  # which says nothing about the kernels
            yield DeviceTestOutcome(family=family.name, cases=1, reason=str(error), seconds=0.0)


def outcome_of(family: str, verdicts: Sequence[Verdict]) -> DeviceTestOutcome:
    """Return what some verdicts on a family come to."""
    reasons = (f"{one.case}: {one.reason}" if one.case else one.reason for one in verdicts)
    refused = (reason for reason, one in zip(reasons, verdicts, strict=True) if not one.passed)
    return DeviceTestOutcome(
        family=family,
        cases=len(verdicts),
        reason=next(refused, None),
        seconds=round(sum(one.seconds for one in verdicts), 3),
    )


def known_outcomes(device: Device) -> list[DeviceTestOutcome]:
    """Return what is known of a device, family by family; tests nothing."""
    known = device.trust.verdicts()
    found = []
    for family in FAMILIES:
        is_used = family.suits(device)
        verdicts = [one for one in known if is_used and one.family == family.name]
        if verdicts or not is_used:
            found.append(outcome_of(family.name, verdicts))
    return found


def entries(found: Sequence[DeviceTestOutcome]) -> list[dict[str, Any]]:
    """Return outcomes for JSON, and families that were not tried or are not used there."""
    tried = {one.family: one for one in found}
    outcomes = []
    for family in FAMILIES:
        one = tried.get(family.name)
        more = {"cases": 0, "reason": None, "seconds": 0.0} if one is None else asdict(one)
        state = "not tried" if one is None else state_of(one)
        outcomes.append({**more, "family": family.name, "state": state})
    return outcomes


def state_of(outcome: DeviceTestOutcome) -> str:
    """Return an outcome in a word or two."""
    if outcome.reason:
        return "refused"
    return "passed" if outcome.cases else "not used"
