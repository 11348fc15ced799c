"""Faults of drivers and compilers, with what avoids each; and drivers that end no process.

A kernel or module that avoids a fault names it, as in "quirk: zink-vec16". ``where`` is that file,
below ``cl/`` or ``clmst/``; where there is none, a rule holds everywhere. ``cl/device/quirks.cl``
has the rules for kernels, and the macros that follow them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple


class Quirk(NamedTuple):
    """A fault: its name, where it was seen, what happens, what avoids it, where, and the test."""

    name: str
    seen: str
    symptom: str
    remedy: str
    where: str = ""
    test: str = ""


QUIRKS = (
    Quirk(
        "pocl-conditional-barrier",
        "PoCL 3.1",
        "barriers under a condition are miscompiled, even if it is uniform",
        "no `if (...) barrier`, no early return before one, but in kernels that PoCL cannot build",
        test="tests/offline/test_convergence.py",
    ),
    Quirk(
        "pocl-grid-barrier",
        "PoCL 3.1",
        "barriers in loops of unknown length fail an assertion that ends the process "
        '(ParallelRegion::Verify, "Incoming edges to non-entry block"), or never end the build',
        "`Capabilities.grid_barriers`: no kernel in which work-groups wait for one another",
        where="runtime/capabilities.py",
        test="tests/runtime/test_quirks.py::test_grid_barriers",
    ),
    Quirk(
        "pocl-local-pointer",
        "PoCL 3.1",
        "all work-groups share one word where a function that is called several times takes a "
        "pointer to local memory that is the same in all calls",
        "such pointers go in a struct, or the function is called once",
    ),
    Quirk(
        "pocl-unused-local-array",
        "PoCL 6.0",
        "a kernel with an unused local array, or a local variable that only a branch on a constant "
        "uses, built without optimisation, ends the process by a failed assertion "
        '(`isAutomaticLocal`, "isGVarUsedByFunction")',
        "there is none",
        test="tests/offline/test_local_memory.py::"
        "test_no_branch_on_a_constant_is_all_that_uses_local_memory",
    ),
    Quirk(
        "pocl-lanes-apart",
        "PoCL 6.0",
        "functions of sub-groups are wrong where lane groups of a work-group go different ways, "
        "and some loops there never end",
        "the trial finds it (`trial_exchange`), and the device is used without lanes",
        where="device/trial.cl",
        test="tests/runtime/test_trial.py",
    ),
    Quirk(
        "llvm-local-structs",
        "LLVM 14 and 15 (PoCL, Oclgrind)",
        "a local array of structs, copied as structs, loses its contents",
        "local memory holds vectors",
    ),
    Quirk(
        "oclgrind-struct-by-value",
        "Oclgrind 21.10",
        "kernels whose inlined functions return structs by value cannot be loaded",
        "such functions write through a pointer",
        where="device/lane_group.cl",
        test="tests/test_oclgrind.py",
    ),
    Quirk(
        "oclgrind-vector-halves",
        "Oclgrind 21.10",
        "halves of vectors (`.lo`, `.hi`) count as uninitialised memory",
        "the vector is stored to an array instead",
        where="algorithms/dense/tile.cl",
        test="tests/test_oclgrind.py",
    ),
    Quirk(
        "intel-lane-width",
        "Intel's compilers",
        "kernels that use sub-groups get another width than the code assumes",
        "they carry `LANES_ATTRIBUTE`, which is `SUB_GROUPS_OF`",
        where="device/quirks.cl",
    ),
    Quirk(
        "intel-order-of-sums",
        "Intel's compiler for CPUs",
        "the terms of a sum of doubles are added in another order where the loop has 16 rounds or "
        "more and its length is not known; sums of vectors keep it",
        "`#pragma clang loop vectorize(disable)` before the loop",
        where="device/distance.cl",
    ),
    Quirk(
        "intel-wide-elements",
        "Intel's compiler",
        "kernels with sub-groups and elements of 32 bytes and more take up to ten seconds to build",
        "none",
    ),
    Quirk(
        "intel-no-memory",
        "Intel's runtime",
        "a buffer for which there is no memory is an invalid buffer size",
        "`OUT_OF_MEMORY` has that code, too",
        where="runtime/failures.py",
        test="tests/runtime/test_failures.py::test_errors_in_clmsts_terms",
    ),
    Quirk(
        "nvidia-undeclared-size",
        "NVIDIA's driver 580",
        "a kernel is said to take at most 256 work-items, whatever its registers allow, even where "
        "it declares larger work-groups",
        "`fitting_work_items` reckons by registers, where the compiler has a limit of them; other "
        "programs are built for 256 work-items at once",
        where="runtime/program.py",
        test="tests/runtime/test_quirks.py::test_work_items_by_registers",
    ),
    Quirk(
        "nvidia-large-fill",
        "NVIDIA's driver 580",
        "a fill of 2 GiB never completes; one that begins at 2 GiB or more writes elsewhere",
        "`Launcher.fill` fills more than `MOST_FILLED` bytes by a kernel",
        where="runtime/launcher.py",
        test="tests/runtime/test_device.py::test_read_write_fill",
    ),
    Quirk(
        "nvidia-two-threads",
        "NVIDIA's driver 580",
        "the process crashes if a thread enqueues a kernel while another waits for a copy",
        "who uses a queue, or waits for it, has the device's lock",
        where="runtime/launcher.py",
        test="tests/runtime/test_device.py::test_one_device_in_several_threads",
    ),
    Quirk(
        "nvidia-asynchronous-read",
        "NVIDIA's drivers",
        "an asynchronous read into pageable memory takes three times as long as a blocking one",
        "reads block, or go through pinned memory",
        where="runtime/launcher.py",
    ),
    Quirk(
        "llvmpipe-loop-rounds",
        "Mesa's rusticl on llvmpipe 22.3.6",
        "all loops of a work-item end after 65,535 rounds in total; lanes beyond a small "
        "work-group take part, and reach that end in the first loop whose length depends on data",
        "none: the trial of such a device fails",
        where="device/trial.cl",
        test="tests/runtime/test_rusticl.py::test_refused_with_the_reason",
    ),
    Quirk(
        "zink-vec16",
        "Mesa's rusticl over zink 25.0.7",
        "the build of a kernel that takes 16 bytes as one vector for words crashes "
        '("emit_alu: not implemented (vec16)")',
        "`BYTES_AS_UINT4` loads four vectors of 4",
        where="device/quirks.cl",
        test="tests/primitives/test_compact.py::test_flags_are_no_vectors_of_16",
    ),
    Quirk(
        "adreno-lane-sums",
        "Adreno's compilers before E031.38.11, as reported (llama.cpp 22006)",
        "a build with sums or scans of sub-groups ends the process",
        "the trial runs in a child; if that dies, the device is used without lanes",
        where="runtime/trial.py",
        test="tests/faults/test_vendors.py::test_adreno_compiler_that_dies_of_sums_of_lanes",
    ),
    Quirk(
        "adreno-constant-registers",
        "Adreno's compilers of 2026, as reported (GenieX 1284, 1438)",
        "a build fails where `get_local_size` meets an argument in one instruction, in its step of "
        'a loop, too ("# of constant registers must be < 2")',
        "a work-group's size is the macro WG_SIZE; an algorithm that does not build is refused",
        test="tests/faults/test_vendors.py::test_no_kernel_asks_for_the_size_of_its_work_group",
    ),
    Quirk(
        "driver-ends-listing",
        "Adreno's driver 32.0.172 and ROCm's OpenCL, as reported (GenieX 1431; ROCm-OpenCL-Runtime "
        "56; ROCm 1000)",
        "a process that asks for the platforms ends, or waits for ever",
        "once that was seen, each driver is listed in a child, and one that does not come back is "
        "left out",
        where="runtime/listing.py",
        test="tests/faults/test_vendors.py::test_driver_that_dies_while_it_is_listed",
    ),
    Quirk(
        "apple-atomics",
        "Apple's GPUs, as reported (openmm 3293)",
        'kernels with 64-bit atomics do not build ("cl2Metal failed")',
        "the trial finds it, and the device is used without them",
        where="runtime/trial.py",
        test="tests/faults/test_vendors.py::test_apple_compiler_without_64_bit_atomics",
    ),
    Quirk(
        "apple-single-work-items",
        "Apple's OpenCL for CPUs, as reported (kernel_tuner 38, clBLAS 25)",
        "a kernel with a barrier takes work-groups of one work-item, whatever the device says",
        "CPUs have the policy of single work-items; others get it if the trial finds that",
        where="runtime/trial.py",
        test="tests/faults/test_vendors.py::test_apple_work_groups_of_one",
    ),
    Quirk(
        "xe-endless-kernel",
        "Intel's Arc under Linux's driver xe, as reported (compute-runtime 962)",
        "a kernel that waits in vain is never ended while its process lives",
        "each wait for another work-group has a limit of looks (`LOOK_PATIENCE`, "
        "`LOCK_PATIENCE`, `RESIDENT_PATIENCE`), behind which it goes on without",
        test="tests/primitives/test_chain.py::test_nothing_or_everything_is_published",
    ),
    Quirk(
        "rusticl-libclc",
        "Mesa's rusticl with LLVM 22's own libclc, as reported (darktable 21662)",
        "built-in functions are missing, so that programs do not build, or are wrong",
        "the families of kernels that call them fail their self-tests, and are refused",
        where="runtime/trust.py",
        test="tests/faults/test_vendors.py::test_compiler_that_cannot_build",
    ),
    Quirk(
        "intel-split-result",
        "Intel's CPU runtimes 2023.2 and 2025.0, on a processor that they do not know",
        "a build of a kernel with sub-groups ends the process "
        '("Do not know how to split the result of this operator")',
        "the trial runs in a child; if that dies, the device is used without lanes",
        where="runtime/trial.py",
        test="tests/faults/test_vendors.py::test_adreno_compiler_that_dies_of_sums_of_lanes",
    ),
    Quirk(
        "cpu-vector-choices",
        "compilers for CPUs",
        "choices between vectors become branches",
        "`choose` avoids them",
        where="device/monoid.cl",
    ),
    Quirk(
        "pyopencl-argument-types",
        "PyOpenCL",
        "kernel arguments take twenty times as long to set until their types are known",
        "`Program.kernel` gives it the types",
        where="runtime/program.py",
    ),
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenDriver:
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

    def covers(self, platform: str, device: str, version: str) -> bool:
        """Return whether a device of some driver is one of these."""
        numbers = tuple(map(int, re.findall(r"\d+", version)))
        return (
            platform == self.platform
            and device.startswith(self.devices)
            and self.lowest <= numbers < self.below
            and self.build in version
        )


# A driver comes in here after all suites have run on it, and `tests.prove` with 100,000 cases
# or more (docs/reliability.md); only versions that were tried, and their updates.
PROVEN = (
    ProvenDriver(platform="Intel(R) OpenCL", lowest=(2026, 22), below=(2026, 23)),
    ProvenDriver(
        platform="NVIDIA CUDA",
        lowest=(580,),
        below=(581,),
        devices=("NVIDIA H100", "NVIDIA H200"),
    ),
    ProvenDriver(
        platform="Portable Computing Language", lowest=(3, 1), below=(3, 2), build="+debian"
    ),
)


def is_proven(platform: str, device: str, version: str) -> bool:
    """Return whether clmst's kernels may be tried in the user's process."""
    return any(one.covers(platform, device, version) for one in PROVEN)
