"""Weights of all edges of a graph that several devices share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from clmst.algorithms.reweighting.repeated import Given, Rounds
from clmst.core.errors import InvalidArgumentError
from clmst.core.weight_keys import Array, Encoding
from clmst.repeated.failure import failures_of
from clmst.repeated.intake import check_count, words_of_host
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher

# Devices, and the ranges of weights that each takes.
Needs: TypeAlias = Sequence[tuple[Device, Sequence[tuple[int, int]]]]


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


def whole_of(weights: Any, n_edges: int, needs: Needs, *, keeps: bool = False) -> Whole:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """Weights where devices get at them.

    Attributes
    ----------
    whole : Whole
    givens : list of list of Given
        By device and part.
    """

    whole: Whole
    givens: list[list[Given]]

    @property
    def is_on_device(self) -> bool:
        """Whether they are in a buffer of the caller's."""
        return self.whole.array is not None

    def rescued(self, needs: Needs) -> Array:
        """Return the weights on the host, wherever they can still be had; 0 where nobody looks.

        Parameters
        ----------
        needs : as of :func:`whole_of`
            Where they were brought to.
        """
        whole = self.whole
        if whole.array is not None:
            with failures_of(whole.array.device):
                return whole.array.to_host()
        words = whole.words
        if whole.is_callers:  # who may have changed it since
            words = np.zeros_like(words)
            for (device, spans), givens in zip(needs, self.givens, strict=True):
                launch = Launcher(device, device.queue)
                with failures_of(device), device.lock:
                    for (first, last), given in zip(spans, givens, strict=True):
                        if first < last:
                            launch.read(given.memory, words[first:last])
        return whole.encoding.decode(words)


def give_part(whole: Whole, span: tuple[int, int], rounds: Rounds, queue: Any) -> Given:
    """Let a part of a graph have its range of the weights."""
    first, last = span
    if whole.array is not None and whole.array.device is rounds.device:
        part = whole.array[first:last]
        return Given(memory=part.memory, encoding=whole.encoding, is_checked=False)
    words = whole.words[first:last]
    return rounds.bring(words, whole.encoding, queue, is_checked=whole.is_checked)
