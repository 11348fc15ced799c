"""Functions of one element: their arguments, which come at run time, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from clmst import Device, InvalidArgumentError, KernelBuildError
from clmst.primitives.compact import compact
from clmst.primitives.function import Predicate
from clmst.primitives.histogram import LOCAL_BINS, histogram
from clmst.primitives.map import Map, map
from clmst.primitives.monoid import Monoid
from clmst.primitives.scan import reduce
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher
from tests.primitives.shapes import each_compiler

WORD = np.dtype(np.uint32)
RULE = Predicate(
    dtype=WORD, expression="x < limit && table[i / 2] != 0", scalars={"limit": "u4"},
    arrays={"table": "u1"},
)  # fmt: skip


def test_a_call_compiles_nothing(any_device: Device) -> None:
    """Another argument must be the same program: builds take a second."""
    values = DeviceArray.from_host(np.arange(9, dtype=np.uint32), any_device)
    below = Predicate(dtype=WORD, expression="x < bound_of_this_test", scalars={
        "bound_of_this_test": "u4"
    })  # fmt: skip
    compact(values, predicate=below(bound_of_this_test=1))
    built = len(any_device._programs)
    found = [
        int(compact(values, predicate=below(bound_of_this_test=k))[1].to_host()[0])
        for k in range(10)
    ]
    assert found == list(range(10))
    assert len(any_device._programs) == built


@pytest.mark.parametrize(
    ("code", "number", "expected"),
    [("u1", 255, 255), ("i2", -300, -300), ("u8", 2**63, 2**63), ("i8", -(2**62), -(2**62))],
)
def test_numbers_of_every_width(any_device: Device, code: str, number: int, expected: int) -> None:
    """An argument that is cut to 32 bits would go unnoticed for small numbers."""
    values = DeviceArray.from_host(np.zeros(3, code), any_device)
    add = Map(dtype=np.dtype(code), expression="x + more", scalars={"more": code})
    assert map(values, add(more=number)).to_host().tolist() == [expected] * 3


def test_a_call_leaves_the_function_as_it_is(any_device: Device) -> None:
    given = DeviceArray.from_host(np.ones(9, np.uint8), any_device)
    bound = RULE(limit=3, table=given)
    assert bound == RULE
    assert hash(bound) == hash(RULE)
    assert (dict(RULE.given), bound.given["limit"]) == ({}, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "the predicate is given none; its arguments are limit, table"),
        ({"limit": 3}, "is given limit; its arguments are limit, table"),
        ({"limit": 3, "table": None, "more": 1}, "is given limit, more, table;"),
        ({"limit": -1, "table": None}, "limit is -1; it must be a number of uint32"),
        ({"limit": 2.5, "table": None}, "limit is 2.5; it must be a number of uint32"),
        ({"limit": 2**32, "table": None}, "limit is 4294967296; it must be a number of uint32"),
        ({"limit": 1e300, "table": None}, "limit is 1e"),
        ({"limit": float("nan"), "table": None}, "limit is nan; it must be a number"),
        ({"limit": "3", "table": None}, "limit is '3'; it must be a number of uint32"),
        ({"limit": [3], "table": None}, r"limit is \[3\]; it must be a number of uint32"),
        ({"limit": 3, "table": None}, "table is a NoneType; primitives work on device arrays"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        RULE(**arguments)


def test_arrays_of_another_dtype(any_device: Device) -> None:
    table = DeviceArray.empty(9, np.uint16, any_device)
    with pytest.raises(InvalidArgumentError, match="table is of uint16; it must be of uint8"):
        RULE(limit=3, table=table)


def test_arguments_are_not_forgotten(any_device: Device) -> None:
    """A kernel that is short of arguments would take what the last launch had."""
    values = DeviceArray.empty(9, WORD, any_device)
    with pytest.raises(InvalidArgumentError, match="is given none; its arguments are limit, table"):
        compact(values, predicate=RULE)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"expression": "x[0]"}, "the end of the expression must stand there"),
        ({"expression": "table", "arrays": {"table": "u4"}}, r"'\[' must stand there"),
        ({"expression": "table[table]", "arrays": {"table": "u4"}}, r"'\[' must stand there"),
        ({"expression": "table[1", "arrays": {"table": "u4"}}, r"'\]' must stand there"),
        ({"expression": "&table[1]", "arrays": {"table": "u4"}}, "a number, a name or a bracket"),
        ({"expression": "x", "scalars": {"x": "u4"}}, "something else already"),
        ({"expression": "x", "scalars": {"i": "u4"}}, "something else already"),
        ({"expression": "x", "scalars": {"a": "u4"}, "arrays": {"a": "u4"}}, "something else"),
        ({"expression": "x", "scalars": {"Given": "u4"}}, "it must be lower-case letters"),
        *(
            ({"expression": "x", "scalars": {name: "u4"}}, "not a word of OpenCL C")
            for name in ("float4", "generic", "image2d_array_t")
        ),
        ({"expression": "x", "scalars": {"a": "u4,u4"}}, "records are given in arrays"),
        ({"expression": "x", "scalars": {"a": "f2"}}, "elements are float16"),
        ({"expression": "x", "scalars": 3}, "scalars is 3; it must be a mapping"),
        ({"expression": "f(a)", "scalars": {"f": "u4", "a": "u4"}}, "not a function"),
    ],
)
def test_wrong_functions(parts: dict[str, Any], message: str) -> None:
    """Only arrays may be indexed, and a name must not hide another one."""
    with pytest.raises(InvalidArgumentError, match=message):
        Predicate(dtype=WORD, **parts)


def test_names_that_kernels_have(any_device: Device) -> None:
    """A caller cannot know how kernels call their functions, variables and types."""
    values = DeviceArray.from_host(np.arange(1, 6, dtype=WORD), any_device)
    add = "uint {}(uint combine, uint b) {{ return combine + b; }}"
    total = Monoid(
        dtype=WORD, combine="combine(a, choose(b, 0))", identity="before(0, 0)",
        preamble="\n".join(add.format(name) for name in ("combine", "choose", "before")),
    )  # fmt: skip
    assert reduce(values, monoid=total).to_host().tolist() == [15]
    more = Map(
        dtype=WORD, expression="function_of(x, t) + n[i]", scalars={"t": "u4"}, arrays={"n": "u4"},
        preamble=add.format("function_of"),
    )  # fmt: skip
    assert map(values, more(t=7, n=values)).to_host().tolist() == [9, 11, 13, 15, 17]


# ------------------------------------------------------------------------------------------- maps


@pytest.mark.parametrize("result", ["u1", "i1", "u2", "i2", "u4", "i4", "f4", "u8", "i8"])
def test_every_result(any_device: Device, result: str) -> None:
    host = np.array([0, 1, 100], np.int8)
    twice = Map(dtype=np.dtype("i1"), result=np.dtype(result), expression="x + 20")
    found = map(DeviceArray.from_host(host, any_device), twice).to_host()
    assert found.dtype == np.dtype(result)
    assert found.tolist() == [20, 21, 120]


def test_vectors(any_device: Device) -> None:
    pair = np.dtype([("x", "f4"), ("y", "f4")])
    host = np.array([(3, 4), (6, 8)], pair)
    length = Map(dtype=pair, result=np.dtype("f4"), expression="length(x)")
    assert map(DeviceArray.from_host(host, any_device), length).to_host().tolist() == [5, 10]


def test_doubles_of_packed_records(any_device: Device) -> None:
    """Kernels read and write records as integers, whatever the alignment of the fields is."""
    mixed = np.dtype([("tag", "u2"), ("far", "f8"), ("near", "i2"), ("last", "f4")])
    place = np.dtype([("at", "u4"), ("next", "u1")])
    rng = np.random.default_rng(5)
    n = 1000
    given, places = np.zeros(n, mixed), np.zeros(n, place)
    given["tag"], given["near"] = rng.integers(0, 500, n), rng.integers(-500, 500, n)
    given["far"], given["last"] = rng.random(n), rng.random(n, np.float32)
    places["at"], places["next"] = rng.permutation(n), rng.integers(0, 9, n)
    moved = Map(
        dtype=mixed, arrays={"places": place, "rows": mixed},
        expression="result(rows[places[i].at].tag, rows[places[i].at].far - x.far,"
        " x.near + places[i].next, x.last)",
    )  # fmt: skip
    arrays = {"places": places, "rows": given}
    found = map(
        DeviceArray.from_host(given, any_device),
        moved(**{name: DeviceArray.from_host(one, any_device) for name, one in arrays.items()}),
    )
    expected = given.copy()
    expected["tag"] = given["tag"][places["at"]]
    expected["far"] = given["far"][places["at"]] - given["far"]
    expected["near"] += places["next"]
    assert np.array_equal(found.to_host(), expected)


def test_bits_as_another_dtype_in_place(any_device: Device) -> None:
    values = DeviceArray.from_host(np.array([1.0, -2.0], np.float32), any_device)
    bits = Map(dtype=np.dtype("f4"), result=WORD, expression="as_uint(x)")
    found = map(values, bits, out=values.view(WORD)).to_host()
    assert found.tolist() == [0x3F800000, 0xC0000000]


# ------------------------------------------------------------------------------------- histograms


@pytest.mark.parametrize("n_bins", [0, 1, LOCAL_BINS, LOCAL_BINS + 1])
def test_one_bin_has_all(any_device: Device, n_bins: int) -> None:
    """All atomic additions meet in one word."""
    values = DeviceArray.from_host(np.zeros(50_000, np.uint8), any_device)
    counts = histogram(values, n_bins).to_host()
    assert counts.tolist() == ([50_000] + [0] * (n_bins - 1) if n_bins else [])


def test_no_values(any_device: Device) -> None:
    """Counts of an output that is used again must not stay."""
    out = DeviceArray.from_host(np.array([5, 6, 7], np.uint32), any_device)
    assert histogram(DeviceArray.empty(0, WORD, any_device), 2, out=out).to_host().tolist() == [
        0,
        0,
    ]
    assert out.to_host().tolist() == [0, 0, 7]


def test_numbers_of_64_bits_are_not_cut(any_device: Device) -> None:
    values = DeviceArray.from_host(np.array([1, 2**32 + 1, 2**64 - 1], np.uint64), any_device)
    assert histogram(values, 3).to_host().tolist() == [0, 1, 0]


def test_bins_of_ones_own(any_device: Device) -> None:
    host = np.random.default_rng(0).random(10_000).astype(np.float32) * 2 - 0.5
    host[:4] = 1e30, np.inf, -np.inf, np.nan
    even = Map(
        dtype=np.dtype("f4"), result=WORD,
        expression="x >= least ? convert_uint_sat((x - least) * scale) : UINT_MAX",
        scalars={"least": "f4", "scale": "f4"},
    )  # fmt: skip
    counts = histogram(DeviceArray.from_host(host, any_device), 8, bin_of=even(least=0, scale=8))
    assert counts.to_host().tolist() == np.histogram(host[4:], 8, range=(0, 1))[0].tolist()


# --------------------------------------------------------------------------------- builds

F_OF_TWO = "static inline uint f(uint a, uint b) {\n  return a + b.w;\n}"
BAD = [  # what does not compile, the program's name, the place in the log, and the caller's words
    (Monoid(dtype=WORD, combine="a + b.w", identity="0", name="bad"), "scan[bad,", "bad:", "b.w"),
    (Monoid(dtype=WORD, combine="f(a, b)", identity="0", preamble=F_OF_TWO, name="bad"),
     "scan[bad,", "bad:2:", "b.w"),  # lines of the preamble are counted from 1
    (Predicate(dtype=WORD, expression="x.w > 3", name="above"), "compact", "above:3:", "x.w"),
    (Map(dtype=WORD, expression="x.w + 1", name="of no vector"), "map", "of no vector:", "x.w"),
]  # fmt: skip


@pytest.mark.parametrize(("bad", "label", "place", "words"), BAD, ids=lambda one: str(one)[:20])
@each_compiler
def test_what_does_not_compile(plain: Device, bad: Any, label: str, place: str, words: str) -> None:
    """The label names the operator, the log its line, and nothing is launched or written."""
    values, out = (DeviceArray.from_host(np.arange(100, dtype=WORD), plain) for _ in range(2))
    launch = Launcher(plain, plain.queue)
    calls: dict[type, tuple[Callable[..., object], str]] = {
        Monoid: (reduce, "monoid"), Predicate: (compact, "predicate"), Map: (map, "function")
    }  # fmt: skip
    call, name = calls[type(bad)]
    with pytest.raises(KernelBuildError) as caught:
        call(values, **{name: bad}, out=out, launch=launch)
    assert caught.value.label.startswith(label)
    assert bad.name in str(caught.value)
    assert place in caught.value.log
    assert words in caught.value.log
    assert launch.launches == 0
    np.testing.assert_array_equal(out.to_host(), np.arange(100))
