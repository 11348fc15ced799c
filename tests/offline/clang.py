"""Compiling for AMD GPUs by clang, with AMD's library of OpenCL's built-in functions linked in.

Without that library every built-in is an unknown function, for whose call clang sets 16 KiB of
scratch and a hundred registers aside.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from clmst.runtime import source
from tests.offline import kept
from tests.offline.outcome import Kernel, Outcome, run

PROGRAM = "clang-15"
PACKAGES = "clang-15 rocm-device-libs"

# A device file is a library, of which kernels take what they need; and a function keeps its
# parameters in every specialisation.
_WARNINGS = ("-Wall", "-Wextra", "-Wno-unused-function", "-Wno-unused-parameter", "-Werror")

_LIBRARIES = (
    "opencl", "ocml", "ockl", "oclc_daz_opt_off", "oclc_unsafe_math_off", "oclc_finite_only_off",
    "oclc_correctly_rounded_sqrt_on", "oclc_abi_version_400",
)  # fmt: skip
# Debian 12's library lacks constants for gfx1100; the family before it has the same
# code for all that kernels here call.
_ARCHITECTURE_LIBRARIES = {
    "gfx90a": ("oclc_isa_version_90a", "oclc_wavefrontsize64_on"),
    "gfx1100": ("oclc_isa_version_1036", "oclc_wavefrontsize64_off"),
}


def _bitcode() -> Path | None:
    """Return the folder of AMD's library."""
    return next(Path("/usr/lib").glob("*/amdgcn/bitcode"), None)


def is_installed() -> bool:
    """Return whether clang and AMD's library are there."""
    return shutil.which(PROGRAM) is not None and _bitcode() is not None


def version() -> str:
    """Return the name and version that clang prints."""
    return run([PROGRAM, "--version"])[1].splitlines()[0]


@cache
def installed() -> str:
    """Return a text that identifies the installed compiler and its libraries."""
    bitcode = _bitcode()
    assert bitcode is not None
    libraries = [
        *Path("/usr/lib").glob("*/libLLVM-15*.so*"),
        *Path("/usr/lib").glob("*/libclang-cpp.so.15*"),
        *bitcode.glob("*.bc"),
    ]
    return kept.installed(Path(str(shutil.which(PROGRAM))), *libraries)


@kept.asked_once(installed)
def compile_text(architecture: str, text: str, options: Sequence[str]) -> Outcome:
    """Compile OpenCL C."""
    command = _command(architecture, options)
    for library in (*_LIBRARIES, *_ARCHITECTURE_LIBRARIES[architecture]):
        command += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", f"{_bitcode()}/{library}.bc"]
    succeeded, assembly, log = run([*command, "-S", "-", "-o", "-"], text)
    return Outcome(complaints=log, kernels=_kernels(assembly) if succeeded else ())


@kept.asked_once(installed)
def front_end_says(architecture: str, text: str, options: Sequence[str]) -> str:
    """Return the complaints of the front end alone, which is all that warns of a source."""
    return run([*_command(architecture, options), "-fsyntax-only", "-"], text)[2]


def front_end_says_of_file(name: str) -> str:
    """Return the front end's complaints of ``cl/<name>`` by itself, macros at their defaults."""
    return front_end_says("gfx90a", source.compose(name), ["-cl-std=CL1.2"])


def _command(architecture: str, options: Sequence[str]) -> list[str]:
    command = [PROGRAM, "-x", "cl", "-target", "amdgcn-amd-amdhsa", f"-mcpu={architecture}"]
    return [
        *command, "-Xclang", "-finclude-default-header", "-nogpulib", "-O3", *_WARNINGS, *options,
    ]  # fmt: skip


def _kernels(assembly: str) -> tuple[Kernel, ...]:
    """Read the metadata at the end of an assembly: YAML, with a kernel's own keys at column 4."""
    metadata = assembly.partition("\namdhsa.kernels:\n")[2].partition("\namdhsa.target:")[0]
    return tuple(map(_kernel, re.split(r"^  - ", metadata, flags=re.MULTILINE)[1:]))


def _kernel(entry: str) -> Kernel:
    values = dict(re.findall(r"^    \.(\w+): +(\S+)$", entry, flags=re.MULTILINE))
    return Kernel(
        name=values["name"],
        registers=int(values["vgpr_count"]),
        scalar_registers=int(values["sgpr_count"]),
        scratch=int(values["private_segment_fixed_size"]),
        spills=int(values["vgpr_spill_count"]) + int(values["sgpr_spill_count"]),
        local_memory=int(values["group_segment_fixed_size"]),
    )
