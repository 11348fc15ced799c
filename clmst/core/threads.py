"""Worker threads for a caller that may be interrupted at any instruction.

Python runs signal handlers in the main thread, between two instructions of Python code. Ctrl-C may
therefore leave an object of ``threading`` or ``concurrent.futures`` half changed: a lock that stays
taken, or a condition that is never notified. The data that threads share here change in single
steps: a ``queue.SimpleQueue``, and locks that are taken by a ``with`` statement or released. No
signal handler runs in the worker threads.
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

import numpy as np

from clmst.core.machine import usable_cores

Item = TypeVar("Item")
T = TypeVar("T")

_GATHERED_AT_ONCE = 1 << 21  # bytes that a thread copies at a time

# The task queue of each running thread, with a lock that the thread holds until it ends. A thread
# adds its own queue when it begins.
_living: dict[SimpleQueue[Any], _thread.LockType] = {}
_is_over = False  # whether the interpreter is shutting down


class ThreadTask(Generic[T]):
    """A function to be called in another thread, with its result once it has returned.

    If the function raises an exception, the exception is stored as `error`.
    """

    __slots__ = ("_done", "_result", "_work", "error")

    def __init__(self, work: Callable[[], T]) -> None:
        self._work: Callable[[], T] | None = work
        self._result: T
        self.error: BaseException | None = None
        self._done = _thread.allocate_lock()  # held until the work is done
        self._done.acquire()

    def run(self) -> None:
        """Do the work, and wake up all threads that wait for this task."""
        self.carry_out().release()

    def carry_out(self) -> _thread.LockType:
        """Do the work, and return the lock that the caller must release afterwards.

        Releasing the lock wakes up all threads that wait for this task.
        """
        assert self._work is not None
        done = self._done
        try:
            self._result = self._work()
        except BaseException as error:
            self.error = error
        self._work = None  # releases everything that the work refers to
        del self  # otherwise an error would refer to itself
        return done

    def wait(self) -> None:
        """Block until the work is done. An interrupted wait can be repeated."""
        with self._done:
            pass

    def result(self) -> T:
        """Block until the work is done. Return the result of the work, or raise its exception."""
        self.wait()
        if self.error is None:
            return self._result
        try:
            raise self.error
        finally:
            del self  # otherwise the error would refer to itself


class TaskThread:
    """A thread that runs tasks in the order in which they are started.

    The thread ends after the last reference to this object is gone. The name is an argument of the
    thread's first frame, so that tools that show frames display it.
    """

    __slots__ = ("__weakref__", "_owner", "_tasks")

    def __init__(self, name: str) -> None:
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        # When this object is gone, the callback puts the dead reference into the queue, which ends
        # the thread. The callback `put` is not Python code, in which an interrupt would be lost.
        self._owner = weakref.ref(self, self._tasks.put)
        serve = (_serve, (self._tasks, self._owner, name))
        if sys.version_info >= (3, 12):
            _thread.start_new_thread(*serve)
        else:
            # The thread is started by another new thread, because before Python 3.12 an exception
            # that is raised in this thread by PyThreadState_SetAsyncExc may hit the thread that is
            # just being started instead. Here that is the thread in between, which does not run
            # Python code and is not harmed.
            _thread.start_new_thread(_thread.start_new_thread, serve)

    def start(self, work: Callable[[], T]) -> ThreadTask[T]:
        """Add work to the thread's queue and return its task without waiting.

        If the call is interrupted, the work may or may not have been added; see :func:`all_of`.
        """
        task = ThreadTask(work)
        # If the garbage collector is just freeing this object, the thread has ended or will end, so
        # the work is done here. A generator that is freed with this object may call `start` while
        # it is closed. The weak reference `_owner` has been cleared by then.
        if _is_over or self._owner() is None:
            task.run()
        else:
            self._tasks.put(task)
        return task


def _serve(tasks: SimpleQueue[Any], _owner: object, _name: str) -> None:
    """Run the tasks of a queue, until the queue yields something that is not a task.

    The end of a queue is None, or a weak reference to a :class:`TaskThread` that no longer exists.
    `_name` is not used, but tools that show frames display it.
    """
    with (lives := _thread.allocate_lock()):
        _living[tasks] = lives
        while isinstance(task := tasks.get(), ThreadTask):
            done = task.carry_out()
            del task  # so that the thread that waits has the last reference to the result
            done.release()
        del _living[tasks]


@atexit.register
def _end_all() -> None:
    """End all worker threads, before the interpreter and the libraries they use shut down."""
    global _is_over  # noqa: PLW0603 - it concerns the whole process
    _is_over = True
    for tasks, lives in list(_living.items()):
        tasks.put(None)
        with lives:
            pass


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_living.clear)  # a forked child does not have these threads


def interrupts_first(error: BaseException) -> int:
    """Return 0 for an interrupt and 1 for any other exception.

    If several threads fail, :func:`all_of` raises the exception with the least of these numbers.
    """
    return int(isinstance(error, Exception))


def all_of(
    workers: Sequence[TaskThread],
    work: Callable[[int], T],
    rank: Callable[[BaseException], int] = interrupts_first,
    stop: Callable[[], object] = lambda: None,
) -> list[T]:
    """Do numbered work in several threads at the same time, and block until all of it is done.

    Parameters
    ----------
    workers : sequence of TaskThread
        The threads besides the calling one. Worker k does ``work(k + 1)``. The calling thread does
        ``work(0)``.
    work : callable
        Called with the number of the thread.
    rank : callable
        If several exceptions are raised, the first one with the least rank is passed on.
    stop : callable
        Called if an exception is raised in the calling thread. It should make the work end early.

    Returns
    -------
    list
        The results in order. The first is the result of the calling thread.

    Notes
    -----
    Even if an exception is raised, no thread is still working when the call ends.
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
            # After an interrupt, a task may have been started but not stored in `tasks`. A thread
            # does its tasks in order, so waiting for a further task also waits for that one.
            if errors:
                stop()
                tasks += [worker.start(stop) for worker in workers]
            for task in tasks:
                task.wait()
            break
        except BaseException as wrong:  # a further interrupt
            errors.append(wrong)
    try:
        errors += [task.error for task in tasks if task.error is not None]
        if errors:
            raise min(errors, key=rank)
        return [*done, *(task.result() for task in tasks)]
    finally:
        del errors, tasks  # otherwise an error would refer to itself


def finish(workers: Sequence[TaskThread]) -> None:
    """Block until the threads of `workers` have done all the work that was given to them."""
    all_of(workers, lambda _: None)


def share(
    workers: Sequence[TaskThread],
    items: Sequence[Item],
    work: Callable[[int, Iterator[Item]], object],
) -> None:
    """Let several threads process the items of one sequence, and block until all are processed.

    `workers` are the threads. `work` is called once in each thread, with the number of the thread
    from 0 and an iterator that gives each item to one thread only. If a thread raises an exception,
    the other threads stop after their present item, and the exception is passed on.
    """
    shared = iter(items)  # the iterator of a sequence can be shared by threads

    def stop() -> None:
        deque(shared, maxlen=0)

    def take(number: int) -> None:
        if number > 0:  # the calling thread only waits, so that it does not hold the interpreter
            try:
                work(number - 1, shared)
            except BaseException:
                stop()
                raise

    all_of(workers[: len(items)], take, stop=stop)


def in_threads(function: Callable[[Item], T], items: Iterable[Item]) -> list[T]:
    """Call a function for all items, using one thread per core, and return the results in order.

    Blocks until all calls have returned. Threads are faster than one because NumPy releases the
    interpreter lock while it computes.
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
    """Divide the range from 0 to `count` into slices of at most `size`."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def chosen(mask: Any, *arrays: Any) -> tuple[Any, ...]:
    """Return ``array[mask]`` for each of some arrays, by the threads of all cores.

    `mask` has the shape (n,), and all arrays have n elements in their first dimension.
    """
    parts = list(slices(len(mask), _GATHERED_AT_ONCE // 8))
    ends = np.cumsum([0, *in_threads(lambda some: np.count_nonzero(mask[some]), parts)])
    found = tuple(np.empty((ends[-1], *one.shape[1:]), one.dtype) for one in arrays)

    def copy(number: int) -> None:
        some = parts[number]
        for one, into in zip(arrays, found, strict=True):
            into[ends[number] : ends[number + 1]] = one[some][mask[some]]

    in_threads(copy, range(len(parts)))
    return found


def scatter(values: Any, numbers: Any, into: Any) -> None:
    """Do ``into[numbers] = values`` for three arrays, by the threads of all cores.

    `numbers` are distinct integers, and `values` has one element for each of them.
    """

    def store(some: slice) -> None:
        into[numbers[some]] = values[some]

    in_threads(store, slices(len(numbers), _GATHERED_AT_ONCE // 8))


def gathered(values: Any, numbers: Any) -> Any:
    """Return ``values[numbers]`` for two arrays, by the threads of all cores.

    `numbers` are integers. Elements are rows if `values` has several dimensions.
    """
    found = np.empty((*numbers.shape, *values.shape[1:]), values.dtype)

    def take(some: slice) -> None:
        # np.take is used, because indexing with an array takes many times as long for rows of few
        # bytes.
        found[some] = np.take(values, numbers[some], axis=0)

    row = max(found[:1].nbytes, 1)
    in_threads(take, slices(len(numbers), max(_GATHERED_AT_ONCE // row, 1)))
    return found
