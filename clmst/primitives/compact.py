"""Stable compaction: the positions of set flags, in order, with their number left on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.runtime.device import Launcher

FLAGS_PER_VECTOR = 16


def flag_bytes(length: int) -> int:
    """Return how many bytes `length` flags take: they are read 16 at a time."""
    return -(-length // FLAGS_PER_VECTOR) * FLAGS_PER_VECTOR


def select_flagged(
    launch: Launcher, flags: Any, length: int, *, positions: Any, total: Any
) -> None:
    """Write the positions of the set flags, rising, and their number.

    Parameters
    ----------
    launch : Launcher
    flags : device buffer of uint8, ``flag_bytes(length)`` bytes
        0 or 1; those behind `length` must be 0.
    length : int
        Number of flags.
    positions : device buffer of uint32
        Room for as many as there are set flags.
    total : device buffer of uint32, 1 entry
        How many flags were set.

    Notes
    -----
    Reduce-then-scan (Merrill, Grimshaw 2009): three launches, reads the flags twice, O(work-groups)
    extra memory.
    """
    n_vectors = -(-length // FLAGS_PER_VECTOR)
    groups = launch.groups_for(-(-n_vectors // launch.device.policy.work_group_size))
    share = -(-n_vectors // groups)
    program = launch.device.program("primitives/compact.cl")
    sums = launch.device.allocate(4 * groups)
    extent = np.uint32(n_vectors), np.uint32(share)
    launch(program, "compact_sum_shares", groups, flags, sums, *extent)
    launch(program, "compact_scan_sums", 1, sums, total, np.uint32(groups))
    launch(program, "compact_write_positions", groups, flags, sums, positions, *extent)
