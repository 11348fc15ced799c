"""What split and sort must do, worked out on the host; and small cases of it for Oclgrind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst import Device
from clmst.primitives.radix import Shape
from clmst.primitives.sort import sort, sort_by_key
from clmst.primitives.split import split
from clmst.runtime.array import DeviceArray

Array = npt.NDArray[Any]

TAIL = 3
KEY_DTYPES = ("u4", "i4", "f4", "u8", "i8", "f8")
# What floats have beside numbers; the signs of NaNs play no part, nor what they carry.
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-40, -1e-40)


# ------------------------------------------------------------------------ expectations


def record_dtype(words: int) -> np.dtype[Any]:
    """Return a dtype of so many words: a scalar, a structure, or bytes that mean nothing."""
    if words <= 2:
        return np.dtype(f"u{4 * words}")
    return np.dtype([("u", "u4"), ("w", "f8")]) if words == 3 else np.dtype(f"V{4 * words}")


def draw_records(words: int, length: int, seed: int = 0) -> Array:
    """Return random records of so many words."""
    rng = np.random.default_rng([words, length, seed])
    return rng.integers(0, 256, 4 * words * length, np.uint8).view(record_dtype(words))


def field_of(records: Array, start_bit: int, key_bits: int) -> Array:
    """Return the field of each record, as unsigned integers of 64 bits."""
    words = (
        np.ascontiguousarray(records).view(np.uint32).reshape(records.size, records.itemsize // 4)
    )
    padded = np.pad(words, ((0, 0), (0, 2))).astype(np.uint64)
    first, shift = divmod(start_bit, 32)
    low, middle, high = (padded[:, first + k] for k in range(3))
    field = (low | middle << np.uint64(32)) >> np.uint64(shift)
    if shift > 0:
        field |= high << np.uint64(64 - shift)
    return field & np.uint64(2**key_bits - 1)


def stable_order(records: Array, start_bit: int, key_bits: int) -> Array:
    """Return the positions of records, split."""
    return np.argsort(field_of(records, start_bit, key_bits), kind="stable")


def number_order(keys: Array, *, descending: bool = False) -> Array:
    """Return the positions of numbers, sorted; NaNs are equal, and above the others."""
    _, ranks = np.unique(keys, return_inverse=True)  # of which NaNs share the last
    return np.argsort(-ranks if descending else ranks, kind="stable")


def draw_keys(dtype: str, length: int, seed: int = 0) -> Array:
    """Return random numbers of all magnitudes, with equal ones and, of floats, special ones."""
    rng = np.random.default_rng([length, seed])
    kind, n_bytes = np.dtype(dtype).kind, np.dtype(dtype).itemsize
    keys = rng.integers(0, 256, n_bytes * length, np.uint8).view(dtype)
    if kind == "f":
        keys = np.where(rng.random(length) < 0.3, rng.choice(SPECIAL, length), keys).astype(dtype)
    few = rng.integers(0, 9, length).astype(dtype) - np.array(4).astype(dtype)
    return np.where(rng.random(length) < 0.3, few, keys)


def same_bits(found: Array, expected: Array) -> bool:
    """Return whether two arrays agree in every bit, which NaNs and records of bytes do not say."""
    return found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


# ------------------------------------------------------------------------------ checks


def shape_of(device: Device, words: int = 1) -> Shape:
    """Return the shape in which a device splits elements of so many words."""
    return Shape.choose(device.capabilities, device.policy, words)


def split_is_right(
    device: Device,
    *,
    length: int,
    words: int = 1,
    value_words: int = 0,
    start_bit: int = 0,
    key_bits: int = 8,
    in_place: bool = False,
    strategy: Any = "parallel",
) -> bool:
    """Split random records into longer arrays, the rest of which must stay, or in place."""
    given = {"records": draw_records(words, length)}
    if value_words:
        given["values"] = draw_records(value_words, length, seed=1)
    sources = {name: DeviceArray.from_host(array, device) for name, array in given.items()}
    behind = {name: np.resize(array, TAIL) if length else array for name, array in given.items()}
    targets = sources
    if not in_place:
        targets = {
            name: DeviceArray.from_host(np.concatenate([array[::-1], behind[name]]), device)
            for name, array in given.items()
        }
    split_any: Any = split  # whose types tell calls with values from those without
    results = split_any(
        sources["records"],
        values=sources.get("values"),
        out=targets["records"],
        values_out=targets.get("values"),
        start_bit=start_bit,
        key_bits=key_bits,
        strategy=strategy,
    )
    order = stable_order(given["records"], start_bit, key_bits)
    found = dict(zip(given, results if value_words else (results,), strict=True))
    return all(
        same_bits(found[name].to_host(), array[order])
        and same_bits(targets[name].to_host()[length:], behind[name][: 0 if in_place else None])
        and (in_place or same_bits(sources[name].to_host(), array))
        for name, array in given.items()
    )


def sort_is_right(
    device: Device,
    dtype: str,
    *,
    length: int,
    descending: bool = False,
    strategy: Any = "parallel",
) -> bool:
    """Sort numbers, alone and with their positions."""
    keys, positions = draw_keys(dtype, length), np.arange(length, dtype=np.uint32)
    order = number_order(keys, descending=descending)
    given = DeviceArray.from_host(keys, device)
    options: dict[str, Any] = {"descending": descending, "strategy": strategy}
    alone = sort(given, **options)
    found, moved = sort_by_key(given, DeviceArray.from_host(positions, device), **options)
    return (
        same_bits(alone.to_host(), keys[order])
        and same_bits(found.to_host(), keys[order])
        and same_bits(moved.to_host(), order.astype(np.uint32))
        and same_bits(given.to_host(), keys)
    )


# ----------------------------------------------------------------------- for Oclgrind


def at_tiles(tiles: int, more: int, device: Device, *, words: int = 1, **options: Any) -> bool:
    """Split as many records as so many tiles have, and more."""
    length = tiles * shape_of(device, max(words, options.get("value_words", 0))).tile + more
    return split_is_right(device, length=max(length, 0), words=words, **options)


def cases() -> Iterator[tuple[str, Callable[[Device], bool]]]:
    """Yield the name of each case, and what returns whether a device does it right."""
    yield "several shares", partial(at_tiles, 2, 5, value_words=1, key_bits=4)
    yield "one tile, in place", partial(at_tiles, 0, 99, words=3, start_bit=30, in_place=True)
    yield "key and value", partial(sort_is_right, dtype="f4", length=70)
    for more in (-1, 0, 1):
        yield f"tile {more:+}", partial(at_tiles, 1, more, words=2, value_words=1, start_bit=27)
    for words, value_words in ((4, 1), (1, 3), (5, 0), (16, 2), (2, 16)):
        yield (
            f"{words} words with {value_words}",
            partial(split_is_right, length=77, words=words, value_words=value_words, key_bits=23),
        )
    for dtype in KEY_DTYPES:
        yield f"{dtype}, falling", partial(sort_is_right, dtype=dtype, length=40, descending=True)
    yield "sequential", partial(split_is_right, length=200, key_bits=17, strategy="sequential")
    yield "one record", partial(split_is_right, length=1, value_words=1)
    yield "none", partial(split_is_right, length=0, value_words=1)
