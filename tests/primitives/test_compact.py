"""Compaction: every length at which a share ends differently, every dtype, every way of calling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device, InvalidArgumentError, KernelBuildError
from clmst.primitives.compact import compact, positions
from clmst.primitives.function import Predicate
from clmst.primitives.selection import divide
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher
from clmst.runtime.source import compose
from tests.primitives.compact_cases import compacts
from tests.primitives.mistakes import assert_refused
from tests.primitives.selections import (
    KINDS,
    PREDICATES,
    QUAD,
    SCALARS,
    TRIPLE,
    Array,
    count_of,
    draw,
    flags,
    holds,
    lengths_for,
    predicate,
    same,
    with_shares,
    words,
)
from tests.primitives.shapes import each_compiler, each_shape

WORD = np.dtype(np.uint32)
TAIL = 5

each_kind = pytest.mark.parametrize("kind", KINDS)


def put(device: Device, *arrays: Array) -> list[DeviceArray]:
    return [DeviceArray.from_host(array, device) for array in arrays]


# --------------------------------------------------------------------------- lengths


@each_kind
@each_shape
def test_flagged_of_every_length(shape: Device, kind: str) -> None:
    """A row, tile or share that is just filled, or not, must lose or repeat nothing."""
    device = with_shares(shape, 1)
    for length in lengths_for(device):
        rng = np.random.default_rng(length)
        records, chosen = draw(rng, WORD, length), flags(rng, kind, length)
        given = DeviceArray.from_host(np.concatenate([chosen, np.ones(40, np.uint8)]), device)
        assert compacts(device, records, chosen != 0, flags=given[:length])


@each_shape
def test_holding_of_every_length(shape: Device) -> None:
    device = with_shares(shape, 1)
    for length in lengths_for(device):
        records = draw(np.random.default_rng(length), WORD, length)
        assert compacts(device, records, holds(records), predicate=predicate(WORD))


@each_kind
@each_shape
def test_positions_of_every_length(shape: Device, kind: str) -> None:
    device = with_shares(shape, 1)
    for length in lengths_for(device):
        rng = np.random.default_rng(length)
        chosen = flags(rng, kind, length)
        expected = np.flatnonzero(chosen).astype(np.uint32)
        behind = draw(rng, WORD, length + TAIL)
        given, out = put(device, chosen, behind)
        found, count = positions(given, out=out)
        assert count_of(count) == expected.size
        assert found.size == length
        assert same(out.to_host(), np.concatenate([expected, behind[expected.size :]]))


@each_shape
def test_single_flags(shape: Device) -> None:
    """The first and the last flag of all, of a word, of a vector and of a row."""
    device = with_shares(shape, 1)
    for length in lengths_for(device)[::3]:
        for at in {0, 3, 4, 15, 16, 31, 32, length // 2, length - 1} & set(range(length)):
            chosen = np.zeros(length, np.uint8)
            chosen[at] = 0x80
            found, count = positions(*put(device, chosen))
            assert count_of(count) == 1
            assert found[:1].to_host().tolist() == [at]


@each_shape
def test_more_work_groups_than_a_work_group_has_work_items(shape: Device) -> None:
    """Then the spine takes several counts a work-item; those in front find nothing."""
    device = with_shares(shape, 2 * shape.policy.work_group_size)
    short = divide(device, 3 * 2**17)
    # Where tiles are large, an array of so many has fewer work-groups.
    most = short.share * short.lane_groups * (shape.policy.work_group_size + 2)
    length = 5 + (3 * 2**17 if short.groups > shape.policy.work_group_size else most)
    assert divide(device, length).groups > shape.policy.work_group_size
    rng = np.random.default_rng(1)
    records, chosen = draw(rng, WORD, length), flags(rng, "half", length)
    chosen[: length // 3] = 0
    assert compacts(device, records, chosen != 0, flags=DeviceArray.from_host(chosen, device))


@each_shape
def test_as_many_shares_as_are_resident(shape: Device) -> None:
    rng = np.random.default_rng(2)
    records, chosen = draw(rng, WORD, 2**21 - 3), flags(rng, "half", 2**21 - 3)
    assert compacts(shape, records, chosen != 0, flags=DeviceArray.from_host(chosen, shape))
    assert compacts(shape, records, holds(records), predicate=predicate(WORD))


# ---------------------------------------------------------------------------- dtypes


def lengths_of_two_kinds(device: Device) -> tuple[int, int]:
    """Return a length that one work-group takes, and one that several do."""
    return 1003, 2**17 + 77


@pytest.mark.parametrize("dtype", [*SCALARS, TRIPLE, QUAD], ids=str)
@each_shape
def test_flagged_of_every_dtype(shape: Device, dtype: np.dtype[Any]) -> None:
    for length in lengths_of_two_kinds(shape):
        rng = np.random.default_rng(length)
        records, chosen = draw(rng, dtype, length), flags(rng, "half", length)
        assert compacts(shape, records, chosen != 0, flags=DeviceArray.from_host(chosen, shape))


@pytest.mark.parametrize("dtype", PREDICATES, ids=str)
@each_shape
def test_holding_of_every_dtype(shape: Device, dtype: np.dtype[Any]) -> None:
    for length in lengths_of_two_kinds(shape):
        records = draw(np.random.default_rng(length), dtype, length)
        assert compacts(shape, records, holds(records), predicate=predicate(dtype))


@pytest.mark.parametrize(("record", "value"), [(1, 3), (3, 2), (5, 16), (16, 1)])
@each_shape
def test_values_go_along(shape: Device, record: int, value: int) -> None:
    """Of every size that is moved in pieces of its own."""
    for length in lengths_of_two_kinds(shape):
        rng = np.random.default_rng(length)
        records, values = draw(rng, words(record), length), draw(rng, words(value), length)
        chosen = flags(rng, "half", length)
        given = DeviceArray.from_host(chosen, shape)
        assert compacts(shape, records, chosen != 0, values, flags=given)


@pytest.mark.parametrize("n_words", [8, 16])
@each_compiler
def test_predicates_of_long_vectors(plain: Device, n_words: int) -> None:
    """Which are held in several pieces."""
    dtype = words(n_words)
    records = draw(np.random.default_rng(3), dtype, 1003)
    last = dtype.names[-1] if dtype.names else ""
    rule = Predicate(dtype=dtype, expression=f"x.s0 < x.s{n_words - 1:x}")
    assert compacts(plain, records, records["f0"] < records[last], predicate=rule)


# -------------------------------------------------------------------- ways of calling


@each_shape
def test_sequential_twin(shape: Device) -> None:
    """A single work-item does the same, whatever the shape."""
    rng = np.random.default_rng(4)
    records, values = draw(rng, WORD, 20_011), draw(rng, TRIPLE, 20_011)
    chosen = flags(rng, "clustered", records.size)
    mask: Array = chosen != 0
    rule: dict[str, Any] = {"strategy": "sequential"}
    given = DeviceArray.from_host(chosen, shape)
    assert compacts(shape, records, mask, values, flags=given, **rule)
    assert compacts(shape, records, holds(records), predicate=predicate(WORD), **rule)
    found, count = positions(given, strategy="sequential")
    assert same(found[: count_of(count)].to_host(), np.flatnonzero(mask).astype(np.uint32))


@pytest.mark.parametrize("length", [1003, 2**17 + 77])
@each_shape
def test_promise(shape: Device, length: int) -> None:
    """What is promised fits, be it exactly; what is more is not written, but counted."""
    rng = np.random.default_rng(length)
    records, chosen = draw(rng, WORD, length), flags(rng, "half", length)
    kept = records[chosen != 0]
    given = put(shape, records, chosen)
    for at_most in (0, 1, kept.size - 1, kept.size, kept.size + 1, length + 9):
        written_most = min(at_most, length)
        behind = draw(rng, WORD, written_most + TAIL)
        out = DeviceArray.from_host(behind, shape)
        for values in (None, given[0]):
            outs: dict[str, Any] = {"out": out} if values is None else {"values_out": out}
            found, *_, count = compact(*given, values=values, at_most=at_most, **outs)
            assert found.size == written_most
            assert count_of(count) == kept.size
            written = min(written_most, kept.size)
            assert same(out.to_host(), np.concatenate([kept[:written], behind[written:]]))
        found, count = positions(given[1], at_most=at_most)
        assert found.size == written_most
        assert count_of(count) == kept.size


@each_compiler
def test_predicate_with_a_preamble(plain: Device) -> None:
    preamble = "bool is_odd(uint x) {\n  return x % 2 == 1;\n}"
    odd = Predicate(dtype=WORD, expression="is_odd(x)", preamble=preamble)
    records = draw(np.random.default_rng(5), WORD, 500)
    assert compacts(plain, records, records % 2 == 1, predicate=odd)


@each_compiler
def test_launches(plain: Device) -> None:
    """Three whatever the length, one for a short array; and none is waited for."""
    for length, launches in ((0, 1), (2**14, 1), (2**18, 3)):
        launch = Launcher(plain, plain.queue)
        chosen = DeviceArray.from_host(np.ones(length, np.uint8), plain)
        positions(chosen, launch=launch)
        assert launch.launches == launches


# ---------------------------------------------------------------------------- errors


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
        Predicate(dtype=TRIPLE, expression="x.x > 3")


def test_flags_are_no_vectors_of_16() -> None:
    """Zink crashes while it builds 16 bytes that become words."""
    text = compose("primitives/compact.cl")
    assert "serial_flags" in text
    assert "vload16" not in text
