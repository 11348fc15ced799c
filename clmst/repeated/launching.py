"""Launchers of rounds, with or without a profile."""

from __future__ import annotations

from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher
from clmst.runtime.profile import Profile


def launcher_for(device: Device, *, profile: bool) -> Launcher:
    """Return a launcher; what the device's own queue does is done, if it is for another."""
    if not profile:
        return Launcher(device, device.queue)
    with device.lock:
        device.queue.finish()
    return Launcher(device, device.profiling_queue, Profile())
