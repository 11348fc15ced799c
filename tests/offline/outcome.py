"""The outcome of compiling a source, in terms that are common to all compilers."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

from tests.helpers.processes import lacks


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """What a kernel takes, as its compiler states it."""

    name: str
    # AMD: vector registers of a wave. Intel: registers of a hardware thread, which owns as many
    # however few its kernel uses.
    registers: int
    scalar_registers: int | None  # AMD only
    # Bytes of private memory that are in no register. AMD: of a work-item. Intel: of a work-item or
    # of a hardware thread, whichever its compiler gives.
    scratch: int
    # Registers' contents that had to go to memory. Intel: a warning's estimate.
    spills: int
    local_memory: int  # bytes a work-group


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a compilation."""

    complaints: str  # errors and warnings; empty if there were none
    kernels: tuple[Kernel, ...] = ()  # empty after errors


def require(compiler: ModuleType) -> None:
    """Skip where what a module calls is not installed; fail on CI, where it has to be."""
    if not compiler.is_installed():
        lacks(f"not installed; on Debian 12: apt install {compiler.PACKAGES}")


def run(command: Sequence[str], text: str = "") -> tuple[bool, str, str]:
    """Run a command on a text, its standard input.

    Return whether it succeeded, what it wrote to its output, and what to its errors; a command
    that fails has always written something there.
    """
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, timeout=300
    )
    complaints = done.stderr.strip()
    if done.returncode != 0:
        complaints = complaints or f"{command[0]}: exit status {done.returncode}"
    return done.returncode == 0, done.stdout, complaints


def output_of(command: Sequence[str], text: str) -> tuple[str, str]:
    """Run a command that has to succeed; return what it wrote to its output and its errors."""
    succeeded, output, complaints = run(command, text)
    assert succeeded, complaints
    return output, complaints
