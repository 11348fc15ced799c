"""Ctrl-C at random moments: each interrupted call is followed by a right one.

    python -m tests.faults.interrupts [--count 1000] [--device NAME] [--shape native] [--seed 0]

Calls are those of ``tests/faults/subjects.py``, in turn; the moment is uniform over the time that
the call usually takes. Only calls that were interrupted count.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from benchmarks.variants import GPU_SHAPE
from clmst.runtime.device import Device
from clmst.runtime.discovery import get_device
from tests.faults.subjects import SUBJECTS, Subject, subject, weights
from tests.faults.trial import bytes_in_use

_CALIBRATING = 6  # runs
_SETTLING = 3  # runs after which memory must have been given back


@contextmanager
def ctrl_c_after(seconds: float) -> Iterator[None]:
    """Let the main thread be interrupted so many seconds later, unless it is done by then."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def interrupt(one: Subject, device: Device, most: int, after: float) -> bool:
    """Interrupt a call; return whether it was.

    Raises
    ------
    AssertionError
        The next call was not right, or memory was not given back.
    """
    is_interrupted = False
    try:
        with ctrl_c_after(after):
            one.run()
    except KeyboardInterrupt:
        is_interrupted = True
    one.run()  # between rounds a solver rightly has more than after the last
    _check_memory(device, most, one)
    return is_interrupted


def _check_memory(device: Device, most: int, one: Subject) -> None:
    """Raise if more memory is in use than before, and stays so.

    A solver that stages weights ahead keeps as many buffers for them as it ever needed at a time:
    one more, if a round was broken off at the wrong moment. It is never two, so what a call loses
    again and again is seen.
    """
    most += weights(0).nbytes
    for _ in range(_SETTLING):
        used = device._pool.active_bytes
        if used > most:  # it may be in cycles: collecting them takes longer than all else here
            used = bytes_in_use(device)
        if used <= most:
            return
        one.run()
    raise AssertionError(f"{one.name} lost memory: {used} bytes are in use, {most} at most before")


def interrupt_many(
    device: Device, names: Sequence[str], count: int, seed: int
) -> Iterator[tuple[str, float]]:
    """Interrupt calls in turn until `count` were interrupted; yield each, and when it was."""
    rng, done = random.Random(seed), 0
    calls, most = [], bytes_in_use(device)
    for name in names:
        one = subject(name, device)
        one.run()
        began, before, levels = time.perf_counter(), most, []
        for _ in range(_CALIBRATING):  # warm starts keep more in some rounds than in others
            one.run()
            levels.append(bytes_in_use(device))
        calls.append((one, (time.perf_counter() - began) / _CALIBRATING))
        most = max(before, *levels)
    while done < count:
        for one, seconds in calls:
            after = max(rng.random() * seconds, 1e-6)
            if done < count and interrupt(one, device, most, after):
                done += 1
                yield one.name, after


def main() -> None:
    """Interrupt a thousand calls, and say which."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--device")
    parser.add_argument("--shape", choices=["native", "gpu-shape"], default="native")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    faulthandler.enable()
    device = get_device(asked.device).forcing_off()
    if asked.shape == "gpu-shape":
        device = device.with_policy(GPU_SHAPE)
        device.capabilities = replace(device.capabilities, host_arrays="copied")
    counts: Counter[str] = Counter()
    for name, _ in interrupt_many(device, SUBJECTS, asked.count, asked.seed):
        counts[name] += 1
        if counts.total() % 100 == 0:
            print(f"{counts.total()} interrupted", file=sys.stderr, flush=True)
    listed = ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))
    print(f"{device.description}, {asked.shape}: {counts.total()} calls interrupted, each")
    print(f"followed by a right one, all memory given back: {listed}")


if __name__ == "__main__":
    main()
