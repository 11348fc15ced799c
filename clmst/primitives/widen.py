"""Radix sort of records of any size. The kernels are in ``cl/primitives/widen.cl``.

The passes of the sort move whole words of 4 bytes. If the size of records or values is not a
multiple of 4 bytes, they are copied to wider elements before the first pass, and back after the
last pass.
"""

from __future__ import annotations

import numpy as np

from clmst.primitives import radix
from clmst.primitives.checks import launcher_for
from clmst.primitives.element import WORD_BYTES
from clmst.primitives.radix import Key, Move
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher

SOURCE = "primitives/widen.cl"


def order(
    key: Key, records: Move, values: Move | None, strategy: str, launch: Launcher | None
) -> None:
    """Enqueue the launches that sort records, and the records' values, by a key.

    `records` and `values` each have a source array and the array that gets the sorted elements.
    Elements may have any size. If `values` is None, only the records are sorted. `strategy` is
    "parallel" or "sequential". If `launch` is None, the queue of the device is used.
    """
    launch = launcher_for(records.source, launch)
    wide = _widened(launch, records)
    wide_values = None if values is None else _widened(launch, values)
    radix.order(key, wide, wide_values, strategy, launch)
    if wide is not records:
        _shorten(launch, wide.target, records.result)
    if values is not None and wide_values is not None and wide_values is not values:
        _shorten(launch, wide_values.target, values.result)


def _is_whole(array: DeviceArray) -> bool:
    return array.dtype.itemsize % WORD_BYTES == 0


def _widened(launch: Launcher, move: Move) -> Move:
    """Return source and target of a sort of records that have whole 32-bit words.

    `move` has source and target of records of any size. If their size is a multiple of 4 bytes,
    `move` is returned. Otherwise a kernel is enqueued that copies the records to a new array of
    wider records, which are then sorted in place.
    """
    array = move.source
    if _is_whole(array):
        return move
    n_words = -(-array.dtype.itemsize // WORD_BYTES)
    copy = DeviceArray.empty(array.size, np.dtype((np.void, WORD_BYTES * n_words)), array.device)
    program = launch.device.program(SOURCE, RECORD_BYTES=array.dtype.itemsize)
    launch.for_each(program, "widen_records", array.size, array, copy, array.size)
    return Move(source=copy, target=copy)


def _shorten(launch: Launcher, wide: DeviceArray, out: DeviceArray) -> None:
    """Enqueue a copy of records to `out`, without the bytes that :func:`_widened` has added."""
    program = launch.device.program(SOURCE, RECORD_BYTES=out.dtype.itemsize)
    launch.for_each(program, "widen_shorten", wide.size, wide, out, wide.size)
