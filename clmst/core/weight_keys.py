"""Integer keys that have the same order as edge weights, exactly, for every supported dtype.

The key of a weight is an unsigned integer with as many bits as the weight. ``key(a) < key(b)``
exactly if ``a < b``, and ``key(a) == key(b)`` exactly if ``a == b``. Devices compare keys instead
of weights; nothing is rounded.

* Unsigned integers and bool are their own keys.
* Signed integers flip the sign bit.
* Floats flip the sign bit if positive, and all bits if negative, after -0.0 is replaced by +0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import as_array, shown
from clmst.core.errors import InvalidGraphError
from clmst.core.threads import in_threads, slices

Array: TypeAlias = npt.NDArray[Any]
WeightKind: TypeAlias = Literal["unsigned", "signed", "float"]

SUPPORTED_DTYPES = "bool, int8-64, uint8-64, float16, float32, float64"

WEIGHT_KINDS: Mapping[WeightKind, tuple[str, ...]] = {
    "unsigned": ("bool", "uint8", "uint16", "uint32", "uint64"),
    "signed": ("int8", "int16", "int32", "int64"),
    "float": ("float16", "float32", "float64"),
}
"""The dtypes of each kind of weight, in the order of WEIGHT_KIND in ``cl/device/weight_key.cl``.

A stored weight is called a word. Its kind and width determine how its sort key is computed, and how
NaN is recognised.
"""

NAN_RULE = "weights must be ordered, and infinities are the only special values allowed"

_KIND_OF: dict[np.dtype[Any], WeightKind] = {
    np.dtype(name): kind for kind, names in WEIGHT_KINDS.items() for name in names
}

_CHUNK = 1 << 20  # number of elements that are examined at a time
_FIRST = 1 << 12  # number of elements that are examined before all others


def check_dtype(dtype: np.dtype[Any]) -> None:
    """Raise :class:`InvalidGraphError` unless `dtype` is supported for weights."""
    if weight_kind_or_none(dtype) is None:
        raise InvalidGraphError(
            f"weights have dtype {dtype}; they must be one of {SUPPORTED_DTYPES}"
        )


def as_weights(values: Any) -> Array:
    """Convert `values` to an array of a supported dtype in native byte order.

    An array that has a supported dtype is not copied. Raise InvalidGraphError if the dtype is not
    supported, or if a list mixes integers and floats so that NumPy would round an integer.
    """
    array: Array = values
    if type(values) is not np.ndarray:
        array = as_array("weights", values, error=InvalidGraphError)
    if array.dtype.kind == "O" and (k := first_unsupported(array.ravel())) is not None:
        raise InvalidGraphError(
            f"weights have dtype object, and weight {k} is {shown(array.ravel()[k])}; they must be "
            f"one of {SUPPORTED_DTYPES}"
        )
    check_dtype(array.dtype)
    if isinstance(values, list | tuple) and array.dtype.kind == "f":
        for k, (given, stored) in enumerate(zip(values, array.tolist(), strict=True)):
            if isinstance(given, Integral) and given != stored:
                raise InvalidGraphError(
                    f"weight {k} is {given} among numbers that NumPy stores as {array.dtype}, "
                    "which would round it; weights must share one dtype that holds them exactly"
                )
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def first_unsupported(objects: Array) -> int | None:
    """Return the position of the first object that no supported dtype can hold, or None."""
    for k, value in enumerate(objects):
        dtype = as_array(f"weight {k}", value, error=InvalidGraphError).dtype
        if weight_kind_or_none(dtype) is None:
            return k
    return None


def weight_kind_or_none(dtype: np.dtype[Any]) -> WeightKind | None:
    """Return whether a dtype is unsigned, signed or float, or None if weights cannot have it."""
    return _KIND_OF.get(dtype) or _KIND_OF.get(dtype.newbyteorder("="))


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether weights of this dtype are floats, which may be NaN, infinite or fractions."""
    return weight_kind_or_none(dtype) == "float"


def first_nan(weights: Array) -> int | None:
    """Return the position of the first NaN in `weights`, or None."""
    if not is_float(weights.dtype) or weights.size == 0:
        return None

    def least(part: slice) -> Any:
        with np.errstate(invalid="ignore"):
            return weights[part].min()  # the minimum is NaN if any element is

    if weights.size <= _CHUNK:
        found: Any = least(slice(None))
    else:
        found = in_threads(least, slices(weights.size, _CHUNK))
    if not np.isnan(found).any():
        return None
    return int(np.flatnonzero(np.isnan(weights))[0])


def nan_error(edge: str) -> InvalidGraphError:
    """Create the error for an edge whose weight is NaN. `edge` describes the edge in words."""
    return InvalidGraphError(f"the weight of {edge} is NaN; {NAN_RULE}")


def convert(values: Array, dtype: np.dtype[Any]) -> tuple[Array, int | None]:
    """Convert weights to another supported dtype. None of them may be NaN.

    Return the converted weights, and the position of the first weight that changed its value, or
    None if all were converted exactly.
    """
    if values.dtype == dtype:
        return values, None
    with np.errstate(over="ignore", invalid="ignore"):
        converted = values.astype(dtype)
        back = converted.astype(values.dtype)
    # Integers that wrap around keep their value modulo 2**n but change their sign.
    zero = values.dtype.type(0)
    same = (back == values) & ((converted < dtype.type(0)) == (values < zero))
    for integers, floats in ((values, converted), (converted, values)):
        if integers.dtype.kind in "iu" and floats.dtype.kind == "f":
            # If a float such as 2**63 or infinity is too large for the integer type, the result
            # depends on the processor, and may by chance convert back to the same float.
            wide, info = floats.astype(np.float64), np.iinfo(integers.dtype)
            same &= (wide >= float(info.min)) & (wide < float(info.max) + 1)
    return converted, None if same.all() else int(np.argmin(same))


def order_keys(weights: Array, *, descending: bool = False) -> Array:
    """Convert weights to keys: unsigned integers of the same width and in the same order.

    No weight may be NaN. With `descending` the order is reversed, so the heaviest weight gets the
    least key.
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


# The unsigned integer dtype of each width. It is a table because every solve needs it several
# times.
_WORDS = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How weights are converted to words, the unsigned integers that are stored on a device."""

    dtype: np.dtype[Any]  # the dtype of the weights
    # The dtype in which weights are stored as words: `dtype` itself, or a dtype of 32 bits that
    # represents each weight minus `offset` exactly.
    stored: np.dtype[Any]
    offset: int = 0

    @property
    def word(self) -> np.dtype[Any]:
        """The unsigned integer dtype of the words."""
        return _WORDS[self.stored.itemsize]

    @property
    def kind(self) -> WeightKind:
        """The kind of number that a word stores.

        It determines how a word becomes a sort key, an integer that sorts as the weight does.
        """
        kind = weight_kind_or_none(self.stored)
        assert kind is not None, "dtypes are checked when a graph is made"
        return kind

    def encode(self, weights: Array) -> Array | None:
        """Convert weights of `dtype` to words, the integers that are stored on a device. O(m).

        Return None if a word cannot represent one of the weights exactly. No weight may be NaN.
        """
        if self.stored != self.dtype and self.dtype.kind != "f" and weights.size:
            low, high = int(weights.min()), int(weights.max())
            if low < self.offset or high - self.offset >= 1 << 32:
                return None
        return self.encode_in_range(weights)

    def encode_in_range(self, weights: Array) -> Array | None:
        """Convert weights to words like :meth:`encode`, but without checking that integers fit.

        Return None if a float does not fit, that is, if a word cannot represent it exactly.
        """
        if self.stored == self.dtype:
            return np.ascontiguousarray(weights).view(self.word)
        if self.dtype.kind == "f":
            stored = _cast_exactly(weights, self.stored, offset=float(self.offset))
            return None if stored is None else stored.view(self.word)
        offsets: Array = weights - weights.dtype.type(self.offset)
        return offsets.astype(self.word)

    def decode(self, words: Array) -> Array:
        """Convert words back to weights, exactly except for the sign of zeros. O(m)."""
        stored = words.view(self.stored)
        if self.stored == self.dtype:
            return stored
        weights: Array = stored.astype(self.dtype)
        return weights + self.dtype.type(self.offset) if self.offset else weights


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedWeights:
    """Weights in the form in which a device stores them, with the way in which they are encoded.

    There is one unsigned integer, a word, for each slot. A slot is a CSR entry.
    """

    encoding: Encoding
    # The words that represent the weights. If the weights are contiguous words in memory, this is a
    # view of the caller's array. Otherwise it is a function: given an array of slots (CSR entries),
    # it returns their words, and given None, the words of all slots.
    source: Array | Callable[[Array | None], Array]

    @property
    def bits(self) -> Array:
        """The words of all CSR entries. If they are on the device, they are read, which blocks."""
        return self.words()

    def words(self, at: Array | None = None) -> Array:
        """Return the stored words of the CSR entries `at`, or of all entries if `at` is None.

        A word has the bits of a weight as it is stored, before it is converted to a sort key. A
        slot is a CSR entry.
        """
        if callable(self.source):
            return self.source(at)
        words: Array = self.source if at is None else self.source[at]
        return words

    @property
    def kind(self) -> WeightKind:
        """The kind of number that a word stores.

        It determines how a word becomes a sort key, an integer that sorts as the weight does.
        """
        return self.encoding.kind

    @property
    def is_wide(self) -> bool:
        """Whether the integers by which weights are sorted (keys) have 64 bits, not 32."""
        return self.encoding.stored.itemsize == 8

    def keys(self, at: Array, *, descending: bool = False) -> Array:
        """Return the keys (:func:`order_keys`) of the weights at the slots `at`.

        A slot is a CSR entry. If `descending`, the heaviest weight has the least key.
        """
        return order_keys(self.words(at).view(self.encoding.stored), descending=descending)


def encode(weights: Array) -> EncodedWeights:
    """Encode `weights` for a device, with 32-bit words if that is exact.

    64-bit weights are narrowed if nothing is lost: integers whose range is less than 2**32, and
    doubles that are all float32 values or all integers in a range of less than 2**32. All other
    64-bit weights keep 64 bits. Weights of up to 32 bits are returned as a view, not a copy.

    Weights with a NaN among them keep 64 bits. O(m). The weights are converted by the threads of
    all cores. If the first few weights do not fit, the attempt ends there.
    """
    weights = np.ascontiguousarray(weights)
    for encoding in _encodings(weights):
        if (words := encoding.encode_in_range(weights)) is not None:
            return EncodedWeights(encoding=encoding, source=words)
    raise AssertionError("weights are their own words")


def _encodings(weights: Array) -> Iterator[Encoding]:
    """Yield encodings that may represent the weights exactly, those with 32-bit words first.

    The last encoding is always exact.
    """
    dtype, narrow = weights.dtype, np.dtype(np.uint32)
    if dtype.itemsize == 8 and dtype.kind == "f":
        yield Encoding(dtype=dtype, stored=np.dtype(np.float32))
        # This encoding is only for integers. Most arrays of doubles that do not fit float32 do not
        # consist of integers either. The first elements usually show that, without a pass over all.
        first = weights[:_FIRST]
        if np.array_equal(first, np.rint(first)):
            least, greatest = _extremes(weights)
            in_reach = least > -(2.0**52) and greatest < 2.0**52 and greatest - least < 2.0**32
            if in_reach and least.is_integer():
                yield Encoding(dtype=dtype, stored=narrow, offset=int(least))
    elif dtype.itemsize == 8:
        low, high = _extremes(weights)
        if high - low < 1 << 32:
            yield Encoding(dtype=dtype, stored=narrow, offset=low)
    yield Encoding(dtype=dtype, stored=dtype)


def _extremes(weights: Array) -> tuple[Any, Any]:
    """Return the least and the greatest weight as Python numbers. Both are 0 without weights.

    Both are NaN if a weight is NaN.
    """
    if not weights.size:
        return weights.dtype.type(0).item(), weights.dtype.type(0).item()

    def of(part: slice) -> tuple[Any, Any]:
        with np.errstate(invalid="ignore"):
            return weights[part].min(), weights[part].max()

    least, greatest = np.array(in_threads(of, slices(weights.size, _CHUNK)), weights.dtype).T
    return least.min().item(), greatest.max().item()


def _cast_exactly(weights: Array, dtype: np.dtype[Any], *, offset: float = 0.0) -> Array | None:
    """Return ``weights - offset`` as `dtype`. Return None if any element would change in value.

    `offset` must be an integer below 2**52 in magnitude, so that the subtraction is exact for all
    elements that are accepted.
    """
    out = np.empty(weights.shape, dtype)

    def cast(some: slice) -> bool:
        """Convert some of the weights, and return whether none has changed its value."""
        part = weights[some]
        with np.errstate(over="ignore", invalid="ignore"):
            out[some] = part - offset if offset else part
            back = out[some].astype(np.float64)
        if offset:
            back += offset
        return np.array_equal(back, part)

    # Convert the first weights before all others. If the conversion changes any values, it usually
    # changes one of these, and then no further weights need to be converted.
    is_exact = cast(slice(_FIRST)) and all(in_threads(cast, slices(weights.size, _CHUNK)))
    return out if is_exact else None
