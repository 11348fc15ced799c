"""Ways to interrupt a call once: by the clock, at a step of Python, twice, or in another thread.

Python looks for signals when a function begins, after a call of a function in C, and when a loop
goes round; a call in C may also be broken off while it waits. A profile function is called at the
first two of these, so it can interrupt at a chosen one. The clock reaches all of them.
"""

from __future__ import annotations

import ctypes
import gc
import random
import signal
import sys
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

_AGAIN = 2e-3  # seconds within which a second interrupt comes

# What came of a call: "lost" if it went on regardless, "late" if it ended before.
Outcome: TypeAlias = Literal["interrupted", "lost", "late"]


@dataclass
class Steps:
    """Counts the steps of the thread that it profiles, and interrupts at one of them.

    Switch the garbage collector off meanwhile: an interrupt in a finalizer is lost.
    """

    at: int | None = None
    count: int = 0
    has_raised: bool = False
    first: Callable[[], object] = field(default=lambda: None)

    def __call__(self, frame: Any, event: str, value: Any) -> None:
        if event not in ("call", "c_return"):
            return
        self.count += 1
        if self.count == self.at:
            self.has_raised = True
            self.first()
            raise KeyboardInterrupt


def steps_of(call: Callable[[], object]) -> int:
    """Return the number of steps of a call."""
    steps = Steps()
    gc.disable()
    sys.setprofile(steps)
    try:
        call()
    finally:
        sys.setprofile(None)
        gc.enable()
    return steps.count


def by_clock(call: Callable[[], None], rng: random.Random, seconds: float) -> Outcome:
    """Interrupt a call that usually takes so many seconds, as Ctrl-C does, at any moment."""
    return _broken_off(call, lambda: _alarm(rng.random() * seconds))


def at_step(call: Callable[[], object], rng: random.Random, count: int) -> Outcome:
    """Interrupt a call of so many steps at one of them."""
    return _profiled(call, Steps(at=rng.randint(1, count)))


def twice(call: Callable[[], None], rng: random.Random, count: int) -> Outcome:
    """Interrupt it at one of its steps, and soon again, while it cleans up."""
    after = rng.random() * _AGAIN
    return _profiled(call, Steps(at=rng.randint(1, count), first=lambda: _alarm(after)))


def in_thread(call: Callable[[], None], rng: random.Random, seconds: float) -> Outcome:
    """Interrupt a call in another thread than the main one, as Dask and Ray cancel tasks."""
    after, found = rng.random() * seconds, list[Outcome]()
    errors = list[BaseException]()

    def work() -> None:
        try:
            call()
            found.append("late")
        except KeyboardInterrupt:
            found.append("interrupted")
        except BaseException as error:
            errors.append(error)

    thread = start_new_thread(work, ())
    began = time.perf_counter()
    while time.perf_counter() - began < after:
        time.sleep(min(after, 1e-4))
    if not found:
        _raise_in(thread)
    while thread in sys._current_frames():
        time.sleep(1e-4)
    # If the thread has ended without it, Python 3.11 looks for it from then on, for ever in a
    # function that is profiled. So let it find one here.
    try:
        _raise_in(threading.get_ident())
        time.sleep(0)
    except KeyboardInterrupt:
        pass
    if errors:
        raise errors[0]
    return found[0] if found else "late"


def _raise_in(thread: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
    )


def in_another_thread(call: Callable[[], None]) -> None:
    """Call in a thread of its own, which waits for ever for locks that this one has."""
    errors = list[BaseException]()

    def work() -> None:
        try:
            call()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def _alarm(after: float) -> None:
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, max(after, 1e-6))


def _profiled(call: Callable[[], object], steps: Steps) -> Outcome:
    gc.disable()
    try:
        found = _broken_off(call, lambda: sys.setprofile(steps))
    finally:
        gc.enable()
    return "lost" if steps.has_raised and found == "late" else found


def _broken_off(call: Callable[[], object], arm: Callable[[], object]) -> Outcome:
    try:
        try:
            arm()
            call()
        finally:
            sys.setprofile(None)  # first: a step may set the alarm
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_IGN)  # another thread may be taking it
    except KeyboardInterrupt:
        return "interrupted"
    return "late"
