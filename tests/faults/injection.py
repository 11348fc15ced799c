"""Faults let into OpenCL: the k-th call of a kind fails, before or after it is done, or some do.

Everything that clmst asks of a driver goes through one of the functions in `CALLS`. No other test
replaces them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from itertools import count
from typing import Any

import numpy as np
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
    "map": ([(cl, "enqueue_map_buffer")], -6),
    "context": ([(cl, "Context")], -6),  # NVIDIA's driver blames the host
}
KINDS = ("kernel", "fill", "copy", "wait", "build", "allocate")  # that a solve asks for
Condition = Callable[..., bool]
Fault = type[BaseException] | BaseException
_OF_A_CONTEXT = (cl.CommandQueue, cl.Kernel, cl.Context)


def opencl_error(code: int, routine: str) -> cl.Error:
    """Return the error that PyOpenCL raises for a status."""
    record = cl._cl._ErrorRecord(msg="injected", code=code, routine=routine)
    if code == -4:
        return cl.MemoryError(record)
    return cl.LogicError(record) if code <= -30 else cl.RuntimeError(record)


@dataclass
class Injector:
    """Counts calls of one kind to a device, or to any, and lets one of them fail once it is armed.

    Where the device is then `lost`, so do all later ones.
    """

    kind: str
    device: Device | None
    count: int = 0
    fails_at: int | None = None
    after: bool = False  # whether the call is done before it fails
    lost: bool = False
    error: Fault = cl.Error
    fails: Condition | None = None  # of a call's arguments

    def __post_init__(self) -> None:
        self._contexts = list[Any]()

    def arm(
        self, at: int, *, after: bool = False, lost: bool = False, error: Fault = cl.Error
    ) -> None:
        """Let the call with this number fail, counted from now on."""
        self.count, self.fails_at, self.error = 0, at, error
        self.after, self.lost = after, lost

    def let_fail(
        self,
        fails: Condition = lambda *_: True,
        error: Fault = cl.Error,
    ) -> None:
        """Let each call fail whose arguments are such."""
        self.fails, self.error = fails, error

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
            if self.fails is not None and self.fails(*arguments):
                raise self._make(getattr(call, "__name__", "call"))
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
        if self.device is None:
            return True
        if (own := Device.context.made(self.device)) not in self._contexts:
            self._contexts.append(own)  # another one after a loss
        used = (one for one in arguments if isinstance(one, _OF_A_CONTEXT))
        return all(getattr(one, "context", one) in self._contexts for one in used)

    def _make(self, routine: str) -> BaseException:
        if self.error is cl.Error:
            return opencl_error(CALLS[self.kind][1], routine)
        return self.error if isinstance(self.error, BaseException) else self.error()


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
            if self._injector.fails is None:
                self._again = error
            raise


def launches(*words: str) -> Condition:
    """Return whether a call launches a kernel whose name has one of some words."""

    def is_one(*arguments: Any) -> bool:
        kernels = (one.function_name for one in arguments if isinstance(one, cl.Kernel))
        return any(word in name for name in kernels for word in words)

    return is_one


def lose(patch: pytest.MonkeyPatch, device: Device) -> None:
    """Let a device be lost: nothing in its present queue is answered any more."""
    lost = device.queue

    def asks_it(*arguments: Any) -> bool:
        return any(isinstance(one, cl.CommandQueue) and one == lost for one in arguments)

    for kind in ("copy", "wait"):
        inject(patch, kind, device).let_fail(asks_it)


def lying(patch: pytest.MonkeyPatch, lie: Callable[[Any, int], None]) -> None:
    """Let `lie` change each array that is read from a device, given its number from 1 on."""
    copy, numbers = cl.enqueue_copy, count(1)

    def lied(queue: Any, target: Any, *arguments: Any, **named: Any) -> Any:
        event: Any = copy(queue, target, *arguments, **named)
        if isinstance(target, np.ndarray):
            lie(target, next(numbers))
        return event

    patch.setattr(cl, "enqueue_copy", lied)


def inject(
    patch: pytest.MonkeyPatch, kind: str, device: Device | None = None, *, anew: bool = True
) -> Injector:
    """Let calls of a kind be counted, those to a device or all, until the patch is undone.

    Builds are of one device; unless all are to be made `anew`, programs that it has stay.
    """
    injector = Injector(kind, device)
    for owner, name in CALLS[kind][0]:
        patch.setattr(owner, name, injector.wrap(getattr(owner, name)))
    if kind == "allocate" and device is not None:
        patch.setattr(device, "_pool", Pool(device._pool, injector))
    if kind == "build" and anew:
        patch.setattr(device, "_programs", {})
        patch.setattr(binary_cache, "read", lambda key: None)
    return injector
