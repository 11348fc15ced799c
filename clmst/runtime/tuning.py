"""Which policy a device gets, and from which table.

From the least to the most specific: the values of its kind (``policy.py``), the shipped entry of
its vendor and kind, the shipped entry of its name (``tuning_table.py``), the user's own of its
name, platform and driver (``tuning_file.py``). Each field comes from the last of these that has it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, TypeAlias

from clmst import __version__
from clmst.core.errors import FileFormatError
from clmst.runtime import policy, tuning_file
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.tuning_rules import conflicts
from clmst.runtime.tuning_table import SHIPPED, Entry

Source: TypeAlias = Literal["given", "user", "device", "vendor", "default"]


class TuningWarning(UserWarning):
    """Something in the user's table of tuned values cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a device is looked up by, as it reports it.

    Attributes
    ----------
    device, platform, driver : str
    vendor : str
        The platform's vendor, who made the implementation of OpenCL.
    """

    device: str
    platform: str
    vendor: str
    driver: str

    @property
    def name(self) -> tuple[str, str]:
        """Device and platform, which stay when the driver changes."""
        return self.device, self.platform

    @classmethod
    def of(cls, cl_device: Any) -> Identity:
        """Ask a ``pyopencl.Device``."""
        return cls(
            device=str(cl_device.name).strip(),
            platform=str(cl_device.platform.name).strip(),
            vendor=str(cl_device.platform.vendor).strip(),
            driver=str(cl_device.driver_version).strip(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """A policy, and where it comes from.

    Attributes
    ----------
    policy : Policy
    source : {"given", "user", "device", "vendor", "default"}
        The most specific table that has a field of it.
    title : str
        What that table's entry is for, in a few words.
    measured : str
        What it was measured on; empty if unknown.
    note : str
        Why the user's own entry of that name, if any, is not used.
    """

    policy: Policy
    source: Source
    title: str
    measured: str = ""
    note: str = ""

    @property
    def description(self) -> str:
        """Source and title in one."""
        words: dict[Source, str] = {
            "given": "given by the caller",
            "user": "your own",
            "device": f"shipped for {self.title}",
            "vendor": f"shipped for {self.title}",
            "default": "default of its kind",
        }
        return f"{words[self.source]} ({self.note})" if self.note else words[self.source]


def look_up(identity: Identity, capabilities: Capabilities) -> Tuning:
    """Return the policy of a device.

    Warns
    -----
    TuningWarning
        Once for each state of the user's table: lists all that cannot be used of it.
    """
    found = shipped(identity, capabilities)
    path = tuning_file.user_path()
    try:
        table = tuning_file.read(path)
    except FileFormatError as error:
        _tell(f"{error}; the tuning table is ignored")
        return found
    problems = list(table.problems)
    of_device = [e for e in table.entries if (e.device, e.platform) == identity.name]
    for entry in of_device:
        if entry.driver != identity.driver:
            if found.source != "user":
                found = replace(found, note=f"your own is of driver {entry.driver}")
            continue
        if entry.clmst != __version__:
            problems.append(
                f"the values for {entry.device} are of clmst {entry.clmst}, this is {__version__}"
            )
            continue
        candidate = _overlaid(found.policy, entry.values)
        if broken := conflicts(candidate):
            problems.append(f"the values for {entry.device} do not go together: {broken[0]}")
        elif entry.values:
            found = Tuning(
                policy=candidate, source="user", title=entry.device, measured=entry.measured
            )
    if problems:
        _tell(f"{path}: {'; '.join(problems)}; these are ignored, `clmst tune` measures anew")
    return found


def shipped(
    identity: Identity, capabilities: Capabilities, table: tuple[Entry, ...] = SHIPPED
) -> Tuning:
    """Return the policy of a device without the user's own table."""
    kind = capabilities.kind
    found = Tuning(policy=policy.choose(capabilities), source="default", title=kind)
    of_vendor = [e for e in table if e.device is None and e.vendor == identity.vendor]
    of_device = [e for e in table if e.device == identity.device]
    levels: tuple[tuple[Source, list[Entry]], ...] = (("vendor", of_vendor), ("device", of_device))
    for source, entries in levels:
        for entry in entries:
            if entry.kind in (None, kind) and entry.vendor in (None, identity.vendor):
                found = Tuning(
                    policy=_overlaid(found.policy, entry.values),
                    source=source,
                    title=entry.title,
                    measured=entry.measured,
                )
    return found


def _overlaid(below: Policy, values: Mapping[str, Any]) -> Policy:
    return replace(below, **values)


@cache
def _tell(message: str) -> None:
    """Warn once in a process: all devices look into the same table."""
    warnings.warn(message, TuningWarning, stacklevel=2)
