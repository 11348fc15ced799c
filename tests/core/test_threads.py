"""Threads that work for a caller: what comes of it, interrupts at every instant, and their end."""

from __future__ import annotations

import faulthandler
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

import pytest

from clmst.core.threads import TaskThread, ThreadTask, all_of, in_threads
from clmst.scale.rows import StreamPiece
from clmst.scale.source import read_ahead
from tests.faults.interrupting import Steps
from tests.helpers.processes import run_python
from tests.helpers.threads import all_end, own_threads


def workers(n: int = 2) -> list[TaskThread]:
    return [TaskThread("clmst-test") for _ in range(n)]


def test_all_work_at_once_and_the_caller_too() -> None:
    assert all_of(workers(), lambda number: number * 10) == [0, 10, 20]
    assert all_of([], lambda number: number + 1) == [1]


def test_a_thread_does_one_thing_after_the_other() -> None:
    done, worker = list[int](), TaskThread("clmst-test")
    tasks = [worker.start(lambda k=k: done.append(k)) for k in range(50)]  # type: ignore[misc]
    tasks[-1].wait()
    assert done == list(range(50))


def test_errors_wait_for_the_others() -> None:
    """The first in order is raised, but an interrupt comes before it."""
    done = list[int]()

    def work(number: int) -> None:
        time.sleep(0.01 * number)
        done.append(number)
        raise (KeyError, ValueError, KeyboardInterrupt)[number]

    with pytest.raises(KeyboardInterrupt):
        all_of(workers(), work)
    assert sorted(done) == [0, 1, 2]
    with pytest.raises(KeyError):
        all_of(workers(1), work)


def test_results_are_in_the_order_of_the_items() -> None:
    assert in_threads(lambda k: k * k, iter(range(100))) == [k * k for k in range(100)]
    assert in_threads(str, []) == []
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda k: 1 // (k - 40), range(1000))


def part_of(part: int) -> Iterator[StreamPiece]:
    for k in range(2):
        yield StreamPiece(chunk=f"{part}", first_row=k, u=0, v=0, weights=0, edge_ids=None)


def pieces() -> Iterator[Callable[[], Iterator[StreamPiece]]]:
    return (partial(part_of, part) for part in range(3))


def read() -> None:
    found = [(one.chunk, one.first_row) for one in read_ahead(pieces(), 2)]
    assert found == [(f"{part}", k) for part in range(3) for k in range(2)]


@pytest.mark.parametrize("name", ["all_of", "in_threads", "read_ahead"])
def test_an_interrupt_at_every_instant(name: str) -> None:
    """No thread works any more, and the same threads can be used again."""
    own, busy = workers(), [0]

    def work(number: int) -> int:
        busy[0] += 1
        time.sleep(1e-4)
        busy[0] -= 1
        return number

    def run() -> None:
        if name == "all_of":
            assert all_of(own, work) == [0, 1, 2]
        elif name == "in_threads":
            assert in_threads(lambda k: k, range(9)) == list(range(9))
        else:
            read()

    faulthandler.dump_traceback_later(100, exit=True)
    try:
        for at in count(1):
            steps, is_interrupted = Steps(at=at), False
            busy[0] = 0
            try:
                try:
                    gc.disable()
                    sys.setprofile(steps)
                    run()
                finally:
                    sys.setprofile(None)
                    gc.enable()
            except KeyboardInterrupt:
                is_interrupted = True
                assert busy[0] <= 1  # the caller's own was broken off
            assert is_interrupted == steps.has_raised
            run()
            if not steps.has_raised:
                break
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert at > 20
    before = own_threads("clmst-test")
    own.clear()
    assert before
    assert all_end(before)


def test_a_task_that_is_waited_for_again() -> None:
    task = ThreadTask(lambda: 3)
    task.run()
    for _ in range(3):
        assert task.result() == 3


def ended(program: str) -> str:
    """Return the output of a process. Fails unless the process ends in time."""
    found = run_python("-c", program, timeout=60)
    assert found.stderr == ""
    return found.stdout


def test_the_process_ends() -> None:
    """After what is under way, and with generators that nobody closed; fork does no harm."""
    program = """
import os, time
from clmst.core.threads import TaskThread, finish, in_threads
worker = TaskThread("clmst-test")
worker.start(lambda: (time.sleep(0.3), print("done", flush=True)))
def kept():
    try:
        yield 1
    finally:
        finish([worker])
        print("closed", flush=True)
generator = kept()
next(generator)
if os.fork() == 0:
    assert in_threads(abs, range(-9, 0)) == list(range(9, 0, -1))
    raise SystemExit
os.wait()
"""
    if not hasattr(os, "fork"):
        pytest.skip("no fork")
    assert ended(program).split() == ["done", "closed"]


def test_a_generator_is_closed_with_its_threads_in_one_collection() -> None:
    """Its threads have ended by then, so nothing may wait for them."""
    program = """
import gc
from clmst.core.threads import TaskThread, finish
gc.disable()
def kept():
    own, workers = [], [TaskThread("clmst-test")]
    own.append((yield own))
    try:
        yield 1
    finally:
        finish(workers)
        print("closed", flush=True)
generator = kept()
own = next(generator)
generator.send(generator)  # a cycle
del generator, own
gc.collect()
print("collected")
"""
    assert ended(program).split() == ["closed", "collected"]
