"""The rules by which the standard run takes some of the cases of a test."""

from __future__ import annotations

from itertools import product

import pytest

from tests.helpers.sampling import covering, first_and_others

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


def test_every_value_is_on_the_first_variant_and_elsewhere() -> None:
    """The others share the values, and each of them has a case."""
    variants = [one["a"] for one in CASES]
    taken = [CASES[number] for number in first_and_others(CASES, variants)]
    first = [one for one in taken if one["a"] == 0]
    others = [one for one in taken if one["a"] != 0]
    for some in (first, others):
        for name in "bc":
            assert {one[name] for one in some} == {one[name] for one in CASES}
    assert {one["a"] for one in others} == {1, 2, 3}
    assert (len(first), len(others)) == (3, 3)
