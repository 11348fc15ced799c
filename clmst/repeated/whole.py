"""Weights of all edges of a graph that several devices share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.core.errors import InvalidArgumentError
from clmst.core.weight_keys import Array, Encoding
from clmst.repeated.failure import failures_of
from clmst.repeated.intake import check_count, words_of_host
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """Weights by edge, on the host or on one of the devices.

    Attributes
    ----------
    encoding : Encoding
    words : ndarray of `encoding.word`
        On the host. Where there is an `array`, only the ranges that were asked for.
    is_checked : bool
        Whether none of them is known to be NaN.
    is_callers : bool
        Whether the words are in the caller's own array.
    array : DeviceArray, optional
        The weights, where a device has them.
    """

    encoding: Encoding
    words: Array
    is_checked: bool
    is_callers: bool = False
    array: DeviceArray | None = None


def device_array(values: Any, devices: Sequence[Device]) -> DeviceArray | None:
    """Return what one of the devices has, None for what is on the host.

    Raises
    ------
    InvalidArgumentError
        It is of a context of none of them.
    """
    for device in devices:
        try:
            array = DeviceArray.in_context(values, device)
        except InvalidArgumentError:
            if device is devices[-1]:
                raise
            continue
        if array is None or array.device is device:
            return array
        # A view for the device that is meant here: a context may have several.
        return DeviceArray(
            device=device, dtype=array.dtype, size=array.size, memory=array.memory,
            base=array.base, offset=array.offset,
        )  # fmt: skip
    return None


def whole_of(
    weights: Any,
    n_edges: int,
    needs: Sequence[tuple[Device, Sequence[tuple[int, int]]]],
    *,
    keeps: bool = False,
) -> Whole:
    """Check weights, and have on the host what has to go through it.

    Parameters
    ----------
    weights : array, DeviceArray or pyopencl.array.Array
    n_edges : int
        How many there must be.
    needs : sequence of (Device, ranges)
        Which weights each device takes.
    keeps : bool
        Whether a host array may change before the words are done with.
    """
    devices = [device for device, _ in needs]
    array = device_array(weights, devices)
    if array is None:
        found = words_of_host(
            weights,
            n_edges,
            keeps=keeps and any(d.capabilities.host_arrays != "copied" for d in devices),
        )
        return Whole(
            encoding=found.encoding,
            words=found.words,
            is_checked=found.is_checked,
            is_callers=found.is_callers,
        )
    check_count(array.dtype, (array.size,), n_edges)
    encoding = Encoding(dtype=array.dtype, stored=array.dtype)
    words = np.empty(array.size, encoding.word)
    owner = array.device
    others = {span for device, spans in needs if device is not owner for span in spans}
    with failures_of(owner), owner.lock:
        launch = Launcher(owner, owner.queue)
        for first, last in sorted(others):
            if first < last:
                launch.read(array.memory, words[first:last], offset=first * words.itemsize)
    return Whole(encoding=encoding, words=words, is_checked=False, array=array)
