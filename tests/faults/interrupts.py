"""Interrupts at random instants: each interrupted call is followed by a right one.

    python -m tests.faults.interrupts [--count 10000] [--device NAME] [--shape native] [NAME ...]

Calls come from ``tests/faults/subjects.py`` and ``tests/faults/threaded.py``, each in a process
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
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median

from clmst.runtime.device import Device
from tests.faults import interrupting
from tests.faults.subjects import (
    SHAPES,
    SUBJECTS,
    Check,
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
    """What came of interrupts: the numbers by call, way and outcome, and what processes said."""

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    reports: list[str] = field(default_factory=list)

    def of(self, *outcomes: str) -> int:
        """Return the number of interrupts with one of some outcomes."""
        return sum(n for (_, _, outcome), n in self.counts.items() if outcome in outcomes)

    @property
    def is_good(self) -> bool:
        """Whether nothing went wrong; an interrupt may be lost in code of other libraries."""
        return not self.of("failed", "wrong", "hung", "crashed")


# ------------------------------------------------------------------ in a process of its own


@dataclass
class Target:
    """A call, and what is known of it."""

    name: str
    run: Check
    device: Device
    seconds: float
    steps: int
    most: int  # bytes in use after it

    @classmethod
    def of(cls, name: str, device: Device) -> Target:
        """Calibrate a subject."""
        run = THREADED[name](device) if name in THREADED else subject(name, device)
        run()
        before = bytes_in_use(device)
        times, levels = list[float](), [before]
        for _ in range(_CALIBRATING):  # warm starts keep more in some rounds than in others
            began = time.perf_counter()
            run()
            times.append(time.perf_counter() - began)
            levels.append(bytes_in_use(device))
        steps = interrupting.steps_of(run)
        return cls(name, run, device, median(times), steps, max(levels))

    def interrupt(self, way: str, rng: random.Random) -> str:
        """Interrupt the call; return what came of it, or "late".

        Raises
        ------
        AssertionError
            The next call was not right, or memory was not given back.
        """
        run = self.run
        call = {
            "step": partial(interrupting.at_step, run, rng, self.steps),
            "twice": partial(interrupting.twice, run, rng, self.steps),
            "clock": partial(interrupting.by_clock, run, rng, 1.1 * self.seconds),
            "thread": partial(interrupting.in_thread, run, rng, self.seconds),
        }[way]
        outcome: str
        try:
            outcome = call()
        except Exception as error:
            print(f"{self.name}, {way}: {error!r}", file=sys.stderr, flush=True)
            outcome = "lost" if _is_made_of_an_interrupt(error) else "failed"
        if way == "thread":
            run()
        else:
            interrupting.in_another_thread(run)
        self._check_memory()
        return outcome

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
            self.run()
        raise AssertionError(f"{self.name} lost memory: {used} bytes are in use, not {most}")


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
            print(target.name, way, end=" ", flush=True)
            outcome = target.interrupt(way, rng)
            done += outcome != "late"
            print(outcome, flush=True)
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
    names: Sequence[str], count: int, *options: str, seed: int = 0, tally: Tally | None = None
) -> Tally:
    """Interrupt calls in turn, `count` in all, in a process, or in another one if that ends."""
    tally, n_bad, left = tally or Tally(), 0, count
    while left > 0 and n_bad < _MOST_BAD:
        before = tally.counts.total()
        command = [sys.executable, "-m", "tests.faults.interrupts", "--inside", *names, *options]
        command += ["--count", str(left), "--seed", str(1000 * seed + n_bad)]
        n_bad += not _has_ended_well(command, min(_LIMIT * (left + 2), 3600), tally)
        left -= tally.counts.total() - before
    return tally


def _has_ended_well(command: list[str], limit: float, tally: Tally) -> bool:
    """Run a process, and count what came of the calls that it interrupted."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            err += "Timeout (it did not end)"
    last = ["the first call", "", ""]
    for line in out.splitlines():
        last = [*line.split(), "", ""][:3]
        if last[2] not in ("", "late"):
            tally.counts[last[0], last[1], last[2]] += 1
    if err:
        tally.reports.append(f"{' '.join(last)}:\n{err}")
    if process.returncode:
        how = "hung" if "Timeout (" in err else "crashed" if process.returncode < 0 else "wrong"
        tally.counts[last[0], last[1], how] += 1
    return not process.returncode


def main() -> int:
    """Interrupt ten thousand calls, and print what came of them."""
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
    options = ["--shape", asked.shape, "--ways", asked.ways]
    options += [] if asked.device is None else ["--device", asked.device]
    tally = Tally()
    for number, name in enumerate(names):
        count = asked.count // len(names) + (number < asked.count % len(names))
        interrupt_many([name], count, *options, seed=asked.seed, tally=tally)
    print(*tally.counts.items(), *tally.reports, sep="\n")
    return 0 if tally.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
