"""Maps and histograms beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst import primitives
from clmst.core.weight_keys import Array
from clmst.primitives import Map
from tests.prove.primitives.bench import Bench
from tests.prove.primitives.kinds import INTEGERS, Kind, by_turns

_BY_A_MAP = "bins by a map"

KINDS = by_turns(
    [
        *(
            Kind(primitive="map", dtype=dtype, value=result)
            for dtype in INTEGERS
            for result in INTEGERS
        ),
        Kind(primitive="map", dtype="f4", value="f4"),
        Kind(primitive="map", dtype="f8", value="f8"),
        *(Kind(primitive="histogram", dtype=dtype) for dtype in ("u1", "u2", "u4", "u8")),
        *(Kind(primitive="histogram", dtype=dtype, how=_BY_A_MAP) for dtype in ("i2", "f4")),
    ]
)


def run(kind: Kind, bench: Bench) -> str | None:
    """Return a description of the error in a result, or None if it is right."""
    strategy: Any = kind.strategy
    if kind.primitive == "histogram":
        return _histogram(kind, bench, strategy)
    is_float = kind.dtype[0] == "f"
    x = bench.records(kind.dtype)
    if is_float:  # whole numbers: their products are exact
        x = (bench.records("i2", x.size) % 1000).astype(kind.dtype)
    other, factor = bench.records("u1"), bench.draws.below(100)
    expression = "x * factor" if is_float else "x * factor + other[i] + i"
    function = Map(
        dtype=x.dtype,
        result=np.dtype(kind.value),
        expression=expression,
        scalars={"factor": kind.dtype},
        arrays={"other": "u1"},
    )
    given = function(factor=factor, other=bench.put(other))
    in_place = x.dtype.itemsize == np.dtype(kind.value).itemsize and bench.draws.one_in(3)
    if in_place:
        target = bench.in_place(x)
        out = target.array.view(kind.value)
        primitives.map(target.array, given, out=out, strategy=strategy)
    else:
        target = bench.target(kind.value, x.size)
        primitives.map(bench.put(x), given, out=target.array, strategy=strategy)
    return target.wrong("out", _mapped(x, factor, other, kind))


def _mapped(x: Array, factor: int, other: Array, kind: Kind) -> Array:
    """Return the value of the expression in C, where indices are unsigned integers of 32 bits."""
    found: Array
    if kind.dtype[0] == "f":
        found = x * x.dtype.type(factor)
        return found
    wide = np.dtype(f"{kind.dtype[0]}8" if x.dtype.itemsize == 8 else "u4")
    index = np.arange(x.size).astype(wide)
    found = x.astype(wide) * wide.type(factor) + other.astype(wide) + index
    return found.astype(kind.value)


def _histogram(kind: Kind, bench: Bench, strategy: Any) -> str | None:
    draws = bench.draws
    n_bins = draws.choice((1, 7, 256, 1000, 2048, 2049, 5000))
    how: dict[str, Any] = {}
    if kind.how == _BY_A_MAP:
        x = (bench.records("i2") % 3000).astype(kind.dtype)
        how["bin_of"] = Map(
            dtype=x.dtype,
            result=np.dtype("u4"),
            expression="x < 0 ? 4000000u : (uint)x",
            name="bin",
        )
        bins = np.where(x < 0, 4_000_000, x.astype(np.int64))
    else:
        x = bench.records(kind.dtype)
        if not draws.one_in(4):
            x %= x.dtype.type(min(n_bins + 3, np.iinfo(x.dtype).max))
        bins = np.minimum(x, np.uint64(1 << 40) if x.dtype.itemsize == 8 else x).astype(np.int64)
    bins = bins[bins < n_bins]
    target = bench.target(np.uint32, n_bins)
    primitives.histogram(bench.put(x), n_bins, out=target.array, strategy=strategy, **how)
    return target.wrong("out", np.bincount(bins, minlength=n_bins).astype(np.uint32))
