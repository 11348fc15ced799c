"""The capabilities of a device: asked once, then frozen."""

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

# What can be forced off, to test a fallback or to work round a driver.
OPTIONAL = ("int64-atomics", "lanes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Everything about a device that decides how kernels are specialised and launched."""

    kind: DeviceKind
    compute_units: int
    max_work_group_size: int  # work-items
    local_memory: int  # bytes, like those below
    global_memory: int
    max_allocation: int
    # How kernels get at host arrays: in place, in place by way of a buffer, or as a copy.
    host_arrays: HostArrays
    buffer_alignment: int  # bytes to which a buffer that is part of another must be aligned
    int64_atomics: bool  # on global memory, extended ones (minimum) included
    doubles: bool  # arithmetic on doubles; 64-bit weights do without
    lanes: LanesKind  # how lane groups are realised; see ``cl/device/lanes.cl``
    lane_width: int  # work-items in a lane group
    # Bytes of local memory that all work-groups of a compute unit share; 0 where that is unknown.
    shared_local_memory: int = 0
    # Whether kernels can be built in which all work-groups of a launch wait for one another,
    # whether or not such a launch would make progress.
    grid_barriers: bool = True

    @property
    def has_device_fence(self) -> bool:
        """Whether a fence across the device is known, which only these lanes' instructions have."""
        return self.lanes == "ptx"

    def groups_at_once(self, most: int, local_memory: int) -> int:
        """Return how many work-groups a compute unit holds at once by their local memory, in bytes.

        At most `most`; that many where it is not known what they share.
        """
        if not self.shared_local_memory:
            return most
        return min(most, self.shared_local_memory // (local_memory + _RESERVED_LOCAL_MEMORY))

    def without(self, names: tuple[str, ...]) -> Capabilities:
        """Return these capabilities with those named in `names` forced off."""
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
        return changed


# The least major compute capability of NVIDIA's GPUs with `match.sync`, fences and acquiring loads.
_PTX_CAPABILITY = 7
# Bytes of local memory that NVIDIA's GPUs take for each work-group beside its own.
_RESERVED_LOCAL_MEMORY = 1024
# KiB of shared memory of a multiprocessor, by compute capability (CUDA C++ Programming Guide, table
# of technical specifications).
_NVIDIA_SHARED = {(7, 0): 96, (7, 2): 96, (7, 5): 64, (8, 0): 164, (8, 6): 100, (8, 7): 164,
                  (8, 9): 100, (9, 0): 228, (10, 0): 228, (10, 3): 228, (12, 0): 100}  # fmt: skip


def detect(device: Any) -> Capabilities:
    """Ask a ``pyopencl.Device`` what it can do."""
    try:
        return _detect(device)
    except Exception as error:
        if has(device, "extensions", "type"):
            raise  # a driver's own error
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
    """Return the local memory of a compute unit of NVIDIA's; of an unknown one a work-group's."""
    capability = device.compute_capability_major_nv, device.compute_capability_minor_nv
    known = _NVIDIA_SHARED.get(capability)
    return int(device.local_mem_size) if known is None else known << 10


def check_queue(queue: Queue, cl_device: Any) -> None:
    """Raise unless `queue` is a command queue of this device."""
    import pyopencl as cl

    check_kind("queue", queue, cl.CommandQueue, rule="it must be a pyopencl.CommandQueue")
    if queue.device != cl_device:
        raise InvalidArgumentError(
            f"the queue is one of {queue.device.name}; it must be of the device itself"
        )


def _host_arrays(device: Any, kind: DeviceKind) -> HostArrays:
    """Return how kernels get at host arrays.

    Fine-grained system SVM takes any pointer of the host. Buffers around host pointers take them
    too, but some drivers copy those that are not aligned to their liking, and slowly.
    """
    import pyopencl as cl

    if kind != "cpu":
        return "copied"
    try:
        shared = device.svm_capabilities & cl.device_svm_capabilities.FINE_GRAIN_SYSTEM
    except (AttributeError, cl.Error):  # OpenCL 1.2 does not know the question
        shared = 0
    return "shared" if shared else "wrapped"


def _lanes(device: Any, extensions: set[str]) -> tuple[LanesKind, int]:
    """Return how lane groups are realised and how wide they are.

    A kernel can rely on khr sub-groups only where it can also fix their size, which takes Intel's
    attribute; 16 is a legal size on all of Intel's devices. NVIDIA's GPUs have the instructions for
    matches and fences from compute capability 7 on. Elsewhere a lane group is only a unit of work,
    of 32 work-items.
    """
    is_nvidia = "NVIDIA" in device.vendor.upper() and "cl_nv_device_attribute_query" in extensions
    if is_nvidia and device.compute_capability_major_nv >= _PTX_CAPABILITY:
        return "ptx", 32
    if {"cl_intel_subgroups", "cl_intel_required_subgroup_size"} <= extensions:
        return "khr", 16
    return "local", 32
