"""The number of passes and launches of the primitives scan, selection and sort."""

from __future__ import annotations

from typing import Literal

from clmst.route.limits import LIMITS


def in_one_pass(primitive: Literal["scan", "selection", "sort"], n_tiles: int) -> bool:
    """Return whether a primitive reads an input of `n_tiles` tiles in one pass, with look-back.

    A tile is a range of consecutive elements. In look-back, work-groups read the totals that
    earlier work-groups have published. Otherwise the primitive reads the input several times. The
    function is called only for devices on which look-back works. A selection always takes one pass,
    even of few tiles, so that the small inputs of self-tests and a large solve need the same
    program. That saves 0.30 to 0.38 s of building in the first solve on an H100
    (benchmarks/log.md).
    """
    if primitive == "selection":
        return True
    return n_tiles > (LIMITS.scan_one_launch if primitive == "scan" else 1)


def scanned_in_one_launch(n_tiles: int) -> bool:
    """Return whether one lane group, which is a sub-group or work-group, scans a whole array.

    A tile is the part of the array that it scans at a time. It takes one launch. Otherwise three
    launches compute the totals of the tiles, scan the totals, and scan the tiles.
    """
    return n_tiles <= LIMITS.scan_one_launch


def selected_in_one_launch(n_records: int, work_group: int) -> bool:
    """Return whether a single work-group selects among `n_records` records, in one launch.

    `work_group` is its number of work-items. Otherwise there are three launches: the records are
    divided into tiles, and the selected records of each tile are counted; the counts are scanned;
    and the selected records are copied.
    """
    if work_group == 1:
        return n_records <= LIMITS.selection_serial
    return n_records <= LIMITS.selection_one_launch * work_group
