"""Interrupts at random instants: each interrupted call is followed by a right one.

    python -m tests.faults.interrupts [--count 10000] [--device NAME] [--shape native] [NAME ...]

Calls are those of ``tests/faults/subjects.py`` and ``tests/faults/threaded.py``, each in a process
of its own, and are interrupted in all ways of ``tests/faults/interrupting.py`` in turn. Only calls
that were interrupted count. The next call must be right, in another thread as well, so that no lock
stays taken, with as much memory in use as before, and within a limit of time; and the process must
end. A process that does not shows where its threads are, and another one goes on.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from clmst.runtime.device import Device
from tests.faults import interrupting
from tests.faults.subjects import (
    SHAPES,
    SUBJECTS,
    Subject,
    bytes_in_use,
    device_of,
    subject,
    weights,
)
from tests.faults.threaded import THREADED

NAMES = (*SUBJECTS, *THREADED)
WAYS = ("step", "clock", "twice", "thread")
_CALIBRATING = 6  # runs
_SETTLING = 3  # runs after which memory must have been given back
_LIMIT = 60.0  # seconds that a call and the next may take; more means that they hang
_MOST_BAD = 10  # processes of a subject that end badly


@dataclass
class Tally:
    """What came of the interrupts of one subject."""

    name: str
    outcomes: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    reports: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether nothing went wrong; an interrupt may be lost in code of other libraries."""
        return not any(self.outcomes[name] for name in ("failed", "wrong", "hung", "crashed"))


# ------------------------------------------------------------------ in a process of its own


@dataclass
class Target:
    """A call, and what is known of it."""

    one: Subject
    device: Device
    seconds: float
    steps: int
    most: int  # bytes in use after it

    @classmethod
    def of(cls, name: str, device: Device) -> Target:
        """Calibrate a subject."""
        made = THREADED.get(name)
        one = subject(name, device) if made is None else Subject(name, made(device))
        one.run()
        before = bytes_in_use(device)
        times, levels = list[float](), [before]
        for _ in range(_CALIBRATING):  # warm starts keep more in some rounds than in others
            began = time.perf_counter()
            one.run()
            times.append(time.perf_counter() - began)
            levels.append(bytes_in_use(device))
        steps = interrupting.steps_of(one.run)
        return cls(one, device, median(times), steps, max(levels))

    def interrupt(self, way: str, rng: random.Random) -> str | None:
        """Interrupt the call; return what came of it, or None if it was too late.

        Raises
        ------
        AssertionError
            The next call was not right, or memory was not given back.
        """
        run = self.one.run
        call = {
            "step": partial(interrupting.at_step, run, rng, self.steps),
            "twice": partial(interrupting.twice, run, rng, self.steps),
            "clock": partial(interrupting.by_clock, run, rng, 1.1 * self.seconds),
            "thread": partial(interrupting.in_thread, run, rng, self.seconds),
        }[way]
        found, outcome = None, "failed"
        try:
            found = call()
        except Exception as error:
            print(f"{self.one.name}, {way}: {error!r}", file=sys.stderr, flush=True)
            outcome = "lost" if _is_made_of_an_interrupt(error) else "failed"
        if found is not None:
            outcome = "interrupted" if found.was_raised else "lost" if found.was_lost else "late"
        if way == "thread":
            run()
        else:
            interrupting.in_another_thread(run)
        self._check_memory()
        return None if outcome == "late" else outcome

    def _check_memory(self) -> None:
        """Raise if more memory is in use than before, and stays so.

        A solver that stages weights ahead keeps as many buffers for them as it ever needed at a
        time: one more, if a round was broken off at the wrong moment. It is never two, so what a
        call loses again and again is seen.
        """
        most = self.most + weights(0).nbytes
        for _ in range(_SETTLING):
            used = self.device._pool.active_bytes
            if used > most:  # it may be in cycles: collecting them takes longer than all else here
                used = bytes_in_use(self.device)
            if used <= most:
                return
            self.one.run()
        raise AssertionError(f"{self.one.name} lost memory: {used} bytes are in use, not {most}")


def interrupt_here(
    names: Sequence[str], device: Device, count: int, seed: int, ways: Sequence[str]
) -> None:
    """Interrupt calls in turn until `count` were interrupted; print each, before and after."""
    rng, done, turn = random.Random(seed), 0, 0
    sys.unraisablehook = lambda _: None  # an interrupt that was lost
    faulthandler.enable()
    targets = list[Target]()
    for name in names:
        _watch()
        targets.append(Target.of(name, device))
    for target in targets:  # they share the device, and what it keeps
        target.most = max(one.most for one in targets)
    while done < count:
        for target in targets:
            way = ways[turn % len(ways)]
            turn += 1
            _watch()
            print(f"begin {target.one.name} {way}", flush=True)
            outcome = target.interrupt(way, rng)
            if outcome is not None:
                done += 1
                print(f"end {outcome}", flush=True)
    _watch()  # the process must end, too


def _is_made_of_an_interrupt(error: BaseException | None) -> bool:
    """Return whether a library has made an error of an interrupt, as NumPy does here and there."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _watch() -> None:
    faulthandler.dump_traceback_later(_LIMIT, exit=True)


# ---------------------------------------------------------------------- from the one outside


def interrupt_many(
    groups: Sequence[Sequence[str]], count: int, *, device: str | None = None,
    shape: str = "native", seed: int = 0, ways: str = ",".join(WAYS),
) -> Iterator[Tally]:  # fmt: skip
    """Interrupt calls of each group in a process of its own, `count` in all; yield what came."""
    for number, names in enumerate(groups):
        left = count // len(groups) + (number < count % len(groups))
        tallies = {name: Tally(name) for name in names}
        n_bad = 0
        while left > 0 and n_bad < _MOST_BAD:
            command = [sys.executable, "-m", "tests.faults.interrupts", "--inside", *names]
            command += ["--count", str(left), "--seed", str(1000 * seed + n_bad), "--shape", shape]
            command += ["--ways", ways]
            command += [] if device is None else ["--device", device]
            done, is_good = _run(command, tallies, names[0])
            left, n_bad = left - done, n_bad + (not is_good)
        yield from tallies.values()


def _run(command: list[str], tallies: dict[str, Tally], first: str) -> tuple[int, bool]:
    """Run a process; return how many calls it has interrupted, and whether it ended well."""
    most = _LIMIT * (int(command[command.index("--count") + 1]) + 2)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            out, err = process.communicate(timeout=min(most, 3600))
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            err += "Timeout (it did not end)"
    done, tally, way, is_inside = 0, tallies[first], "", False
    for line in out.splitlines():
        word, *values = line.split()
        if word == "begin":
            tally, way, is_inside = tallies[values[0]], values[1], True
        elif word == "end":
            tally.outcomes[values[0]] += 1
            tally.ways[way] += 1
            done, is_inside = done + 1, False
    if err:
        tally.reports.append(f"{tally.name}, {way}, {is_inside=}:\n{err}")
    if process.returncode:
        is_hung, is_killed = "Timeout (" in err, process.returncode < 0
        tally.outcomes["hung" if is_hung else "crashed" if is_killed else "wrong"] += 1
        tally.ways[way] += 1
    return done + bool(process.returncode), not process.returncode


def main() -> int:
    """Interrupt ten thousand calls, and print what came of those of each subject."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--device")
    parser.add_argument("--shape", choices=SHAPES, default="native")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    names = asked.names or NAMES
    if asked.inside:
        device = device_of(asked.shape, asked.device)
        interrupt_here(names, device, asked.count, asked.seed, asked.ways.split(","))
        return 0
    is_good = True
    for tally in interrupt_many(
        [[name] for name in names], asked.count,
        device=asked.device, shape=asked.shape, seed=asked.seed, ways=asked.ways,
    ):  # fmt: skip
        print(tally.name, dict(tally.outcomes), dict(tally.ways), *tally.reports, flush=True)
        is_good = is_good and tally.is_good
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
