"""Functions of one element: their arguments, which come at run time, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device, InvalidArgumentError
from clmst.primitives.compact import compact
from clmst.primitives.function import Predicate
from clmst.primitives.map import Map, map
from clmst.runtime.array import DeviceArray

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


def test_what_is_read_is_not_written(any_device: Device) -> None:
    values = DeviceArray.empty(9, WORD, any_device)
    table = DeviceArray.empty(36, np.uint8, any_device)
    with pytest.raises(InvalidArgumentError, match="out and table overlap"):
        compact(values, predicate=RULE(limit=3, table=table), out=table.view(WORD))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"expression": "x[0]"}, "the expression must end"),
        ({"expression": "table", "arrays": {"table": "u4"}}, r"'\[' must stand there"),
        ({"expression": "table[table]", "arrays": {"table": "u4"}}, r"'\[' must stand there"),
        ({"expression": "table[1", "arrays": {"table": "u4"}}, r"'\]' must stand there"),
        ({"expression": "&table[1]", "arrays": {"table": "u4"}}, "a number, a name or a bracket"),
        ({"expression": "x", "scalars": {"x": "u4"}}, "something else already"),
        ({"expression": "x", "scalars": {"i": "u4"}}, "something else already"),
        ({"expression": "x", "scalars": {"a": "u4"}, "arrays": {"a": "u4"}}, "something else"),
        ({"expression": "x", "scalars": {"Given": "u4"}}, "it must be lower-case letters"),
        ({"expression": "x", "scalars": {"float4": "u4"}}, "no word of OpenCL C"),
        ({"expression": "x", "scalars": {"a": "u4,u4"}}, "vectors are given in arrays"),
        ({"expression": "x", "scalars": {"a": "f2"}}, "elements are float16"),
        ({"expression": "x", "scalars": 3}, "scalars is 3; it must be a mapping"),
        ({"expression": "f(a)", "scalars": {"f": "u4", "a": "u4"}}, "no function"),
    ],
)
def test_wrong_functions(parts: dict[str, Any], message: str) -> None:
    """What is no array must not be indexed, and no name may hide another one."""
    with pytest.raises(InvalidArgumentError, match=message):
        Predicate(dtype=WORD, **parts)
