"""What primitives return, bit for bit as NumPy has it.

A case is a primitive on arrays of lengths at which kernels begin something new, in every shape of a
device. ``tests.prove.primitives`` draws the rest: contents, flags, whether in place or into longer
memory, and what must stay as it is. Results that need arrays of their own are in the other files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count, product
from typing import get_args

import numpy as np
import pytest
from _pytest.mark import ParameterSet

from clmst import Device
from clmst.primitives.scan import SCAN_STRATEGIES, SegmentedStrategy
from clmst.primitives.selection import divide
from clmst.primitives.shares import STRATEGIES, Shares
from tests.helpers.sampling import covering
from tests.helpers.variants import Variant, takes_part
from tests.primitives.shapes import (
    PLAIN,
    SHAPES,
    SPINE_ITEMS,
    assert_right,
    crowded,
    each_pair,
    landmarks,
    lengths_for,
    lengths_of_selections,
    shape_of,
    small,
    with_shares,
)
from tests.prove.primitives.kinds import NUMBERS, Kind
from tests.prove.primitives.operators import operator

AFFINE = "affine maps"  # an operator that does not commute: whatever changes places shows
PACKED, BY_PREDICATE, DOWN = "flags in the values", "by a predicate", "descending"
SCANS = ("exclusive_scan", "inclusive_scan")
SEGMENTED = ("segmented_scan", "segmented_scan exclusive")
SELECTIONS = ("compact", "partition", "unique_by_key")
RTS, ALONE = "reduce-then-scan", "sequential"

Words = str | Sequence[str]
Lengths = Callable[[Device, Kind], Iterable[int]]


def kinds(
    primitives: Words, dtypes: Words = "", values: Words = "", *, how: Words = "",
    by: Words = "parallel",
) -> list[Kind]:  # fmt: skip
    """Return a kind for each choice of one word from each argument that has several."""
    several = [[one] if isinstance(one, str) else one for one in (primitives, dtypes, values, how)]
    strategies = [by] if isinstance(by, str) else by
    return [
        Kind(primitive=a, dtype=b, value=c, how=d, strategy=e)
        for a, b, c, d, e in product(*several, strategies)
    ]


# ----------------------------------------------------------------------------- lengths


def of(*lengths: int) -> Lengths:
    """Return fixed lengths."""
    return lambda *_: lengths


def _item_bytes(kind: Kind) -> int:
    how = kind.how.removeprefix("by offsets: ")
    return np.dtype(kind.dtype).itemsize if kind.dtype else operator(how).dtype.itemsize


def _marks(device: Device, kind: Kind) -> dict[str, int]:
    return landmarks(device, _item_bytes(kind), segmented="segmented" in kind.primitive)


def around(device: Device, kind: Kind) -> list[int]:
    """Return lengths around the landmarks of scans."""
    return lengths_for(device, _item_bytes(kind), segmented="segmented" in kind.primitive)


def at_random(device: Device, kind: Kind) -> list[int]:
    """Return lengths of a hundred and more divisions into shares."""
    lengths = np.random.default_rng(5).integers(1, around(device, kind)[-1] + 1, 120)
    return [int(length) for length in lengths]


def beyond_caches(device: Device, kind: Kind) -> list[int]:
    """Return lengths from which on CPUs store results past the caches.

    The last cache line is not full.
    """
    marks = _marks(device, kind)
    tiles = 2**20 // (marks["tile"] * _item_bytes(kind))
    return [count * marks["all shares"] - 3 for count in (tiles, tiles + 1)]


def many_groups(device: Device, kind: Kind) -> tuple[int]:
    """Return a length for more work-groups than the spine takes at a time."""
    length = _marks(device, kind)["all shares"] - 3
    shares = Shares.divide(device, length, _item_bytes(kind))
    assert shares.groups > SPINE_ITEMS * device.policy.work_group_size // shares.lane_groups
    return (length,)


def many_selecting_groups(device: Device, _: Kind) -> tuple[int]:
    """Return a length for more work-groups than one has work-items."""
    short, size = divide(device, 3 * 2**17), device.policy.work_group_size
    # Where tiles are large, such an array has fewer work-groups.
    most = short.share * short.lane_groups * (size + 2)
    length = 5 + (3 * 2**17 if short.groups > size else most)
    assert divide(device, length).groups > size
    return (length,)


# Of selections: a length that one work-group takes, and one that several do.
TWO_LENGTHS = of(1003, 2**17 + 77)

# ------------------------------------------------------------------------------- cases


def as_it_is(device: Device) -> Device:
    """Return the device."""
    return device


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Kinds that are called on arrays of the same lengths.

    If `few` is true, the standard run takes few kinds, in which every primitive, dtype, dtype of
    values, strategy and way occurs.
    """

    kinds: Sequence[Kind]
    lengths: Lengths
    few: bool = False
    draws: int = 2
    shaped: Callable[[Device], Device] = as_it_is
    on: Sequence[Variant] = tuple(SHAPES)


CASES = {
    # A chunk, tile, share or work-group that is just filled, or not, must lose nothing. Segments
    # have none, all, few or many heads, evenly, in clusters, or at the end; rows by offsets
    # may be empty. Of packed flags the top bit does not belong to the value.
    "every length": Case(lengths=around, draws=4, shaped=small, kinds=[
        *kinds(SCANS, how="sum of u4", by=RTS),
        *kinds(SCANS[0], how=AFFINE, by=SCAN_STRATEGIES),
        *kinds(SCANS[1], how="last of u4", by=SCAN_STRATEGIES[1:]),
        *kinds("reduce", how=("sum of u4", AFFINE), by=STRATEGIES),
        *kinds(SEGMENTED, how="sum of u4"),
        *kinds(SEGMENTED[0], how=AFFINE, by=get_args(SegmentedStrategy)),
        *kinds(SEGMENTED[0], "u4", how=PACKED),
        *kinds("segmented_reduce", how=("minimum of u1", "by offsets: minimum of u4")),
        *kinds("segmented_reduce", how=(AFFINE, f"by offsets: {AFFINE}"), by=STRATEGIES),
        *kinds(("head_flags", "end_flags"), "u1"),
    ]),
    "packed flags": Case(lengths=around, draws=4, shaped=small, on=PLAIN, kinds=kinds(
        SEGMENTED[1], ("u1", "u8"), how=PACKED
    )),
    "segments anywhere": Case(lengths=at_random, draws=1, shaped=small, kinds=kinds(
        SEGMENTED[0], how="sum of u4"
    )),
    # Lanes exchange whole words, tiles have as many short elements as words, and heads lie behind
    # sums of one byte, at the next whole word.
    "short elements": Case(lengths=of(5000, 40_001), draws=4, kinds=[
        *kinds(SCANS[1], how=("sum of u1", "sum of i2"), by=SCAN_STRATEGIES[:2]),
        *kinds(SEGMENTED[0], how=("sum of u1", "sum of i2")),
    ]),
    "many tiles a share": Case(lengths=of(2**20 + 7), draws=1, kinds=[
        *kinds(SCANS[0], how="sum of u4", by="auto"),
        *kinds(("reduce", SEGMENTED[0]), how="sum of u4"),
    ]),
    "beyond caches": Case(lengths=beyond_caches, shaped=small, on=PLAIN, kinds=[
        *kinds(SCANS[0], how=("sum of u4", "product of u8"), by=RTS),
        *kinds(SEGMENTED[0], how=("sum of u4", "product of u8", "maximum of f8")),
    ]),
    # Their totals are scanned in several tiles; nothing may be lost between those.
    "many groups": Case(lengths=many_groups, shaped=crowded, kinds=[
        *kinds(SCANS[0], how=("sum of u4", AFFINE), by=RTS),
        *kinds("reduce", how=("sum of u4", AFFINE)),
    ]),
    # A run may go on over rows, tiles and shares, or end with one; there may be one only.
    "selections": Case(
        lengths=lambda device, _: lengths_of_selections(device), draws=5,
        shaped=lambda device: with_shares(device, 1),
        kinds=[
            *kinds(SELECTIONS, "V4"), *kinds("compact", "u4", how=BY_PREDICATE),
            *kinds("positions", "u1"),
        ],
    ),
    "selections by many groups": Case(
        lengths=many_selecting_groups, kinds=kinds("compact", "V4"),
        shaped=lambda device: with_shares(device, 2 * device.policy.work_group_size),
    ),
    "selections by all shares": Case(lengths=of(2**21 - 3), draws=1, kinds=[
        *kinds("compact", "V4"), *kinds("compact", "u4", how=BY_PREDICATE)
    ]),
    # Of every size that is moved in pieces of its own.
    "selections of every size": Case(lengths=TWO_LENGTHS, few=True, kinds=[
        *kinds(("compact", "unique_by_key"), [f"V{n}" for n in (1, 2, 3, 8, 12, 16, 64)]),
        *kinds(("compact", "partition"), ("i1", "i4", "u4", "f4", "u8", "i8", "f8"),
               how=BY_PREDICATE),
        *kinds("compact", ("V4", "V20"), "V64"), *kinds("compact", ("V12", "V64"), "V4"),
        *kinds("partition", "V12", "V24"), *kinds("unique_by_key", "V4", "V12"),
    ]),
    "selections by one work-item": Case(lengths=of(0, 20_011), draws=3, kinds=[
        *kinds(SELECTIONS, "V4", "V12", by=ALONE),
        *kinds("compact", "u4", how=BY_PREDICATE, by=ALONE), *kinds("positions", "u1", by=ALONE),
    ]),
    # What is promised fits, be it exactly; what is more is not written, but counted.
    "promises": Case(lengths=TWO_LENGTHS, draws=30, kinds=[
        *kinds("compact", "V4", "V4"), *kinds("positions", "u1")
    ]),
    # In place, apart, and by some bits of the keys; values that are not whole words, too.
    "sorts": Case(
        lengths=lambda device, _: (0, 1, 333, 2 * shape_of(device).tile + 7), draws=4, few=True,
        kinds=[
            one
            for k, dtype in enumerate(NUMBERS)
            for how in [("", DOWN)[k % 2]]
            for one in kinds(("sort", "argsort"), dtype, how=how)
            + kinds("sort_by_key", dtype, "V4", how=how)
        ],
    ),
    "values of sorts": Case(lengths=of(5000), draws=4, kinds=kinds(
        "sort_by_key", "u8", ("V1", "V3", "V12")
    )),
    "sorts by one work-item": Case(lengths=of(20_001), kinds=[
        *kinds("sort", ("i4", "f8"), how=DOWN, by=ALONE),
        *kinds("sort_by_key", ("i4", "f8"), "V4", by=ALONE),
    ]),
    "moves": Case(
        lengths=of(0, 1, 2, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 40_003), few=True,
        kinds=kinds(("gather", "scatter"), [f"V{n}" for n in (1, 3, 4, 8, 12, 16, 24, 28, 64)]),
    ),
    # Fields that differ in type: each in a word of its own, one across three words, one at an odd
    # byte; records of 12 bytes, which kernels hold in 16, and of 3, which are held in 4.
    "records of mixed fields": Case(lengths=of(0, 1, 2003), kinds=[
        *kinds(("compact", "partition"), "V8", how="by fields of f4 u4"),
        *kinds("compact", "V16", "u4", how="by fields of u2 f8 i2 f4"),
        *kinds("map", ("V16", "V16"), ("", "u4"), how="by fields of u8 u4 u4"),
        *kinds("histogram", "V5", how="by fields of u1 f4"),
        *kinds("sort", "V16", how="by fields of u2 f8 i2 f4: max"),
        *kinds(("argsort", "sort_by_key"), "V8", how="by fields of f4 u4: weight, descending"),
        *kinds("sort", "V13", how="by fields of f4 i1 u4 i4: Gap0", by=STRATEGIES),
    ]),
    "operators on mixed fields": Case(lengths=of(1, 5003), shaped=small, kinds=[
        *kinds(SCANS, how=("each field of f4 u4", "leftmost minimum of 3 f4"), by="auto"),
        *kinds(SEGMENTED[0], how=("leftmost minimum of i1 u2", "each field of i2 i8 f8 u2")),
        *kinds("segmented_reduce", how="by offsets: leftmost minimum of u8 u4 u4", by=STRATEGIES),
        *kinds("reduce", how="each field of u4 f8, aligned"),
        *kinds(SCANS[0], how="leftmost minimum of 3 f4", by=SCAN_STRATEGIES[1:]),
    ]),
    # The last tile may be a part of one; what lies behind it must stay.
    "maps": Case(lengths=of(0, 1, 300, 1023, 1024, 1025, 70_001), draws=3, kinds=[
        *kinds("map", "i2", "i4"), *kinds("map", "u4", "u4", by=STRATEGIES)
    ]),
    # Work-groups add up what they have counted; a lost addition shows in long arrays.
    "histograms": Case(lengths=of(0, 300, 1000, 100_000), draws=7, kinds=kinds(
        "histogram", "u2", by=STRATEGIES
    )),
}  # fmt: skip


def _computes_with_doubles(kind: Kind) -> bool:
    return "f8" in kind.how or (kind.dtype == "f8" and kind.how == BY_PREDICATE)


def _in_turn(case: Case, turn: int) -> str:
    """Return the name of the shape in which the standard run calls one kind.

    The devices as they are, and the shapes of a GPU on the first driver, with lanes and without,
    take turns. The first driver has two turns for each turn of another one, whose compiler takes
    several times as long.
    """
    every = [one for one in case.on if takes_part(one.device, "", in_suite=True)]
    first = [one for one in every if one.device.platform == SHAPES[0].device.platform]
    some = [one for one in (*first, *every) if one in PLAIN] + [
        one for one in (*first, *every) if one not in PLAIN
    ]
    return some[turn % len(some)].name if some else ""


def _in_standard_run(case: Case) -> Sequence[Kind]:
    """Return the kinds of a case that the standard run calls."""
    return covering(case.kinds, asdict) if case.few else case.kinds


def _results() -> Iterator[ParameterSet]:
    """Yield a case, a kind and a device; what has no turn is for exhaustive runs."""
    turns = count()
    for name, case in CASES.items():
        always = _in_standard_run(case)
        for k, kind in enumerate(case.kinds):
            taken = _in_turn(case, next(turns)) if kind in always else ""
            for one in case.on:
                if _computes_with_doubles(kind) and not one.device.capabilities.doubles:
                    continue
                marks = [] if one.name == taken else [pytest.mark.exhaustive]
                title = f"{name}-{kind.primitive}-{k}-{one.name}"
                yield pytest.param(case, kind, one.device, id=title, marks=marks)


@pytest.mark.parametrize(("case", "kind", "shape"), [*_results()])
def test_results(case: Case, kind: Kind, shape: Device) -> None:
    """Nothing is lost, repeated, or written where it must not be."""
    device = case.shaped(shape)
    assert_right(device, case.lengths(device, kind), kind, draws=case.draws)


@each_pair
def test_operators(shape: Device, name: str, kind: str) -> None:
    """Reductions have the kernels of exclusive scans."""
    device = small(shape)
    called = {
        "exclusive": [*kinds(SCANS[0], how=name, by=RTS), *kinds("reduce", how=name)],
        "inclusive": kinds(SCANS[1], how=name, by=RTS),
        "segmented exclusive": kinds(SEGMENTED[1], how=name),
        "segmented inclusive": kinds(SEGMENTED[0], how=name),
    }
    for one in called[kind]:
        lengths = around(device, one)
        assert_right(device, (1, lengths[3], lengths[-1]), one, draws=4)
