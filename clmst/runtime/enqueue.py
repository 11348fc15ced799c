"""Kernels enqueued on arrays and numbers, rather than on buffers and words."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program


def enqueue(launch: Launcher, program: Program, kernel: str, groups: int, *arguments: Any) -> None:
    """Enqueue a kernel; arrays stand for their memory, Python's integers for words of 32 bits."""
    launch(program, kernel, groups, *map(_as_kernels_take_it, arguments))


def for_each(
    launch: Launcher, program: Program, kernel: str, n_items: int, *arguments: Any
) -> None:
    """Enqueue a kernel that shares out items by GRID_FOR, unless there are none.

    Arguments are those of :func:`enqueue`.
    """
    if n_items:
        groups = launch.groups_for(-(-n_items // program.grid_tile))
        enqueue(launch, program, kernel, groups, *arguments)


def _as_kernels_take_it(argument: Any) -> Any:
    if isinstance(argument, DeviceArray):
        return argument.memory
    return np.uint32(argument) if isinstance(argument, int) else argument
