"""Selections: every length at which a share ends differently, every dtype, every way of calling."""

from __future__ import annotations

import numpy as np
import pytest

from clmst import Device
from clmst.primitives.compact import compact, positions, unique_by_key
from clmst.primitives.function import Predicate
from clmst.primitives.scan import segmented_scan
from clmst.primitives.segments import segmented_reduce
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher
from clmst.runtime.source import compose
from tests.primitives.shapes import (
    each_compiler,
    each_shape,
    lengths_of_selections,
    put,
    with_shares,
)
from tests.prove.primitives.operators import vector_of

WORD = np.dtype(np.uint32)
BY_PREDICATE = "by a predicate"
SELECTIONS = ["compact", "partition", "unique_by_key"]
# A length that one work-group takes, and one that several do.
TWO_LENGTHS = (1003, 2**17 + 77)

# --------------------------------------------------------------------------- lengths


@each_shape
def test_single_flags(shape: Device) -> None:
    """The first and the last flag of all, of a word, of a vector and of a row."""
    device = with_shares(shape, 1)
    for length in lengths_of_selections(device)[::3]:
        for at in {0, 3, 4, 15, 16, 31, 32, length // 2, length - 1} & set(range(length)):
            chosen = np.zeros(length, np.uint8)
            chosen[at] = 0x80
            found, count = positions(*put(device, chosen))
            assert [*count.to_host(), *found[:1].to_host()] == [1, at]


# ---------------------------------------------------------------------------- dtypes


@pytest.mark.parametrize("n_words", [4, 8, 16])
@each_compiler
def test_predicates_of_vectors(plain: Device, n_words: int) -> None:
    """Long ones are held in several pieces."""
    dtype, rng = vector_of("u4", n_words), np.random.default_rng(3)
    records = rng.integers(0, 99, (1003, n_words), np.uint32).view(dtype).ravel()
    rule = Predicate(dtype=dtype, expression=f"x.s0 < x.s{n_words - 1:x}")
    found, count = compact(*put(plain, records), predicate=rule)
    expected = records[records["s0"] < records[f"s{n_words - 1}"]]
    assert found[: int(count.to_host()[0])].to_host().tolist() == expected.tolist()


@each_shape
def test_keys_are_compared_bit_by_bit(shape: Device) -> None:
    """As numbers, zeros would be equal and a NaN would differ from itself."""
    keys = np.array([0.0, -0.0, -0.0, np.nan, np.nan, 1.0], np.float32)
    found, count = unique_by_key(*put(shape, keys))
    assert count.to_host().tolist() == [4]
    assert found[:4].to_host().tobytes() == keys[[0, 1, 3, 5]].tobytes()


# -------------------------------------------------------------------- ways of calling


@each_compiler
def test_predicate_with_a_preamble(plain: Device) -> None:
    preamble = "bool is_odd(uint x) {\n  return x % 2 == 1;\n}"
    odd = Predicate(dtype=WORD, expression="is_odd(x)", preamble=preamble)
    found, count = compact(*put(plain, np.arange(9, dtype=WORD)), predicate=odd)
    assert found[: int(count.to_host()[0])].to_host().tolist() == [1, 3, 5, 7]


def test_flags_may_be_a_mask(any_device: Device) -> None:
    """NumPy's comparisons give bools."""
    host = np.arange(9, dtype=WORD)
    values, mask = put(any_device, host, host % 4 == 1)
    assert compact(values, mask)[0].to_host()[:2].tolist() == [1, 5]
    assert positions(mask)[0].to_host()[:2].tolist() == [1, 5]
    assert segmented_scan(values, mask).to_host().tolist() == [0, 1, 3, 6, 10, 5, 11, 18, 26]
    assert segmented_reduce(values, mask)[0].to_host()[:3].tolist() == [0, 10, 26]


@each_compiler
def test_launches(plain: Device) -> None:
    """Three whatever the length, one for a short array or by look-back; none is waited for."""
    looks_back = plain.policy.work_group_size > 1 and plain.capabilities.lanes != "local"
    for length, launches in ((0, 1), (2**14, 1), (2**18, 1 if looks_back else 3)):
        launch = Launcher(plain, plain.queue)
        chosen = DeviceArray.from_host(np.ones(length, np.uint8), plain)
        positions(chosen, launch=launch)
        assert launch.launches == launches


# ---------------------------------------------------------------------------- errors


def test_flags_are_no_vectors_of_16() -> None:
    """Zink crashes while it builds 16 bytes that become words."""
    text = compose("primitives/compact.cl")
    assert "serial_flags" in text
    assert "vload16" not in text
