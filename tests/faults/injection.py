"""Faults let into OpenCL, one at a time: the k-th call of a kind fails, before or after it is done.

Everything that clmst asks of a driver goes through one of the functions in `CALLS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import pyopencl as cl
import pytest

from clmst.runtime import binary_cache
from clmst.runtime.device import Device

# What each kind of call is, and the status that it fails with.
CALLS: dict[str, tuple[list[tuple[Any, str]], int]] = {
    "kernel": ([(cl.Kernel, "__call__"), (cl, "enqueue_nd_range_kernel")], -5),
    "fill": ([(cl, "enqueue_fill_buffer")], -5),
    "copy": ([(cl, "enqueue_copy")], -14),  # to the device, and back
    "wait": ([(cl.CommandQueue, "finish"), (cl.Event, "wait")], -36),
    "build": ([(cl.Program, "build")], -11),
    "allocate": ([], -4),  # of the pool of a device
}
KINDS = tuple(CALLS)
_OF_A_CONTEXT = (cl.CommandQueue, cl.Kernel, cl.Context)


def opencl_error(code: int, routine: str) -> cl.Error:
    """Return the error that PyOpenCL raises for a status."""
    record = cl._cl._ErrorRecord(msg="injected", code=code, routine=routine)
    if code == -4:
        return cl.MemoryError(record)
    return cl.LogicError(record) if code <= -30 else cl.RuntimeError(record)


@dataclass
class Injector:
    """Counts calls of one kind to a device, and lets one of them fail once it is armed.

    Where the device is then `lost`, so do all later ones. `seen` is told of each call before it.
    """

    kind: str
    device: Device
    count: int = 0
    fails_at: int | None = None
    after: bool = False  # whether the call is done before it fails
    lost: bool = False
    error: type[BaseException] = cl.Error
    seen: Callable[..., object] | None = None

    def arm(
        self, at: int, *, after: bool = False, lost: bool = False,
        error: type[BaseException] = cl.Error,
    ) -> None:  # fmt: skip
        """Let the call with this number fail, counted from now on."""
        self.count, self.fails_at, self.error = 0, at, error
        self.after, self.lost = after, lost

    def disarm(self) -> None:
        """Let nothing fail any more; raise if the fault has not happened."""
        happened = self.fails_at is None or (self.lost and self.count > self.fails_at)
        assert happened, f"there was no {self.kind} number {self.fails_at}"
        self.fails_at = None

    def wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a call that fails when its time has come."""

        @wraps(call)
        def injected(*arguments: Any, **named: Any) -> Any:
            if not self._concerns(arguments):
                return call(*arguments, **named)
            number, self.count = self.count, self.count + 1
            if self.seen is not None:
                self.seen(*arguments)
            if self.fails_at is None or number < self.fails_at:
                return call(*arguments, **named)
            if not self.lost:
                self.fails_at = None
            if self.after:
                call(*arguments, **named)
            raise self._make(getattr(call, "__name__", "call"))

        return injected

    def _concerns(self, arguments: tuple[Any, ...]) -> bool:
        """Return whether a call is one to the device, as its queue, kernel or event tells."""
        own = Device.context.made(self.device)
        used = (one for one in arguments if isinstance(one, _OF_A_CONTEXT))
        return all(getattr(one, "context", one) == own for one in used)

    def _make(self, routine: str) -> BaseException:
        if self.error is cl.Error:
            return opencl_error(CALLS[self.kind][1], routine)
        return self.error()


class Pool:
    """The pool of a device, which may fail to allocate, and fails again when asked once more."""

    def __init__(self, inner: Any, injector: Injector) -> None:
        self._inner, self._injector = inner, injector
        self._again: BaseException | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def allocate(self, n_bytes: int) -> Any:
        if self._again is not None:
            again, self._again = self._again, None
            raise again
        try:
            return self._injector.wrap(self._inner.allocate)(n_bytes)
        except cl.MemoryError as error:
            self._again = error
            raise


def inject(patch: pytest.MonkeyPatch, kind: str, device: Device, *, anew: bool = True) -> Injector:
    """Let calls of a kind to a device be counted, until the patch is undone.

    Unless all is to be built `anew`, programs that it has stay.
    """
    injector = Injector(kind, device)
    for owner, name in CALLS[kind][0]:
        patch.setattr(owner, name, injector.wrap(getattr(owner, name)))
    if kind == "allocate":
        patch.setattr(device, "_pool", Pool(device._pool, injector))
    if kind == "build" and anew:
        patch.setattr(device, "_programs", {})
        patch.setattr(binary_cache, "read", lambda key: None)
    return injector
