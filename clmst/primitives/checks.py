"""Checks of the arguments of primitives, made before anything is enqueued."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import check_kind
from clmst.core.errors import InvalidArgumentError
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

MAX_LENGTH = 2**32 - 1


def check_array(
    name: str, array: Any, dtype: npt.DTypeLike | None = None, *, like: DeviceArray | None = None
) -> None:
    """Raise InvalidArgumentError unless `array` is a DeviceArray.

    `name` is the name of the argument in messages. If `dtype` is not None, the array must have this
    dtype. If `like` is not None, `array` and `like` must be in the same OpenCL context.
    """
    if not isinstance(array, DeviceArray):
        raise InvalidArgumentError(
            f"{name} is a {type(array).__name__}; primitives work on device arrays: make one with "
            "clmst.DeviceArray.from_host or from_pyopencl"
        )
    if dtype is not None and array.dtype != np.dtype(dtype):
        raise InvalidArgumentError(f"{name} is of {array.dtype}; it must be of {np.dtype(dtype)}")
    if array.size > MAX_LENGTH:
        raise InvalidArgumentError(f"{name} has {array.size} elements; at most 2**32 - 1 are taken")
    if like is not None and array.device.context != like.device.context:
        raise InvalidArgumentError(
            f"{name} is on {array.device!r}, another array on {like.device!r}; all must be in one "
            "context"
        )


def launcher_for(array: DeviceArray, launch: Launcher | None) -> Launcher:
    """Return `launch`. If it is None, return a launcher for the queue of the array's device.

    Raises InvalidArgumentError if `launch` and `array` are in different contexts.
    """
    if launch is None:
        return Launcher(array.device, array.device.queue)
    check_kind("launch", launch, Launcher)
    if not launch.queue.context == launch.device.context == array.device.context:
        raise InvalidArgumentError(
            f"launch has {launch.device!r} and a queue, the arrays are on {array.device!r}; all "
            "must be in one context (DeviceArrays on clmst.get_device(queue) are in the queue's)"
        )
    return launch


def check_length(name: str, array: DeviceArray, length: int) -> None:
    """Raise InvalidArgumentError unless `array` has exactly `length` elements.

    `name` is the name of the argument in messages.
    """
    if array.size != length:
        raise InvalidArgumentError(f"{name} has {array.size} elements; it must have {length}")


def check_flags(flags: Any, of: DeviceArray | None = None) -> None:
    """Raise InvalidArgumentError unless `flags` are uint8 or bool, one for each element of `of`.

    If `of` is None, any number of flags is accepted.
    """
    check_array("flags", flags, like=of)
    if flags.dtype not in (np.uint8, np.bool_):
        raise InvalidArgumentError(f"flags is of {flags.dtype}; it must be of uint8 or bool")
    if of is not None:
        check_length("flags", flags, of.size)


def check_fits(name: str, array: DeviceArray, length: int) -> None:
    """Raise InvalidArgumentError unless `array` has at least `length` elements.

    `name` is the name of the argument in messages.
    """
    if array.size < length:
        raise InvalidArgumentError(
            f"{name} has {array.size} elements; it must have at least {length}"
        )


def output_for(
    name: str, array: DeviceArray | None, dtype: npt.DTypeLike, length: int, *, like: DeviceArray
) -> DeviceArray:
    """Return `array` after checking its dtype and length, or a new array if `array` is None.

    `length` is the minimum length of `array`, and the length of a new array. The result is in the
    OpenCL context of `like`. `name` is the name of the argument in messages.
    """
    if array is None:
        return DeviceArray.empty(length, dtype, like.device)
    check_array(name, array, dtype, like=like)
    check_fits(name, array, length)
    return array


def check_apart(name: str, array: DeviceArray, **others: DeviceArray | None) -> None:
    """Raise InvalidArgumentError if the output `array` overlaps one of the arrays `others`.

    `name` is the name of the output in messages. An array that is None is skipped.
    """
    for other_name, other in others.items():
        if other is not None and array.overlaps(other):
            raise InvalidArgumentError(
                f"{name} and {other_name} overlap; what is written must lie apart from what is read"
            )


def check_in_place(name: str, array: DeviceArray, other_name: str, other: DeviceArray) -> None:
    """Raise InvalidArgumentError if two arrays overlap, unless they begin at the same byte.

    `name` and `other_name` are the names of the two arguments in messages.
    """
    if not array.is_at(other) and array.overlaps(other):
        raise InvalidArgumentError(
            f"{name} and {other_name} overlap without being equal; work in place or apart"
        )
