"""Arrays that grow hold what lists joined at the end would hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst.core.errors import FileFormatError
from clmst.core.weight_keys import Array
from clmst.io.growing import GrowingArray

_PARTS = st.one_of(
    st.lists(st.integers(-9, 9), max_size=5).map(lambda values: np.array(values, np.int64)),
    st.lists(st.integers(0, (1 << 64) - 1), max_size=5).map(lambda v: np.array(v, np.uint64)),
    st.lists(st.floats(-9, 9), max_size=5).map(lambda values: np.array(values, np.float64)),
)


def grown(parts: list[Array]) -> Array:
    array = GrowingArray()
    for part in parts:
        array.append(part)
    return array.take()


@given(st.lists(_PARTS, min_size=1, max_size=5))
def test_it_holds_the_parts(parts: list[Array]) -> None:
    numbers = [number for part in parts for number in part.tolist()]
    if any(part.dtype.kind == "f" for part in parts):
        assert grown(parts).tolist() == list(map(float, numbers))
    elif min(numbers, default=0) < 0 and max(numbers) >= 1 << 63:
        with pytest.raises(FileFormatError, match="all must fit into int64, or all into uint64"):
            grown(parts)
    else:
        assert grown(parts).tolist() == numbers


def test_it_grows_by_many_parts() -> None:
    parts = [np.arange(k, dtype=np.uint32) for k in range(300)]
    assert grown(parts).tolist() == np.concatenate(parts).tolist()
    assert grown(parts).dtype == np.uint32


def test_larger_numbers_make_it_wider() -> None:
    parts: list[Array] = [np.array([1], np.uint32), np.array([1 << 40]), np.array([2], np.uint32)]
    assert grown(parts).tolist() == [1, 1 << 40, 2]
    assert grown(parts).dtype == np.int64


def test_nothing_is_left_after_it_is_taken() -> None:
    array = GrowingArray()
    array.append(np.arange(3))
    assert array.take().tolist() == [0, 1, 2]
    assert array.size == 0
    with pytest.raises(FileFormatError, match=r"range from -1 to 18446744073709551615"):
        grown([np.array([-1]), np.array([(1 << 64) - 1], np.uint64)])
