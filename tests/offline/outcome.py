"""What a compiler makes of a source, in terms common to all compilers."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass


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


def run(command: Sequence[str]) -> tuple[bool, str]:
    """Run a command; return whether it succeeded, and what it wrote.

    A command that fails has always written something.
    """
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode != 0:
        return False, done.stdout.strip() or f"{command[0]}: exit status {done.returncode}"
    return True, done.stdout.strip()
