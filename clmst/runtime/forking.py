"""Forked processes. OpenCL does not survive a fork, so calls in a forked child raise an error.

Without this module, they would hang. A child made by ``fork`` has a copy of the memory, but only
one thread. Locks that other threads held stay locked for ever, and the driver's own threads are
gone. So if clmst had asked OpenCL for devices before the fork, every call that needs a device
raises :class:`clmst.DeviceError` in the child. A fork before that moment does no harm.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Self

from clmst.core.errors import DeviceError, InvalidArgumentError

_is_open = False  # whether this process has called OpenCL
_is_child = False  # whether this process was forked from a process that had called OpenCL
# Objects that have locks, with the names of the attributes that hold the locks. The weak references
# have no callbacks, because a KeyboardInterrupt inside a callback would be lost.
_locks: list[tuple[weakref.ref[Any], tuple[str, ...]]] = []
_registering = threading.Lock()
# Objects that a forked child process must not free. Freeing them would call the driver that the
# parent process has opened. That may hang, or damage the parent.
_never_freed: list[Any] = []


class OfOneProcess:
    """Base class of objects that own objects of OpenCL, and so are bound to one process."""

    def __copy__(self) -> Self:
        """Return the object itself."""
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        """Return the object itself, so that objects that contain it can be deep-copied.

        `memo` is not used.
        """
        return self

    def __reduce__(self) -> Any:
        """Raise :class:`InvalidArgumentError`, because another process cannot use the object."""
        raise InvalidArgumentError(
            f"{self!r} belongs to this process and cannot be pickled; where another process is to "
            f"find it, give its name, device={getattr(self, 'name', '')!r}"
        )


class ForkedLock:
    """A lock that replaces another one in a forked child. Acquiring it raises DeviceError."""

    def __enter__(self) -> None:
        check()

    def __exit__(self, *exception: object) -> None:
        """Do nothing, even after an exception, because the lock was never acquired."""

    def acquire(self, *_: object, **__: object) -> bool:
        """Raise DeviceError, because the lock belongs to the parent process."""
        check()
        return False

    def release(self) -> None:
        """Do nothing, because the lock was never acquired."""


def opening() -> None:
    """Record that this process calls OpenCL.

    Raise DeviceError if the process was forked from one that had called OpenCL before the fork.
    """
    global _is_open  # noqa: PLW0603 - a fact about the process
    check()
    _is_open = True


def check() -> None:
    """Raise :class:`DeviceError` if this process was forked from one that had called OpenCL."""
    if _is_child:
        raise DeviceError(
            "this process was forked from one that had opened OpenCL, which does not work in the "
            'child; start processes by multiprocessing\'s "spawn" or "forkserver", or fork before '
            "clmst is first asked for a device"
        )


def is_child() -> bool:
    """Return whether this process was forked from one that had called OpenCL."""
    return _is_child


def replace_locks(owner: Any, *names: str) -> None:
    """Register locks of an object, so that they raise an error in a forked child.

    `owner` has the locks as the attributes `names`. In a forked child, locks that raise an error
    replace them. A lock that another thread held at the fork would block without end.
    """
    with _registering:
        if len(_locks) & (len(_locks) - 1) == 0:  # at powers of two, forget objects that are gone
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
