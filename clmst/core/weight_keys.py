"""Order-preserving integer keys for edge weights, exact for every supported dtype.

A weight's key is an unsigned integer of the weight's own width with
``key(a) < key(b)`` exactly when ``a < b`` and ``key(a) == key(b)`` exactly when ``a == b``.
Comparing keys is comparing weights: nothing is rounded and nothing is perturbed.

* unsigned integers and bool are their own keys;
* signed integers flip the sign bit;
* floats flip the sign bit when positive and all bits when negative, after -0.0 became +0.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from clmst.core.errors import InvalidGraphError

Array: TypeAlias = npt.NDArray[Any]
WeightKind: TypeAlias = Literal["unsigned", "signed", "float"]

SUPPORTED_DTYPES = "bool, int8-64, uint8-64, float16, float32, float64"

_CHUNK = 1 << 20  # elements examined between two chances to stop early


def check_dtype(dtype: np.dtype[Any]) -> None:
    """Raise :class:`InvalidGraphError` unless `dtype` is a supported weight type."""
    if weight_kind_or_none(dtype) is None:
        raise InvalidGraphError(
            f"weights have dtype {dtype}; they must be one of {SUPPORTED_DTYPES}"
        )


def as_weights(values: Any) -> Array:
    """Return `values` as an array of a supported dtype in native byte order, by view if it can.

    Raises
    ------
    InvalidGraphError
        The dtype is not supported, or a list mixes integers and floats of which NumPy would
        round some.
    """
    array = np.asarray(values)
    check_dtype(array.dtype)
    if isinstance(values, list | tuple) and array.dtype.kind == "f":
        for k, (given, stored) in enumerate(zip(values, array.tolist(), strict=True)):
            if isinstance(given, Integral) and given != stored:
                raise InvalidGraphError(
                    f"weight {k} is {given} among numbers that NumPy stores as {array.dtype}, "
                    "which would round it; weights must share one dtype that holds them exactly"
                )
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def weight_kind_or_none(dtype: np.dtype[Any]) -> WeightKind | None:
    """Return how keys of this dtype are made, or None if it is not supported."""
    if dtype.kind in "bu" and dtype.itemsize <= 8:
        return "unsigned"
    if dtype.kind == "i" and dtype.itemsize <= 8:
        return "signed"
    if dtype.kind == "f" and dtype.itemsize in (2, 4, 8):
        return "float"
    return None


def first_nan(weights: Array) -> int | None:
    """Return the position of the first NaN in `weights`, or None."""
    if weights.dtype.kind != "f" or weights.size == 0:
        return None
    with np.errstate(invalid="ignore"):
        if not np.isnan(weights.min()):  # a minimum over a NaN is NaN
            return None
    return int(np.flatnonzero(np.isnan(weights))[0])


def order_keys(weights: Array, *, descending: bool = False) -> Array:
    """Return the order-preserving keys of `weights`.

    Parameters
    ----------
    weights : ndarray, any supported dtype
        Must hold no NaN.
    descending : bool
        Reverse the order: the heaviest weight gets the least key.

    Returns
    -------
    ndarray of uint8, uint16, uint32 or uint64
        Same shape, same width as `weights`.
    """
    kind = weight_kind_or_none(weights.dtype)
    unsigned = np.dtype(f"u{weights.dtype.itemsize}")
    sign = unsigned.type(1 << (8 * unsigned.itemsize - 1))
    if kind == "unsigned":
        keys = weights.view(unsigned)
    elif kind == "signed":
        keys = weights.view(unsigned) ^ sign
    else:
        bits = (weights + weights.dtype.type(0)).view(unsigned)  # -0.0 + 0.0 is +0.0
        keys = np.where(bits & sign, ~bits, bits | sign)
    return ~keys if descending else keys


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedWeights:
    """Weights as a device reads them: raw bits, and how to make keys of them.

    Attributes
    ----------
    bits : ndarray of uint8, uint16, uint32 or uint64
        One word a slot. A view of the caller's array wherever that is possible.
    kind : {"unsigned", "signed", "float"}
        How a key is made of the bits.
    """

    bits: Array
    kind: WeightKind

    @property
    def is_wide(self) -> bool:
        """Whether keys need 64 bits."""
        return self.bits.dtype.itemsize == 8

    def keys(self, at: Array, *, descending: bool = False) -> Array:
        """Return the keys of the weights in some places; see :func:`order_keys`."""
        code = {"unsigned": "u", "signed": "i", "float": "f"}[self.kind]
        weights = self.bits[at].view(f"{code}{self.bits.dtype.itemsize}")
        return order_keys(weights, descending=descending)


def encode(weights: Array) -> EncodedWeights:
    """Encode `weights` for a device, in 32 bits a key wherever that is exact.

    64-bit weights are narrowed when nothing is lost: integers whose range spans less than 2**32,
    and doubles that are all float32 values or all integers of such a range. Otherwise they stay
    64 bits wide. Up to 32 bits the result is a view, not a copy.

    Parameters
    ----------
    weights : ndarray, any supported dtype
        Must hold no NaN.

    Notes
    -----
    O(m); a narrowing that fails is found out within the first million elements as a rule.
    """
    kind = weight_kind_or_none(weights.dtype)
    assert kind is not None, "dtypes are checked when a graph is made"
    weights = np.ascontiguousarray(weights)
    if weights.dtype.itemsize == 8:
        narrowed = _narrow_float(weights) if kind == "float" else _narrow_integer(weights)
        if narrowed is not None:
            weights = narrowed
            kind = weight_kind_or_none(weights.dtype) or kind
    return EncodedWeights(bits=weights.view(f"u{weights.dtype.itemsize}"), kind=kind)


def _narrow_integer(weights: Array) -> Array | None:
    """Return 64-bit integers less their minimum as uint32, or None if their range is too wide."""
    if weights.size == 0:
        return weights.astype(np.uint32)
    low, high = int(weights.min()), int(weights.max())
    if high - low >= 1 << 32:
        return None
    offsets: Array = weights - weights.dtype.type(low)
    return offsets.astype(np.uint32)


def _narrow_float(weights: Array) -> Array | None:
    """Return doubles as float32 or uint32 of the same order, or None if neither is exact."""
    single = _cast_exactly(weights, np.dtype(np.float32))
    if single is not None:
        return single
    low, high = float(weights.min()), float(weights.max())
    if not (low > -(2.0**52) and high < 2.0**52 and high - low < 2.0**32):
        return None
    return _cast_exactly(weights, np.dtype(np.uint32), offset=low)


def _cast_exactly(weights: Array, dtype: np.dtype[Any], *, offset: float = 0.0) -> Array | None:
    """Return ``weights - offset`` as `dtype` if every element survives the round trip, else None.

    `offset` must be an integer below 2**52 in magnitude wherever the weights are integers, so
    that the subtraction is exact for all that pass.
    """
    if offset != np.trunc(offset):
        return None
    out = np.empty(weights.shape, dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, weights.size, _CHUNK):
            part = weights[start : start + _CHUNK]
            moved = part - offset if offset else part
            cast = moved.astype(dtype)
            if not np.array_equal(cast.astype(np.float64) + offset, part):
                return None
            out[start : start + _CHUNK] = cast
    return out
