"""Faults of drivers and compilers that the host avoids; and drivers that end no process.

Each fault stands once, here or, if kernels avoid it, in ``cl/device/quirks.cl``: its name, where it
was seen, or the report of it, what happens, what avoids it, and the test. Whatever avoids one names
it, as in "quirk: zink-vec16".

pocl-grid-barrier (PoCL 3.1): barriers in loops of unknown length fail an assertion that ends the
    process (ParallelRegion::Verify, "Incoming edges to non-entry block"), or never end the build.
    `Capabilities.grid_barriers`: no kernel in which work-groups wait for one another.
    clmst/runtime/capabilities.py, tests/runtime/test_quirks.py::test_grid_barriers
intel-no-memory (Intel's runtime): a buffer for which there is no memory is an invalid buffer size.
    `OUT_OF_MEMORY` has that code, too. clmst/runtime/failures.py,
    tests/runtime/test_failures.py::test_errors_in_clmsts_terms
intel-split-result (Intel's CPU runtimes 2023.2 and 2025.0, on a processor that they do not know): a
    build of a kernel with sub-groups ends the process ("Do not know how to split the result of this
    operator"). The trial runs in a child; if that dies, the device is used without lanes.
    clmst/runtime/trial.py,
    tests/faults/test_vendors.py::test_adreno_compiler_that_dies_of_sums_of_lanes
nvidia-undeclared-size (NVIDIA's driver 580): a kernel is said to take at most 256 work-items,
    whatever its registers allow, even where it declares larger work-groups. `fitting_work_items`
    reckons by registers, where the compiler has a limit of them; other programs are built for 256
    work-items at once. clmst/runtime/program.py,
    tests/runtime/test_quirks.py::test_work_items_by_registers
nvidia-large-fill (NVIDIA's driver 580): a fill of 2 GiB never completes; one that begins at 2 GiB
    or more writes elsewhere. `Launcher.fill` fills more than `MOST_FILLED` bytes by a kernel.
    clmst/runtime/launcher.py, tests/runtime/test_device.py::test_read_write_fill
nvidia-two-threads (NVIDIA's driver 580): the process crashes if a thread enqueues a kernel while
    another waits for a copy. Who uses a queue, or waits for it, has the device's lock.
    clmst/runtime/launcher.py, tests/runtime/test_device.py::test_one_device_in_several_threads
nvidia-asynchronous-read (NVIDIA's drivers): an asynchronous read into pageable memory takes three
    times as long as a blocking one. Reads block, or go through pinned memory.
    clmst/runtime/launcher.py
adreno-lane-sums (Adreno's compilers before E031.38.11, llama.cpp 22006): a build with sums or scans
    of sub-groups ends the process. The trial runs in a child; if that dies, the device is used
    without lanes. clmst/runtime/trial.py,
    tests/faults/test_vendors.py::test_adreno_compiler_that_dies_of_sums_of_lanes
driver-ends-listing (Adreno's driver 32.0.172, GenieX 1431; ROCm's OpenCL, ROCm-OpenCL-Runtime 56,
    ROCm 1000): a process that asks for the platforms ends, or waits for ever. Once that was seen,
    each driver is listed in a child, and one that does not come back is left out.
    clmst/runtime/listing.py, tests/faults/test_vendors.py::test_driver_that_dies_while_it_is_listed
apple-atomics (Apple's GPUs, openmm 3293): kernels with 64-bit atomics do not build ("cl2Metal
    failed"). The trial finds it, and the device is used without them. clmst/runtime/trial.py,
    tests/faults/test_vendors.py::test_apple_compiler_without_64_bit_atomics
apple-single-work-items (Apple's OpenCL for CPUs, kernel_tuner 38, clBLAS 25): a kernel with a
    barrier takes work-groups of one work-item, whatever the device says. CPUs have the policy of
    single work-items; others get it if the trial finds that. clmst/runtime/trial.py,
    tests/faults/test_vendors.py::test_apple_work_groups_of_one
rusticl-libclc (Mesa's rusticl with LLVM 22's own libclc, darktable 21662): built-in functions are
    missing, so that programs do not build, or are wrong. The families of kernels that call them
    fail their self-tests, and are refused. clmst/runtime/trust.py,
    tests/faults/test_vendors.py::test_compiler_that_cannot_build
pyopencl-argument-types (PyOpenCL): kernel arguments take twenty times as long to set until their
    types are known. `Program.kernel` gives it the types. clmst/runtime/program.py
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

MOST_FILLED = 1 << 30
OUT_OF_MEMORY = (-4, -6, -61)  # for memory objects; of the host; an invalid buffer size


def builds_grid_barriers(cl_device: Any) -> bool:
    """Return whether a barrier in a loop that all work-items leave together can be built."""
    return "Portable Computing Language" not in cl_device.platform.name


# What NVIDIA's driver says of every kernel whose registers have no limit.
NVIDIA_SAID_WORK_ITEMS = 256


def fitting_work_items(cl_device: Any, registers: int) -> int:
    """Return the largest work-group on NVIDIA's GPUs, by the registers of a work-item."""
    fitting: int = min(cl_device.registers_per_block_nv // registers, cl_device.max_work_group_size)
    return fitting


# --------------------------------------------------------------------- drivers without faults


class ProvenDriver(NamedTuple):
    """A driver that is known not to end processes by clmst's kernels, in the versions tried.

    All others are tested in a child process (``child.py``). Whether answers are right is no matter
    of this: every driver has to pass the self-tests.
    """

    platform: str  # the platform's whole name
    # The first version, and the first one that no longer counts; as many numbers as matter.
    lowest: tuple[int, ...]
    below: tuple[int, ...]
    devices: tuple[str, ...] = ("",)  # what the device's name begins with; any device if empty
    build: str = ""  # what else the version says


# A driver comes in here after all suites have run on it, and `tests.prove` with 100,000 cases
# or more (docs/reliability.md); only versions that were tried, and their updates.
PROVEN = (
    ProvenDriver("Intel(R) OpenCL", lowest=(2026, 22), below=(2026, 23)),
    ProvenDriver(
        "NVIDIA CUDA", lowest=(580,), below=(581,), devices=("NVIDIA H100", "NVIDIA H200")
    ),
    ProvenDriver("Portable Computing Language", lowest=(3, 1), below=(3, 2), build="+debian"),
)


def is_proven(platform: str, device: str, version: str) -> bool:
    """Return whether clmst's kernels may be tried in the user's process."""
    numbers = tuple(map(int, re.findall(r"\d+", version)))
    return any(
        platform == one.platform
        and device.startswith(one.devices)
        and one.lowest <= numbers < one.below
        and one.build in version
        for one in PROVEN
    )
