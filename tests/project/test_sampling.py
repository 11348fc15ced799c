"""The rules by which the standard run takes some of the cases of a test."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product

import pytest

from tests.helpers.sampling import covering

CASES: list[dict[str, Hashable]] = [
    dict(zip("abc", values, strict=True)) for values in product(range(4), "xyz", (False, True))
]


def test_every_value_is_taken_in_few_cases() -> None:
    taken = covering(CASES, dict)
    for name in "abc":
        assert {one[name] for one in taken} == {one[name] for one in CASES}
    assert len(taken) == 4  # as many as the longest parameter has values


@pytest.mark.parametrize("group", ["a b", "b c", "a b c"])
def test_every_combination_of_a_group_is_taken(group: str) -> None:
    names = group.split()
    taken = covering(CASES, dict, group)
    every = {tuple(one[name] for name in names) for one in CASES}
    assert {tuple(one[name] for name in names) for one in taken} == every
    assert len(taken) == len(every)


def test_a_lonely_case_is_taken() -> None:
    assert covering([{"a": 1}], dict) == [{"a": 1}]
