"""A request for a self-test in a child process: a device, a family of kernels, and a case."""

from __future__ import annotations

import base64
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clmst.runtime.capabilities import Capabilities
from clmst.runtime.listing import opencl_devices
from clmst.runtime.policy import Policy

if TYPE_CHECKING:
    from clmst.runtime.device import Device


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSpec:
    """The facts by which another process finds a device, and the device's settings."""

    identity: tuple[str, ...]  # names and versions of device and platform
    number: int  # index among the devices of the same identity
    # The settings of the device, with which the child opens it: the capabilities that are switched
    # off, all capabilities, and the policy.
    without: tuple[str, ...]
    capabilities: Capabilities
    policy: Policy
    optimised: bool  # whether the device's compiler may optimise programs

    @classmethod
    def of(cls, device: Device) -> DeviceSpec:
        """Describe a device so that another process can find it and open it with equal settings.

        A sub-device, which no platform lists, is described as the first device of its name.
        """
        identity = _identity(device.cl_device)
        alike = [one for one in opencl_devices() if _identity(one) == identity]
        return cls(
            identity=identity,
            number=alike.index(device.cl_device) if device.cl_device in alike else 0,
            without=device.without,
            capabilities=device.capabilities,
            policy=device.policy,
            optimised=device.is_optimised,
        )

    def found(self) -> Any:
        """Find the ``pyopencl.Device`` in this process. Raise LookupError if it is not there."""
        alike = [one for one in opencl_devices() if _identity(one) == self.identity]
        if self.number >= len(alike):
            raise LookupError(f"there is no device {self.identity[0]!r}")
        return alike[self.number]


def encoded(spec: DeviceSpec, family: str, case: Any) -> bytes:
    """Encode a request for a self-test in a child process as one line of bytes.

    `spec` describes the device, `family` is the name of the kernel family, and `case` the case of
    its self-test, which says what is tested. Raises an error of `pickle` if `case` cannot be
    pickled.
    """
    return base64.b64encode(pickle.dumps((spec, family, case))) + b"\n"


def decoded(line: bytes) -> tuple[DeviceSpec, str, Any]:
    """Decode a line of :func:`encoded` into device, family name and case.

    The line is unpickled, so it must come from the parent process.
    """
    request: tuple[DeviceSpec, str, Any] = pickle.loads(base64.b64decode(line))
    return request


def _identity(cl_device: Any) -> tuple[str, ...]:
    platform = cl_device.platform
    named = cl_device.name, cl_device.version, cl_device.driver_version
    return tuple(str(one).strip() for one in (*named, platform.name, platform.version))
