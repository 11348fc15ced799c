"""Weight keys: the order that every forest hangs on, exact to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst.core.errors import InvalidGraphError
from clmst.core.weight_keys import (
    EncodedWeights,
    as_weights,
    check_dtype,
    convert,
    encode,
    first_nan,
    order_keys,
    weight_kind_or_none,
)
from tests.helpers.strategies import WEIGHT_DTYPES, special_weights, weight_arrays

every_dtype = pytest.mark.parametrize("dtype", WEIGHT_DTYPES, ids=str)
LARGE = 2**24 + 1  # the first integer that float32 cannot hold


def dense(values: Any) -> list[int]:
    """Return the rank of each value among the distinct ones: equal exactly where they are."""
    return np.unique(np.asarray(values), return_inverse=True)[1].reshape(-1).tolist()


def device_keys(encoded: EncodedWeights) -> Any:
    """Make keys of bits as a kernel does, by the rules in the module's docstring."""
    bits = encoded.bits
    sign = bits.dtype.type(1 << (8 * bits.itemsize - 1))
    if encoded.kind == "unsigned":
        return bits
    if encoded.kind == "signed":
        return bits ^ sign
    bits = np.where(bits == sign, bits.dtype.type(0), bits)  # -0.0
    return np.where(bits & sign, ~bits, bits | sign)


# ---------------------------------------------------------------------- keys


def assert_keys(weights: Any) -> None:
    """Assert that keys have the order, the width and the ties of weights."""
    keys, ranks = order_keys(weights), dense(weights)
    assert keys.dtype == np.dtype(f"u{weights.itemsize}")
    assert dense(keys) == ranks
    assert dense(order_keys(weights, descending=True)) == [max(ranks) - k for k in ranks]


@every_dtype
def test_special_values(dtype: np.dtype[Any]) -> None:
    """One pair out of order and the lightest edge is not the lightest."""
    weights = special_weights(dtype)
    assert_keys(weights)
    encoded = encode(weights)
    assert dense(device_keys(encoded)) == dense(weights)
    assert encoded.is_wide == (dtype.itemsize == 8)
    assert encoded.kind == weight_kind_or_none(dtype)
    assert np.shares_memory(encoded.bits, weights)
    backwards = encode(weights[::-2])
    assert dense(device_keys(backwards)) == dense(weights[::-2])
    check_dtype(dtype)
    assert first_nan(weights) is first_nan(weights[:0]) is None
    assert order_keys(weights[:0]).size == 0


@given(weight_arrays(40))
def test_keys_of_any_bits(weights: Any) -> None:
    assert_keys(weights)
    assert dense(device_keys(encode(weights))) == dense(weights)


# ------------------------------------------------------------------- encoding


NARROW: dict[str, tuple[Any, str]] = {
    "small int64": (np.array([-3, 0, 9], "i8"), "unsigned"),
    "int64 that span 2**32 - 1": (np.array([-(2**31), 2**31 - 1, 0], "i8"), "unsigned"),
    "int64 at the bottom": (np.array([-(2**63), 2**32 - 1 - 2**63], "i8"), "unsigned"),
    "int64 at the top": (np.array([2**63 - 1, 2**63 - 2**32], "i8"), "unsigned"),
    "uint64 at the top": (np.array([2**64 - 1, 2**64 - 2**32], "u8"), "unsigned"),
    "one uint64": (np.array([2**64 - 1], "u8"), "unsigned"),
    "no int64": (np.zeros(0, "i8"), "unsigned"),
    "doubles of singles": (np.array([0.5, -0.0, 0.0, 1e38, -3.25]).astype("f4"), "float"),
    "doubles with infinities": (np.array([np.inf, -np.inf, 2.0**127, 2.0**-149]), "float"),
    "doubles of large integers": (np.array([LARGE, 0.0, -0.0, 2.0**32 - 1]), "unsigned"),
    "doubles below zero": (np.array([-LARGE, 2.0**32 - 1 - LARGE, 1.0]), "unsigned"),
    "doubles far below zero": (np.array([1 - 2.0**52, 3 - 2.0**52]), "unsigned"),
    "doubles far above zero": (np.array([2.0**52 - 1, 2.0**52 - 2**31 - 1]), "unsigned"),
    "no doubles": (np.zeros(0), "float"),
}

WIDE: dict[str, Any] = {
    "int64 that span 2**32": np.array([-(2**31), 2**31], "i8"),
    "int64 extremes": np.array([-(2**63), 2**63 - 1], "i8"),
    "uint64 extremes": np.array([0, 2**64 - 1], "u8"),
    "a decimal fraction": np.array([0.1, 1.0]),
    "a fraction beside a large integer": np.array([LARGE, 0.5]),
    "a fraction as the least": np.array([0.5, LARGE + 0.5, LARGE]),
    "a fraction lost beside the offset": np.array([1 - 2.0**31, 2.0**-60, 5.0]),
    "a subnormal": np.array([5e-324, 0.0]),
    "just above a single": np.array([1 + 2.0**-52, 1.0]),
    "beyond singles": np.array([1e300, 1.0]),
    "an infinity beside a large integer": np.array([LARGE, np.inf]),
    "integers that span 2**32": np.array([-1.0, 2.0**32 - 1]),
}


@pytest.mark.parametrize("name", NARROW)
def test_wide_weights_are_narrowed_where_that_is_exact(name: str) -> None:
    """Twice the speed on a device; a narrowing that rounds would change forests."""
    weights, kind = NARROW[name]
    weights = weights.astype("f8") if weights.dtype == "f4" else weights
    encoded = encode(weights)
    assert encoded.bits.dtype == np.uint32
    assert encoded.kind == kind
    assert not encoded.is_wide
    assert dense(device_keys(encoded)) == dense(weights)
    unfit: list[float] = [0.1, 1e300]
    if weights.dtype.kind != "f":
        low, info = int(weights.min()) if weights.size else 0, np.iinfo(weights.dtype)
        unfit = [k for k in (low - 1, low + 2**32, info.min, info.max) if not 0 <= k - low < 2**32]
        unfit = [k for k in unfit if info.min <= k <= info.max]
    for weight in unfit:  # of another round
        assert encoded.encoding.encode(np.array([weight], weights.dtype)) is None
    nothing = encoded.encoding.encode(weights[:0])
    assert nothing is not None
    assert nothing.size == 0


@pytest.mark.parametrize("name", WIDE)
def test_wide_weights_stay_wide_where_narrowing_would_round(name: str) -> None:
    weights = WIDE[name]
    encoded = encode(weights)
    assert encoded.is_wide
    assert np.shares_memory(encoded.bits, weights)
    assert dense(device_keys(encoded)) == dense(weights)


@pytest.mark.parametrize("last", [0.1, LARGE])
def test_the_last_of_many_weights_decides_too(last: float) -> None:
    """Narrowing goes chunk by chunk; the odd one may stand in the last."""
    weights = np.ones(2**20 + 3)
    weights[-1] = last
    encoded = encode(weights)
    assert encoded.kind == ("float" if last == 0.1 else "unsigned")
    assert encoded.is_wide == (last == 0.1)
    assert dense(device_keys(encoded)[-2:]) == [0, int(last > 1)] or last == 0.1


@given(data=st.data())
def test_words_stand_for_the_weights_they_were_made_of(data: st.DataObject) -> None:
    """Keys convert back to weights, narrowed or not.

    So do the keys of other weights in the same encoding.
    """
    weights = data.draw(weight_arrays(30))
    if weights.dtype.kind == "f" and data.draw(st.booleans()):
        weights = np.trunc(np.clip(weights, -(2.0**25), 2.0**25)).astype(weights.dtype)
    encoded = encode(weights)
    encoding = encoded.encoding
    assert encoding.dtype == weights.dtype
    assert encoding.word == encoded.bits.dtype
    decoded = encoding.decode(encoded.bits)
    assert decoded.dtype == weights.dtype
    np.testing.assert_array_equal(decoded, weights)
    np.testing.assert_array_equal(encoding.encode(weights), encoded.bits)
    others = data.draw(weight_arrays(30, [weights.dtype]))
    words = encoding.encode(others)
    if words is not None:
        both = order_keys(np.concatenate([encoded.bits, words]).view(encoding.stored))
        assert dense(both) == dense(np.concatenate([weights, others]))
    else:
        assert encoding.stored != encoding.dtype


@every_dtype
@pytest.mark.parametrize("other", WEIGHT_DTYPES, ids=str)
def test_conversions_that_change_nothing(dtype: np.dtype[Any], other: np.dtype[Any]) -> None:
    """By Python's own numbers, which compare exactly."""
    for weight in special_weights(dtype):
        one = np.array([weight])
        converted, changed = convert(one, other)
        assert converted.dtype == other
        value = weight.item()
        if other.kind == "f":
            with np.errstate(over="ignore"):
                fits = float(np.array(weight).astype(other)) == value
        elif other.kind == "b":
            fits = value in (0, 1)
        else:
            info = np.iinfo(other)
            fits = np.isfinite(value) and value == int(value) and info.min <= value <= info.max
        assert (changed is None) == fits, (value, other)
        if fits:
            assert converted[0].item() == value
    both = np.array([0, 1, 0], dtype)
    assert convert(both, other)[1] is None


def test_the_first_that_changes_is_named() -> None:
    assert convert(np.array([1, 300, 2, -1]), np.dtype("u1"))[1] == 1


# ------------------------------------------------------------- what is a weight


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("at", [[0], [5, 2], [6]])
def test_first_nan(dtype: str, at: list[int]) -> None:
    weights = np.full(7, np.inf, dtype)
    assert first_nan(weights) is None
    weights[at] = np.nan
    assert first_nan(weights) == min(at)
    weights[at] = -weights[at]  # NaN with the sign bit set
    assert first_nan(weights) == min(at)


@pytest.mark.parametrize("dtype", ["c8", "O", "U1", "S1", "M8[s]", "m8[s]", "g", "V4"])
def test_other_dtypes_are_refused(dtype: str) -> None:
    assert weight_kind_or_none(np.dtype(dtype)) is None
    with pytest.raises(InvalidGraphError, match="they must be one of bool, int8-64, uint8-64"):
        check_dtype(np.dtype(dtype))


def test_as_weights_copies_only_what_it_must() -> None:
    native = np.array([1.5, 2.5])
    assert as_weights(native) is native
    assert as_weights(native.astype(">f8")).dtype == np.float64
    assert as_weights([1, 2.5]).tolist() == [1.0, 2.5]
    with pytest.raises(InvalidGraphError, match=r"weight 1 is -9007199254740993 .* would round"):
        as_weights((0.5, -(2**53) - 1))
