"""Operators to try primitives on: monoids beside what they mean, in NumPy.

All of them are exact, floating-point ones because they add small integers only: a result has one
right value, whatever the order of combination, and is compared bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.primitives.monoid import Monoid

Array = npt.NDArray[Any]
Generator = np.random.Generator

PRIME = 46337  # the greatest whose squares can be added in pairs in 32 bits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operator:
    """A monoid, what it means, and values on which it is worth trying.

    Attributes
    ----------
    monoid : Monoid
    combine : callable
        What the monoid means, element by element of two arrays of the same length.
    identity : numpy.ndarray, shape (1,)
    draw : callable
        Return so many elements from a random generator.
    """

    monoid: Monoid
    combine: Callable[[Array, Array], Array]
    identity: Array
    draw: Callable[[Generator, int], Array]

    @property
    def name(self) -> str:
        return self.monoid.name

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.monoid.dtype

    @property
    def needs_doubles(self) -> bool:
        fields = [self.dtype[name] for name in self.dtype.names or ()]
        return any(dtype == np.float64 for dtype in (self.dtype, *fields))


# ------------------------------------------------------------------------ references


def scanned(
    operator: Operator, values: Array, heads: Array | None = None, *, exclusive: bool
) -> Array:
    """Return what a scan of `values` is, within the segments that begin where `heads` is not 0.

    By doubling (Hillis, Steele 1986), which is quick in NumPy and unlike anything in ``cl/``.
    """
    starts = np.zeros(values.size, bool) if heads is None else heads != 0
    starts[:1] = True
    until, reached = values.copy(), starts.copy()
    stride = 1
    while stride < values.size:
        joined = operator.combine(until[:-stride], until[stride:])
        until[stride:][~reached[stride:]] = joined[~reached[stride:]]
        reached[stride:] |= reached[:-stride].copy()
        stride *= 2
    if not exclusive:
        return until
    before = np.concatenate([operator.identity, until[:-1]])[: values.size]
    before[starts] = operator.identity
    return before


def reduced(operator: Operator, values: Array) -> Array:
    """Return the combination of all values, in order, as an array of one."""
    while values.size > 1:
        pairs = values[: values.size // 2 * 2]
        odd = values[pairs.size :]
        values = np.concatenate([operator.combine(pairs[::2], pairs[1::2]), odd])
    return values if values.size else operator.identity


def assert_equal(actual: Array, expected: Array) -> None:
    """Compare bit for bit."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    word = np.dtype("u4") if expected.dtype.itemsize % 4 == 0 else np.dtype("u1")
    words = (expected.size, expected.dtype.itemsize // word.itemsize)
    np.testing.assert_array_equal(
        np.ascontiguousarray(actual).view(word).reshape(words),
        np.ascontiguousarray(expected).view(word).reshape(words),
    )


# ------------------------------------------------------------------------------ draws


def draw(operator: Operator, length: int, seed: int = 0) -> Array:
    """Return so many elements to try an operator on, the same each time."""
    return operator.draw(np.random.default_rng([length, seed]), length)


def vector_of(code: str, length: int) -> np.dtype[Any]:
    return np.dtype([(f"s{k}", code) for k in range(length)])


def any_bits(dtype: Any) -> Callable[[Generator, int], Array]:
    dtype = np.dtype(dtype)
    return lambda rng, n: np.frombuffer(rng.bytes(n * dtype.itemsize), dtype).copy()


def integers(dtype: Any, least: int = -9, most: int = 9) -> Callable[[Generator, int], Array]:
    return lambda rng, n: rng.integers(least, most, n, endpoint=True).astype(dtype)


def _odd(dtype: Any) -> Callable[[Generator, int], Array]:
    """Return a draw of odd numbers, of which no product loses what went into it."""
    draw = any_bits(dtype)
    return lambda rng, n: draw(rng, n) | np.dtype(dtype).type(1)


def _seldom(rng: Generator, n: int) -> Array:
    """Return zeros, with something else now and then."""
    values: Array = any_bits("u4")(rng, n) * (rng.random(n) < 0.02).astype("u4")
    return values


def _falling(dtype: Any) -> Callable[[Generator, int], Array]:
    """Return a draw of numbers that fall in the long run, so that a minimum changes to the end."""
    dtype = np.dtype(dtype)

    def draw(rng: Generator, n: int) -> Array:
        middle = 0 if dtype.kind == "u" else n // 14
        return (np.arange(n)[::-1] // 7 + rng.integers(0, 40, n) - middle).astype(dtype)

    return draw


def _rising(dtype: Any) -> Callable[[Generator, int], Array]:
    fall = _falling(dtype)
    return lambda rng, n: fall(rng, n)[::-1].copy()


def _keyed(key: np.dtype[Any]) -> Callable[[Generator, int], Array]:
    """Return a draw of pairs whose keys tie a lot, extremes and -0.0 among them."""
    is_float = key.kind == "f"
    least, greatest = (-np.inf, np.inf) if is_float else (np.iinfo(key).min, np.iinfo(key).max)

    def draw(rng: Generator, n: int) -> Array:
        pairs = np.empty(n, Monoid.minimum_by_key(key).dtype)
        pairs["key"] = _falling(key)(rng, n)
        pairs["key"][rng.random(n) < 0.1] = greatest
        pairs["key"][n - n // 10 :: 5] = least
        if is_float:
            pairs["key"][(pairs["key"] == 0) & (rng.random(n) < 0.5)] = -0.0  # ties with 0.0
        pairs["index"] = rng.permutation(n)
        return pairs

    return draw


def _affine_maps(dtype: np.dtype[Any]) -> Callable[[Generator, int], Array]:
    def draw(rng: Generator, n: int) -> Array:
        maps = any_bits(dtype)(rng, n)
        for factor in _halves(dtype)[0]:
            maps[factor] |= 1  # odd factors lose nothing
        return maps

    return draw


def _matrices(rng: Generator, n: int) -> Array:
    return rng.integers(0, PRIME, (n, 4)).astype("u4").view(vector_of("u4", 4)).reshape(n)


# ---------------------------------------------------------------------- combinations


def _halves(dtype: np.dtype[Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    names = dtype.names or ()
    return names[: len(names) // 2], names[len(names) // 2 :]


def _combine_affine(a: Array, b: Array) -> Array:
    out = np.empty_like(a)
    for p, q in zip(*_halves(a.dtype), strict=True):
        out[p] = a[p] * b[p]
        out[q] = a[q] * b[p] + b[q]
    return out


def _combine_matrices(a: Array, b: Array) -> Array:
    left, right = (x.view("u4").reshape(-1, 2, 2).astype("u8") for x in map(np.array, (a, b)))
    product: Array = (left @ right % PRIME).astype("u4")
    return product.reshape(-1, 4).view(a.dtype).reshape(-1)


def _combine_pairs(a: Array, b: Array) -> Array:
    less = (b["key"] < a["key"]) | ((b["key"] == a["key"]) & (b["index"] < a["index"]))
    return np.where(less, b, a)


def _add_fields(a: Array, b: Array) -> Array:
    out = np.empty_like(a)
    for name in a.dtype.names or ():
        out[name] = a[name] + b[name]
    return out


# -------------------------------------------------------------------------- operators


def _scalar(
    monoid: Monoid, combine: Callable[[Array, Array], Array], identity: Any, draw: Any = None
) -> Operator:
    return Operator(
        monoid=monoid,
        combine=combine,
        identity=np.array([identity], monoid.dtype),
        draw=draw or any_bits(monoid.dtype),
    )


def minimum_by_key(key: np.dtype[Any]) -> Operator:
    monoid = Monoid.minimum_by_key(key)
    greatest = np.inf if key.kind == "f" else np.iinfo(key).max
    identity = np.array([(greatest, np.iinfo(monoid.dtype["index"]).max)], monoid.dtype)
    return Operator(monoid=monoid, combine=_combine_pairs, identity=identity, draw=_keyed(key))


def affine(code: str, length: int) -> Operator:
    """Return the composition of `length` affine maps x -> p * x + q, each for itself."""
    dtype = vector_of(code, 2 * length)
    word = {"u4": "uint", "u8": "ulong"}[code]
    vector = f"{word}{2 * length}"
    ones, zeros = ["1"] * length, ["0"] * length
    # Assigned by halves: Oclgrind 21.10 dies of a vector put together of two.
    preamble = f"""
static inline {vector} composed({vector} a, {vector} b) {{
  {vector} composition;
  composition.lo = a.lo * b.lo;
  composition.hi = a.hi * b.lo + b.hi;
  return composition;
}}"""
    return Operator(
        monoid=Monoid(
            dtype=dtype,
            combine="composed(a, b)",
            identity=f"({vector})({', '.join(ones + zeros)})",
            preamble=preamble,
            name=f"composition of {length} {word} affine maps",
        ),
        combine=_combine_affine,
        identity=np.array([(1,) * length + (0,) * length], dtype),
        draw=_affine_maps(dtype),
    )


SUM = _scalar(Monoid.sum("u4"), np.add, 0)

MATRICES = Operator(
    monoid=Monoid(
        dtype=vector_of("u4", 4),
        combine="multiplied(a, b)",
        identity="(uint4)(1, 0, 0, 1)",
        preamble=f"""
static inline uint4 multiplied(uint4 a, uint4 b) {{
  return (a.xxzz * b.xyxy + a.yyww * b.zwzw) % {PRIME}u;
}}""",
        name="product of matrices",
    ),
    combine=_combine_matrices,
    identity=np.array([(1, 0, 0, 1)], vector_of("u4", 4)),
    draw=_matrices,
)

FIRST = _scalar(
    Monoid(dtype=np.dtype("u4"), combine="a != 0 ? a : b", identity="0", name="first"),
    lambda a, b: np.where(a != 0, a, b),
    0,
    _seldom,
)

LAST = _scalar(
    Monoid(dtype=np.dtype("u4"), combine="b != 0 ? b : a", identity="0", name="last"),
    lambda a, b: np.where(b != 0, b, a),
    0,
    _seldom,
)

AFFINE = affine("u4", 1)

WIDE_SUM = Operator(
    monoid=Monoid.sum(vector_of("i4", 4)),
    combine=_add_fields,
    identity=np.zeros(1, vector_of("i4", 4)),
    draw=any_bits(vector_of("i4", 4)),
)

# Those of 8, 4 and 16 bytes that do not commute first; then scalars and keys of each dtype.
QUICK_OPERATORS = (
    AFFINE,
    LAST,
    MATRICES,
    _scalar(Monoid.minimum("i4"), np.minimum, 2**31 - 1, _falling("i4")),
    _scalar(Monoid.sum("f4"), np.add, 0, integers("f4")),
    _scalar(Monoid.product("u8"), np.multiply, 1, _odd("u8")),
    _scalar(Monoid.bitwise_xor("i8"), np.bitwise_xor, 0),
    _scalar(Monoid.maximum("f8"), np.fmax, -np.inf, _rising("f8")),
    *(minimum_by_key(np.dtype(code)) for code in ("u4", "i4", "f4", "f8")),
    WIDE_SUM,
)
OPERATORS = (
    *QUICK_OPERATORS,
    *(minimum_by_key(np.dtype(code)) for code in ("u8", "i8")),
    affine("u4", 4),
    affine("u8", 4),
)


def find(name: str) -> Operator:
    """Return the operator of this name."""
    return next(operator for operator in OPERATORS if operator.name == name)
