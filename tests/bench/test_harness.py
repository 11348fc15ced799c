"""The harness by a clock of its own: what is timed, in which order, and what is verified."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.timing import by_name, seconds_of
from clmst.bench.harness import Contestant, Harness, WrongResultError, median_seconds


class Clock:
    """Seconds that pass only when somebody says so; and what was called."""

    def __init__(self) -> None:
        self.now = 0.0
        self.log: list[str] = []

    def __call__(self) -> float:
        return self.now

    def passing(self, name: str, seconds: float) -> Callable[[], int]:
        """Return a call that takes so long and returns how often it has been made."""

        def call() -> int:
            self.now += seconds
            self.log.append(name)
            return self.log.count(name)

        return call


def test_only_the_call_and_its_wait_are_timed() -> None:
    """Not rehearsals, nor what comes before a call, nor waiting for others, nor verification."""
    clock = Clock()
    contestant = Contestant(
        name="a",
        call=clock.passing("call", 1.0),
        wait=clock.passing("wait", 0.25),
        before=clock.passing("before", 10.0),
        difference=lambda _: "" if clock.passing("verify", 100.0)() else "never",
    )
    harness = Harness(
        repetitions=2, warm_ups=1, rehearsals=1, verification="every", clock=clock,
        settle=clock.passing("settle", 1000.0),
    )  # fmt: skip
    (times,) = harness.run([contestant])
    assert times.seconds == [1.25, 1.25]
    assert times.milliseconds == [1250.0, 1250.0]
    admission, rehearsal = ["call", "wait", "verify", "call", "wait"], ["call", "wait"]
    turn = [*rehearsal, "before", "settle", "call", "wait", "verify"]
    assert clock.log == admission + 2 * turn


def test_short_calls_are_timed_together() -> None:
    clock = Clock()
    harness = Harness(repetitions=1, clock=clock)
    once = Contestant(name="a", call=clock.passing("call", 1), wait=clock.passing("wait", 2))
    times = harness.admit(once)
    times.calls = 4
    del clock.log[:]
    harness.take_turn([times], 0)
    assert times.seconds == [(4 + 2) / 4]
    assert clock.log == ["call"] * 4 + ["wait"]


@pytest.mark.parametrize(
    ("order", "expected"), [("same", "abcabcabc"), ("alternate", "abccbaabc"), ("random", None)]
)
def test_contestants_take_turns(order: Any, expected: str | None) -> None:
    """Times of a machine that warms up or slows down must not fall on one of them."""
    clock = Clock()
    harness = Harness(repetitions=3, order=order, clock=clock)
    found = harness.run([Contestant(name=n, call=clock.passing(n, 1)) for n in "abc"])
    turns = "".join(clock.log[3:])
    assert [sorted(turns[k : k + 3]) for k in (0, 3, 6)] == [["a", "b", "c"]] * 3
    assert turns == expected or (expected is None and len({turns[:3], turns[3:6], turns[6:]}) > 1)
    assert by_name(found) == {name: [1000.0] * 3 for name in "abc"}


@pytest.mark.parametrize(
    ("verification", "wrong_at", "is_found"),
    [
        ("first", 1, True),
        ("first", 2, False),
        ("first", 4, False),
        ("ends", 3, False),
        ("ends", 4, True),
        ("every", 2, True),
    ],
)
def test_wrong_result_ends_a_benchmark(verification: Any, wrong_at: int, is_found: bool) -> None:
    """Calls 2, 3 and 4 are the repetitions."""
    clock = Clock()
    contestant = Contestant(
        name="a",
        call=clock.passing("a", 1),
        difference=lambda count: "edge 1 is 2, not 3" if count == wrong_at else "",
    )
    harness = Harness(repetitions=3, verification=verification, clock=clock)
    if not is_found:
        assert len(harness.run([contestant])[0].seconds) == 3
        return
    with pytest.raises(WrongResultError, match=r"^a: edge 1 is 2, not 3$"):
        harness.run([contestant])


def test_contestant_that_drops_out_does_not_stop_the_others() -> None:
    clock = Clock()

    def fail() -> int:
        raise MemoryError("no more room")

    wrong = Contestant(name="wrong", call=clock.passing("w", 1), difference=lambda _: "no forest")
    broken = Contestant(name="broken", call=fail)
    right = Contestant(name="right", call=clock.passing("r", 1), difference=lambda _: "")
    recover = clock.passing("recover", 1)
    harness = Harness(repetitions=2, warm_ups=1, clock=clock, goes_on=True, recover=recover)
    found = harness.run([wrong, broken, right])
    assert [(one.status, one.remark, one.seconds) for one in found] == [
        ("wrong", "no forest", []),
        ("failed", "MemoryError: no more room", []),
        ("ok", "", [1.0, 1.0]),
    ]
    assert clock.log == ["w", "recover", *"rrrr"]


def test_failure_ends_a_benchmark_that_does_not_go_on() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Harness(repetitions=1).run([Contestant(name="a", call=fail)])


def test_single_calls_and_medians() -> None:
    calls: list[int] = []
    assert seconds_of(lambda: calls.append(1)) > 0
    assert calls == [1]
    assert median_seconds(lambda: calls.append(1), 5, warm_ups=2) > 0
    assert calls == [1] * (1 + 2 + 5)


def test_nothing_else_that_times_reads_a_clock() -> None:
    """A loop of its own would soon differ in warm-ups, order, or what it verifies."""
    root = Path(__file__).parents[2]
    folders = ("clmst/bench", "benchmarks", "benchmarks/cases")
    readers = {
        str(path.relative_to(root))
        for folder in folders
        for path in (root / folder).glob("*.py")
        if re.search(r"perf_counter|process_time", path.read_text(encoding="utf-8"))
    }
    # Thirty calls run with the clmst of other commits, whose harness may be another one. Programs
    # of calls are built once, and only the order of their times counts. The runner notes how long
    # it took to make a whole record. Solves by blocks take minutes, so each is timed once. A first
    # call is the first of its process.
    names = ("blocks", "first_calls", "programs_of_calls", "runner", "thirty_calls")
    others = {f"benchmarks/{name}.py" for name in names}
    assert readers == {"clmst/bench/harness.py", *others}
