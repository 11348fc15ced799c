"""What runs inside Oclgrind: the small cases of every primitive, in one variant of its device.

Started by ``tests/primitives/test_oclgrind.py`` as ``python -m tests.primitives.simulated SHAPE
[brief]`` in a process where Oclgrind is the only driver. Prints which cases ran, and which came out
wrong.

Each family of primitives has its cases in :data:`CASES`, the broadest first. In the shape of a GPU,
which is slow, only the first few run, and so it is with ``brief``. A brief run in the shape
``gpu-shape`` has the first case of each family.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from clmst import Device
from clmst.primitives import chain, selection
from clmst.primitives.shares import BYTES_PER_ITEM
from tests.helpers.bounds import bounds
from tests.helpers.oclgrind import POLICIES, only_device
from tests.primitives import shapes
from tests.primitives.chain_cases import ALL_STARVE, wrong_of
from tests.primitives.shapes import landmarks, landmarks_of_selections, shape_of
from tests.prove.draws import Draws
from tests.prove.primitives.bench import Bench
from tests.prove.primitives.case import run
from tests.prove.primitives.kinds import Kind
from tests.prove.primitives.operators import operator

FEW = 3

# What work-groups of many do with these they do with floats of the same width, in as many passes.
FALLING = ("u4", "i4", "u8", "i8")
SHORT = ("u1", "i1", "u2", "i2")
PACKED = "flags in the values"
Case = tuple[Callable[[Device], int], Kind]

# Shares of a GPU's size would take minutes; what matters in its shape is the size of work-groups.
SMALL_POLICIES = POLICIES | {
    "gpu-shape": replace(POLICIES["gpu-shape"], split_bytes_per_item=16),
    "gpu": replace(
        POLICIES["gpu"],
        shares_per_compute_unit=3,
        chain_bytes_per_item=16,
        split_bytes_per_item=16,
    ).with_constants({BYTES_PER_ITEM: 16, chain.WORK_ITEMS: 256, selection.BYTES_PER_ITEM: 16}),
}


ONE_GROUP = "one lane group"
LAST = "last of u4"
PREDICATE = "by a predicate"
AFFINE = "affine maps"
AT_TILES = {"tile": (-1, 0, 1), "one lane group": (0, 1), "chunk": (1,), "row": (1,)}
OPERATORS = [name for name in shapes.OPERATORS if name not in (AFFINE, LAST)]


def scan(at: str, more: int, how: str, primitive: str = "exclusive_scan", **kind: str) -> Case:
    """Return a scan of `more` elements than a landmark of scans."""

    def length(device: Device) -> int:
        name = how.removeprefix("by offsets: ")
        size = int(kind["dtype"][1:]) if kind["dtype"] else operator(name).dtype.itemsize
        return landmarks(device, size, segmented="segmented" in primitive)[at] + more

    strategy = "auto" if primitive in ("exclusive_scan", "inclusive_scan") else "parallel"
    kind = {"dtype": "", "strategy": strategy} | kind
    return length, Kind(primitive=primitive, how=how, **kind)


def select(
    at: str, more: int, primitive: str, dtype: str = "V4", value: str = "", **kind: str
) -> Case:
    """Return a selection of `more` records than a landmark of selections."""

    def length(device: Device) -> int:
        return landmarks_of_selections(device)[at] + more

    return length, Kind(primitive=primitive, dtype=dtype, value=value, **kind)


def of(length: int, primitive: str, dtype: str, value: str = "", **kind: str) -> Case:
    """Return a case of a fixed length."""
    return lambda _: length, Kind(primitive=primitive, dtype=dtype, value=value, **kind)


def split(tiles: int, more: int, size: int, value: int = 0) -> Case:
    """Return a split of as many records as some tiles have, and more."""

    def length(device: Device) -> int:
        return tiles * shape_of(device, max(size, value) // 4).tile + more

    return length, Kind(primitive="split", dtype=f"V{size}", value=f"V{value}" if value else "")


CASES: dict[str, list[Case]] = {
    "scan": [
        scan("all shares", -5, AFFINE, strategy="reduce-then-scan"),
        scan(ONE_GROUP, 9, "products of matrices", "segmented_scan"),
        scan(ONE_GROUP, 7, "sum of u4", "reduce"),
        *(scan(at, more, AFFINE) for at, ends in AT_TILES.items() for more in ends),
        *(
            scan(at, more, how, primitive)
            for primitive, how in (("reduce", "sum of u4"), ("segmented_scan exclusive", LAST))
            for at in ("tile", ONE_GROUP)
            for more in (0, 1)
        ),
        scan("tile", 1, PACKED, "segmented_scan", dtype="u4"),
        scan("work-group", 1, PACKED, "segmented_scan", dtype="u4"),
        scan(ONE_GROUP, 3, AFFINE, strategy="sequential"),
        scan(ONE_GROUP, 3, AFFINE, strategy="scan-then-propagate"),
        *(scan("tile", 3, name) for name in OPERATORS),
        scan(ONE_GROUP, 3, "minimum by key of f4", "segmented_scan"),
        # A mebibyte by a single work-item, which stores full lines past the caches.
        of(1 << 14, "inclusive_scan", "", how="4 affine maps of u8", strategy="sequential"),
        of(0, "exclusive_scan", "", how="sum of u4", strategy="auto"),
        of(0, "reduce", "", how="sum of u4"),
        *(of(300, "inclusive_scan", "", how=f"sum of {code}", strategy="auto") for code in SHORT),
    ],
    "segments": [
        *(
            scan(at, 7, f"{segments}minimum of u4", "segmented_reduce")
            for at in (ONE_GROUP, "tile")
            for segments in ("by offsets: ", "")
        ),
        of(1000, "head_flags", "u1"),
        of(1000, "end_flags", "u1"),
        of(0, "segmented_reduce", "", how="by offsets: sum of u4"),
    ],
    "compact": [
        select("one work-group", 77, "compact", "V4", "V12"),
        select("one work-group", 77, "partition", "u4", "u4", how=PREDICATE),
        select("one work-group", 77, "unique_by_key"),
        select("one work-group", 77, "positions", "u1"),
        *(
            select(at, more, "compact", dtype, how=how)
            for at in ("vector of flags", "row or run", "tile")
            for more in (-1, 0, 1)
            for dtype, how in (("V4", ""), ("u4", PREDICATE))
        ),
        *(select("tile", 200, name) for name in ("compact", "positions") for _ in range(6)),
        *(of(600, "unique_by_key", f"V{size}") for size in (1, 12, 16)),
        *(of(600, "compact", f"V{size}") for size in (3, 16)),
        of(300, "compact", "i1", how=PREDICATE),
        select("tile", 9, "compact", "V4", "V4", strategy="sequential"),
    ],
    "split": [
        split(2, 5, 4, 4),
        split(0, 99, 12),
        of(70, "sort_by_key", "f4", "V4"),
        *(split(1, more, 8, 4) for more in (-1, 0, 1)),
        *(of(77, "split", f"V{a}", f"V{b}") for a, b in ((16, 4), (4, 12), (64, 8), (8, 64))),
        of(77, "split", "V20"),
        *(of(40, "sort", code, how="descending") for code in ("f4", "f8", *FALLING)),
        of(200, "split", "V4", strategy="sequential"),
        *(of(n, "split", "V4", "V4") for n in (0, 1)),
        *(of(300, "argsort", code) for code in SHORT),
    ],
    "permute": [
        *(of(700, primitive, "V12") for primitive in ("gather", "scatter")),
        of(300, "gather", "V3"),
        *(
            of(length, primitive, dtype)
            for length in (0, 1, 63, 257, 1025)
            for dtype in ("V4", "V16")
            for primitive in ("gather", "scatter")
        ),
    ],
    "map": [of(300, "map", "i2", "i4"), *(of(300, "histogram", "u2") for _ in range(8))],
}
# Starved tiles, and what more than their elements there is.
CHAINED: list[tuple[Kind, dict[str, Any]]] = [
    (
        Kind(primitive="exclusive_scan", dtype="", how=AFFINE, strategy="auto"),
        {"tiles": 4, "more": -3},
    ),
    (Kind(primitive="compact", dtype="u4", how=PREDICATE), {"tiles": 2, "more": 5}),
    (Kind(primitive="sort_by_key", dtype="u4", value="V4"), {"tiles": 3, "more": -5}),
    (
        Kind(primitive="segmented_scan", dtype="", how="products of matrices"),
        {"tiles": 4, "more": 1},
    ),
    (Kind(primitive="segmented_scan", dtype="u4", how=PACKED), {"tiles": 4}),
    (Kind(primitive="compact", dtype="V4", value="V12"), {"tiles": 2, "more": 1}),
    (Kind(primitive="unique_by_key", dtype="V4"), {"tiles": 2, "more": -1}),
    (
        Kind(primitive="exclusive_scan", dtype="", how="sum of u4", strategy="auto"),
        {"tiles": 3, "more": 7, "starved": ALL_STARVE},
    ),
]


def cases(shape: str, *, is_brief: bool) -> Iterator[tuple[str, Callable[[Device], str | None]]]:
    """Yield all cases of all primitives. A brief run and the largest shape have a few of each."""
    few = FEW if is_brief or shape == "gpu" else None
    if is_brief:
        few = 1 if shape == "gpu-shape" else FEW - 1
    for family, every in CASES.items():
        for k, (length, kind) in enumerate(every[:few]):
            is_doubled = kind.how == "descending" and kind.dtype in FALLING
            if shape == "cpu" or not is_doubled:
                yield f"{family}: {kind}, draw {k}", partial(_wrong, length, kind, k)
    for kind, how in CHAINED[:few]:
        yield f"chain: {kind}, {how}", partial(wrong_of, kind=kind, draws=1, **how)


def _wrong(length: Callable[[Device], int], kind: Kind, draw: int, device: Device) -> str | None:
    """Return a description of the error in a case, or None if it is right."""
    # Oclgrind 21.10 takes what is filled through a view for memory that was never written.
    has_views = kind.primitive != "histogram"
    return run(kind, Bench(device, Draws(draw), max(length(device), 0), has_views=has_views))


def main(shape: str, extent: str = "whole") -> None:
    tuning = SMALL_POLICIES[shape]
    device = Device(only_device().cl_device, tuning=tuning, _trusted=True)
    device.check_usable()
    ran, wrong = [], []
    # A work-item alone goes record by record, however long its tile is: only their number counts.
    # The same holds for a selection by one work-item.
    with bounds(serial_tile=256, selection_serial=1 << 10):
        for name, wrong_in in cases(shape, is_brief=extent == "brief"):
            ran.append(name)
            if (found := wrong_in(device)) is not None:
                wrong.append([name, found])
    print(json.dumps({"ran": ran, "wrong": wrong}))


if __name__ == "__main__":
    main(*sys.argv[1:])
