"""What a process asks of its child: to test a family of kernels on a device, in a case."""

from __future__ import annotations

import base64
import pickle
from dataclasses import dataclass
from typing import Any

from clmst.runtime import discovery
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device import Device
from clmst.runtime.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSpec:
    """What a device is found by in another process, and how it is used.

    Attributes
    ----------
    identity : tuple of str
        Names and versions of device and platform.
    number : int
        Its number among the devices of which all of that is the same.
    without, capabilities, policy
        As of :class:`~clmst.runtime.device.Device`.
    optimised : bool
        Whether its compiler may optimise.
    """

    identity: tuple[str, ...]
    number: int
    without: tuple[str, ...]
    capabilities: Capabilities
    policy: Policy
    optimised: bool

    @classmethod
    def of(cls, device: Device) -> DeviceSpec:
        """Describe a device; a part of one, which no platform lists, as the first of its name."""
        identity = _identity(device.cl_device)
        alike = [one for one in discovery.opencl_devices() if _identity(one) == identity]
        return cls(
            identity=identity,
            number=alike.index(device.cl_device) if device.cl_device in alike else 0,
            without=device.without,
            capabilities=device.capabilities,
            policy=device.policy,
            optimised=device.is_optimised,
        )

    def found(self) -> Device:
        """Return the device: not tried, and trusted, since a test may use other families.

        Raises
        ------
        LookupError
            It is not there.
        """
        alike = [one for one in discovery.opencl_devices() if _identity(one) == self.identity]
        if self.number >= len(alike):
            raise LookupError(f"there is no device {self.identity[0]!r}")
        device = Device(
            alike[self.number], without=self.without, tuning=self.policy, _trusted=True,
            _optimised=self.optimised,
        )  # fmt: skip
        device.capabilities = self.capabilities
        vars(device)["trial_failure"] = None
        return device


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildRequest:
    """A self-test in another process.

    Attributes
    ----------
    spec : DeviceSpec
    family : str
        Its name: functions do not go to another process.
    case : object
    """

    spec: DeviceSpec
    family: str
    case: Any

    def line(self) -> bytes:
        """Return the request in one line."""
        return base64.b64encode(pickle.dumps(self)) + b"\n"

    @staticmethod
    def of(line: bytes) -> ChildRequest:
        """Read a line that this process's own parent has sent."""
        request = pickle.loads(base64.b64decode(line))
        assert isinstance(request, ChildRequest)
        return request


def _identity(cl_device: Any) -> tuple[str, ...]:
    platform = cl_device.platform
    named = cl_device.name, cl_device.version, cl_device.driver_version
    return tuple(str(one).strip() for one in (*named, platform.name, platform.version))
