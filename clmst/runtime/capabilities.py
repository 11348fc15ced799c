"""What a device can do, found out once and frozen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from clmst.core.errors import InvalidArgumentError

LanesKind: TypeAlias = Literal["ptx", "khr", "local"]
DeviceKind: TypeAlias = Literal["gpu", "cpu", "accelerator"]

# What can be forced off, to test a fallback or to work round a driver.
OPTIONAL = ("int64-atomics", "lanes")

_CL_UNKNOWN = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Everything about a device that decides how kernels are specialised and launched.

    Attributes
    ----------
    kind : {"gpu", "cpu", "accelerator"}
    compute_units : int
    max_work_group_size : int
        Work-items.
    local_memory, global_memory, max_allocation : int
        Bytes.
    shares_host_memory : bool
        Whether kernels can work on host arrays in place.
    int64_atomics : bool
        64-bit integer atomics on global memory, extended ones (minimum) included.
    lanes : {"ptx", "khr", "local"}
        How lane groups are realised; see ``cl/device/lanes.cl``.
    lane_width : int
        Work-items in a lane group.
    """

    kind: DeviceKind
    compute_units: int
    max_work_group_size: int
    local_memory: int
    global_memory: int
    max_allocation: int
    shares_host_memory: bool
    int64_atomics: bool
    lanes: LanesKind
    lane_width: int

    def without(self, names: tuple[str, ...]) -> Capabilities:
        """Return these capabilities with those named in `names` forced off."""
        unknown = [name for name in names if name not in OPTIONAL]
        if unknown:
            raise InvalidArgumentError(
                f"no capability is called {unknown[0]!r}; what can be forced off is "
                f"{', '.join(OPTIONAL)}"
            )
        changed = self
        if "int64-atomics" in names:
            changed = replace(changed, int64_atomics=False)
        if "lanes" in names:
            changed = replace(changed, lanes="local")
        return changed


def detect(device: Any) -> Capabilities:
    """Ask a ``pyopencl.Device`` what it can do."""
    import pyopencl as cl

    extensions = set(device.extensions.split())
    kind: DeviceKind = "accelerator"
    if device.type & cl.device_type.GPU:
        kind = "gpu"
    elif device.type & cl.device_type.CPU:
        kind = "cpu"
    lanes, width = _lanes(device, extensions)
    return Capabilities(
        kind=kind,
        compute_units=device.max_compute_units,
        max_work_group_size=device.max_work_group_size,
        local_memory=device.local_mem_size,
        global_memory=device.global_mem_size,
        max_allocation=device.max_mem_alloc_size,
        shares_host_memory=kind == "cpu",
        int64_atomics={"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"} <= extensions,
        lanes=lanes,
        lane_width=width,
    )


def _lanes(device: Any, extensions: set[str]) -> tuple[LanesKind, int]:
    """Return how lane groups are realised and how wide they are.

    A kernel can rely on khr sub-groups only where it can also fix their size, which takes Intel's
    attribute; 16 is a legal size on all of Intel's devices. Elsewhere 32 is a share of work only.
    """
    if "NVIDIA" in device.vendor.upper() and "cl_nv_device_attribute_query" in extensions:
        return "ptx", 32
    if {"cl_intel_subgroups", "cl_intel_required_subgroup_size"} <= extensions:
        return "khr", 16
    return "local", 32
