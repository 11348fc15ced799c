"""What it means that a device will not do something."""

from __future__ import annotations

from clmst.core.errors import (
    DeviceError,
    KernelBuildError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)


def refusal(error: Exception) -> str | None:
    """Return in one line why a device refused kernels of some shape, or None if it did not.

    A device refuses by not building a program, by failing its trial, by lack of memory, or by an
    error of OpenCL's own when a kernel is to be made, launched or waited for: a work-group that is
    too large, say.
    """
    import pyopencl as cl

    if isinstance(error, KernelBuildError):
        lines = [line.strip() for line in error.log.splitlines()]
        said = next((line for line in lines if "error" in line.lower()), "")
        return f"does not build: {said}" if said else "does not build"
    if isinstance(error, UnsupportedDeviceError):
        return _first_line(error)
    if isinstance(error, OutOfDeviceMemoryError | cl.MemoryError):
        return f"out of device memory: {_first_line(error)}"
    if isinstance(error, DeviceError | cl.Error):
        return f"does not run: {_first_line(error)}"
    return None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
