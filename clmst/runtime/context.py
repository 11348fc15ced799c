"""A context for a device, or a clear error."""

from __future__ import annotations

import gc
from typing import Any

from clmst.core.errors import OutOfDeviceMemoryError
from clmst.runtime import failures
from clmst.runtime.handles import Context


def new_context(cl_device: Any, description: str) -> Context:
    """Return a new ``pyopencl.Context`` of one device.

    A context takes memory of the device: 526 MiB on NVIDIA's driver 580. If the GPU has no more
    memory, that driver reports that the host has none.

    Raises
    ------
    OutOfDeviceMemoryError
        Other processes use the memory that the context needs.
    """
    import pyopencl as cl

    try:
        return cl.Context([cl_device])
    except cl.Error as error:
        if not failures.is_out_of_memory(error):
            raise
    gc.collect()  # contexts in reference cycles have not been given back yet
    try:
        return cl.Context([cl_device])
    except cl.Error as error:
        if not failures.is_out_of_memory(error):
            raise
        raise OutOfDeviceMemoryError(
            f"{description} has no memory left for a context ({str(error).strip()}); what other "
            "processes and contexts have there must go back first"
        ) from error
