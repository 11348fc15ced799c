"""Which cases of a test the standard run takes, if all of them take long.

``run.py test`` leaves out the cases that are marked ``exhaustive``; ``run.py test --all`` runs
them, too. Beside marks that tests set themselves, three rules mark cases of tests with parameters.
They choose from all cases of a test that are not marked yet, so that they choose the same cases in
every run of a whole file.

* **Variants.** `takes_part` of ``tests/helpers/variants.py`` says which variants of devices are
  left out, in the contract suite and in other tests.
* **Covering.** A test with the mark ``covering`` takes few cases in which every value of every
  parameter occurs. Arguments of the mark name parameters whose combinations must occur, too:
  ``covering("device setting")`` takes every setting on every device, and every value of the other
  parameters at least once. Arguments may also name three facts about the device of a case:
  `platform`, which is the driver, `work_groups`, which says whether a work-group has one work-item
  or many, and `without`, which capabilities are forced off. ``covering("setting platform",
  "setting work_groups")`` takes every setting on every driver, and every setting in the shape of a
  CPU and in the shape of a GPU.
* **Every value once.** Any other test takes few cases in which every value of every parameter
  occurs. The device is a parameter, so that a test runs on every variant that takes part. A row of
  a table counts as one value. So a test with one parameter, or with a table, takes all of its
  cases. In the contract suite and the tests of primitives, tests without the mark take all cases.

With ``CLMST_TESTED_CASES=values``, as in the pass with the lowest versions of packages, the last
rule holds for all tests, whatever their marks say.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import pytest

Case = TypeVar("Case")

VALUES_ALONE = os.environ.get("CLMST_TESTED_CASES") == "values"


def covering(
    cases: Sequence[Case], values: Callable[[Case], Mapping[str, Hashable]], *groups: str
) -> list[Case]:
    """Return few cases that have every value, and every combination in a group.

    `values` returns the values of a case by parameter. A group is names of parameters with spaces
    between them. Each step takes the case that has the most values and combinations which no case
    before has. Of several, it takes the one whose values were taken least often, and the first one
    of these.
    """
    every = [values(one) for one in cases]
    names = [(name,) for name in every[0]] + [tuple(group.split()) for group in groups]
    facts = [{(name, tuple(case[one] for one in name)) for name in names} for case in every]
    missing = set[object]().union(*facts)
    taken, times = list[Case](), Counter[object]()
    while missing:
        found = [len(fact & missing) for fact in facts]
        most = max(found)
        several = [number for number, n in enumerate(found) if n == most]
        best = min(several, key=lambda number: sum(times[one] for one in facts[number]))
        taken.append(cases[best])
        times.update(facts[best])
        missing -= facts[best]
    return taken


def by_test(items: Iterable[pytest.Item]) -> list[list[pytest.Function]]:
    """Return, for each test with parameters, its cases that are not marked as exhaustive."""
    found = defaultdict[str, list[pytest.Function]](list)
    for item in items:
        if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
            continue
        if item.get_closest_marker("exhaustive") is None:
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


def rows_of(case: pytest.Function) -> dict[str, Hashable]:
    """Return the values of a case like `values_of`, but a row of a table as one value.

    A table gives several parameters at once, ``parametrize(("number", "message"), ...)``. Each row
    was chosen for its combination.
    """
    found = values_of(case)
    for mark in case.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        names = [name.strip() for name in names]
        if len(names) > 1:
            found[" ".join(names)] = tuple(found.pop(name) for name in names)
    return found


def leave_out(cases: Sequence[pytest.Function], taken: Sequence[pytest.Function]) -> None:
    """Mark the cases that are not taken as exhaustive."""
    kept = {*taken}
    for case in cases:
        if case not in kept:
            case.add_marker(pytest.mark.exhaustive)
