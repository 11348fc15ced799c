"""Operators for scans and reductions beside what they mean in NumPy.

All are exact on the values that are drawn for them: a result has one right value, whatever the
order of combination.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from clmst.core.weight_keys import Array
from clmst.primitives import Monoid
from tests.prove.primitives.kinds import NUMBERS

Combine = Callable[[Array, Array], Array]

_INTEGERS = tuple(dtype for dtype in NUMBERS if dtype[0] in "iu")
_FLOATS = ("f4", "f8")
_LARGEST = 9  # of the integers that floats are, so that no sum of them is rounded


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operator:
    """An operator.

    Attributes
    ----------
    monoid : Monoid
    combine : callable
        What it means, element by element of two arrays of one length.
    identity : ndarray, shape (1,)
    small : bool
        Whether values are small whole numbers, rather than any bits.
    """

    monoid: Monoid
    combine: Combine
    identity: Array
    small: bool = False

    def values_of(self, bits: Array) -> Array:
        """Return the values that the bits of elements are taken for."""
        if not self.small:
            return bits
        words = bits.view(np.uint8).reshape(bits.size, bits.dtype.itemsize)[:, 0]
        return (words % (2 * _LARGEST) - float(_LARGEST)).astype(bits.dtype)


def _plain(name: str, dtype: str) -> Operator:
    """Return one of the ready-made operators on numbers."""
    kind = np.dtype(dtype)
    least: Any = -np.inf if kind.kind == "f" else np.iinfo(kind).min
    greatest: Any = np.inf if kind.kind == "f" else np.iinfo(kind).max
    combine, identity = {
        "sum": (np.add, 0),
        "product": (np.multiply, 1),
        "minimum": (np.minimum, greatest),
        "maximum": (np.maximum, least),
        "bitwise_and": (np.bitwise_and, -1 if kind.kind == "i" else greatest),
        "bitwise_or": (np.bitwise_or, 0),
        "bitwise_xor": (np.bitwise_xor, 0),
    }[name]
    return Operator(
        monoid=getattr(Monoid, name)(kind),
        combine=combine,
        identity=np.array([identity], kind),
        small=kind.kind == "f",
    )


def _by_key(dtype: str) -> Operator:
    monoid = Monoid.minimum_by_key(dtype)
    greatest: Any = np.inf if dtype[0] == "f" else np.iinfo(dtype).max

    def combine(a: Array, b: Array) -> Array:
        less = (b["key"] < a["key"]) | ((b["key"] == a["key"]) & (b["index"] < a["index"]))
        return np.where(less, b, a)

    identity = np.array([(greatest, np.iinfo(f"u{dtype[1:]}").max)], monoid.dtype)
    return Operator(monoid=monoid, combine=combine, identity=identity)


def _vector(dtype: str, length: int) -> Operator:
    """Return the sum of vectors of integers."""
    kind = np.dtype([(f"s{k}", dtype) for k in range(length)])

    def combine(a: Array, b: Array) -> Array:
        parts = (one.view(dtype).reshape(-1, length) for one in map(np.ascontiguousarray, (a, b)))
        found: Array = np.ascontiguousarray(np.add(*parts)).view(kind).ravel()
        return found

    return Operator(monoid=Monoid.sum(kind), combine=combine, identity=np.zeros(1, kind))


def _affine() -> Operator:
    """Return the composition of affine maps of integers, which does not commute."""
    kind = np.dtype([("p", "u4"), ("q", "u4")])
    monoid = Monoid(
        dtype=kind,
        combine="(uint2)(a.x * b.x, a.y * b.x + b.y)",
        identity="(uint2)(1, 0)",
        name="affine map",
    )

    def combine(a: Array, b: Array) -> Array:
        found = np.empty(a.size, kind)
        found["p"], found["q"] = a["p"] * b["p"], a["q"] * b["p"] + b["q"]
        return found

    return Operator(monoid=monoid, combine=combine, identity=np.array([(1, 0)], kind))


def _last_set(dtype: str) -> Operator:
    """Return the last number that is not 0, which does not commute either."""
    monoid = Monoid(dtype=np.dtype(dtype), combine="b != 0 ? b : a", identity="0", name="last")
    return Operator(
        monoid=monoid,
        combine=lambda a, b: np.where(b != 0, b, a),
        identity=np.zeros(1, dtype),
    )


_MAKERS: dict[str, Callable[[], Operator]] = {
    **{
        f"{name} of {dtype}": lambda name=name, dtype=dtype: _plain(name, dtype)  # type: ignore[misc]
        for dtype in _INTEGERS
        for name in (
            "sum", "product", "minimum", "maximum", "bitwise_and", "bitwise_or", "bitwise_xor",
        )
    },
    **{
        f"{name} of {dtype}": lambda name=name, dtype=dtype: _plain(name, dtype)  # type: ignore[misc]
        for dtype in _FLOATS
        for name in ("sum", "minimum", "maximum")
    },
    **{
        f"minimum by key of {dtype}": lambda dtype=dtype: _by_key(dtype)  # type: ignore[misc]
        for dtype in _INTEGERS
    },
    **{
        f"sum of {length} {dtype}": lambda dtype=dtype, length=length: _vector(dtype, length)  # type: ignore[misc]
        for dtype, length in (
            ("u1", 2), ("u1", 4), ("u2", 2), ("u2", 8), ("i4", 2), ("u4", 4), ("u4", 16),
            ("u8", 2), ("u8", 8), ("u1", 16),
        )
    },
    **{
        f"last of {dtype}": lambda dtype=dtype: _last_set(dtype)  # type: ignore[misc]
        for dtype in ("u1", "i2", "u4", "u8")
    },
    "affine maps": _affine,
}  # fmt: skip

NAMES = tuple(_MAKERS)


@cache
def operator(name: str) -> Operator:
    """Return an operator by its name in :data:`NAMES`."""
    return _MAKERS[name]()


def scanned(one: Operator, values: Array, heads: Array | None, *, exclusive: bool) -> Array:
    """Return what a scan is, within segments that begin where `heads` is not 0.

    By doubling (Hillis, Steele 1986), which is unlike anything in ``cl/``.
    """
    starts = np.zeros(values.size, bool) if heads is None else heads != 0
    starts[:1] = True
    until, reached, stride = values.copy(), starts.copy(), 1
    while stride < values.size:
        joined = one.combine(until[:-stride], until[stride:])
        open_ = ~reached[stride:]
        until[stride:][open_] = joined[open_]
        reached[stride:] |= reached[:-stride].copy()
        stride *= 2
    if not exclusive:
        return until
    before = np.concatenate([one.identity, until[:-1]])[: values.size]
    before[starts] = one.identity
    return before
