"""Scans, reductions and segments beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst import primitives
from clmst.core.weight_keys import Array
from clmst.primitives import Monoid
from tests.prove.primitives.bench import Bench
from tests.prove.primitives.kinds import Kind, by_turns
from tests.prove.primitives.operators import NAMES, Operator, operator, scanned

_PACKED = "flags in the values"
_OFFSETS = "by offsets: "
_SCANS = ("exclusive_scan", "inclusive_scan")
_STRATEGIES = ("auto", "reduce-then-scan", "scan-then-propagate", "sequential")

KINDS = [
    *(
        Kind(primitive=name, dtype="", how=how, strategy=_STRATEGIES[0 if k % 3 else k // 3 % 4])
        for name in _SCANS
        for k, how in enumerate(NAMES)
    ),
    *(
        Kind(primitive=name, dtype="", how=how, strategy=strategy)
        for name in _SCANS
        for k, how in enumerate(NAMES)
        for strategy in _STRATEGIES[1:]
        if k % 4 == 0
    ),
    *by_turns(
        [
            *(
                Kind(primitive=name, dtype="", how=how)
                for name in ("reduce", "segmented_scan", "segmented_scan exclusive")
                for how in NAMES
            ),
            *(
                Kind(primitive="segmented_reduce", dtype="", how=way + how)
                for how in NAMES
                for way in ("", _OFFSETS)
            ),
            *(
                Kind(primitive=name, dtype=dtype, how=_PACKED)
                for name in ("segmented_scan", "segmented_scan exclusive")
                for dtype in ("u1", "u2", "u4", "u8")
            ),
        ]
    ),
    Kind(primitive="head_flags", dtype="u1"),
    Kind(primitive="end_flags", dtype="u1"),
]  # fmt: skip


def run(kind: Kind, bench: Bench) -> str | None:
    """Return what is wrong with a result, or None."""
    if kind.primitive in ("head_flags", "end_flags"):
        return _flags(kind, bench)
    if kind.how == _PACKED:
        return _packed(kind, bench)
    if kind.primitive in ("reduce", "segmented_reduce"):
        return _reduced(kind, bench)
    return _scanned(kind, bench)


def _scanned(kind: Kind, bench: Bench) -> str | None:
    """Scans, of all elements or of segments; in place, elsewhere, with a total."""
    one = operator(kind.how)
    values = one.values_of(bench.records(one.monoid.dtype))
    exclusive = "exclusive" in kind.primitive
    is_plain = kind.primitive in _SCANS
    how: dict[str, Any] = {"monoid": one.monoid, "strategy": kind.strategy}
    heads, total = None, None
    if not is_plain:
        heads = bench.flags()
        how |= {"exclusive": exclusive, "flags": bench.put(heads)}
    elif kind.strategy != "scan-then-propagate" and bench.draws.one_in(2):
        total = bench.target(values.dtype, 1)
        how["total"] = total.array
    right = scanned(one, values, heads, exclusive=exclusive)
    way = bench.draws.choice(("new", "apart", "in place"))
    target = (
        bench.in_place(values) if way == "in place" else bench.target(values.dtype, values.size)
    )
    given = target.array if way == "in place" else bench.put(values)
    out = {} if way == "new" else {"out": target.array}
    found = getattr(primitives, kind.primitive.split()[0])(given, **how, **out)
    if total is not None and (wrong := total.wrong("total", _last(one, values))):
        return wrong
    if way == "new":
        same = found.to_host().tobytes() == right.tobytes()
        return None if same else "the scan differs from NumPy's"
    return target.wrong("out", right)


def _strategy(kind: Kind) -> Any:
    return kind.strategy  # Any: its stub has literals


def _last(one: Operator, values: Array) -> Array:
    """Return the combination of all values, the identity if there are none."""
    if not values.size:
        return one.identity
    return scanned(one, values, None, exclusive=False)[-1:]


def _packed(kind: Kind, bench: Bench) -> str | None:
    """The top bit of a value begins a segment; the greatest of the others is scanned."""
    dtype = np.dtype(kind.dtype)
    values = bench.records(dtype)
    top = dtype.type(1 << 8 * dtype.itemsize - 1)
    if bench.draws.one_in(2):
        values = values & ~top | np.where(bench.flags() != 0, top, dtype.type(0))
    one, exclusive = operator(f"maximum of {kind.dtype}"), kind.primitive.endswith("exclusive")
    target = bench.target(dtype, values.size)
    primitives.segmented_scan(
        bench.put(values),
        monoid=Monoid.maximum(dtype),
        exclusive=exclusive,
        out=target.array,
        strategy=_strategy(kind),
    )
    right = scanned(one, values & ~top, (values & top) != 0, exclusive=exclusive)
    return target.wrong("out", right)


def _reduced(kind: Kind, bench: Bench) -> str | None:
    """One result, or one a segment of flags or of offsets, between which there may be nothing."""
    one, n = operator(kind.how.removeprefix(_OFFSETS)), bench.length
    values = one.values_of(bench.records(one.monoid.dtype))
    if kind.primitive == "reduce":
        target = bench.target(values.dtype, 1)
        given = bench.put(values)
        primitives.reduce(given, monoid=one.monoid, out=target.array, strategy=_strategy(kind))
        return target.wrong("out", _last(one, values))
    if kind.how.startswith(_OFFSETS):
        inner = np.sort(bench.draws.integers(n + 1, bench.draws.below(n // 2 + 3)))
        offsets = np.concatenate([[0], inner, [n]]).astype(np.uint32)
        heads = np.zeros(n, np.uint8)
        heads[offsets[:-1][offsets[:-1] < n]] = 1
        lasts = scanned(one, values, heads, exclusive=False)
        right = np.repeat(one.identity, offsets.size - 1)
        full = np.diff(offsets.astype(np.int64)) > 0
        right[full] = lasts[offsets[1:][full].astype(np.int64) - 1]
        target = bench.target(values.dtype, right.size)
        primitives.segmented_reduce(
            bench.put(values),
            offsets=bench.put(offsets),
            monoid=one.monoid,
            out=target.array,
            strategy=_strategy(kind),
        )
        return target.wrong("out", right)
    heads = bench.flags()
    target = bench.target(values.dtype, n)
    _, count = primitives.segmented_reduce(
        bench.put(values),
        bench.put(heads),
        monoid=one.monoid,
        out=target.array,
        strategy=_strategy(kind),
    )
    ends = np.append(heads[1:] != 0, True)[:n]
    right = scanned(one, values, heads, exclusive=False)[ends]
    if count.to_host().tolist() != [right.size]:
        return f"count is {count.to_host().tolist()}; it must be [{right.size}]"
    return target.wrong("out", right)


def _flags(kind: Kind, bench: Bench) -> str | None:
    n = bench.length
    if kind.primitive == "end_flags":
        heads = bench.flags()
        target = bench.target(np.uint8, n)
        primitives.end_flags(bench.put(heads), out=target.array)
        return target.wrong("out", np.append(heads[1:] != 0, True)[:n].astype(np.uint8))
    inner = np.sort(bench.draws.integers(n + 1, bench.draws.below(n + 3)))
    offsets = np.concatenate([[0], inner, [n]]).astype(np.uint32)
    right = np.zeros(n, np.uint8)
    right[offsets[:-1][offsets[:-1] < n]] = 1
    target = bench.target(np.uint8, n)
    primitives.head_flags(bench.put(offsets), n, out=target.array)
    return target.wrong("out", right)
