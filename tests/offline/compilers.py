"""Running the offline compilers, and reading in their output what each kernel takes.

clang
    AMD's code generator, with AMD's library of OpenCL built-ins linked in: without that every
    built-in is an unknown call, for which 16 KiB of scratch and 100 registers are set aside.
ocloc
    Intel's compiler. Binaries are asked for in the zebin format, the older one being opaque: there,
    a section in YAML states each kernel's registers and scratch.
"""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from clmst.runtime import source
from clmst.runtime.program import Specialisation
from tests.offline.targets import Compiler, Target

JOBS = 2

PACKAGES: dict[Compiler, str] = {
    "ocloc": "intel-opencl-icd",
    "clang": "clang-15 and rocm-device-libs",
}
CLANG = "clang-15"

# A device file is a library: each kernel file takes what it needs of it, and a function has the
# same parameters in every specialisation.
WARNINGS = ("-Wall", "-Wextra", "-Wno-unused-function", "-Wno-unused-parameter", "-Werror")

# Built-ins, and the constants that say what they are specialised for. The library of Debian 12 has
# no constant for gfx1100; the last one of the family before it selects the same code.
_BITCODE = Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
_BUILT_INS = (
    "opencl", "ocml", "ockl", "oclc_daz_opt_off", "oclc_unsafe_math_off", "oclc_finite_only_off",
    "oclc_correctly_rounded_sqrt_on", "oclc_abi_version_400",
)  # fmt: skip
_ARCHITECTURE_BUILT_INS = {
    "gfx90a": ("oclc_wavefrontsize64_on", "oclc_isa_version_90a"),
    "gfx1100": ("oclc_wavefrontsize64_off", "oclc_isa_version_1036"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """What a kernel takes, as its compiler states it.

    Attributes
    ----------
    name : str
    registers : int
        Vector registers of a work-item on AMD; on Intel those of a hardware thread, which are as
        many however few are used.
    scalar_registers : int or None
        Of a wave; AMD only.
    scratch : int
        Bytes: of a work-item on AMD; on Intel of a work-item or of a hardware thread.
    spills : int
        Registers that did not fit. Intel's compiler tells of those in warnings.
    local_memory : int
        Bytes a work-group.
    """

    name: str
    registers: int
    scalar_registers: int | None
    scratch: int
    spills: int
    local_memory: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One compilation.

    Attributes
    ----------
    label : str
        What was compiled.
    succeeded : bool
    complaints : str
        Errors and warnings; empty if there were none.
    kernels : tuple of Kernel
    seconds : float
    """

    label: str
    succeeded: bool
    complaints: str
    kernels: tuple[Kernel, ...]
    seconds: float


def is_installed(compiler: Compiler) -> bool:
    """Return whether a compiler can be run, with all that it needs."""
    if compiler == "clang":
        return shutil.which(CLANG) is not None and (_BITCODE / "opencl.bc").exists()
    return shutil.which("ocloc") is not None


def version(compiler: Compiler) -> str:
    """Return what a compiler calls itself."""
    command = [CLANG, "--version"] if compiler == "clang" else ["dpkg-query", "-W", "intel-opencl-icd"]
    return _run(command)[1].splitlines()[0].replace("\t", " ")


def compile_all(target: Target, specialisations: Iterable[Specialisation]) -> list[Build]:
    """Compile specialisations for a target, as many at a time as `JOBS`."""

    def compile_one(one: Specialisation) -> Build:
        return compile_text(target, one.label, source.compose(one.source), one.options)

    with ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(compile_one, specialisations))


def compile_text(target: Target, label: str, text: str, options: Sequence[str]) -> Build:
    """Compile OpenCL C for a target."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "source.cl"
        path.write_text(text, encoding="utf-8")
        compile_file = _clang if target.compiler == "clang" else _ocloc
        succeeded, complaints, kernels = compile_file(target.architecture, path, options)
    return Build(
        label=label,
        succeeded=succeeded,
        complaints=complaints,
        kernels=kernels,
        seconds=time.perf_counter() - start,
    )


def check_file(path: Path) -> str:
    """Compile a file by itself, macros at their defaults; return what the compiler has to say."""
    includes = [f"-I{source.root()}", "-cl-std=CL1.2"]
    return _run([*_clang_command("gfx90a"), *includes, str(path), "-o", "-"], keep_output=False)[1]


def _run(command: Sequence[str], *, keep_output: bool = True) -> tuple[bool, str]:
    """Run a command; return whether it succeeded, and what it wrote."""
    output = subprocess.PIPE if keep_output else subprocess.DEVNULL
    done = subprocess.run(
        command, stdout=output, stderr=subprocess.PIPE, text=True, check=False, timeout=300
    )
    return done.returncode == 0, ((done.stdout or "") + done.stderr).strip()


# ------------------------------------------------------------------------- AMD


def _clang_command(architecture: str) -> list[str]:
    command = [CLANG, "-x", "cl", "-target", "amdgcn-amd-amdhsa", f"-mcpu={architecture}"]
    command += ["-Xclang", "-finclude-default-header", "-nogpulib", "-O3", "-S", *WARNINGS]
    for name in (*_BUILT_INS, *_ARCHITECTURE_BUILT_INS[architecture]):
        command += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(_BITCODE / f"{name}.bc")]
    return command


def _clang(
    architecture: str, path: Path, options: Sequence[str]
) -> tuple[bool, str, tuple[Kernel, ...]]:
    assembly = path.with_suffix(".s")
    succeeded, log = _run([*_clang_command(architecture), *options, str(path), "-o", str(assembly)])
    if not succeeded:
        return False, log, ()
    metadata = assembly.read_text(encoding="utf-8").partition("amdhsa.kernels:")[2]
    entries = re.split(r"^  - ", metadata, flags=re.MULTILINE)[1:]
    return True, log, tuple(_amd_kernel(entry) for entry in entries)


def _amd_kernel(entry: str) -> Kernel:
    """Read a kernel's entry in the metadata, whose own keys are indented by four."""
    values = dict(re.findall(r"^    \.(\w+): +(\S+)$", entry, flags=re.MULTILINE))
    return Kernel(
        name=values["name"],
        registers=int(values["vgpr_count"]),
        scalar_registers=int(values["sgpr_count"]),
        scratch=int(values["private_segment_fixed_size"]),
        spills=int(values["vgpr_spill_count"]) + int(values["sgpr_spill_count"]),
        local_memory=int(values["group_segment_fixed_size"]),
    )


# ----------------------------------------------------------------------- Intel


def _ocloc(
    architecture: str, path: Path, options: Sequence[str]
) -> tuple[bool, str, tuple[Kernel, ...]]:
    command = ["ocloc", "compile", "-q", "--format", "zebin", "-device", architecture]
    command += ["-file", str(path), "-out_dir", str(path.parent), "-options", " ".join(options)]
    succeeded, log = _run(command)
    if not succeeded:
        return False, log, ()
    (binary,) = path.parent.glob("*.bin")
    information = _elf_section(binary.read_bytes(), b".ze_info").decode()
    kernels = information.partition("kernels:")[2].partition("kernels_misc_info:")[0]
    entries = re.split(r"^  - ", kernels, flags=re.MULTILINE)[1:]
    return True, log, tuple(_intel_kernel(entry, log) for entry in entries)


def _intel_kernel(entry: str, log: str) -> Kernel:
    values = dict(re.findall(r"^ *(\w+): +(\S+)$", entry, flags=re.MULTILINE))
    memory = entry.partition("per_thread_memory_buffers:")[2]
    spills = rf"kernel {values['name']} +compiled SIMD\d+ .* spilled around (\d+)"
    return Kernel(
        name=values["name"],
        registers=int(values["grf_count"]),
        scalar_registers=None,
        scratch=sum(map(int, re.findall(r"\bsize: +(\d+)", memory))),
        spills=sum(map(int, re.findall(spills, log))),
        local_memory=int(values.get("slm_size", 0)),
    )


def _elf_section(image: bytes, name: bytes) -> bytes:
    """Return a section of a 64-bit little-endian ELF file."""
    (table,) = struct.unpack_from("<Q", image, 0x28)
    entry_size, n_entries, names_index = struct.unpack_from("<3H", image, 0x3A)
    # An entry starts with: name, type, flags, address, offset, size.
    sections = [
        struct.unpack_from("<2I4Q", image, table + k * entry_size) for k in range(n_entries)
    ]
    names = sections[names_index][4]
    for name_at, _, _, _, offset, size in sections:
        if image[names + name_at :].startswith(name + b"\0"):
            return image[offset : offset + size]
    raise ValueError(f"no section is called {name.decode()}")
