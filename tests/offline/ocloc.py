"""Compiling for Intel GPUs by ocloc, the offline form of the compiler in Intel's driver.

In two steps, because the first, to SPIR-V, takes longer than the second and is the same for all
devices. Binaries are asked for in the zebin format, an ELF file of which a section states what each
kernel takes; the older format, still the default for older devices, holds the same code.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import struct
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.helpers.processes import Child, LostError
from tests.offline import kept
from tests.offline.outcome import Kernel, Outcome, run

PROGRAM = "ocloc"
PACKAGES = "intel-opencl-icd"
SOURCE = "source.cl"
LIBRARY = "libocloc.so"
SECONDS = 300.0  # of a compilation

# What ocloc says when all is well; to silence it (-q) is to silence warnings.
_CHATTER = {"Build succeeded.", "Compilation from IR - skipping loading of FCL"}


def is_installed() -> bool:
    """Return whether ocloc is there."""
    return shutil.which(PROGRAM) is not None


def version() -> str:
    """Return the version of ocloc and of the driver that it is part of."""
    with tempfile.TemporaryDirectory() as folder:
        run(["env", "-C", folder, PROGRAM, "query", "OCL_DRIVER_VERSION"])
        answer = (Path(folder) / "OCL_DRIVER_VERSION").read_text()
        return f"{PROGRAM} {answer.rstrip(chr(0))}"


@cache
def installed() -> str:
    """Return a text that identifies the installed compiler and its libraries."""
    libraries = [
        path
        for name in ("libocloc", "libigc", "libigdfcl", "libopencl-clang", "libLLVMSPIRV")
        for path in Path("/usr/lib").glob(f"*/{name}*.so*")
    ]
    return kept.installed(Path(str(shutil.which(PROGRAM))), *libraries)


@kept.asked_once(installed)
def compile_text(architecture: str, text: str, options: Sequence[str]) -> Outcome:
    """Compile OpenCL C."""
    spirv, log = to_spirv("skl", text, tuple(options))
    if not spirv:
        return Outcome(complaints=log)
    binary, back_end_log = _compile(
        architecture, spirv, options, ["--format", "zebin", "-spirv_input"], output=".bin"
    )
    log = "\n".join(filter(None, (log, back_end_log)))
    return Outcome(complaints=log, kernels=_kernels(binary, log) if binary else ())


@cache
@kept.asked_once(installed)
def to_spirv(architecture: str, text: str, options: tuple[str, ...]) -> tuple[bytes, str]:
    """Compile OpenCL C to SPIR-V; return that, empty after errors, and what ocloc had to say."""
    source = text.encode() + b"\0"  # which ocloc reads to its end
    return _compile(architecture, source, options, ["-spv_only"], output=".spv")


def _compile(
    architecture: str, data: bytes, options: Sequence[str], flags: Sequence[str], *, output: str
) -> tuple[bytes, str]:
    arguments = ["compile", "-file", SOURCE, "-device", architecture, *flags]
    succeeded, files = _invoke([*arguments, "-options", " ".join(options)], SOURCE, data)
    log = "\n".join(
        line
        for name, content in files.items()
        if name.endswith(".log")
        for line in content.decode(errors="replace").rstrip("\0").splitlines()
        if line not in _CHATTER
    )
    if not succeeded:
        return b"", log.strip() or f"{PROGRAM} fails and does not say why"
    return next(content for name, content in files.items() if name.endswith(output)), log.strip()


def _kernels(binary: bytes, log: str) -> tuple[Kernel, ...]:
    """Read the section that states what kernels take: YAML, with a list of them near its start."""
    information = _elf_section(binary, b".ze_info").decode()
    kernels = information.partition("\nkernels:")[2].partition("\nkernels_misc_info:")[0]
    entries = re.split(r"^  - ", kernels, flags=re.MULTILINE)[1:]
    return tuple(_kernel(entry, log) for entry in entries)


def _kernel(entry: str, log: str) -> Kernel:
    values = dict(re.findall(r"^ *(\w+): +(\S+)$", entry, flags=re.MULTILINE))
    memory = entry.partition("per_thread_memory_buffers:")[2]
    spills = rf"kernel {values['name']} .* spilled around (\d+)"
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
        if image.startswith(name + b"\0", names + name_at):
            return image[offset : offset + size]
    raise ValueError(f"the file has no section {name.decode()}")


# ------------------------------------------------------------------------------- the library

# In processes of its own: what it loads for one call serves the next.
Files = tuple[bool, dict[str, bytes]]  # whether ocloc succeeded, and what it would have written

_BYTES = ctypes.POINTER(ctypes.c_uint8)
_idle: list[Child] = []


def _invoke(arguments: list[str], name: str, data: bytes) -> Files:
    """Let a process call ocloc; return whether that succeeded, and its files, the log included.

    Parameters
    ----------
    arguments : list of str
        Of its command line, its own name left out.
    name : str
        The file that it is to compile, which need not be on disk.
    data : bytes
        What is in that file.
    """
    try:
        child = _idle.pop()
    except IndexError:
        child = Child(_begin)
    try:
        answer: Files = child.ask((arguments, name, data), SECONDS)
    except LostError as lost:
        if lost.verdict == "hang":  # no answer of the compiler, so nothing that may be kept
            raise
        return False, {"stdout.log": f"ocloc ends its process: {lost.detail}".encode()}
    finally:
        _idle.append(child)
    return answer


def _begin() -> Callable[[Any], Files]:
    library = ctypes.CDLL(LIBRARY)
    return lambda question: _call(library, *question)


def _call(library: ctypes.CDLL, arguments: list[str], name: str, data: bytes) -> Files:
    """Call `oclocInvoke` of Intel's ``ocloc_api.h``."""
    words = [word.encode() for word in ("ocloc", *arguments)]
    source = ctypes.create_string_buffer(data, len(data))
    count = ctypes.c_uint32()
    contents, lengths = ctypes.POINTER(_BYTES)(), ctypes.POINTER(ctypes.c_uint64)()
    names = ctypes.POINTER(ctypes.c_char_p)()
    outputs = [ctypes.byref(one) for one in (count, contents, lengths, names)]
    status = library.oclocInvoke(
        ctypes.c_uint32(len(words)),
        (ctypes.c_char_p * len(words))(*words),
        ctypes.c_uint32(1),
        (_BYTES * 1)(ctypes.cast(source, _BYTES)),
        (ctypes.c_uint64 * 1)(len(data)),
        (ctypes.c_char_p * 1)(name.encode()),
        *(ctypes.c_uint32(0), None, None, None),  # no headers
        *outputs,
    )
    files = {
        (names[k] or b"").decode(): ctypes.string_at(contents[k], lengths[k])
        for k in range(count.value)
    }
    library.oclocFreeOutput(*outputs)
    return status == 0, files
