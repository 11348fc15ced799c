"""The rules by which the standard run takes some of the cases of a test."""

from __future__ import annotations

from itertools import product

import pytest

from tests.helpers.sampling import covering, in_turn

CASES = [
    dict(zip("abc", values, strict=True)) for values in product(range(4), "xyz", (False, True))
]


def test_every_value_is_taken_in_few_cases() -> None:
    taken = [CASES[number] for number in covering(CASES)]
    for name in "abc":
        assert {one[name] for one in taken} == {one[name] for one in CASES}
    assert len(taken) == 4  # as many as the longest parameter has values


@pytest.mark.parametrize("group", ["a b", "b c", "a b c"])
def test_every_combination_of_a_group_is_taken(group: str) -> None:
    names = group.split()
    taken = [CASES[number] for number in covering(CASES, group)]
    every = {tuple(one[name] for name in names) for one in CASES}
    assert {tuple(one[name] for name in names) for one in taken} == every
    assert len(taken) == len(every)


def test_a_lonely_case_is_taken() -> None:
    assert covering([{"a": 1}]) == {0}


def test_variants_take_turns() -> None:
    """The first takes every case. Each case has one of the others, and each of those has a case."""
    variants = ["first", "second", "third"]
    cases = list(product(range(5), variants))
    taken = [cases[number] for number in sorted(in_turn([one for _, one in cases]))]
    assert [case for case, one in taken if one == "first"] == [*range(5)]
    others = [case for case, one in taken if one != "first"]
    assert sorted(others) == [*range(5)]
    assert {one for _, one in taken} == {*variants}
    assert in_turn(variants) == {0, 1, 2}
