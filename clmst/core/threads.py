"""Threads that work for a caller who may be interrupted at any instruction.

Python runs signal handlers in the main thread, between two instructions of Python code, so Ctrl-C
may leave an object of ``threading`` or ``concurrent.futures`` half changed: a lock left taken,
a condition that is never notified. What two threads share here changes in single steps: a
``queue.SimpleQueue``, and locks that are taken by ``with``, or released. No handler runs in the
threads themselves.
"""

from __future__ import annotations

import _thread
import atexit
import os
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from clmst.core.machine import usable_cores

Item = TypeVar("Item")
T = TypeVar("T")

# The queues of all threads that live, each with a lock that its thread holds. Each adds itself.
_living: dict[SimpleQueue[Any], _thread.LockType] = {}
_is_over = False  # whether the interpreter ends


class ThreadTask(Generic[T]):
    """Work that a thread does, and its result, or the `error` that it raised."""

    __slots__ = ("_done", "_result", "_work", "error")

    def __init__(self, work: Callable[[], T]) -> None:
        self._work: Callable[[], T] | None = work
        self._result: T
        self.error: BaseException | None = None
        self._done = _thread.allocate_lock()  # taken until the work is done
        self._done.acquire()

    def run(self) -> None:
        """Work, once, and let those go on who wait for it."""
        self.carry_out().release()

    def carry_out(self) -> _thread.LockType:
        """Work, once; return the lock whose release tells that it is done."""
        assert self._work is not None
        done = self._done
        try:
            self._result = self._work()
        except BaseException as error:
            self.error = error
        self._work = None  # nor what it refers to
        del self  # else an error would refer to itself
        return done

    def wait(self) -> None:
        """Wait until the work is done; if that is interrupted, it can be done again."""
        with self._done:
            pass

    def result(self) -> T:
        """Wait for the work; return what it returned, or raise what it raised."""
        self.wait()
        if self.error is None:
            return self._result
        try:
            raise self.error
        finally:
            del self  # else the error would refer to itself


class TaskThread:
    """A thread that does what it is given, in order; it ends after its last reference.

    Its name is shown in the frames of the process.
    """

    __slots__ = ("__weakref__", "_owner", "_tasks")

    def __init__(self, name: str) -> None:
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        # The callback has no Python code, in which an interrupt would be lost.
        self._owner = weakref.ref(self, self._tasks.put)
        serve = (_serve, (self._tasks, self._owner, name))
        if sys.version_info >= (3, 12):
            _thread.start_new_thread(*serve)
        else:
            # What another thread raises in this one (PyThreadState_SetAsyncExc) may meet a thread
            # that it is starting instead. One that runs no Python code is not harmed.
            _thread.start_new_thread(_thread.start_new_thread, serve)

    def start(self, work: Callable[[], T]) -> ThreadTask[T]:
        """Give the thread something to do.

        If this is interrupted, the thread may have got it or not: see :func:`all_of`.
        """
        task = ThreadTask(work)
        # The thread has ended, or will, once this object is in a cycle that is being collected:
        # weak references are cleared before generators in that cycle are closed.
        if _is_over or self._owner() is None:
            task.run()
        else:
            self._tasks.put(task)
        return task


def _serve(tasks: SimpleQueue[Any], _owner: object, _name: str) -> None:
    """Run tasks until something else comes: the dead reference to the worker, or None."""
    with (lives := _thread.allocate_lock()):
        _living[tasks] = lives
        while isinstance(task := tasks.get(), ThreadTask):
            done = task.carry_out()
            del task  # before its owner goes on, who may be the last to refer to what came of it
            done.release()
        del _living[tasks]


@atexit.register
def _end_all() -> None:
    """Let all threads end before the interpreter does: libraries that they call go with it."""
    global _is_over  # noqa: PLW0603 - a fact about the process
    _is_over = True
    for tasks, lives in list(_living.items()):
        tasks.put(None)
        with lives:
            pass


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_living.clear)  # a child has no other threads


def interrupts_first(error: BaseException) -> int:
    """Return the rank of an error for :func:`all_of` by which interrupts come before errors."""
    return int(isinstance(error, Exception))


def all_of(
    workers: Sequence[TaskThread],
    work: Callable[[int], T],
    rank: Callable[[BaseException], int] = interrupts_first,
    stop: Callable[[], object] = lambda: None,
) -> list[T]:
    """Work in threads at once, each with its number from 1 on, for 0 in this one; wait for all.

    Whatever is raised, no thread works any more when this returns. If it is raised in this thread,
    `stop` is called. Of several errors the first one of the least rank is raised.
    """
    tasks, done, errors = list[ThreadTask[Any]](), list[T](), list[BaseException]()
    try:
        for number, worker in enumerate(workers, 1):
            tasks.append(worker.start(partial(work, number)))
        done.append(work(0))
    except BaseException as wrong:
        errors.append(wrong)
    while True:
        try:
            if errors:  # perhaps before a task was stored: wait for one more, which comes after it
                stop()
                tasks += [worker.start(stop) for worker in workers]
            for task in tasks:
                task.wait()
            break
        except BaseException as wrong:  # another interrupt
            errors.append(wrong)
    try:
        errors += [task.error for task in tasks if task.error is not None]
        if errors:
            raise min(errors, key=rank)
        return [*done, *(task.result() for task in tasks)]
    finally:
        del errors, tasks  # else an error would refer to itself


def finish(workers: Sequence[TaskThread]) -> None:
    """Wait until threads have done all that they were given."""
    all_of(workers, lambda _: None)


def share(
    workers: Sequence[TaskThread],
    items: Sequence[Item],
    work: Callable[[int, Iterator[Item]], object],
) -> None:
    """Let threads take items until none is left, or something is raised; wait for them.

    `work` is given the number of a thread, from 0 on, and an iterator that gives each item once.
    """
    shared = iter(items)  # threads can share a sequence's iterator

    def stop() -> None:
        deque(shared, maxlen=0)

    def take(number: int) -> None:
        if number > 0:  # this thread waits: it would keep the interpreter from the others
            try:
                work(number - 1, shared)
            except BaseException:
                stop()
                raise

    all_of(workers[: len(items)], take, stop=stop)


def in_threads(function: Callable[[Item], T], items: Iterable[Item]) -> list[T]:
    """Return what a function gives for each item, in order; as many threads as there are cores.

    NumPy releases the interpreter while it computes, so threads are enough.
    """
    given = list(items)
    if len(given) < 2:
        return [function(one) for one in given]
    found: list[Any] = [None] * len(given)

    def work(_: int, numbers: Iterator[int]) -> None:
        for number in numbers:
            found[number] = function(given[number])

    share([TaskThread("clmst-core") for _ in given[: usable_cores()]], range(len(given)), work)
    return found


def slices(count: int, size: int) -> Iterator[slice]:
    """Cut 0 .. count - 1 into slices of at most `size`."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))
