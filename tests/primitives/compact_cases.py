"""Small cases of selections for Oclgrind, the broadest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from clmst import Device
from clmst.primitives.compact import compact, partition, positions, unique_by_key
from clmst.primitives.shares import Strategy
from clmst.runtime.array import DeviceArray
from tests.primitives.selections import (
    KINDS,
    QUAD,
    TRIPLE,
    Array,
    count_of,
    draw,
    flags,
    heads,
    holds,
    in_runs,
    landmarks,
    predicate,
    same,
    with_shares,
)

WORD = np.dtype(np.uint32)
TAIL = 3


def cases() -> Iterator[tuple[str, Callable[[Device], bool]]]:
    """Yield the name of each case, and what returns whether a device does it right."""
    several: dict[str, Any] = {"at": "one work-group", "more": 77}
    yield "flagged, with values, several shares", partial(flagged_is_right, along=TRIPLE, **several)
    yield "partition, several shares", partial(partition_is_right, **several)
    yield "heads, several shares", partial(heads_are_right, dtype=WORD, **several)
    yield "positions, several shares", partial(positions_are_right, **several)
    for at in ("vector of flags", "row or run", "tile"):
        for more in (-1, 0, 1):
            yield f"flagged, {at} {more:+}", partial(flagged_is_right, at=at, more=more)
            yield f"holding, {at} {more:+}", partial(holding_is_right, at=at, more=more)
    for kind in KINDS:
        yield f"{kind} flagged", partial(flagged_is_right, at="tile", more=200, kind=kind)
        yield f"positions of {kind}", partial(positions_are_right, at="tile", more=200, kind=kind)
    for dtype in (TRIPLE, QUAD):
        yield f"heads of {dtype}", partial(heads_are_right, at="tile", more=9, dtype=dtype)
    for at_most in (0, 5):
        yield f"promised {at_most}", partial(promise_is_kept, at_most=at_most)
    yield "sequential", partial(flagged_is_right, at="tile", more=9, strategy="sequential")
    yield "nothing", nothing_is_right


def _rng_and_length(device: Device, at: str, more: int) -> tuple[np.random.Generator, int]:
    length = max(landmarks(device)[at] + more, 0)
    return np.random.default_rng(length), length


def _output(length: int, dtype: np.dtype[Any], device: Device) -> tuple[DeviceArray, Array]:
    """Return an array with a tail that must not be written, and that tail."""
    behind = draw(np.random.default_rng(0), dtype, length + TAIL)
    return DeviceArray.from_host(behind, device), behind


def compacts(
    device: Device, records: Array, mask: Array, values: Array | None = None, **rule: Any
) -> bool:
    """Compact into longer memory; what lies behind the kept records must stay as it is."""
    along = [] if values is None else [values]
    outputs = [_output(array.size, array.dtype, device) for array in (records, *along)]
    given = [DeviceArray.from_host(array, device) for array in (records, *along)]
    count = DeviceArray.from_host(np.array([7, 8], np.uint32), device)
    options: dict[str, Any] = dict(
        zip(("out", "values_out"), [out for out, _ in outputs], strict=False)
    )
    *found, number = compact(
        given[0], values=given[1] if along else None, count=count, **options, **rule
    )
    k = int(mask.sum())
    are_counted = (count_of(number), count.to_host().tolist()) == (k, [k, 8])
    return are_counted and all(
        part.size == records.size
        and same(out.to_host(), np.concatenate([source[mask], behind[k:]]))
        for part, source, (out, behind) in zip(found, (records, *along), outputs, strict=True)
    )


def partitions(
    device: Device, records: Array, mask: Array, values: Array | None = None, **rule: Any
) -> bool:
    """Partition into longer memory, the tail of which must stay as it is."""
    order = np.concatenate([np.flatnonzero(mask), np.flatnonzero(~mask)])
    out, behind = _output(records.size, records.dtype, device)
    along = None if values is None else DeviceArray.from_host(values, device)
    given = DeviceArray.from_host(records, device)
    found, *found_values, count = partition(given, values=along, out=out, **rule)
    return (
        (count_of(count), found.size) == (int(mask.sum()), records.size)
        and same(out.to_host(), np.concatenate([records[order], behind[records.size :]]))
        and len(found_values) == (values is not None)
        and all(same(one.to_host(), values[order]) for one in found_values if values is not None)
    )


def takes_heads(
    device: Device, keys: Array, values: Array | None = None, strategy: Strategy = "parallel"
) -> bool:
    """Select the first of each run of keys, into longer memory."""
    mask, (out, behind) = heads(keys), _output(keys.size, keys.dtype, device)
    along = None if values is None else DeviceArray.from_host(values, device)
    given = DeviceArray.from_host(keys, device)
    found, *found_values, count = unique_by_key(given, along, out=out, strategy=strategy)
    k = int(mask.sum())
    return (
        (count_of(count), found.size) == (k, keys.size)
        and same(out.to_host(), np.concatenate([keys[mask], behind[k:]]))
        and len(found_values) == (values is not None)
        and all(same(one[:k].to_host(), values[mask]) for one in found_values if values is not None)
    )


def flagged_is_right(
    device: Device,
    *,
    at: str,
    more: int,
    along: np.dtype[Any] = WORD,
    kind: str = "half",
    strategy: Strategy = "parallel",
) -> bool:
    rng, length = _rng_and_length(device, at, more)
    device = with_shares(device, 1)
    records, values = draw(rng, WORD, length), draw(rng, along, length)
    chosen = flags(rng, kind, length)
    given = DeviceArray.from_host(chosen, device)
    return compacts(device, records, chosen != 0, values, flags=given, strategy=strategy)


def holding_is_right(device: Device, *, at: str, more: int) -> bool:
    rng, length = _rng_and_length(device, at, more)
    records = draw(rng, QUAD, length)
    return compacts(device, records, holds(records), predicate=predicate(QUAD))


def partition_is_right(device: Device, *, at: str, more: int) -> bool:
    rng, length = _rng_and_length(device, at, more)
    records, values = draw(rng, WORD, length), draw(rng, WORD, length)
    rule = {"predicate": predicate(WORD)}
    return partitions(with_shares(device, 1), records, holds(records), values, **rule)


def heads_are_right(device: Device, *, at: str, more: int, dtype: np.dtype[Any]) -> bool:
    rng, length = _rng_and_length(device, at, more)
    return takes_heads(with_shares(device, 1), in_runs(rng, draw(rng, dtype, length)))


def positions_are_right(device: Device, *, at: str, more: int, kind: str = "few") -> bool:
    """Find the flags in the first part of longer memory, the rest of which is set too."""
    rng, length = _rng_and_length(device, at, more)
    device = with_shares(device, 1)
    chosen = flags(rng, kind, length)
    given = DeviceArray.from_host(np.concatenate([chosen, np.ones(50, np.uint8)]), device)
    found, count = positions(given[:length])
    kept = np.flatnonzero(chosen).astype(np.uint32)
    return count_of(count) == kept.size and same(found[: kept.size].to_host(), kept)


def promise_is_kept(device: Device, *, at_most: int) -> bool:
    """Select more than was promised: the count tells, and nothing else is written."""
    rng, length = _rng_and_length(device, "tile", 100)
    records, chosen = draw(rng, WORD, length), flags(rng, "half", length)
    out, behind = _output(at_most, WORD, device)
    found, count = compact(
        DeviceArray.from_host(records, device),
        DeviceArray.from_host(chosen, device),
        out=out,
        at_most=at_most,
    )
    kept = records[chosen != 0]
    return count_of(count) == kept.size > at_most == found.size and same(
        out.to_host(), np.concatenate([kept[:at_most], behind[at_most:]])
    )


def nothing_is_right(device: Device) -> bool:
    """Do everything to no records at all."""
    records, chosen = (DeviceArray.empty(0, dtype, device) for dtype in (WORD, np.uint8))
    counts = [
        compact(records, chosen)[-1],
        compact(records, predicate=predicate(WORD))[-1],
        partition(records, chosen)[-1],
        positions(chosen)[-1],
        unique_by_key(records)[-1],
    ]
    return [count_of(count) for count in counts] == [0] * len(counts)
