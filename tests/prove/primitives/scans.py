"""Scans, reductions and segments beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst import primitives
from clmst.core.weight_keys import Array
from tests.prove.primitives.bench import Bench, cleaned
from tests.prove.primitives.kinds import Kind, by_turns
from tests.prove.primitives.operators import NAMES, operator, reduced, scanned

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
    """Return a description of the error in a result, or None if it is right."""
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
    values = one.values_of(bench.records(one.dtype))
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
    if total is not None and (wrong := total.wrong("total", reduced(one, values))):
        return wrong
    if way == "new":
        same = found.to_host().tobytes() == right.tobytes()
        return None if same else "the scan differs from NumPy's"
    return target.wrong("out", right)


def _packed(kind: Kind, bench: Bench) -> str | None:
    """Compare a scan whose segments begin where the top bit of a value is set."""
    dtype = np.dtype(kind.dtype)
    top = dtype.type(1 << 8 * dtype.itemsize - 1)
    values, heads = bench.records(dtype) & ~top, bench.flags() != 0
    packed = values | np.where(heads, top, dtype.type(0))
    one, exclusive = operator(f"maximum of {kind.dtype}"), kind.primitive.endswith("exclusive")
    in_place = bench.draws.one_in(2)
    target = bench.in_place(packed) if in_place else bench.target(dtype, values.size)
    strategy: Any = kind.strategy
    primitives.segmented_scan(
        target.array if in_place else bench.put(packed),
        monoid=one.monoid,
        exclusive=exclusive,
        out=target.array,
        strategy=strategy,
    )
    return target.wrong("out", scanned(one, values, heads, exclusive=exclusive))


def _reduced(kind: Kind, bench: Bench) -> str | None:
    """Compare one result, or one a segment of flags or of offsets."""
    one, n = operator(kind.how.removeprefix(_OFFSETS)), bench.length
    values = one.values_of(bench.records(one.dtype))
    how: dict[str, Any] = {"monoid": one.monoid, "strategy": kind.strategy}
    given = bench.put(values)
    if kind.primitive == "reduce":
        target = bench.target(values.dtype, 1)
        primitives.reduce(given, out=target.array, **how)
        return target.wrong("out", reduced(one, values))
    if kind.how.startswith(_OFFSETS):
        offsets = bench.offsets()
        lasts = scanned(one, values, bench.heads_of(offsets), exclusive=False)
        right = np.repeat(one.identity, offsets.size - 1)
        full = np.diff(offsets.astype(np.int64)) > 0
        right[full] = lasts[offsets[1:][full].astype(np.int64) - 1]
        target = bench.target(values.dtype, right.size)
        primitives.segmented_reduce(given, offsets=bench.put(offsets), out=target.array, **how)
        return target.wrong("out", cleaned(right))
    heads = bench.flags()
    target = bench.target(values.dtype, n)
    _, count = primitives.segmented_reduce(given, bench.put(heads), out=target.array, **how)
    right = cleaned(scanned(one, values, heads, exclusive=False)[_ends(heads)])
    if count.to_host().tolist() != [right.size]:
        return f"count is {count.to_host().tolist()}; it must be [{right.size}]"
    return target.wrong("out", right)


def _ends(heads: Array) -> Array:
    """Return the end of every segment."""
    return np.append(heads[1:] != 0, True)[: heads.size]


def _flags(kind: Kind, bench: Bench) -> str | None:
    target = bench.target(np.uint8, bench.length)
    if kind.primitive == "end_flags":
        heads = bench.flags()
        primitives.end_flags(bench.put(heads), out=target.array)
        return target.wrong("out", _ends(heads).astype(np.uint8))
    offsets = bench.offsets()
    primitives.head_flags(bench.put(offsets), bench.length, out=target.array)
    return target.wrong("out", bench.heads_of(offsets))
