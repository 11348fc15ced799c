"""Faults of drivers and compilers that clmst works around, and drivers known not to crash.

Each fault is described once: here, or in ``cl/device/quirks.cl`` if kernels work around it. An
entry has a name, where the fault was seen or reported, what happens, what clmst does about it, and
the test. Code that works around a fault names it, as in "quirk: zink-vec16".

pocl-grid-barrier (PoCL 3.1): barriers in loops of unknown length fail an assertion that crashes the
    process (ParallelRegion::Verify, "Incoming edges to non-entry block"), or the build never ends.
    `Capabilities.grid_barriers` is then False, and no kernel is used in which work-groups wait for
    one another. clmst/runtime/capabilities.py, tests/runtime/test_quirks.py::test_grid_barriers
intel-no-memory (Intel's runtime): if a buffer does not fit the memory, the error says that its size
    is invalid. `OUT_OF_MEMORY` includes that code. clmst/runtime/failures.py,
    tests/runtime/test_failures.py::test_errors_in_clmsts_terms
intel-split-result (Intel's CPU runtimes 2023.2 and 2025.0, on a processor that they do not know):
    the build of a kernel with sub-groups crashes the process ("Do not know how to split the result
    of this operator"). The trial runs in a child process. If that crashes, the device is used
    without lanes. clmst/runtime/trial.py,
    tests/faults/test_vendors.py::test_adreno_compiler_that_dies_of_sums_of_lanes
nvidia-undeclared-size (NVIDIA's driver 580): the driver reports that every kernel takes at most 256
    work-items, whatever its registers allow, and even if it declares larger work-groups. If the
    compiler was given a limit of registers, `fitting_work_items` computes the true number from it.
    Other programs are built for 256 work-items from the start. clmst/runtime/program.py,
    tests/runtime/test_quirks.py::test_work_items_by_registers
nvidia-large-fill (NVIDIA's driver 580): a fill of 2 GiB never completes, and a fill that begins at
    2 GiB or beyond writes to another place. `Launcher.fill` uses a kernel for more than
    `MOST_FILLED` bytes. clmst/runtime/launcher.py,
    tests/runtime/test_device.py::test_read_write_fill
nvidia-two-threads (NVIDIA's driver 580): the process crashes if one thread enqueues a kernel while
    another waits for a copy. Every thread that uses a queue, or waits for it, holds the device's
    lock. clmst/runtime/launcher.py,
    tests/runtime/test_device.py::test_one_device_in_several_threads
nvidia-asynchronous-read (NVIDIA's drivers): an asynchronous read into pageable memory takes three
    times as long as a blocking one. Reads either block, or go through pinned memory.
    clmst/runtime/launcher.py
adreno-lane-sums (Adreno's compilers before E031.38.11, llama.cpp 22006): a build with sums or scans
    of sub-groups crashes the process. The trial runs in a child process. If that crashes, the
    device is used without lanes. clmst/runtime/trial.py,
    tests/faults/test_vendors.py::test_adreno_compiler_that_dies_of_sums_of_lanes
driver-ends-listing (Adreno's driver 32.0.172, GenieX 1431; ROCm's OpenCL, ROCm-OpenCL-Runtime 56,
    ROCm 1000): a process that asks for the platforms crashes or hangs. Once that was seen, each
    driver is listed in a child process, and a driver that crashes or hangs there is left out.
    clmst/runtime/listing.py, tests/faults/test_vendors.py::test_driver_that_dies_while_it_is_listed
apple-atomics (Apple's GPUs, openmm 3293): kernels with 64-bit atomics do not build ("cl2Metal
    failed"). The trial finds this, and the device is used without 64-bit atomics.
    clmst/runtime/trial.py,
    tests/faults/test_vendors.py::test_apple_compiler_without_64_bit_atomics
apple-claimed-doubles (Apple's M1, futhark 1708): the device reports doubles, and Apple's GPUs have
    none. If the driver is not proven, a trial computes with doubles, in a child process. If it
    fails, the device is used without doubles. clmst/runtime/trial.py,
    tests/faults/test_vendors.py::test_apple_doubles_that_are_only_reported
apple-missing-kernels (Apple's GPUs, AutoDock-GPU 168, hashcat 4210): a program builds, and one of
    its kernels cannot be created (-48, INVALID_KERNEL), for example because it uses too much local
    memory. The self-test fails, and the family of kernels is refused. clmst/runtime/trust.py,
    tests/faults/test_vendors.py::test_apple_kernels_that_cannot_be_created
apple-binaries (Apple's M4, hashcat 4620): after an update of the system, the driver refuses its own
    binaries (INVALID_VALUE). The program is compiled again from its source, and the file replaced.
    clmst/runtime/program.py,
    tests/runtime/test_binary_cache.py::test_a_driver_that_refuses_its_own_binary
apple-single-work-items (Apple's OpenCL for CPUs, kernel_tuner 38, clBLAS 25): a kernel with a
    barrier runs only in work-groups of one work-item, whatever the device reports. CPUs have the
    policy of single work-items anyway. Other devices get it if the trial finds this fault.
    clmst/runtime/trial.py, tests/faults/test_vendors.py::test_apple_work_groups_of_one
rusticl-libclc (Mesa's rusticl with LLVM 22's own libclc, darktable 21662): some built-in functions
    are missing, so that programs do not build, and others are wrong. The families of kernels that
    call them fail their self-tests, and are refused. clmst/runtime/trust.py,
    tests/faults/test_vendors.py::test_compiler_that_cannot_build
pyopencl-argument-types (PyOpenCL): setting the arguments of a kernel takes twenty times as long
    until PyOpenCL knows their types. `Program.kernel` sets them first. clmst/runtime/program.py
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

MOST_FILLED = 1 << 30  # number of bytes
OUT_OF_MEMORY = (-4, -6, -61)  # error codes: no object memory, no host memory, invalid size


def builds_grid_barriers(cl_device: Any) -> bool:
    """Return whether a device's driver can compile a loop with a barrier in it.

    All work-items leave the loop in the same round.

    `cl_device` is a ``pyopencl.Device``.
    """
    return "Portable Computing Language" not in cl_device.platform.name


# The work-group limit that NVIDIA's driver reports for every kernel without a limit of registers.
NVIDIA_SAID_WORK_ITEMS = 256


def fitting_work_items(cl_device: Any, registers: int) -> int:
    """Return the number of work-items that fit in a work-group if each uses `registers` registers.

    `cl_device` is the ``pyopencl.Device`` of an NVIDIA GPU.
    """
    fitting: int = min(cl_device.registers_per_block_nv // registers, cl_device.max_work_group_size)
    return fitting


# --------------------------------------------------------------------- drivers without faults


class ProvenDriver(NamedTuple):
    """A driver whose tested versions do not crash the process when they run clmst's kernels.

    All other drivers are tested in a child process (``child.py``). That a driver is proven says
    nothing about the results of kernels: every driver must pass the self-tests.
    """

    platform: str  # the complete name of the platform
    # All versions from `lowest` on are proven, up to but not including `below`. A version is a
    # tuple of its first numbers: (580,) stands for 580.159.04 and all other versions that begin
    # with 580.
    lowest: tuple[int, ...]
    below: tuple[int, ...]
    devices: tuple[str, ...] = ("",)  # prefixes of the device's name; the default allows any device
    build: str = ""  # text that the version must contain


# A driver is added after all test suites, and `tests.prove` with 100,000 cases or more, have passed
# on it (docs/reliability.md). Only the versions that were tested are proven, and their updates.
PROVEN = (
    ProvenDriver("Intel(R) OpenCL", lowest=(2026, 22), below=(2026, 23)),
    ProvenDriver(
        "NVIDIA CUDA", lowest=(580,), below=(581,), devices=("NVIDIA H100", "NVIDIA H200")
    ),
    ProvenDriver("Portable Computing Language", lowest=(3, 1), below=(3, 2), build="+debian"),
)


def is_proven(platform: str, device: str, version: str) -> bool:
    """Return whether a driver is known not to crash, so that no child process is needed.

    The arguments are the names of the platform and the device, and the text of the driver's
    version.
    """
    numbers = tuple(map(int, re.findall(r"\d+", version)))
    return any(
        platform == one.platform
        and device.startswith(one.devices)
        and one.lowest <= numbers < one.below
        and one.build in version
        for one in PROVEN
    )
