"""Sorts, splits, gather and scatter beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst import primitives
from clmst.core.weight_keys import Array
from tests.prove.primitives.bench import Bench, Target, rows_of
from tests.prove.primitives.kinds import NUMBERS, SIZES, Kind, by_turns, pairs, records

_DOWN = "descending"

KINDS = by_turns(
    [
        *(
            Kind(primitive=name, dtype=dtype, how=how)
            for name in ("sort", "argsort")
            for dtype in NUMBERS
            for how in ("", _DOWN)
        ),
        *(
            Kind(primitive="sort_by_key", dtype=dtype, value=records(size), how=("", _DOWN)[k % 2])
            for dtype in NUMBERS
            for k, size in enumerate(SIZES, NUMBERS.index(dtype))
        ),
        *(Kind(primitive="split", dtype=dtype, value=value) for dtype, value in pairs()),
    ]
) + [Kind(primitive=name, dtype=records(size)) for name in ("gather", "scatter") for size in SIZES]


def run(kind: Kind, bench: Bench) -> str | None:
    """Return a description of the error in a result, or None if it is right."""
    if kind.primitive in ("gather", "scatter"):
        return _permuted(kind, bench)
    if kind.primitive == "split":
        keys = bench.records(kind.dtype)
        bits = 1 + bench.draws.below(min(64, 8 * keys.dtype.itemsize))
        start = bench.draws.below(8 * keys.dtype.itemsize - bits + 1)
        order = np.argsort(field_of(keys, start, bits), kind="stable")
        return _moved(kind, bench, keys, order, {"key_bits": bits, "start_bit": start})
    keys, how = bench.numbers(kind.dtype), dict[str, Any](descending=kind.how == _DOWN)
    order = _order(keys, descending=how["descending"])
    if kind.primitive == "argsort":
        return _argsorted(kind, bench, keys, order)
    width = 8 * keys.dtype.itemsize
    if kind.primitive == "sort_by_key" and keys.dtype.kind != "f" and bench.draws.one_in(2):
        start = bench.draws.below(width)
        bits = 1 + bench.draws.below(width - start)
        how["start_bit"] = start
        if bits < width - start or bench.draws.one_in(2):
            how["key_bits"] = bits
        words = keys.view(f"u{keys.dtype.itemsize}").astype(np.uint64)
        if keys.dtype.kind == "i":
            words ^= np.uint64(1 << width - 1)
        part = (words >> np.uint64(start)) & np.uint64((1 << bits) - 1)
        order = _order(part, descending=how["descending"])
    return _moved(kind, bench, keys, order, how)


def _order(keys: Array, *, descending: bool) -> Array:
    """Return the stable order: NaNs are above all numbers, zeros of both signs are equal."""
    _, ranks = np.unique(keys, return_inverse=True)
    return np.argsort(-ranks if descending else ranks, kind="stable")


def field_of(keys: Array, start: int, bits: int) -> Array:
    """Return a field of each record as a number. Bit 0 is the lowest bit of the first byte."""
    unpacked = np.unpackbits(rows_of(keys), axis=1, bitorder="little")[:, start : start + bits]
    packed = np.packbits(unpacked, axis=1, bitorder="little")
    padded = np.zeros((keys.size, 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view("<u8").ravel()


def _moved(kind: Kind, bench: Bench, keys: Array, order: Array, how: dict[str, Any]) -> str | None:
    """Compare what a sort or a split makes of keys and values, in place or elsewhere."""
    hosts = [keys]
    if kind.value:
        hosts.append(bench.records(kind.value))
    first = "keys_out" if kind.primitive == "sort_by_key" else "out"
    given, targets = [], dict[str, Target]()
    for name, host in zip((first, "values_out"), hosts, strict=False):
        way = bench.draws.choice(("new", "apart", "in place"))
        if way == "in place":
            targets[name] = bench.in_place(host)
            given.append(targets[name].array)
        else:
            given.append(bench.put(host))
            if way == "apart":
                targets[name] = bench.target(host.dtype, host.size)
    how |= {name: target.array for name, target in targets.items()}
    if kind.primitive == "split" and kind.value:
        how["values"] = given.pop()
    found = getattr(primitives, kind.primitive)(*given, strategy=kind.strategy, **how)
    outputs = found if isinstance(found, tuple) else (found,)
    for name, array, host in zip((first, "values_out"), outputs, hosts, strict=False):
        right = host[order]
        if name in targets:
            if wrong := targets[name].wrong(name, right):
                return wrong
        elif array.to_host().tobytes() != right.tobytes():
            return f"{name} differs from NumPy's"
    return None


def _argsorted(kind: Kind, bench: Bench, keys: Array, order: Array) -> str | None:
    given, right = bench.in_place(keys), order.astype(np.uint32)
    target = bench.target(np.uint32, keys.size) if bench.draws.one_in(2) else None
    strategy: Any = kind.strategy
    found = primitives.argsort(
        given.array,
        descending=kind.how == _DOWN,
        out=None if target is None else target.array,
        strategy=strategy,
    )
    if target is None and found.to_host().tobytes() != right.tobytes():
        return "the order differs from NumPy's"
    return (target and target.wrong("out", right)) or given.wrong("keys", keys)


def _permuted(kind: Kind, bench: Bench) -> str | None:
    draws, n = bench.draws, bench.length
    if kind.primitive == "gather":
        values = bench.records(kind.dtype, 1 + draws.below(2 * n + 1))
        indices = draws.integers(values.size, n).astype(np.uint32)
        target = bench.target(kind.dtype, n)
        primitives.gather(bench.put(values), bench.put(indices), target.array)
        return target.wrong("out", values[indices])
    values, more = bench.records(kind.dtype), draws.below(5)
    indices = draws.permutation(n + more)[:n].astype(np.uint32)
    old = bench.records(kind.dtype, n + more)
    target = bench.in_place(old)
    primitives.scatter(bench.put(values), bench.put(indices), target.array)
    right = old.copy()
    right[indices] = values
    return target.wrong("out", right)
