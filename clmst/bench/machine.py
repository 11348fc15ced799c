"""Facts of the machine that timings were taken on."""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING, Any

import clmst
from clmst.core.machine import processor, usable_cores, version_of

if TYPE_CHECKING:
    from clmst.runtime.device import Device

_PACKAGES = ("numpy", "scipy", "pyopencl")


def facts(device: Device) -> dict[str, Any]:
    """Return device, driver, host and versions, in the types of JSON."""
    return {
        "device": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "kind": device.capabilities.kind,
        "compute_units": device.capabilities.compute_units,
        "memory": device.capabilities.global_memory,
        "without": list(device.without),
        "host": processor(),
        "host_cores": usable_cores(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": {
            "clmst": clmst.__version__,
            **{name: version_of(name) for name in _PACKAGES},
        },
        "command": sys.argv[1:],
    }


def identity(machine: dict[str, Any]) -> str:
    """Return one line that is equal for comparable measurements of one machine."""
    off = "".join(f", without {name}" for name in machine["without"])
    return (
        f"{machine['device']} ({machine['platform']}), driver {machine['driver']}{off}, "
        f"on {machine['host']}, {machine['host_cores']} cores, clmst {machine['versions']['clmst']}"
    )
