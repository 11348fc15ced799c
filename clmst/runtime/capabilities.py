"""The capabilities of a device, such as sub-groups and 64-bit atomics.

The driver is asked for them once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from clmst.core.arguments import check_kind, check_texts, has, shown
from clmst.core.errors import InvalidArgumentError
from clmst.runtime.handles import Queue
from clmst.runtime.quirks import builds_grid_barriers

LanesKind: TypeAlias = Literal["ptx", "khr", "local"]
HostArrays: TypeAlias = Literal["shared", "wrapped", "copied"]
DeviceKind: TypeAlias = Literal["gpu", "cpu", "accelerator"]

# Capabilities that can be forced off, to test a fallback or to work around a driver.
OPTIONAL = ("int64-atomics", "lanes", "doubles")


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Everything about a device that decides how kernels are specialised and launched."""

    kind: DeviceKind
    compute_units: int
    max_work_group_size: int  # number of work-items
    local_memory: int  # number of bytes that a work-group may use
    global_memory: int  # number of bytes
    max_allocation: int  # number of bytes of the largest buffer
    # How kernels access arrays of the host. "shared": in place, by system SVM. "wrapped": in place,
    # by a buffer around the host's pointer. "copied": after a copy to the device.
    host_arrays: HostArrays
    buffer_alignment: int  # number of bytes; a sub-buffer must begin at a multiple of it
    int64_atomics: bool  # in global memory, including the extended ones (minimum, maximum)
    doubles: bool  # whether kernels can compute with doubles; 64-bit weights do not need it
    # How lane groups, which are work-items that work together, are implemented; see
    # ``cl/device/lanes.cl``.
    lanes: LanesKind
    lane_width: int  # number of work-items in a lane group
    # Number of bytes of local memory that all work-groups on a compute unit share, or 0 if unknown.
    shared_local_memory: int = 0
    # Whether the compiler can build kernels in which all work-groups of a launch wait for one
    # another. The wait ends only if all work-groups run at the same time. Whether they do is not
    # part of this field.
    grid_barriers: bool = True

    @property
    def has_device_fence(self) -> bool:
        """Whether the device has a memory fence that orders accesses across all work-groups.

        Only NVIDIA's own instructions (PTX) provide one.
        """
        return self.lanes == "ptx"

    def groups_at_once(self, most: int, local_memory: int) -> int:
        """Return the number of work-groups that fit the local memory of a compute unit together.

        `local_memory` is the use of one work-group in bytes. The result is at most `most`, and it
        is `most` if the size of the compute unit's memory is unknown.
        """
        if not self.shared_local_memory:
            return most
        return min(most, self.shared_local_memory // (local_memory + _RESERVED_LOCAL_MEMORY))

    def without(self, names: tuple[str, ...]) -> Capabilities:
        """Return a copy of these capabilities in which those named in `names` are switched off."""
        names = check_texts("without", names)
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
        if "doubles" in names:
            changed = replace(changed, doubles=False)
        return changed


# Lanes, and work-groups that wait for one another, use the instructions `match.sync`, fences and
# acquiring loads. NVIDIA's GPUs have them from this major compute capability on.
_PTX_CAPABILITY = 7
# Number of bytes of shared memory that NVIDIA's GPUs reserve for each work-group.
_RESERVED_LOCAL_MEMORY = 1024
# KiB of shared memory of a multiprocessor, by compute capability (CUDA C++ Programming Guide, table
# of technical specifications).
_NVIDIA_SHARED = {(7, 0): 96, (7, 2): 96, (7, 5): 64, (8, 0): 164, (8, 6): 100, (8, 7): 164,
                  (8, 9): 100, (9, 0): 228, (10, 0): 228, (10, 3): 228, (12, 0): 100}  # fmt: skip


def detect(device: Any) -> Capabilities:
    """Ask a ``pyopencl.Device`` for its capabilities.

    Raises InvalidArgumentError if `device` is not a ``pyopencl.Device``.
    """
    try:
        return _detect(device)
    except Exception as error:
        if has(device, "extensions", "type"):
            raise  # an error of the driver itself
        raise InvalidArgumentError(
            f"cl_device is {shown(device)}; it must be a pyopencl.Device"
        ) from error


def _detect(device: Any) -> Capabilities:
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
        host_arrays=_host_arrays(device, kind),
        buffer_alignment=device.mem_base_addr_align // 8,
        int64_atomics={"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"} <= extensions,
        doubles="cl_khr_fp64" in extensions,
        lanes=lanes,
        lane_width=width,
        shared_local_memory=_shared_local_memory(device) if lanes == "ptx" else 0,
        grid_barriers=builds_grid_barriers(device),  # quirk: pocl-grid-barrier
    )


def _shared_local_memory(device: Any) -> int:
    """Return the bytes of shared memory of a multiprocessor of an NVIDIA GPU.

    If the compute capability is unknown, the result is the maximum of a single work-group.
    """
    capability = device.compute_capability_major_nv, device.compute_capability_minor_nv
    known = _NVIDIA_SHARED.get(capability)
    return int(device.local_mem_size) if known is None else known << 10


def check_queue(queue: Queue, cl_device: Any) -> None:
    """Raise InvalidArgumentError unless `queue` is a command queue of this ``pyopencl.Device``."""
    import pyopencl as cl

    check_kind("queue", queue, cl.CommandQueue, rule="it must be a pyopencl.CommandQueue")
    if queue.device != cl_device:
        raise InvalidArgumentError(
            f"the queue is one of {queue.device.name}; it must be of the device itself"
        )


def _host_arrays(device: Any, kind: DeviceKind) -> HostArrays:
    """Choose how kernels access arrays of the host: "shared", "wrapped" or "copied".

    A device of a `kind` other than "cpu" gets copies. With fine-grained system SVM, kernels take
    any pointer of the host ("shared"). Otherwise a buffer around a host pointer ("wrapped") also
    works in place, but some drivers silently copy arrays whose alignment does not suit them, which
    is slow.
    """
    import pyopencl as cl

    if kind != "cpu":
        return "copied"
    try:
        shared = device.svm_capabilities & cl.device_svm_capabilities.FINE_GRAIN_SYSTEM
    except (AttributeError, cl.Error):  # OpenCL 1.2 does not have this query
        shared = 0
    return "shared" if shared else "wrapped"


def _lanes(device: Any, extensions: set[str]) -> tuple[LanesKind, int]:
    """Choose how lane groups are implemented, and return the kind and the width of a group.

    A lane group consists of work-items that work together, if possible in lockstep. `extensions`
    are the names of the device's OpenCL extensions. A kernel can rely on sub-groups ("khr")
    only if it can also fix their size, which needs Intel's attribute. All of Intel's devices allow
    16. NVIDIA's GPUs have the instructions for matches and fences since compute capability 7
    ("ptx"). On all other devices a lane group is only a unit of work, of 32 work-items ("local").
    """
    is_nvidia = "NVIDIA" in device.vendor.upper() and "cl_nv_device_attribute_query" in extensions
    if is_nvidia and device.compute_capability_major_nv >= _PTX_CAPABILITY:
        return "ptx", 32
    if {"cl_intel_subgroups", "cl_intel_required_subgroup_size"} <= extensions:
        return "khr", 16
    return "local", 32
