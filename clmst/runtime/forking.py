"""Forked processes: OpenCL does not survive a fork, so a child raises instead of hanging.

A child made by ``fork`` has one thread and a copy of the memory. Locks of other threads stay taken
for ever, and the driver's own threads are gone. So if clmst asked OpenCL for devices before the
fork, every call that needs a device raises :class:`clmst.DeviceError` in the child. A fork before
that has no effect.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Self

from clmst.core.errors import DeviceError, InvalidArgumentError

_is_open = False  # whether this process has asked OpenCL for anything
_is_child = False  # whether a parent of this process had
# Objects, and the names of their attributes that are locks. No references with callbacks: Ctrl-C
# while one runs would be lost.
_locks: list[tuple[weakref.ref[Any], tuple[str, ...]]] = []
_registering = threading.Lock()
# Objects that a child must not free: freeing calls the parent's driver, which hangs or harms the
# parent.
_never_freed: list[Any] = []


class OfOneProcess:
    """An object that belongs to its process, as it holds contexts, queues or memory of OpenCL."""

    def __copy__(self) -> Self:
        """Return the object itself."""
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        """Return the object itself, so that objects that hold it can be copied."""
        return self

    def __reduce__(self) -> Any:
        """Raise :class:`InvalidArgumentError`: another process cannot use the object."""
        raise InvalidArgumentError(
            f"{self!r} belongs to this process and cannot be pickled; where another process is to "
            f"find it, give its name, device={getattr(self, 'name', '')!r}"
        )


class ForkedLock:
    """A lock in a child: taking it raises."""

    def __enter__(self) -> None:
        check()

    def __exit__(self, *exception: object) -> None:
        """Nothing was taken."""

    def acquire(self, *_: object, **__: object) -> bool:
        """Raise."""
        check()
        return False

    def release(self) -> None:
        """Nothing was taken."""


def opening() -> None:
    """Record that this process asks OpenCL for devices; raise in a child of a process that had."""
    global _is_open  # noqa: PLW0603 - a fact about the process
    check()
    _is_open = True


def check() -> None:
    """Raise :class:`DeviceError` in a child of a process that had opened OpenCL."""
    if _is_child:
        raise DeviceError(
            "this process was forked from one that had opened OpenCL, which does not work in the "
            'child; start processes by multiprocessing\'s "spawn" or "forkserver", or fork before '
            "clmst is first asked for a device"
        )


def is_child() -> bool:
    """Return whether this process was forked from one that had opened OpenCL."""
    return _is_child


def replace_locks(owner: Any, *names: str) -> None:
    """Replace an object's locks in a child by ones that raise, since waiting would hang."""
    with _registering:
        if len(_locks) & (len(_locks) - 1) == 0:  # a power of two: now and then
            _locks[:] = [one for one in _locks if one[0]() is not None]
        _locks.append((weakref.ref(owner), names))


def _after_fork() -> None:
    global _is_child  # noqa: PLW0603 - a fact about the process
    if not _is_open:
        return
    _is_child = True
    for reference, names in _locks:
        owner = reference()
        _never_freed.append(owner)
        for name in names if owner is not None else ():
            setattr(owner, name, ForkedLock())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
