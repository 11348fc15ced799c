"""Drivers that are known not to end a process by clmst's kernels.

All other drivers are tested in a child process (``child.py``), so that one that crashes does not
take the user's process with it. Whether answers are right is no matter of this table: every driver
has to pass the self-tests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenDriver:
    """An implementation of OpenCL, in the versions that were tried."""

    platform: str  # the platform's whole name
    # The first version, and the first one that no longer counts; as many numbers as matter.
    lowest: tuple[int, ...]
    below: tuple[int, ...]
    devices: tuple[str, ...] = ("",)  # what the device's name begins with; any device if empty
    build: str = ""  # what else the version says

    def covers(self, platform: str, device: str, version: str) -> bool:
        """Return whether a device of some driver is one of these."""
        numbers = tuple(map(int, re.findall(r"\d+", version)))
        return (
            platform == self.platform
            and device.startswith(self.devices)
            and self.lowest <= numbers < self.below
            and self.build in version
        )


# A driver comes in here after all suites have run on it, and `tests.prove` with 100,000 cases
# or more (docs/reliability.md); only versions that were tried, and their updates.
PROVEN = (
    ProvenDriver(platform="Intel(R) OpenCL", lowest=(2026, 22), below=(2026, 23)),
    ProvenDriver(
        platform="NVIDIA CUDA",
        lowest=(580,),
        below=(581,),
        devices=("NVIDIA H100", "NVIDIA H200"),
    ),
    ProvenDriver(
        platform="Portable Computing Language", lowest=(3, 1), below=(3, 2), build="+debian"
    ),
)


def is_proven(platform: str, device: str, version: str) -> bool:
    """Return whether clmst's kernels may be tried in the user's process."""
    return any(one.covers(platform, device, version) for one in PROVEN)
