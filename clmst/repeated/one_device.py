"""What every executor of one device has: times of its rounds, and proofs."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from clmst.algorithms.proof.checked import checked
from clmst.algorithms.shared.device_forest import DeviceForest
from clmst.runtime.device import Device
from clmst.runtime.failures import Guard
from clmst.runtime.launcher import Launcher


class OneDevice:
    """The part of an executor that does not depend on what it solves.

    Parameters
    ----------
    device : Device
    guard : callable
        Makes the context manager that translates a device's errors.
    """

    def __init__(
        self, device: Device, guard: Callable[..., AbstractContextManager[None]] = Guard
    ) -> None:
        self.device, self.guard = device, guard
        self._launch = Launcher(device, device.queue)  # of the last round

    def prove(self, forest: DeviceForest) -> DeviceForest:
        """Return the last forest, proved, or raise."""
        began = time.perf_counter()
        with self.device.lock, self.guard(self.device):
            proved = checked(forest, self._launch)
        if (times := proved.stats.get("times")) is None:
            return proved
        solve = times["solve"] + 1e3 * (time.perf_counter() - began)
        return proved.with_stats({**proved.stats, "times": {**times, "solve": solve}})

    def _launcher(self, *, profile: bool) -> Launcher:
        self._launch = Launcher.of(self.device, profile=profile)
        return self._launch

    def _now(self, launch: Launcher) -> float:
        """Return the time; waits for all commands first if times are requested."""
        if launch.profile is not None:
            launch.queue.finish()
        return time.perf_counter()

    def _timed(
        self, forest: DeviceForest, launch: Launcher, began: float, uploaded: float
    ) -> DeviceForest:
        """Return a forest with the times of its steps, if requested."""
        if launch.profile is None:
            return forest
        solve = 1e3 * (time.perf_counter() - uploaded)
        times = {"upload": 1e3 * (uploaded - began), "solve": solve}
        return forest.with_stats({**forest.stats, "times": times})
