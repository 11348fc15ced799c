"""``clmst devices --test``: every device put to all self-tests anew, each in a process of its own.

A driver may end the process in the middle of a test. What has begun then counts as refused, and
another process goes on with the next family: ``python -m clmst.cli.device_tests INDEX FAMILY ...``.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from clmst.families import BY_NAME, FAMILIES, tested
from clmst.runtime import discovery
from clmst.runtime.device import Device
from clmst.runtime.verdicts import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceTestOutcome:
    """What came of testing a family on a device.

    Attributes
    ----------
    family : str
    cases : int
        How many were tested: all of the usual ones, or up to the first that failed; none if its
        kernels are not for such a device.
    reason : str or None
        Why the device was refused; None if it passed.
    seconds : float
        What the tests took, kernel builds included.
    """

    family: str
    cases: int
    reason: str | None
    seconds: float


def outcomes(index: int) -> Iterator[DeviceTestOutcome]:
    """Test all families on the device at an index of :func:`discovery.enumerate_devices`."""
    left = [family.name for family in FAMILIES]
    while left:
        for outcome in _run(index, left):
            left.remove(outcome.family)
            yield outcome


def _run(index: int, families: Sequence[str]) -> Iterator[DeviceTestOutcome]:
    """Yield the outcomes of a child process, until it ends or crashes."""
    command = [sys.executable, "-m", "clmst.cli.device_tests", str(index), *families]
    left = list(families)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            try:
                outcome = DeviceTestOutcome(**json.loads(line))
            except (ValueError, TypeError):  # a driver's own output
                continue
            left.remove(outcome.family)
            yield outcome
    if left:
        yield DeviceTestOutcome(
            family=left[0], cases=1, reason=_end(process.returncode), seconds=0.0
        )


def _end(status: int) -> str:
    """Return in words how a process has come to an early end."""
    if status < 0:
        return f"the process ended in the middle of the test ({signal.Signals(-status).name})"
    return f"the process ended in the middle of the test (status {status})"


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


def _main(index: int, families: Sequence[str]) -> None:
    """Test families on a device, even if its trial fails, and print one outcome a line."""
    device = discovery.enumerate_devices()[index]
    vars(device)["trial_failure"] = None
    for name in families:
        outcome = outcome_of(name, list(tested(device, BY_NAME[name])))
        print(json.dumps(asdict(outcome)), flush=True)


if __name__ == "__main__":
    _main(int(sys.argv[1]), sys.argv[2:])
