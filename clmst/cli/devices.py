"""``clmst devices``: list the devices, their capabilities, and which one is used by default.

With ``--test`` every device runs all self-tests again, in a child process. If a driver crashes the
process in the middle of a test, the family of kernels that was tested is not used on the device,
and another process continues with the next family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from clmst.cli.options import device_option, json_option
from clmst.cli.terminal import Stages, console, new_table, print_json

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from clmst.runtime.device import Device
    from clmst.runtime.discovery import Listing
    from clmst.runtime.kernel_family import KernelFamily
    from clmst.runtime.verdicts import Verdict


_PIPED_WIDTH = 100  # columns at which long names and reasons are folded


@click.command()
@click.option(
    "--test", "tests", is_flag=True, help="Run all self-tests again, and forget earlier results."
)
@device_option
@json_option
def devices(tests: bool, device_name: str | None, as_json: bool) -> None:
    """List the OpenCL devices of this machine, best first.

    Each device is tried: it must build and run kernels. The device marked "chosen" is used if
    --device is left out. CLMST_DEVICE changes the choice. "trust" says how a device did in
    self-tests: it solves known problems before clmst uses a family of kernels there, and a family
    that gives a wrong answer is not used. --test runs all self-tests now, on all devices or on
    those that --device selects, and forgets earlier results.
    """
    from clmst.runtime import discovery

    if tests:
        _test(device_name, as_json=as_json)
        return
    with Stages(quiet=as_json).stage("try", "trying devices"):
        listings = discovery.devices()
        meant = discovery.matching([one.device for one in listings], device_name)
    shown = [one for one in listings if one.device in meant]
    tables: list[RenderableType] = []
    if shown and not as_json:
        tables = [_table(shown), *map(_details, shown)]
    _show([_entry(one) for one in shown] if as_json else [], tables, as_json=as_json)
    if not any(one.chosen for one in listings) or not shown:
        discovery.get_device(device_name)  # raises the error that says what to do


def _test(device_name: str | None, *, as_json: bool) -> None:
    """Run the self-tests of every family on the selected devices, and print the outcomes.

    `device_name` selects the devices that match it. None selects all. With `as_json` JSON is
    printed instead of tables.
    """
    from clmst.runtime import discovery, listing

    listing.test_again()
    found = []
    for device in discovery.matching(discovery.enumerate_devices(), device_name):
        with Stages(quiet=as_json).stage(device.name, f"testing {device.description}"):
            found.append((device, test_reports(device)))
    if not found:
        discovery.get_device(device_name)  # raises the error that says what to do
    entries = [
        _identity(device)
        | {"usable": device.trial_failure is None, "reason": device.trial_failure}
        | {"families": reports}
        for device, reports in found
    ]
    _show(entries, [] if as_json else [_tested_table(*one) for one in found], as_json=as_json)


def _left_out() -> list[dict[str, Any]]:
    """Return an entry, in the form for JSON, for each driver that clmst does not use.

    A driver is left out if it crashes the process that lists devices.
    """
    from clmst.runtime import listing

    return [
        {"name": name, "usable": False, "reason": reason, "families": []}
        for name, reason in listing.left_out().items()
    ]


def _show(
    entries: list[dict[str, Any]], tables: Sequence[RenderableType], *, as_json: bool
) -> None:
    """Print devices, and the drivers that clmst does not use, with the reason.

    If `as_json`, the devices are printed as the JSON values `entries`, otherwise as `tables`.
    """
    if as_json:
        print_json(entries + _left_out())
        return
    screen = console(piped_width=_PIPED_WIDTH)
    for table in tables:
        screen.print(table)
    for one in _left_out():
        screen.print(f"{one['name']} is left out: {one['reason']}", markup=False)


def _identity(device: Device) -> dict[str, Any]:
    return {"name": device.name, "platform": device.platform, "driver": device.driver}


def _tested_table(device: Device, reports: list[FamilyReport]) -> Table:
    from rich.text import Text

    table = new_table("family", "cases", "seconds", "verdict", numbers=("cases", "seconds"))
    table.title = f"{device.description}, driver {device.driver}"
    table.title_justify = "left"
    if device.trial_failure is not None:
        table.add_row("trial", "", "", Text(device.trial_failure, "red"))
    for one in reports:
        verdict = Text(f"refused: {one.reason}", "red") if one.reason else Text(one.state, "green")
        table.add_row(one.family, str(one.cases), f"{one.seconds:.2f}", verdict)
    return table


def _entry(listing: Listing) -> dict[str, Any]:
    device = listing.device
    return {
        **_identity(device),
        **asdict(device.capabilities),
        "policy": device.policy,
        "usable": listing.usable,
        "reason": listing.reason,
        "chosen": listing.chosen,
        "families": known_reports(device),
    }


def _table(listings: list[Listing]) -> Table:
    numbers = ("compute\nunits", "memory")  # two lines each, to leave space for names
    table = new_table(
        "device", "kind", *numbers, "64-bit\natomics", "lanes", "status", numbers=numbers
    )
    for listing in listings:
        device, can = listing.device, listing.device.capabilities
        table.add_row(
            device.name,
            can.kind,
            str(can.compute_units),
            f"{can.global_memory / (1 << 30):.1f} GiB",
            "yes" if can.int64_atomics else "no",
            f"{can.lanes} {can.lane_width}",
            _status(listing),
        )
    return table


def _details(listing: Listing) -> Padding:
    """Return the details of a device that do not fit into its row of the table, as full lines.

    `listing` is the device with the outcome of its trial: two or three small kernels are run before
    a device is used.
    """
    from rich.padding import Padding
    from rich.text import Text

    device = listing.device
    heading = f"\n{device.description}, driver {device.driver}\n"
    reason = "" if listing.usable else f"unusable: {listing.reason or 'its trial failed'}\n"
    more = f"trust: {_trust(device)}"
    return Padding(Text.assemble(heading, (reason, "red"), (more, "dim")), (0, 1))


def _trust(device: Device) -> str:
    """Describe in one line which families of kernels have passed or failed on a device."""
    known, parts = known_reports(device), []
    for state in ("passed", "refused"):
        names = [one.family for one in known if one.state == state]
        parts += [f"{state} {', '.join(names)}"] if names else []
    if any(one.state == "not tried" for one in known):
        what = "others" if parts else "kernels"
        parts.append(f"{what} are tested before their first use")
    return "; ".join(parts)


def _status(listing: Listing) -> Text:
    from rich.text import Text

    if listing.usable:
        return Text("chosen", "bold green") if listing.chosen else Text("usable")
    return Text("unusable", "red")


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyReport:
    """The result of the self-tests of a family of kernels, which are tested together, on a device.

    Each self-test of the family is a case.
    """

    family: str
    state: Literal["passed", "refused", "not used", "not tried"]
    cases: int = 0  # number of tested cases, up to the first failure
    reason: str | None = None  # why the family was refused on the device
    seconds: float = 0.0  # duration of the tests, including kernel builds


def test_reports(device: Device) -> list[FamilyReport]:
    """Run the self-tests of all kernels on a device, and return a report for each kernel family.

    A device that failed its trial (two or three small kernels that are run first) is tested too.
    """
    from clmst.core.errors import ClmstError
    from clmst.families import FAMILIES, tested

    found = []
    for family in FAMILIES:
        try:
            found.append(_report(device, family, list(tested(device, family))))
        except (ClmstError, MemoryError) as error:  # an error that says nothing about the kernels
            one = FamilyReport(family=family.name, state="refused", cases=1, reason=str(error))
            found.append(one)
    return found


def known_reports(device: Device) -> list[FamilyReport]:
    """Report the results of earlier self-tests on a device, one report for each kernel family.

    No test is run.
    """
    from clmst.families import FAMILIES

    known = device.trust.verdicts()
    return [
        _report(device, family, [one for one in known if one.family == family.name])
        for family in FAMILIES
    ]


def _report(device: Device, family: KernelFamily, verdicts: Sequence[Verdict]) -> FamilyReport:
    """Create the report of a kernel family from the results of its self-tests on `device`.

    `verdicts` has one result for each case that was tested.
    """
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
