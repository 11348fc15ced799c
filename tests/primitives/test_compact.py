"""Selections: every length at which a share ends differently, every dtype, every way of calling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device, InvalidArgumentError, KernelBuildError
from clmst.primitives.compact import compact, partition, positions, unique_by_key
from clmst.primitives.function import Predicate
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher
from clmst.runtime.source import compose
from tests.primitives.mistakes import assert_refused
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


@each_compiler
def test_launches(plain: Device) -> None:
    """Three whatever the length, one for a short array; and none is waited for."""
    for length, launches in ((0, 1), (2**14, 1), (2**18, 3)):
        launch = Launcher(plain, plain.queue)
        chosen = DeviceArray.from_host(np.ones(length, np.uint8), plain)
        positions(chosen, launch=launch)
        assert launch.launches == launches


# ---------------------------------------------------------------------------- errors


def test_out_of_a_partition_must_hold_all(any_device: Device) -> None:
    """Unlike compaction it has no promise that would allow for less."""
    records, chosen = DeviceArray.empty(9, WORD, any_device), DeviceArray.empty(9, "u1", any_device)
    mistakes = [
        ("out has 8 elements; it must have at least 9", {"out": records[:8]}),
        ("out and records overlap", {"out": records}),
    ]
    assert_refused(partition, {"records": records, "flags": chosen}, mistakes, records)


def test_mistakes(any_device: Device) -> None:
    byte, word, odd = np.dtype(np.uint8), np.dtype(np.uint32), np.dtype("V17")

    def new(length: int, dtype: np.dtype[Any]) -> DeviceArray:
        return DeviceArray.empty(length, dtype, any_device)

    long = DeviceArray.from_host(np.zeros(512, np.uint32), any_device)
    above = Predicate(dtype=WORD, expression="x > 3")
    of_floats = Predicate(dtype=np.dtype("f4"), expression="x > 3")
    pair = {"values": new(100, word), "values_out": new(9, word)}
    mistakes: list[tuple[str, dict[str, Any]]] = [
        ("neither flags nor a predicate", {"flags": None}),
        ("both flags and a predicate", {"predicate": above}),
        ("flags has 99 elements; it must have 100", {"flags": new(99, byte)}),
        ("flags is of uint32; it must be of uint8", {"flags": new(100, word)}),
        ("records has elements of", {"records": new(100, odd)}),
        ("values has elements of", {"values": new(100, odd)}),
        ("values has 99 elements", {"values": new(99, word)}),
        ("values_out but no values", {"values_out": new(100, word)}),
        ("out has 99 elements; it must have at least 100", {"out": new(99, word)}),
        ("values_out has 9 elements", pair),
        ("out is of int32", {"out": new(100, np.dtype(np.int32))}),
        ("count has 0 elements", {"count": new(0, word)}),
        ("count is of uint64", {"count": new(1, np.dtype(np.uint64))}),
        ("out and records overlap", {"records": long[128:228], "out": long}),
        ("out and flags overlap", {"flags": long.view(np.uint8)[:100], "out": long}),
        ("values_out and out overlap", pair | {"out": long, "values_out": long[128:]}),
        ("count and out overlap", {"out": long, "count": long[128:129]}),
        ("at_most is -1", {"at_most": -1}),
        ("no strategy is called 'quick'", {"strategy": "quick"}),
        ("records is a ndarray", {"records": np.zeros(100, np.uint32)}),
        ("predicate is 'x > 3'; it must be a Predicate", {"flags": None, "predicate": "x > 3"}),
        (
            "the predicate is of float32, the elements are of uint32",
            {"flags": None, "predicate": of_floats},
        ),
    ]
    records, chosen, out = put(
        any_device, np.arange(100, dtype=np.uint32), np.ones(100, np.uint8), np.zeros(100, WORD)
    )
    right = {"records": records, "flags": chosen, "out": out}
    assert_refused(compact, right, mistakes, records, chosen, out, long)


def test_arrays_of_another_context(any_device: Device) -> None:
    other = any_device.with_policy(any_device.policy)  # which has a context of its own
    records, chosen = DeviceArray.empty(9, WORD, any_device), DeviceArray.empty(9, "u1", other)
    with pytest.raises(InvalidArgumentError, match="must be in one context"):
        compact(records, chosen)


@each_compiler
def test_predicate_that_does_not_compile(plain: Device) -> None:
    """The log tells what is wrong with the caller's own line, under the predicate's name."""
    rule = Predicate(dtype=WORD, expression="x.w > 3", name="above the threshold")
    records, out = put(plain, np.arange(100, dtype=np.uint32), np.zeros(100, WORD))
    launch = Launcher(plain, plain.queue)
    with pytest.raises(KernelBuildError) as raised:
        compact(records, predicate=rule, out=out, launch=launch)
    assert "above the threshold" in str(raised.value)
    assert "above the threshold:3:" in raised.value.log  # after the preamble, and the type
    assert "x.w" in raised.value.log
    assert launch.launches == 0
    assert not out.to_host().any()


@pytest.mark.parametrize("text", ["", " ", "x >\n3", 'x > "3"', "x > \\"])
@pytest.mark.parametrize("what", ["expression", "name"])
def test_predicate_of_several_lines(what: str, text: str) -> None:
    """It would tear the macro, or the line directive, that it goes into."""
    parts: dict[str, Any] = {"expression": "x > 3", "name": "above"} | {what: text}
    with pytest.raises(InvalidArgumentError, match=f"{what} is "):
        Predicate(dtype=WORD, **parts)


def test_predicate_of_what_is_no_vector() -> None:
    with pytest.raises(InvalidArgumentError, match="elements are"):
        Predicate(dtype=vector_of("u4", 3), expression="x.x > 3")


def test_flags_are_no_vectors_of_16() -> None:
    """Zink crashes while it builds 16 bytes that become words."""
    text = compose("primitives/compact.cl")
    assert "serial_flags" in text
    assert "vload16" not in text
