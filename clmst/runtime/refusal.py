"""Which errors count as a device's refusal."""

from __future__ import annotations

from clmst.core.errors import (
    DeviceError,
    KernelBuildError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)


def refusal(error: Exception) -> str | None:
    """Return in one line why a device refused kernels of some policy, or None if it did not.

    A device refuses if a program does not build, the trial fails, memory is missing, or OpenCL
    reports an error when a kernel is made, launched or waited for, such as a work-group that is too
    large.
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
