"""One pass by look-back, with tiles that never publish.

Every device is told to take one pass, also those that would not by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from clmst import Device
from clmst.primitives.selection import Keep, Selection
from clmst.primitives.sweeps import Scan, Segments
from clmst.runtime.array import DeviceArray
from clmst.runtime.program import Program
from tests.helpers.bounds import bounds
from tests.primitives.shapes import shape_of
from tests.prove.draws import Draws
from tests.prove.primitives.bench import Bench
from tests.prove.primitives.case import run
from tests.prove.primitives.kinds import Kind
from tests.prove.primitives.operators import operator

# Work-groups publish nothing of tiles whose numbers are multiples of the first number, 0: of none;
# others look as often as the second says for the state of a tile before they compute its total.
Starved = tuple[int, int]
_MORE_DRAWS = 6  # at most, until one takes one pass, as scans in place do not
SOME_STARVE, ALL_STARVE, NONE_STARVE = (3, 2), (1, 1), (0, 64)


@contextmanager
def one_pass(starved: Starved) -> Iterator[list[str]]:
    """Let kernels of one pass be built for tiles that starve, and be taken where they are right.

    Yields the sources of one pass that were asked for.
    """
    as_ever = Device.program
    macros = dict(zip(("STARVED", "LOOK_PATIENCE"), starved, strict=True))
    asked: list[str] = []

    def program(device: Device, source: str, *prelude: Any, **defines: Any) -> Program:
        is_chained = source.endswith("_chain.cl")
        asked.extend([source] * is_chained)
        return as_ever(device, source, *prelude, **defines, **(macros if is_chained else {}))

    with bounds(one_pass=lambda *_: True), patch.object(Device, "program", program):
        yield asked


def in_shape(device: Device) -> bool:
    """Return whether a device has work-groups of more than one work-item."""
    return device.policy.work_group_size > 1


def tile_of(device: Device, kind: Kind) -> int:
    """Return the elements of a tile."""
    if "scan" in kind.primitive:
        name = f"sum of {kind.dtype}" if kind.dtype else kind.how
        segments = Segments.NONE
        if "segmented" in kind.primitive:
            segments = Segments.PACKED if kind.dtype else Segments.FLAGS
        one = operator(name)
        scan = Scan(
            values=DeviceArray.empty(0, one.dtype, device), monoid=one.monoid, segments=segments,
            exclusive="exclusive" in kind.primitive, strategy="auto",
        )  # fmt: skip
        return scan.chain[1]
    if kind.primitive.startswith("sort"):
        return shape_of(device, np.dtype(kind.dtype).itemsize // 4).tile
    nothing, flags = (DeviceArray.empty(1, dtype, device) for dtype in (np.uint32, np.uint8))
    is_flagged = kind.primitive != "unique_by_key" and not kind.how
    keep = Keep.FLAGGED if is_flagged else Keep.HEADS
    return Selection.of(nothing, flags if is_flagged else None, keep=keep).chain_tile


def wrong_of(
    device: Device,
    kind: Kind,
    *,
    tiles: int,
    more: int = 0,
    starved: Starved = SOME_STARVE,
    draws: int = 3,
) -> str | None:
    """Call a primitive on the elements of some tiles, and more; return what is wrong, or None."""
    if not in_shape(device):
        return None
    length = tiles * tile_of(device, kind) + more
    with one_pass(starved) as asked:
        for k in range(draws + _MORE_DRAWS):
            if k >= draws and asked:
                return None
            if wrong := run(kind, Bench(device, Draws(length, k), length)):
                return wrong
    return None if asked else "no draw took one pass"
