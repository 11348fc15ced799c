"""Which cases of a test the standard run takes, if all of them take long.

``run.py test`` leaves out the cases that are marked ``exhaustive``; ``run.py test --all`` runs
them, too. Beside marks that tests set themselves, two rules mark cases of tests with parameters.
Both choose from all cases of a test that are not marked yet, so that they choose the same cases in
every run of a whole file.

* **Covering.** A test with the mark ``covering`` takes few cases in which every value of every
  parameter occurs. Arguments of the mark name parameters whose combinations must occur, too:
  ``covering("device setting")`` takes every setting on every device, and every value of the other
  parameters at least once.
* **Turns.** Each other test that runs on variants of devices takes all cases on the first variant,
  which is the default device as it is. The other variants take turns: each case runs on one of
  them, and each of them has one case at least. `takes_turns` of ``tests/helpers/variants.py`` says
  which variants have no turn. The contract suite and the tests of primitives take no turns.

With ``CLMST_TESTED_CASES=values``, as in the pass with the lowest versions of packages, each test
takes few cases in which every value of every parameter occurs, whatever its mark says.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence

import pytest

VALUES_ALONE = os.environ.get("CLMST_TESTED_CASES") == "values"


def covering(cases: Sequence[Mapping[str, Hashable]], *groups: str) -> set[int]:
    """Return the numbers of few cases that have every value, and every combination in a group.

    A group is names of parameters with spaces between them. Each step takes the case that has the
    most values and combinations which no case before has. Of several, it takes the one whose values
    were taken least often, and the first one of these.
    """
    names = [(name,) for name in cases[0]] + [tuple(group.split()) for group in groups]
    facts = [{(name, tuple(case[one] for one in name)) for name in names} for case in cases]
    missing = set[object]().union(*facts)
    taken, times = set[int](), Counter[object]()
    while missing:
        found = [len(fact & missing) for fact in facts]
        most = max(found)
        several = [number for number, n in enumerate(found) if n == most]
        best = min(several, key=lambda number: sum(times[one] for one in facts[number]))
        taken.add(best)
        times.update(facts[best])
        missing -= facts[best]
    return taken


def in_turn(variants: Sequence[object]) -> set[int]:
    """Return the numbers of the cases that are taken, given the variant of each case.

    The variant of the first case takes all of its cases.
    """
    of_variant = defaultdict[object, list[int]](list)
    for number, variant in enumerate(variants):
        of_variant[variant].append(number)
    first, *others = of_variant.values()
    taken = set(first)
    for turn, numbers in enumerate(others):
        taken.update(numbers[turn :: len(others)] or [numbers[turn % len(numbers)]])
    return taken


def by_test(items: Iterable[pytest.Item]) -> list[list[pytest.Function]]:
    """Return, for each test with parameters, its cases that are not marked as exhaustive."""
    found = defaultdict[str, list[pytest.Function]](list)
    for item in items:
        is_case = isinstance(item, pytest.Function) and hasattr(item, "callspec")
        if is_case and item.get_closest_marker("exhaustive") is None:
            found[item.nodeid.partition("[")[0]].append(item)
    return list(found.values())


def values_of(case: pytest.Function) -> dict[str, Hashable]:
    """Return the values of a case by parameter, or their identities if they have no hash."""
    found = dict[str, Hashable](case.callspec.params)
    for name, value in case.callspec.params.items():
        try:
            hash(value)
        except TypeError:
            found[name] = id(value)
    return found


def leave_out(cases: Sequence[pytest.Function], taken: set[int]) -> None:
    """Mark the cases that are not taken as exhaustive."""
    for number, case in enumerate(cases):
        if number not in taken:
            case.add_marker(pytest.mark.exhaustive)
