"""Whatever a caller gives for an argument is taken, or refused by one of clmst's errors."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import Any

import pytest

import clmst
from clmst import Device, drawing, generators, io, primitives
from clmst.core import arguments
from clmst.core.errors import ClmstError, InvalidArgumentError, InvalidGraphError
from tests.helpers.strategies import EXHAUSTIVE
from tests.misuse import sweep
from tests.misuse.entries import Entry, entries
from tests.misuse.world import World

# The step from call to call; a prime, so that over time every value meets every kind of argument.
EVERY = 47 if EXHAUSTIVE else 97


def test_misused_calls_are_refused() -> None:
    """None raises a foreign error, and none ends the process; the command makes all calls."""
    outcomes = sweep.run(every=EVERY, is_optimised=False)
    assert outcomes.calls > 56_400 / EVERY
    assert outcomes.refused > 0.9 * outcomes.calls
    assert outcomes.foreign == []
    assert outcomes.ended == []


def test_valid_calls_are_valid(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a call would be refused for another argument than the one that was exchanged."""
    monkeypatch.chdir(tmp_path)
    world = World()
    for entry in entries():
        function, given = entry.make(world)
        function(**given)


def test_a_fault_would_be_seen() -> None:
    """A sweep that sees nothing wrong would be green for ever."""

    def foreign(**_: Any) -> None:
        raise KeyError("x")

    one = sweep.outcome_of(Entry("x", lambda _: (foreign, {"a": 1})), "a", 2)
    assert (one["outcome"], one["kind"]) == ("foreign", "KeyError")
    for result, outcome in ((None, "returned"), (InvalidGraphError("x"), "refused")):

        def call(result: Any = result, **_: Any) -> None:
            if result is not None:
                raise result

        entry = Entry("x", partial(lambda call, _: (call, {"a": 1}), call))
        assert sweep.outcome_of(entry, "a", 2)["outcome"] == outcome


def test_every_public_name_is_misused() -> None:
    """A new entry needs a valid call in tests/misuse/entries.py."""
    known = {entry.name.partition(",")[0].split(" ")[0] for entry in entries()}
    public = {name for name in clmst.__all__ if not name.startswith("_")}
    public |= {f"generators.{name}" for name in generators.FAMILIES}
    public |= {*drawing.__all__, *primitives.__all__, "read_forest"} - {"primitives"}
    errors = {name for name in public if _is_error(getattr(clmst, name, None))}
    without_arguments = {"devices", "primitives", "PALETTE"}
    if find_spec("plotly") is None:
        without_arguments |= {"explore_clusters", "explore_dendrogram"}
    without_arguments |= {"ray"}  # checks as dask does; a call would start a cluster
    reached = {name.partition(".")[0] for name in known}
    assert public - errors - without_arguments - known - reached == set()
    assert io.read_forest.__name__ in known


def _is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, ClmstError | Warning)


@pytest.mark.parametrize(
    ("check", "good", "bad", "rule"),
    [
        (arguments.check_bool, True, 1, "it must be True or False"),
        (arguments.check_integer, 3, True, "it must be an integer"),
        (arguments.check_integer, 3, 3.0, "it must be an integer"),
        (arguments.check_text, "a", b"a", "it must be a string"),
        (arguments.check_texts, ("a",), ["a"], "it must be a tuple of strings"),
        (arguments.check_texts, ("a",), (1,), "it must be a tuple of strings"),
        (arguments.check_mapping, {}, [], "it must be a mapping"),
        (arguments.check_dict, {}, [], "it must be a dict"),
        (arguments.check_path, "a", 3, "it must be a string or a path"),
        (arguments.check_path, "a", b"a", "it must be a string or a path"),
        (arguments.check_path, "a", "a\0", "a path must not contain a zero byte"),
        (arguments.check_dtype, "u4", None, "it must be a NumPy dtype"),
        (arguments.check_dtype, "u4", "x", "it must be a NumPy dtype"),
        (arguments.as_array, [1], [1, [2]], "it must be an array"),
    ],
)
def test_checks(check: Any, good: object, bad: object, rule: str) -> None:
    check("it", good)
    with pytest.raises(InvalidArgumentError, match=rf"^it is .*{rule}"):
        check("it", bad)


def test_values_that_cannot_be_copied_are_refused(any_device: Device) -> None:
    """Options of a round are checked as they are given: a module cannot be copied."""
    solver: Any = clmst.RepeatedSolver(World().graph, devices=any_device)
    with pytest.raises(InvalidArgumentError, match=r"verify is .*it must be True or False"):
        solver.solve([1], verify=pytest)


def test_masked_elements_are_not_forgotten() -> None:
    import numpy as np

    assert arguments.as_array("it", np.ma.array([1, 2])).tolist() == [1, 2]
    with pytest.raises(InvalidArgumentError, match="none may be masked"):
        arguments.as_array("it", np.ma.array([1, 2], mask=[False, True]))


def test_what_messages_show() -> None:
    assert arguments.shown("a\nb") == r"'a\nb'"
    assert arguments.shown("x" * 78) == repr("x" * 78)
    assert arguments.shown("x" * 79) == f"'{'x' * 76}..."
    assert len(arguments.shown("x" * 10**6)) == 80
    broken = type("Broken", (), {"__repr__": lambda _: 1 / 0})()
    assert arguments.shown(broken) == "a Broken"
