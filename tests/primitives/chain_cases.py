"""One pass by look-back, with tiles that never publish; and small cases of it for Oclgrind.

Every device is told to take one pass, also those that would not by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from clmst import Device
from clmst.primitives import radix_chain
from clmst.primitives.chain import ChainedScan
from clmst.primitives.radix import Key, Move, order
from clmst.primitives.selection import Keep, Selection, Write
from clmst.primitives.sweeps import Segments
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program
from tests.primitives import selections
from tests.primitives.operators import AFFINE, MATRICES, SUM, Operator, reduced, scanned
from tests.primitives.split_cases import draw_keys, number_order, same_bits, shape_of

# Work-groups publish nothing of tiles whose numbers are multiples of the first number, 0: of none;
# others look so many times for the state of a tile before they compute its total in its place.
Starved = tuple[int, int]
SOME_STARVE, ALL_STARVE, NONE_STARVE = (3, 2), (1, 1), (0, 64)


@contextmanager
def one_pass(starved: Starved) -> Iterator[None]:
    """Let kernels of one pass be built for tiles that starve, and sorts take them always."""
    as_ever = Device.program
    macros = dict(zip(("STARVED", "LOOK_PATIENCE"), starved, strict=True))

    def program(device: Device, source: str, *prelude: Any, **defines: Any) -> Program:
        more = macros if source.endswith("_chain.cl") else {}
        return as_ever(device, source, *prelude, **defines, **more)

    with (
        patch.object(Device, "program", program),
        patch.object(radix_chain, "suits", lambda *_: True),
    ):
        yield


def in_shape(device: Device) -> bool:
    """Return whether a device has work-groups of more than one work-item."""
    return device.policy.work_group_size > 1


def scan_is_right(
    device: Device,
    operator: Operator = SUM,
    *,
    tiles: int,
    more: int = 0,
    segments: Segments = Segments.NONE,
    exclusive: bool = True,
    starved: Starved = SOME_STARVE,
) -> bool:
    """Scan as many elements as so many tiles have, and more, with or without segments."""
    if not in_shape(device):
        return True
    rng = np.random.default_rng([tiles, segments])
    nothing = DeviceArray.empty(0, operator.dtype, device)
    options: dict[str, Any] = {
        "monoid": operator.monoid,
        "segments": segments,
        "exclusive": exclusive,
    }
    n = tiles * ChainedScan(values=nothing, **options).tile + more
    values = operator.draw(rng, n)
    heads = (rng.random(n) < 2 / n).astype(np.uint8) if segments else None
    given = DeviceArray.from_host(values, device)
    out, total = (DeviceArray.empty(size, operator.dtype, device) for size in (n, 1))
    flags = None
    if segments == Segments.FLAGS:
        flags = DeviceArray.from_host(heads, device)
    elif heads is not None:
        values &= np.uint32(2**31 - 1)
        given = DeviceArray.from_host(values | heads.astype(np.uint32) << np.uint32(31), device)
    chained = ChainedScan(values=given, flags=flags, **options)
    with one_pass(starved):
        chained.enqueue(Launcher(device, device.queue), out, total)
    expected = scanned(operator, values, heads, exclusive=exclusive)
    return same_bits(out.to_host(), expected) and (
        segments != Segments.NONE or same_bits(total.to_host(), reduced(operator, values))
    )


def selection_is_right(
    device: Device,
    keep: Keep,
    *,
    tiles: int,
    more: int = 0,
    write: Write = Write.KEPT,
    value_words: int = 0,
    starved: Starved = SOME_STARVE,
) -> bool:
    """Select half of as many records as so many tiles have, and more."""
    if not in_shape(device):
        return True
    rng = np.random.default_rng([keep, tiles])
    n = tiles * _tile_of_selections(device, keep) + more
    records = selections.in_runs(rng, selections.draw(rng, np.dtype(np.uint32), n))
    flags = selections.flags(rng, "half", n)
    values = selections.draw(rng, selections.words(value_words), n) if value_words else None
    given = DeviceArray.from_host(records, device)
    selection = Selection.of(
        None if write == Write.POSITIONS else given,
        DeviceArray.from_host(flags, device) if keep == Keep.FLAGGED else None,
        keep=keep,
        write=write,
        predicate=selections.predicate(records.dtype) if keep == Keep.HOLDING else None,
        values=None if values is None else DeviceArray.from_host(values, device),
    )
    with one_pass(starved):
        selection.launch_chain(Launcher(device, device.queue))
    masks = (flags != 0, selections.holds(records), selections.heads(records))
    kept = np.flatnonzero(masks[keep]).astype(np.uint32)
    expected = kept if write == Write.POSITIONS else records[kept]
    k = int(selection.count.to_host()[0])
    is_right = k == kept.size and same_bits(selection.out.to_host()[:k], expected)
    if selection.values_out is not None and values is not None:
        is_right &= same_bits(selection.values_out.to_host()[:k], values[kept])
    return is_right


def _tile_of_selections(device: Device, keep: Keep) -> int:
    """Return the records of a tile."""
    nothing = DeviceArray.empty(1, np.uint32, device)
    return (
        Selection.of(nothing, None, keep=Keep.HEADS).chain_tile
        if keep
        else Selection.of(nothing, DeviceArray.empty(1, np.uint8, device), keep=keep).chain_tile
    )


def sort_is_right(
    device: Device,
    dtype: str = "u4",
    *,
    tiles: int,
    more: int = 0,
    start_bit: int = 0,
    key_bits: int | None = None,
    in_place: bool = False,
    starved: Starved = SOME_STARVE,
) -> bool:
    """Sort as many numbers as so many tiles have, and more, together with their positions."""
    if not in_shape(device):
        return True
    keys = draw_keys(dtype, tiles * shape_of(device, np.dtype(dtype).itemsize // 4).tile + more)
    bits = 8 * keys.itemsize - start_bit if key_bits is None else key_bits
    field = keys
    if keys.dtype.kind == "u":
        field = keys >> keys.dtype.type(start_bit) & keys.dtype.type(2**bits - 1)
    expected = number_order(field)
    given = DeviceArray.from_host(keys, device)
    values = DeviceArray.from_host(np.arange(keys.size, dtype=np.uint32), device)
    moves = [
        Move(source=one, target=one if in_place else DeviceArray.empty(one.size, one.dtype, device))
        for one in (given, values)
    ]
    key = Key(start_bit=start_bit, bits=bits, kind=keys.dtype.kind)  # type: ignore[arg-type]
    with one_pass(starved):
        order(key, moves[0], moves[1], "parallel", None)
    return same_bits(moves[0].result.to_host(), keys[expected]) and same_bits(
        moves[1].result.to_host(), expected.astype(np.uint32)
    )


def cases() -> Iterator[tuple[str, Callable[[Device], bool]]]:
    """Yield the name of each case, and what returns whether a device does it right."""
    yield "scan", partial(scan_is_right, operator=AFFINE, tiles=4, more=-3)
    yield "selection", partial(selection_is_right, keep=Keep.HOLDING, tiles=2, more=5)
    yield "sort", partial(sort_is_right, tiles=3, more=-5, key_bits=12)
    yield (
        "segmented scan",
        partial(scan_is_right, operator=MATRICES, tiles=4, more=1, segments=Segments.FLAGS),
    )
    yield "packed segments", partial(scan_is_right, tiles=4, segments=Segments.PACKED)
    yield "flags", partial(selection_is_right, keep=Keep.FLAGGED, tiles=2, more=1, value_words=3)
    yield "heads", partial(selection_is_right, keep=Keep.HEADS, tiles=2, more=-1)
    yield "all starve", partial(scan_is_right, tiles=3, more=7, starved=ALL_STARVE)
