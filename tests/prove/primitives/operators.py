"""Operators for scans and reductions beside what they mean in NumPy.

All are exact on the values that are drawn for them: a result has one right value, whatever the
order of combination. Nor do they lose what was combined before: a wrong element shows at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from clmst.core.weight_keys import Array
from clmst.primitives import Monoid
from tests.prove.primitives.bench import cleaned, together
from tests.prove.primitives.kinds import INTEGERS, NUMBERS, RECORDS

Combine = Callable[[Array, Array], Array]

_FLOATS = ("f4", "f8")
_LARGEST = 9  # of the integers that floats are, so that no sum of them is rounded
_PRIME = 46337  # the greatest whose squares can be added in pairs in 32 bits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operator:
    """An operator."""

    monoid: Monoid
    combine: Combine  # what it means, element by element
    identity: Array
    values_of: Callable[[Array], Array] = lambda bits: bits

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        return self.monoid.dtype

    def draw(self, length: int, seed: int = 0) -> Array:
        """Return values, the same each time."""
        data = np.random.default_rng([length, seed]).bytes(length * self.dtype.itemsize)
        return self.values_of(np.frombuffer(data, self.dtype).copy())


# ------------------------------------------------------------------------------ values


def _words(bits: Array) -> Array:
    """Return the first byte of each element."""
    found: Array = bits.view(np.uint8).reshape(bits.size, bits.dtype.itemsize)[:, 0]
    return found


def _small(bits: Array) -> Array:
    """Return small whole numbers."""
    return (_words(bits) % (2 * _LARGEST) - float(_LARGEST)).astype(bits.dtype)


def _falling(bits: Array) -> Array:
    """Return numbers that fall in the long run, so that a minimum changes to the end."""
    middle = 0 if bits.dtype.kind == "u" else bits.size // 14
    fall: Array = np.arange(bits.size)[::-1] // 7 + _words(bits) % 40 - middle
    return fall.astype(bits.dtype)


def _keyed(bits: Array) -> Array:
    """Return pairs whose keys tie a lot, extremes and -0.0 among them."""
    pairs, drawn = bits.copy(), _words(bits)
    key = bits.dtype["key"]
    least, greatest = (-np.inf, np.inf)
    if key.kind != "f":
        least, greatest = np.iinfo(key).min, np.iinfo(key).max
    pairs["key"] = _falling(np.ascontiguousarray(bits["key"]))
    pairs["key"][drawn % 10 == 0] = greatest
    pairs["key"][bits.size - bits.size // 10 :: 5] = least
    if key.kind == "f":
        pairs["key"][(pairs["key"] == 0) & (drawn % 2 == 0)] = -0.0  # ties with 0.0
    return pairs


def _seldom(bits: Array) -> Array:
    """Return zeros, with something else now and then."""
    return np.where(_words(bits) % 50 == 0, bits, bits.dtype.type(0))


def _odd_factors(bits: Array) -> Array:
    """Return affine maps of odd factors, which lose nothing."""
    maps = bits.copy()
    for factor in _halves(bits.dtype)[0]:
        maps[factor] |= 1
    return maps


# ---------------------------------------------------------------------------- operators


def _plain(name: str, dtype: str) -> Operator:
    """Return one of the ready-made operators on numbers."""
    kind = np.dtype(dtype)
    is_float = kind.kind == "f"
    least: Any = -np.inf if is_float else np.iinfo(kind).min
    greatest: Any = np.inf if is_float else np.iinfo(kind).max
    plain: Any = _small if is_float else lambda bits: bits
    combine, identity, values_of = {
        "sum": (np.add, 0, plain),
        "product": (np.multiply, 1, lambda bits: bits | kind.type(1)),  # odd: nothing is lost
        "minimum": (np.minimum, greatest, _falling),
        "maximum": (np.maximum, least, lambda bits: _falling(bits)[::-1].copy()),
        "bitwise_and": (np.bitwise_and, -1 if kind.kind == "i" else greatest, plain),
        "bitwise_or": (np.bitwise_or, 0, plain),
        "bitwise_xor": (np.bitwise_xor, 0, plain),
    }[name]
    return Operator(
        monoid=getattr(Monoid, name)(kind),
        combine=combine,
        identity=np.array([identity], kind),
        values_of=values_of,
    )


def _by_key(dtype: str) -> Operator:
    monoid = Monoid.minimum_by_key(dtype)
    greatest: Any = np.inf if dtype[0] == "f" else np.iinfo(dtype).max

    def combine(a: Array, b: Array) -> Array:
        less = (b["key"] < a["key"]) | ((b["key"] == a["key"]) & (b["index"] < a["index"]))
        return np.where(less, b, a)

    identity = np.array([(greatest, np.iinfo(f"u{dtype[1:]}").max)], monoid.dtype)
    return Operator(monoid=monoid, combine=combine, identity=identity, values_of=_keyed)


def vector_of(dtype: str, length: int) -> np.dtype[Any]:
    """Return the dtype of a vector."""
    return np.dtype([(f"s{k}", dtype) for k in range(length)])


def _vector(dtype: str, length: int) -> Operator:
    """Return the sum of vectors of integers."""
    kind = vector_of(dtype, length)

    def combine(a: Array, b: Array) -> Array:
        parts = (one.view(dtype).reshape(-1, length) for one in map(np.ascontiguousarray, (a, b)))
        found: Array = np.ascontiguousarray(np.add(*parts)).view(kind).ravel()
        return found

    return Operator(monoid=Monoid.sum(kind), combine=combine, identity=np.zeros(1, kind))


def _halves(dtype: np.dtype[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names = dtype.names or ()
    return names[: len(names) // 2], names[len(names) // 2 :]


def _affine(dtype: str, length: int) -> Operator:
    """Return the composition of affine maps x -> p * x + q, which does not commute."""
    kind = vector_of(dtype, 2 * length)
    vector = f"{'uint' if dtype == 'u4' else 'ulong'}{2 * length}"
    # Assigned by halves: Oclgrind 21.10 dies of a vector put together of two.
    preamble = f"""
static inline {vector} composed({vector} a, {vector} b) {{
  {vector} composition;
  composition.lo = a.lo * b.lo;
  composition.hi = a.hi * b.lo + b.hi;
  return composition;
}}"""

    def combine(a: Array, b: Array) -> Array:
        out = np.empty_like(a)
        for p, q in zip(*_halves(kind), strict=True):
            out[p] = a[p] * b[p]
            out[q] = a[q] * b[p] + b[q]
        return out

    ones, zeros = ["1"] * length, ["0"] * length
    return Operator(
        monoid=Monoid(
            dtype=kind,
            combine="composed(a, b)",
            identity=f"({vector})({', '.join(ones + zeros)})",
            preamble=preamble,
            name=f"composition of {length} affine maps of {dtype}",
        ),
        combine=combine,
        identity=np.array([(1,) * length + (0,) * length], kind),
        values_of=_odd_factors,
    )


def _matrices() -> Operator:
    """Return the product of matrices modulo a prime, which does not commute."""
    kind = vector_of("u4", 4)
    preamble = f"""
static inline uint4 multiplied(uint4 a, uint4 b) {{
  return (a.xxzz * b.xyxy + a.yyww * b.zwzw) % {_PRIME}u;
}}"""

    def combine(a: Array, b: Array) -> Array:
        left, right = (x.view("u4").reshape(-1, 2, 2).astype("u8") for x in map(np.array, (a, b)))
        product: Array = (left @ right % _PRIME).astype("u4")
        return product.reshape(-1, 4).view(kind).reshape(-1)

    return Operator(
        monoid=Monoid(
            dtype=kind,
            combine="multiplied(a, b)",
            identity="(uint4)(1, 0, 0, 1)",
            preamble=preamble,
            name="product of matrices",
        ),
        combine=combine,
        identity=np.array([(1, 0, 0, 1)], kind),
        values_of=lambda bits: (bits.view("u4") % np.uint32(_PRIME)).view(kind),
    )


def _chosen(which: str, dtype: str) -> Operator:
    """Return the first or last number that is not 0, which does not commute either."""
    kept, other = ("a", "b") if which == "first" else ("b", "a")
    combine = f"{kept} != 0 ? {kept} : {other}"
    return Operator(
        monoid=Monoid(dtype=np.dtype(dtype), combine=combine, identity="0", name=which),
        combine=lambda a, b: np.where(a != 0, a, b) if which == "first" else np.where(b != 0, b, a),
        identity=np.zeros(1, dtype),
        values_of=_seldom,
    )


# ------------------------------------------------------------------- records of mixed fields


def _each_field(name: str) -> Operator:
    """Return an operator that combines each field by itself: a sum or the least, by turns."""
    dtype = RECORDS[name]
    fields = dtype.names or ()
    parts, identity = [], []
    for k, one in enumerate(fields):
        parts.append(f"a.{one} + b.{one}" if k % 2 == 0 else f"min(a.{one}, b.{one})")
        least = np.inf if dtype[one].kind == "f" else np.iinfo(dtype[one].str[1:]).max
        identity.append(0 if k % 2 == 0 else least)

    def combine(a: Array, b: Array) -> Array:
        out = _cleared(a.size, dtype)
        for k, one in enumerate(fields):
            out[one] = (np.add if k % 2 == 0 else np.minimum)(a[one], b[one])
        return out

    return Operator(
        monoid=Monoid(
            dtype=dtype,
            combine=f"record({', '.join(parts)})",
            identity=f"record({', '.join(_literal(one) for one in identity)})",
            commutative=True,
            exact=True,  # on the values that are drawn
            name=f"each field of {name}",
        ),
        combine=combine,
        identity=_filled(1, dtype, identity),
        values_of=_whole_fields,
    )


def _leftmost(name: str) -> Operator:
    """Return the first of the records with the least first field, which does not commute."""
    dtype = RECORDS[name]
    key = (dtype.names or ())[0]
    greatest = np.inf if dtype[key].kind == "f" else np.iinfo(dtype[key]).max
    others = [0] * (len(dtype.names or ()) - 1)
    preamble = f"""
static inline record leftmost(record a, record b) {{
  record least = a;
  bool is_less = b.{key} < a.{key};
  least = is_less ? b : least;
  return least;
}}"""

    def combine(a: Array, b: Array) -> Array:
        out = _cleared(a.size, dtype)
        for one in dtype.names or ():
            out[one] = np.where(b[key] < a[key], b[one], a[one])
        return out

    def below(bits: Array) -> Array:
        values = _whole_fields(bits)
        values[key] = _falling(np.ascontiguousarray(values[key]))
        values[key][values[key] == greatest] = 1
        return values

    return Operator(
        monoid=Monoid(
            dtype=dtype,
            combine="leftmost(a, b)",
            identity=f"record({', '.join(_literal(one) for one in [greatest, *others])})",
            preamble=preamble,
            exact=True,
            name=f"leftmost minimum of {name}",
        ),
        combine=combine,
        identity=_filled(1, dtype, [greatest, *others]),
        values_of=below,
    )


def _cleared(size: int, dtype: np.dtype[Any]) -> Array:
    """Return records of zeros, between the fields, too."""
    return np.zeros(size, f"V{dtype.itemsize}").view(dtype)


def _filled(size: int, dtype: np.dtype[Any], values: list[Any]) -> Array:
    out = _cleared(size, dtype)
    for name, value in zip(dtype.names or (), values, strict=True):
        out[name] = value
    return out


def _literal(value: Any) -> str:
    """Return a number as OpenCL C writes it."""
    if value == np.inf:
        return "INFINITY"
    return f"{value}ul" if value > np.iinfo("i8").max else str(value)


def _whole_fields(bits: Array) -> Array:
    """Return records of small whole numbers in floats, and any integers."""
    values = _cleared(bits.size, bits.dtype)
    for name in bits.dtype.names or ():
        column = np.ascontiguousarray(bits[name])
        values[name] = _small(column) if column.dtype.kind == "f" else column
    return values


_ON_INTEGERS = ("sum", "product", "minimum", "maximum", "bitwise_and", "bitwise_or", "bitwise_xor")
_VECTORS = (
    ("u1", 2), ("u1", 4), ("u2", 2), ("u2", 8), ("i4", 2), ("i4", 4), ("u4", 16), ("u8", 2),
    ("u8", 8), ("u1", 16),
)  # fmt: skip
_MAKERS: dict[str, Callable[[], Operator]] = {
    f"{name} of {dtype}": partial(_plain, name, dtype)
    for dtypes, names in ((INTEGERS, _ON_INTEGERS), (_FLOATS, ("sum", "minimum", "maximum")))
    for dtype in dtypes
    for name in names
}
_MAKERS |= {f"minimum by key of {dtype}": partial(_by_key, dtype) for dtype in NUMBERS}
_MAKERS |= {
    f"sum of {length} {dtype}": partial(_vector, dtype, length) for dtype, length in _VECTORS
}
_MAKERS |= {f"last of {dtype}": partial(_chosen, "last", dtype) for dtype in ("u1", "u4", "u8")}
_MAKERS |= {
    "first of u4": partial(_chosen, "first", "u4"),
    "affine maps": partial(_affine, "u4", 1),
    "4 affine maps of u4": partial(_affine, "u4", 4),
    "4 affine maps of u8": partial(_affine, "u8", 4),
    "products of matrices": _matrices,
}
_MAKERS |= {f"each field of {name}": partial(_each_field, name) for name in RECORDS}
_MAKERS |= {f"leftmost minimum of {name}": partial(_leftmost, name) for name in RECORDS}

NAMES = tuple(_MAKERS)


@cache
def operator(name: str) -> Operator:
    """Return an operator by its name in :data:`NAMES`."""
    return _MAKERS[name]()


def scanned(one: Operator, values: Array, heads: Array | None, *, exclusive: bool) -> Array:
    """Compute a scan within segments, which begin where `heads` is not 0.

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
        return cleaned(until)
    before = together(one.identity, until[:-1])[: values.size]
    before[starts] = one.identity
    return cleaned(before)


def reduced(one: Operator, values: Array) -> Array:
    """Return the combination of all values, the identity if there are none."""
    while values.size > 1:
        pairs = values[: values.size // 2 * 2]
        values = together(one.combine(pairs[::2], pairs[1::2]), values[pairs.size :])
    return cleaned(values) if values.size else one.identity
