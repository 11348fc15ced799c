"""Recover after failed work on a device, and convert errors of OpenCL to errors of clmst.

Only this module translates errors of OpenCL into errors of clmst. All work on a device for a user
runs inside a :class:`Guard`. If anything is raised there, including KeyboardInterrupt:

1. The host waits for the commands that have been enqueued. The memory of these commands goes back
to the pool only afterwards, so no command can write to memory that has a new owner.
2. Data that may be incomplete are dropped, such as the buffers that a graph keeps for its next
   solve.
3. If the device's queue no longer answers, the device gets a new context, queue and pool.
4. An error of OpenCL is raised as :class:`clmst.DeviceError`, :class:`clmst.DeviceLostError` or
:class:`clmst.OutOfDeviceMemoryError`, with the original as its cause.
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
from clmst.runtime.child import helpers
from clmst.runtime.handles import Context, Memory, Queue
from clmst.runtime.quirks import OUT_OF_MEMORY

if TYPE_CHECKING:
    from clmst.runtime.device import Device

P = ParamSpec("P")
T = TypeVar("T")


class Guard:
    """A context manager for work on a device, which cleans up after an error or an interrupt.

    The top of this module lists the steps of the clean-up. If nothing fails, the guard costs next
    to nothing. On failure the dictionaries in `caches` are emptied, and the host waits for
    `queues`, by default for the queues of the device.

    The guard does not take the device's lock. Take the lock first, in a ``with`` of its own. Only
    that order is safe against an interrupt between acquiring and releasing the lock.
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
            except BaseException as another:  # Ctrl-C during the clean-up: it is done again
                raised = _interrupted(raised, another)
        if raised is not error:
            raise raised from error


def guarded(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function so that it runs inside a :class:`Guard`.

    The guarded device is the device of the first argument that has one.
    """

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> T:
        forking.check()
        try:
            return function(*arguments, **named)
        except BaseException as error:
            raised = error
            while True:  # not in a function of its own: an interrupt could come between two calls
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
    """Return the device of the first object in `given` that has a device, or None if none has.

    The attribute ``device`` of NumPy arrays, a string, does not count.
    """
    for one in given:
        if has(one, "device") and isinstance(one.device, forking.OfOneProcess):
            return cast("Device", one.device)  # an OfOneProcess called `device` is a Device
    return None


def _interrupted(error: BaseException, another: BaseException) -> BaseException:
    """Choose the exception to raise in the end, if `another` breaks off the clean-up after `error`.

    If `another` is an interrupt, such as Ctrl-C, the caller does the clean-up once more, and then
    raises the exception that this function returns. It is `error` if that is an interrupt as well,
    and otherwise `another`, because an interrupt takes precedence over an error. If `another` is an
    error, this function does not return, but raises `another`. A second clean-up would only fail
    with the same error.
    """
    if isinstance(another, Exception):
        raise another
    return another if isinstance(error, Exception) else error


def settle(device: Device, error: BaseException, queues: Sequence[Queue] = ()) -> BaseException:
    """Make a device usable after an error, and return the error to raise.

    The call waits until all commands in `queues` have ended. By default these are the queues of the
    device. The returned error is an error of clmst.
    """
    if forking.is_child():
        return error
    finished = [has_finished(queue) for queue in queues]  # a list, so that every queue is awaited
    has_lost = not all(finished)
    if not queues or has_lost or _is_opencls(error):
        with device.lock:
            has_lost = is_lost(device, error) or has_lost
            if has_lost:
                device.renew()
    return explained(device, error, is_lost=has_lost)


def explained(device: Device, error: BaseException, *, is_lost: bool = False) -> BaseException:
    """Convert an OpenCL error to an error of clmst. Any other error is returned unchanged.

    `is_lost` says that the device does not answer any more.
    """
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
    """Return whether an error of OpenCL means that memory is exhausted (quirk: intel-no-memory)."""
    if not _is_opencls(error):
        return False
    cl: Any = sys.modules["pyopencl"]
    opencls: Any = error
    try:
        return opencls.code in OUT_OF_MEMORY
    except AttributeError:  # an error that was made from a text does not have a code
        return isinstance(error, cl.MemoryError)


def is_lost(device: Device, error: BaseException) -> bool:
    """Return whether a device no longer answers after `error`. Blocks until its queues finish."""
    finished = [has_finished(queue) for queue in device.queues_in_use()]
    return not all(finished) or (_is_opencls(error) and not _answers(device))


def check_memory(device: Device, memory: Memory) -> None:
    """Raise :class:`DeviceLostError` if `memory` belongs to an earlier context of the device.

    A device gets a new context after it has stopped answering. Its memory is lost then.
    """
    if device.times_renewed and hasattr(memory, "get_info"):
        import pyopencl as cl

        if memory.get_info(cl.mem_info.CONTEXT) != device.context:
            raise DeviceLostError(
                f"{device.description} failed after this was uploaded, and its memory is lost; "
                "upload it again"
            )


def has_finished(queue: Queue) -> bool:
    """Block until a queue has finished, even if Ctrl-C is pressed. Return False if it fails."""
    while True:
        try:
            import pyopencl as cl

            queue.finish()
        except KeyboardInterrupt:  # a first interrupt or error is being raised already
            continue
        except cl.Error:
            return False
        return True


def _is_opencls(error: BaseException) -> bool:
    cl: Any = sys.modules.get("pyopencl")
    return cl is not None and isinstance(error, cl.Error)


def _facts(error: Any) -> tuple[str, str]:
    """Return the name of the code of an OpenCL error, and the name of the function that failed."""
    cl: Any = sys.modules["pyopencl"]
    try:
        return str(cl.status_code.to_string(error.code)), error.routine or "OpenCL"
    except (AttributeError, ValueError):  # an error without a code, or with a vendor's own code
        return str(getattr(error, "code", "") or error).splitlines()[0], "OpenCL"


def _answers(device: Device) -> bool:
    """Return whether a device still executes a command after an error. Blocks."""
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
    """Create a ``pyopencl.Context`` of one device.

    A context takes memory of the device: 526 MiB with NVIDIA's driver 580. If the device does not
    have that much, OutOfDeviceMemoryError is raised, even if the driver reports, as NVIDIA's does,
    that the host's memory is exhausted. `description` is the name of the device, for the message.
    A GPU may be set to allow one context at a time, and a helper process may have it. So if a
    context cannot be created, the helpers of this process are ended before the second attempt.
    """
    import pyopencl as cl

    try:
        return cl.Context([cl_device])
    except cl.Error as error:
        if not (helpers.close() or is_out_of_memory(error)):
            raise
    gc.collect()  # contexts in reference cycles have not been freed yet
    try:
        return cl.Context([cl_device])
    except cl.Error as error:
        if not is_out_of_memory(error):
            raise
        raise OutOfDeviceMemoryError(
            f"{description} has no memory left for a context ({str(error).strip()}); other "
            "processes or contexts must release memory first"
        ) from error


def refusal(error: Exception) -> str | None:
    """Return in one line why a device refused kernels, or None for an error of another kind.

    A device refuses kernels if a program does not build, if memory is exhausted, or if OpenCL
    reports an error when a kernel is created, launched or waited for. It also does if it fails its
    trial, which is a first test with a few small kernels.
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
