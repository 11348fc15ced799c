"""The trial of a device in every process that uses it; host side of ``trial.cl``.

It takes a millisecond or two, so its outcome is not kept anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clmst.core.errors import DeviceError, KernelBuildError, OutOfDeviceMemoryError
from clmst.runtime.launcher import Launcher

if TYPE_CHECKING:
    from clmst.runtime.device import Device

_SOURCE = "device/trial.cl"
_LENGTH = 1000  # values of which the minimum is taken
# Pointers that are followed from each value to the last: 130,816 rounds of an inner loop. Mesa's
# llvmpipe ends all loops of a work-item after 65,535 rounds in all, and goes on as if nothing had
# happened.
_LINKS = 512


def failure(device: Device) -> str | None:
    """Return why a device cannot be used, or None if it built and ran the kernels correctly.

    Raises
    ------
    OutOfDeviceMemoryError
        There is no memory for a context at present.
    """
    import pyopencl as cl

    try:
        _ = device.queue  # raises where others have all the memory at present
    except cl.Error as error:
        return f"cannot be opened: {str(error).splitlines()[0]}"
    try:
        return _minimum_failure(device) or _loop_failure(device)
    except KernelBuildError as error:
        lines = [line.strip() for line in error.log.splitlines()]
        lines = lines or ["the compiler gives no reason"]
        reason = next((x for x in lines if "error" in x.lower() or "unknown" in x), lines[0])
        return f"cannot build a kernel: {reason}"
    except (cl.Error, DeviceError, OutOfDeviceMemoryError) as error:
        return f"cannot run a kernel: {str(error).splitlines()[0]}"


def _minimum_failure(device: Device) -> str | None:
    words = np.full(2, 0xFFFFFFFF, np.uint32)
    _run(device, "trial_take_minimum", 4, words, np.uint32(_LENGTH))
    if words.tolist() != [_LENGTH - 1, 1]:
        return f"computes wrongly: a minimum came out as {words.tolist()}"
    return None


def _loop_failure(device: Device) -> str | None:
    """Follow pointers by nested loops whose lengths depend on data."""
    words = np.arange(1, _LINKS + 2, dtype=np.uint32)
    words[_LINKS - 1 :] = [_LINKS - 1, 0]  # the last leads to itself; rounds counted
    _run(device, "trial_jump_pointers", 1, words, np.uint32(_LINKS))
    rounds, expected = int(words[_LINKS]), _LINKS * (_LINKS - 1) // 2
    if rounds != expected or (words[:_LINKS] != _LINKS - 1).any():
        return f"computes wrongly: loops of {expected} rounds ended after {rounds}"
    return None


def _run(device: Device, kernel: str, groups: int, words: np.ndarray, length: np.uint32) -> None:
    """Run a kernel on an array of words; the array then holds its results."""
    launch = Launcher(device, device.queue)
    buffer = device.allocate(words.nbytes)
    launch.write(buffer, words)
    launch(device.program(_SOURCE), kernel, groups, buffer, length)
    launch.read(buffer, words)
