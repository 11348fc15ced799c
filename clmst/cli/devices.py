"""``clmst devices``: what there is, what it can do, and what would be used."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from clmst.cli.terminal import (
    Stages,
    console,
    device_option,
    json_option,
    new_table,
    print_json,
)

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from clmst.cli.device_tests import FamilyReport
    from clmst.runtime.device import Device
    from clmst.runtime.discovery import Listing


@click.command()
@click.option("--test", "tests", is_flag=True, help="Test all families of kernels anew.")
@device_option
@json_option
def devices(tests: bool, device_name: str | None, as_json: bool) -> None:
    """List the OpenCL devices of this machine, best first.

    Each one is tried: it has to build and run kernels. The one marked "chosen" is used when
    --device is left out; CLMST_DEVICE changes that. "tuning" says whose values shape its kernels,
    "trust" what it has shown in self-tests: a device solves known problems before a family of
    kernels first answers there, and what it gets wrong is not used. --test does all of that now,
    on all devices or those that --device means, and forgets what was known before.
    """
    from clmst.runtime import discovery

    if tests:
        _test(device_name, as_json=as_json)
        return
    with Stages(quiet=as_json).stage("try", "trying devices"):
        listings = discovery.devices()
        meant = discovery.matching([one.device for one in listings], device_name)
    shown = [one for one in listings if one.device in meant]
    if as_json:
        print_json([_entry(listing) for listing in shown])
    elif shown:
        console().print(_table(shown))
    if not any(listing.chosen for listing in listings) or not shown:
        discovery.get_device(device_name)  # raises the error that says what to do


def _test(device_name: str | None, *, as_json: bool) -> None:
    """Test every family on the chosen devices, and show the outcomes."""
    from clmst.cli import device_tests
    from clmst.runtime import discovery

    found = []
    for device in discovery.matching(discovery.enumerate_devices(), device_name):
        with Stages(quiet=as_json).stage(device.name, f"testing {device.description}"):
            found.append((device, device_tests.test_reports(device)))
    if not found:
        discovery.get_device(device_name)  # raises the error that says what to do
    if as_json:
        print_json([_tested_entry(device, reports) for device, reports in found])
        return
    for device, reports in found:
        console().print(_tested_table(device, reports))


def _tested_entry(device: Device, reports: list[FamilyReport]) -> dict[str, Any]:
    return {
        "name": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "usable": device.trial_failure is None,
        "reason": device.trial_failure,
        "families": [asdict(one) for one in reports],
    }


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
    from clmst.cli import device_tests

    device = listing.device
    return {
        "name": device.name,
        "platform": device.platform,
        "driver": device.driver,
        **asdict(device.capabilities),
        "tuning": {
            "source": device.tuning.source,
            "title": device.tuning.title,
            "measured": device.tuning.measured,
            "note": device.tuning.note,
            "policy": asdict(device.policy),
        },
        "usable": listing.usable,
        "reason": listing.reason,
        "chosen": listing.chosen,
        "families": [asdict(one) for one in device_tests.known_reports(device)],
    }


def _table(listings: list[Listing]) -> Table:
    from rich.text import Text

    numbers = ("compute\nunits", "memory")  # in two lines, so that names fit
    table = new_table(
        "device", "kind", *numbers, "64-bit\natomics", "lanes", "status", numbers=numbers
    )
    for listing in listings:
        device, can = listing.device, listing.device.capabilities
        small_print = (
            f"\n{device.platform}\ndriver {device.driver}\ntuning: {device.tuning.description}\n"
            f"trust: {_trust(device)}"
        )
        table.add_row(
            Text.assemble(device.name, (small_print, "dim")),
            can.kind,
            str(can.compute_units),
            f"{can.global_memory / (1 << 30):.1f} GiB",
            "yes" if can.int64_atomics else "no",
            f"{can.lanes} {can.lane_width}",
            _status(listing),
        )
    return table


def _trust(device: Device) -> str:
    """Return what a device has shown so far, in one line."""
    from clmst.cli import device_tests

    known, parts = device_tests.known_reports(device), []
    for state in ("passed", "refused"):
        names = [one.family for one in known if one.state == state]
        parts += [f"{state} {', '.join(names)}"] if names else []
    left = sum(one.state == "not tried" for one in known)
    parts += [f"{left} families not tried yet"] if left else []
    return "; ".join(parts)


def _status(listing: Listing) -> Text:
    from rich.text import Text

    if listing.usable:
        return Text("chosen", "bold green") if listing.chosen else Text("usable")
    return Text(listing.reason or "unusable", "red")
