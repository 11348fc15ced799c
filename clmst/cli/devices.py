"""``clmst devices``: what there is, what it can do, and what would be used."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from clmst.cli.terminal import Stages, console, json_option, new_table, print_json

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from clmst.runtime.device import Device
    from clmst.runtime.discovery import Listing


@click.command()
@json_option
def devices(as_json: bool) -> None:
    """List the OpenCL devices of this machine, best first.

    Each one is tried: it has to build and run a kernel. The one marked "chosen" is used when
    --device is left out; CLMST_DEVICE changes that. "tuning" says whose values shape its kernels.
    """
    from clmst.runtime import discovery

    with Stages(quiet=as_json).stage("try", "trying devices"):
        listings = discovery.devices()
    if as_json:
        print_json([_entry(listing) for listing in listings])
    elif listings:
        console().print(_table(listings))
    if not any(listing.chosen for listing in listings):
        discovery.get_device()  # raises the error that says what to do


def _entry(listing: Listing) -> dict[str, Any]:
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
    }


def _table(listings: list[Listing]) -> Table:
    from rich.text import Text

    numbers = ("compute\nunits", "memory")  # in two lines, to leave room for names
    table = new_table(
        "device", "kind", *numbers, "64-bit\natomics", "lanes", "status", numbers=numbers
    )
    for listing in listings:
        device, can = listing.device, listing.device.capabilities
        table.add_row(
            Text.assemble(device.name, (_small_print(device), "dim")),
            can.kind,
            str(can.compute_units),
            f"{can.global_memory / (1 << 30):.1f} GiB",
            "yes" if can.int64_atomics else "no",
            f"{can.lanes} {can.lane_width}",
            _status(listing),
        )
    return table


def _small_print(device: Device) -> str:
    tuning = f"tuning: {device.tuning.description}"
    return f"\n{device.platform}\ndriver {device.driver}\n{tuning}"


def _status(listing: Listing) -> Text:
    from rich.text import Text

    if listing.usable:
        return Text("chosen", "bold green") if listing.chosen else Text("usable")
    return Text(listing.reason or "unusable", "red")
