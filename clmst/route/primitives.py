"""Primitives: one pass or several, one launch or three."""

from __future__ import annotations

from typing import Literal

from clmst.route.limits import LIMITS


def in_one_pass(primitive: Literal["scan", "selection", "sort"], n_tiles: int) -> bool:
    """Return whether a primitive that can look back reads its input once, not in several sweeps.

    A selection does whatever its size. So a self-test and the solve after it need one program: a
    first solve on an H100 built 0.30 to 0.38 s less (docs/performance_log.md).
    """
    if primitive == "selection":
        return True
    return n_tiles > (LIMITS.scan_one_launch if primitive == "scan" else 1)


def scanned_in_one_launch(n_tiles: int) -> bool:
    """Return whether one lane group scans all tiles of an array, so that there are no carries."""
    return n_tiles <= LIMITS.scan_one_launch


def selected_in_one_launch(n_records: int, work_group: int) -> bool:
    """Return whether one work-group selects among all records, so that there are no counts."""
    if work_group == 1:
        return n_records <= LIMITS.selection_serial
    return n_records <= LIMITS.selection_one_launch * work_group
