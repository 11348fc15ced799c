"""Failures of work on a device: errors in clmst's terms, and a usable device again.

Only this module translates errors of OpenCL into errors of clmst. All work on a device for a user
runs inside a :class:`Guard`. If anything is raised there, Ctrl-C included:

1. The host waits for what has been enqueued. Memory goes back to the pool only after that, so no
   command can write to memory that has a new owner.
2. State that may be incomplete is dropped, such as the plans of a graph.
3. A device whose queue does not answer any more gets another context, queue and pool.
4. OpenCL's own error is raised as :class:`clmst.DeviceError` or
   :class:`clmst.OutOfDeviceMemoryError`; it is the cause of that.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, MutableMapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from clmst.core.arguments import has
from clmst.core.errors import (
    ClmstError,
    DeviceError,
    DeviceLostError,
    KernelBuildError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)
from clmst.runtime import forking
from clmst.runtime.handles import Context, Memory, Queue
from clmst.runtime.quirks import OUT_OF_MEMORY

if TYPE_CHECKING:
    from clmst.runtime.device import Device

P = ParamSpec("P")
T = TypeVar("T")


class Guard:
    """A context manager for work on a device, see above; it is free if nothing fails.

    It does not take the device's lock. Take that first, by its own ``with``: only the ``with`` of a
    lock is safe against an interrupt between the lock and its release. On failure `caches` are
    emptied, and the caller's `queues` waited for, by default the device's own.
    """

    __slots__ = ("_caches", "_device", "_queues")

    def __init__(
        self,
        device: Device,
        *,
        caches: Sequence[MutableMapping[Any, Any]] = (),
        queues: Sequence[Queue] = (),
    ) -> None:
        self._device, self._caches, self._queues = device, caches, queues

    def __enter__(self) -> None:
        forking.check()

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is None:
            return
        raised = error
        while True:
            try:
                for cache in self._caches:
                    cache.clear()
                raised = settle(self._device, raised, self._queues)
                break
            except BaseException as another:  # Ctrl-C: what was to be done is done all the same
                raised = _interrupted(raised, another)
        if raised is not error:
            raise raised from error


def guarded(function: Callable[P, T]) -> Callable[P, T]:
    """Guard a function by the device of its first argument that has one."""

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> T:
        forking.check()
        try:
            return function(*arguments, **named)
        except BaseException as error:
            raised = error
            while True:  # in this frame, which an interrupt between two calls cannot leave
                try:
                    device = _device_of((*arguments, *named.values()))
                    raised = raised if device is None else settle(device, raised)
                    break
                except BaseException as another:
                    raised = _interrupted(raised, another)
            if raised is error:
                raise
            raise raised from error

    return call


def _device_of(given: Sequence[Any]) -> Device | None:
    """Return the first argument's clmst device; ``device`` of NumPy arrays is a string."""
    for one in given:
        if has(one, "device") and isinstance(one.device, forking.OfOneProcess):
            return cast("Device", one.device)  # the only class of such objects
    return None


def _interrupted(error: BaseException, another: BaseException) -> BaseException:
    """Return what is raised in the end if an interrupt comes while an error is settled.

    Another error, which would come again, is raised.
    """
    if isinstance(another, Exception):
        raise another
    return another if isinstance(error, Exception) else error


def settle(device: Device, error: BaseException, queues: Sequence[Queue] = ()) -> BaseException:
    """Make a device usable after an error, and return the error in clmst's terms."""
    if forking.is_child():
        return error
    finished = [has_finished(queue) for queue in queues]  # each is waited for
    has_lost = not all(finished)
    if not queues or has_lost or _is_opencls(error):
        with device.lock:
            has_lost = is_lost(device, error) or has_lost
            if has_lost:
                device.renew()
    return explained(device, error, is_lost=has_lost)


def explained(device: Device, error: BaseException, *, is_lost: bool = False) -> BaseException:
    """Return an OpenCL error as an error of clmst, and any other error unchanged."""
    if isinstance(error, ClmstError) or not _is_opencls(error):
        return error
    code, routine = _facts(error)
    if is_out_of_memory(error):
        return OutOfDeviceMemoryError(
            f"{device.description} has no memory left for what is needed ({routine} says {code}); "
            f"{device.memory_in_words()}"
        )
    failed = f"{device.description} failed ({routine} says {code})"
    if not is_lost:
        rule = "what was under way is dropped, and the device can be used again"
        return DeviceError(f"{failed}; {rule}")
    if device.is_callers:
        rule = "its queue is the caller's, who must make another one"
    else:
        rule = (
            "clmst opened it anew: what was in its memory is lost, so graphs, arrays and solvers "
            "that were there must be made again"
        )
    return DeviceLostError(f"{failed}; {rule}")


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an OpenCL error means that no memory is left (quirk: intel-no-memory)."""
    if not _is_opencls(error):
        return False
    cl: Any = sys.modules["pyopencl"]
    opencls: Any = error
    try:
        return opencls.code in OUT_OF_MEMORY
    except AttributeError:  # made of a text alone
        return isinstance(error, cl.MemoryError)


def is_lost(device: Device, error: BaseException) -> bool:
    """Return whether a device's queues do not answer any more after an error; waits."""
    finished = [has_finished(queue) for queue in device.queues_in_use()]
    return not all(finished) or (_is_opencls(error) and not _answers(device))


def check_memory(device: Device, memory: Memory) -> None:
    """Raise :class:`DeviceLostError` if memory was lost with an earlier context of its device."""
    if device.times_renewed and hasattr(memory, "get_info"):
        import pyopencl as cl

        if memory.get_info(cl.mem_info.CONTEXT) != device.context:
            raise DeviceLostError(
                f"{device.description} has failed since this was put into its memory, and lost it; "
                "it must be put there again"
            )


def has_finished(queue: Queue) -> bool:
    """Wait for a queue, even if Ctrl-C is pressed several times; return False if it fails."""
    while True:
        try:
            import pyopencl as cl

            queue.finish()
        except KeyboardInterrupt:  # the first interrupt is being raised already
            continue
        except cl.Error:
            return False
        return True


def _is_opencls(error: BaseException) -> bool:
    cl: Any = sys.modules.get("pyopencl")
    return cl is not None and isinstance(error, cl.Error)


def _facts(error: Any) -> tuple[str, str]:
    """Return the name of an OpenCL error, and the function that gave it."""
    cl: Any = sys.modules["pyopencl"]
    try:
        return str(cl.status_code.to_string(error.code)), error.routine or "OpenCL"
    except (AttributeError, ValueError):  # an error with a text only, or with a vendor's own number
        return str(getattr(error, "code", "") or error).splitlines()[0], "OpenCL"


def _answers(device: Device) -> bool:
    """Return whether a device still takes commands, after an error; waits."""
    import pyopencl as cl

    if "queue" not in vars(device):
        return True
    try:
        cl.enqueue_marker(device.queue).wait()
    except cl.Error:
        return False
    return True


# ------------------------------------------------------------ contexts and refusals


def new_context(cl_device: Any, description: str) -> Context:
    """Return a new ``pyopencl.Context`` of one device, which takes memory of it.

    526 MiB on NVIDIA's driver 580, which reports that the host has none if the GPU has none.
    """
    import pyopencl as cl

    try:
        return cl.Context([cl_device])
    except cl.Error as error:
        if not is_out_of_memory(error):
            raise
    gc.collect()  # contexts in reference cycles have not been given back yet
    try:
        return cl.Context([cl_device])
    except cl.Error as error:
        if not is_out_of_memory(error):
            raise
        raise OutOfDeviceMemoryError(
            f"{description} has no memory left for a context ({str(error).strip()}); what other "
            "processes and contexts have there must go back first"
        ) from error


def refusal(error: Exception) -> str | None:
    """Return in one line why a device refused kernels of some policy, or None if it did not.

    It does if a program does not build, the trial fails, memory is missing, or OpenCL reports an
    error when a kernel is made, launched or waited for.
    """
    import pyopencl as cl

    if isinstance(error, KernelBuildError):
        lines = [line.strip() for line in error.log.splitlines()]
        said = next((line for line in lines if "error" in line.lower()), "")
        return f"does not build: {said}" if said else "does not build"
    if isinstance(error, UnsupportedDeviceError):
        return _first_line(error)
    if isinstance(error, OutOfDeviceMemoryError | cl.MemoryError):
        return f"out of device memory: {_first_line(error)}"
    if isinstance(error, DeviceError | cl.Error):
        return f"does not run: {_first_line(error)}"
    return None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
