"""Gather and scatter: move records by an array of indices. The kernels are in ``permute.cl``."""

from __future__ import annotations

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
from clmst.primitives.element import RecordWords, record_words
from clmst.runtime.array import DeviceArray
from clmst.runtime.failures import guarded
from clmst.runtime.launcher import Launcher

SOURCE = "primitives/permute.cl"
# BATCH of permute.cl: the number of 16-byte chunks that a work-item copies at once.
_CHUNKS_PER_ITEM = 4


@guarded
def gather(
    values: DeviceArray,
    indices: DeviceArray,
    out: DeviceArray | None = None,
    *,
    launch: Launcher | None = None,
) -> DeviceArray:
    """Gather the values at the given indices into a new array.

    Parameters
    ----------
    values : DeviceArray, shape (m,)
        Values of any dtype of 1 to 16 bytes, or of a multiple of 4 bytes up to 64.
    indices : DeviceArray of uint32, shape (n,)
        Indices below m. The caller must guarantee this, because a check would take another pass and
        a wait. With a larger index, the result is undefined, and the device may crash.
    out : DeviceArray, shape (n,) or more, optional
        Output. It must not overlap `values` or `indices`.
    launch : Launcher, optional
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray, shape (n,)
        ``out[i] = values[indices[i]]``. The call returns without waiting for the device.

    Raises
    ------
    InvalidArgumentError
        An array has a wrong dtype or device; `out` is too short, or overlaps an input; or there are
        indices but no values.

    Examples
    --------
    >>> import clmst
    >>> values = clmst.DeviceArray.from_host(np.array([5, 6, 7], np.uint32))
    >>> indices = clmst.DeviceArray.from_host(np.array([2, 0], np.uint32))
    >>> gather(values, indices).to_host().tolist()
    [7, 5]
    """
    _check(values, indices)
    if indices.size and not values.size:
        raise InvalidArgumentError(
            f"there are {indices.size} indices, but values is empty; indices must name values"
        )
    out = output_for("out", out, values.dtype, indices.size, like=values)
    check_apart("out", out, values=values, indices=indices)
    _enqueue("permute_gather", values, indices, out, launch)
    return out[: indices.size]


@guarded
def scatter(
    values: DeviceArray, indices: DeviceArray, out: DeviceArray, *, launch: Launcher | None = None
) -> DeviceArray:
    """Scatter values to the given indices of an array.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
        Values of any dtype of 1 to 16 bytes, or of a multiple of 4 bytes up to 64.
    indices : DeviceArray of uint32, shape (n,)
        Indices below m, all different. The caller must guarantee this. A larger index overwrites
        other memory, or the device crashes. If several values have one index, any of them may be
        stored.
    out : DeviceArray, shape (m,)
        Output. It must not overlap `values` or `indices`. Elements without an index are not
        written.
    launch : Launcher, optional
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray, shape (m,)
        `out`, with ``out[indices[i]] = values[i]``. The call returns without waiting for the
        device.

    Raises
    ------
    InvalidArgumentError
        An array has a wrong dtype, length or device; two arrays overlap; or there are more values
        than elements of `out`.

    Examples
    --------
    >>> import clmst
    >>> values = clmst.DeviceArray.from_host(np.array([5, 6], np.uint32))
    >>> indices = clmst.DeviceArray.from_host(np.array([1, 0], np.uint32))
    >>> out = clmst.DeviceArray.empty(2, np.uint32)
    >>> scatter(values, indices, out).to_host().tolist()
    [6, 5]
    """
    _check(values, indices)
    check_length("indices", indices, values.size)
    check_array("out", out, values.dtype, like=values)
    check_fits("out", out, values.size)
    check_apart("out", out, values=values, indices=indices)
    _enqueue("permute_scatter", values, indices, out, launch)
    return out


def number(launch: Launcher, out: DeviceArray) -> None:
    """Enqueue a kernel that writes 0, 1, 2, ... to the array `out` of uint32."""
    program = launch.device.program(SOURCE, **RecordWords(1).defines("RECORD"))
    launch.for_each(program, "permute_number", out.size, out, out.size)


def _check(values: DeviceArray, indices: DeviceArray) -> None:
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
    program = device.program(SOURCE, **words.defines("RECORD"))
    n_items, tile = indices.size, program.grid_tile
    if program.work_group_size > 1:  # then each work-item copies one chunk of a record
        n_items *= words.chunks
        tile *= _CHUNKS_PER_ITEM
    launch(
        program, kernel, launch.groups_for(-(-n_items // tile)), values.memory, indices.memory,
        out.memory, np.uint32(indices.size),
    )  # fmt: skip
