"""Gather and scatter: records moved by an array of indices; host side of ``permute.cl``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from clmst.core.errors import InvalidArgumentError
from clmst.primitives.checks import (
    check_apart,
    check_array,
    check_fits,
    check_length,
    launcher_for,
    output_for,
)
from clmst.primitives.record import record_words
from clmst.runtime.array import DeviceArray
from clmst.runtime.failures import guarded
from clmst.runtime.launcher import Launcher

SOURCE = "primitives/permute.cl"
# BATCH of permute.cl
_CHUNKS_PER_ITEM = 4


@guarded
def gather(
    values: DeviceArray,
    indices: DeviceArray,
    out: DeviceArray | None = None,
    *,
    launch: Launcher | None = None,
) -> DeviceArray:
    """Fetch the values that indices name.

    Parameters
    ----------
    values : DeviceArray, shape (m,)
        Of any dtype of a multiple of 4 bytes, 64 at most.
    indices : DeviceArray of uint32, shape (n,)
        Each below m: that is the caller's to see to, as looking at them all would cost a pass and a
        wait. An index beyond reads, or crashes, as the device pleases.
    out : DeviceArray, shape (n,) or more, optional
        Where the results go; apart from values and indices.
    launch : Launcher, optional
        The queue to work in; the device's own when left out.

    Returns
    -------
    DeviceArray, shape (n,)
        ``out[i] = values[indices[i]]``. Not waited for.

    Raises
    ------
    InvalidArgumentError
        A wrong dtype or device, no room in `out`, an overlap, or indices but no values.
    """
    _check(values, indices)
    if indices.size and not values.size:
        raise InvalidArgumentError(f"there are {indices.size} indices but no values to name")
    out = output_for("out", out, values.dtype, indices.size, like=values)
    check_apart("out", out, values=values, indices=indices)
    _enqueue("permute_gather", values, indices, out, launch)
    return out[: indices.size]


@guarded
def scatter(
    values: DeviceArray,
    indices: DeviceArray,
    out: DeviceArray,
    *,
    launch: Launcher | None = None,
) -> DeviceArray:
    """Store values where indices name.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
        Of any dtype of a multiple of 4 bytes, 64 at most.
    indices : DeviceArray of uint32, shape (n,)
        Each below m, and no two alike: that is the caller's to see to. An index beyond overwrites,
        or crashes, as the device pleases; of values with one index any may win.
    out : DeviceArray, shape (m,)
        Where the values go; apart from values and indices. What no index names stays as it is.
    launch : Launcher, optional
        The queue to work in; the device's own when left out.

    Returns
    -------
    DeviceArray, shape (m,)
        `out`, with ``out[indices[i]] = values[i]``. Not waited for.

    Raises
    ------
    InvalidArgumentError
        A wrong dtype, length or device, an overlap, or more values than places.
    """
    _check(values, indices)
    check_length("indices", indices, values.size)
    check_array("out", out, values.dtype, like=values)
    check_fits("out", out, values.size)
    check_apart("out", out, values=values, indices=indices)
    _enqueue("permute_scatter", values, indices, out, launch)
    return out


def representatives() -> Iterator[tuple[str, dict[str, int]]]:
    """Yield source and macros of what stands for all that gather and scatter can need."""
    for words in (1, 2, 3, 4, 16):
        yield SOURCE, {"RECORD_WORDS": words}


def _check(values: DeviceArray, indices: DeviceArray) -> None:
    """Check what both directions share."""
    check_array("values", values)
    check_array("indices", indices, np.uint32, like=values)
    record_words("values", values.dtype)


def _enqueue(
    kernel: str,
    values: DeviceArray,
    indices: DeviceArray,
    out: DeviceArray,
    launch: Launcher | None,
) -> None:
    device, words = values.device, record_words("values", values.dtype)
    launch = launcher_for(values, launch)
    program = device.program(SOURCE, RECORD_WORDS=words)
    n_items, tile = indices.size, program.grid_tile
    if program.work_group_size > 1:  # an item is a chunk
        n_items *= words // next(chunk for chunk in (4, 2, 1) if words % chunk == 0)
        tile *= _CHUNKS_PER_ITEM
    launch(
        program, kernel, launch.groups_for(-(-n_items // tile)), values.memory, indices.memory,
        out.memory, np.uint32(indices.size),
    )  # fmt: skip
