"""Segments of an array, given by flags or CSR offsets. The kernels are in ``segments.cl``."""

from __future__ import annotations

from functools import partial
from typing import overload

import numpy as np

from clmst.core.arguments import check_integer
from clmst.core.errors import InvalidArgumentError
from clmst.primitives.checks import (
    MAX_LENGTH,
    check_apart,
    check_array,
    check_fits,
    check_flags,
    launcher_for,
    output_for,
)
from clmst.primitives.compact import compact
from clmst.primitives.monoid import Monoid
from clmst.primitives.scan import segmented_scan
from clmst.primitives.shares import Strategy, check_strategy
from clmst.primitives.sweeps import checked_monoid
from clmst.runtime.array import DeviceArray
from clmst.runtime.deferred_check import DeferredCheck
from clmst.runtime.failures import guarded
from clmst.runtime.launcher import Launcher

SOURCE = "primitives/segments.cl"


@guarded
def head_flags(
    offsets: DeviceArray,
    length: int,
    *,
    out: DeviceArray | None = None,
    launch: Launcher | None = None,
) -> DeviceArray:
    """Compute flags that mark the first element of each segment, from CSR offsets.

    Parameters
    ----------
    offsets : DeviceArray of uint32, shape (s + 1,)
        The boundaries of s segments. Segment k consists of the elements ``offsets[k]`` to
        ``offsets[k + 1] - 1``. The offsets must not decrease, and must not exceed `length`. The
        device checks this, and reading the result raises an error if it is not so.
    length : int
        The number of elements, n.
    out : DeviceArray of uint8, shape (n,) or more, optional
        Output for the flags. It must not overlap `offsets`.
    launch : Launcher, optional
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray of uint8, shape (n,)
        1 for the first element of each non-empty segment, and 0 for all others. The call returns
        without waiting for the device. If offsets decrease or exceed `length`,
        :meth:`~clmst.DeviceArray.to_host` of the flags raises InvalidArgumentError. So does
        ``to_host`` of every result that a primitive computes from these flags.

    Raises
    ------
    InvalidArgumentError
        `offsets` are empty, an array has a wrong dtype or device, or `out` is too short or overlaps
        `offsets`.

    Notes
    -----
    It reads s + 1 offsets, and writes n bytes and one byte per segment, in two fills and one
    launch.

    Examples
    --------
    >>> import clmst
    >>> offsets = clmst.DeviceArray.from_host(np.array([0, 2, 3], np.uint32))
    >>> head_flags(offsets, 3).to_host().tolist()
    [1, 0, 1]
    """
    n_segments = _count_segments(offsets)
    length = check_integer("length", length, low=0, high=MAX_LENGTH)
    out = output_for("out", out, np.uint8, length, like=offsets)
    check_apart("out", out, offsets=offsets)
    launch = launcher_for(offsets, launch)
    if length:
        launch.fill(out.memory, 0, length, np.uint8)
    if not n_segments:
        return out[:length]
    check = DeferredCheck.begin(launch, partial(_offsets_error, offsets, length))
    program = offsets.device.program(SOURCE, Monoid.sum(np.uint32).prelude)
    launch.for_each(
        program, "segments_mark_heads", n_segments, offsets, out, check.word, n_segments, length
    )
    return out[:length].checked_by((check,))


@guarded
def end_flags(
    flags: DeviceArray, *, out: DeviceArray | None = None, launch: Launcher | None = None
) -> DeviceArray:
    """Compute flags that mark the last element of each segment, from flags of the first elements.

    Parameters
    ----------
    flags : DeviceArray of uint8 or bool, shape (n,)
        Nonzero where a segment begins.
    out : DeviceArray of uint8, shape (n,) or more, optional
        Output for the flags. It must not overlap `flags`.
    launch : Launcher, optional
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray of uint8, shape (n,)
        1 for the last element of each segment, and 0 for all others. The call returns without
        waiting for the device.

    Raises
    ------
    InvalidArgumentError
        An array has a wrong dtype or device, or `out` is too short or overlaps `flags`.

    Examples
    --------
    >>> import clmst
    >>> flags = clmst.DeviceArray.from_host(np.array([1, 0, 1], np.uint8))
    >>> end_flags(flags).to_host().tolist()
    [0, 1, 1]
    """
    check_flags(flags)
    out = output_for("out", out, np.uint8, flags.size, like=flags)
    check_apart("out", out, flags=flags)
    launch = launcher_for(flags, launch)
    if flags.size:
        program = flags.device.program(SOURCE, Monoid.sum(np.uint32).prelude)
        launch.for_each(program, "segments_mark_ends", flags.size, flags, out, flags.size)
    return out[: flags.size]


@overload
def segmented_reduce(
    values: DeviceArray,
    flags: DeviceArray,
    *,
    offsets: None = ...,
    monoid: Monoid | None = ...,
    out: DeviceArray | None = ...,
    strategy: Strategy = ...,
    launch: Launcher | None = ...,
) -> tuple[DeviceArray, DeviceArray]: ...
@overload
def segmented_reduce(
    values: DeviceArray,
    flags: None = ...,
    *,
    offsets: DeviceArray,
    monoid: Monoid | None = ...,
    out: DeviceArray | None = ...,
    strategy: Strategy = ...,
    launch: Launcher | None = ...,
) -> DeviceArray: ...
@guarded
def segmented_reduce(
    values: DeviceArray,
    flags: DeviceArray | None = None,
    *,
    offsets: DeviceArray | None = None,
    monoid: Monoid | None = None,
    out: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> tuple[DeviceArray, DeviceArray] | DeviceArray:
    """Combine the elements of each segment, in order, with an associative operator.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
        The elements.
    flags : DeviceArray of uint8 or bool, shape (n,)
        Nonzero where a segment begins. The first element always begins one. Give either `flags` or
        `offsets`.
    offsets : DeviceArray of uint32, shape (s + 1,)
        CSR offsets of s segments, which may be empty; see :func:`head_flags`. Elements before the
        first offset, and from the last offset on, belong to no segment.
    monoid : Monoid, optional
        The operator with its identity. By default it is the sum.
    out : DeviceArray, optional
        Output of the dtype of `values`. Its shape is (n,) or more with flags, (s,) or more with
        offsets.
    strategy, launch
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    results : DeviceArray
        With offsets it has shape (s,), and empty segments have the identity. Its
        :meth:`~clmst.DeviceArray.to_host` raises InvalidArgumentError if offsets decrease or exceed
        n. With flags it has shape (n,), and only the first elements are written, one per segment.
        The call returns without waiting for the device.
    count : DeviceArray of uint32, shape (1,)
        The number of segments. Returned only with flags.

    Raises
    ------
    InvalidArgumentError
        Both or neither of `flags` and `offsets` are given; an array has a wrong dtype, length or
        device; `out` is too short, or overlaps an input.
    KernelBuildError
        The operator does not compile. The error holds the compiler's log.

    Notes
    -----
    It takes a segmented scan and a pass over the segments, with n elements of extra memory. The
    time does not depend on the number of segments.

    Examples
    --------
    >>> import clmst
    >>> values = clmst.DeviceArray.from_host(np.array([3, 1, 2], np.uint32))
    >>> offsets = clmst.DeviceArray.from_host(np.array([0, 2, 3], np.uint32))
    >>> segmented_reduce(values, offsets=offsets).to_host().tolist()
    [4, 2]
    """
    check_array("values", values)
    check_strategy(strategy)
    if (flags is None) == (offsets is None):
        raise InvalidArgumentError(
            "both flags and offsets are given, or neither; segments are given one way"
        )
    launch = launcher_for(values, launch)
    monoid = checked_monoid(values, monoid)
    if offsets is not None:
        return _reduce_rows(
            values, offsets, monoid=monoid, out=out, strategy=strategy, launch=launch
        )
    assert flags is not None
    check_flags(flags, values)
    if out is not None:
        check_array("out", out, values.dtype, like=values)
        check_fits("out", out, values.size)
        check_apart("out", out, values=values, flags=flags)
    scanned = segmented_scan(values, flags, monoid=monoid, strategy=strategy, launch=launch)
    ends = end_flags(flags, launch=launch)
    results, count = compact(scanned, ends, out=out, strategy=strategy, launch=launch)
    return results, count


def _reduce_rows(
    values: DeviceArray,
    offsets: DeviceArray,
    *,
    monoid: Monoid,
    out: DeviceArray | None,
    strategy: Strategy,
    launch: Launcher,
) -> DeviceArray:
    n_segments = _count_segments(offsets, like=values)
    out = output_for("out", out, values.dtype, n_segments, like=values)
    check_apart("out", out, values=values, offsets=offsets)
    flags = head_flags(offsets, values.size, launch=launch)
    scanned = segmented_scan(values, flags, monoid=monoid, strategy=strategy, launch=launch)
    if n_segments:
        program = values.device.program(SOURCE, monoid.prelude)
        launch.for_each(
            program, "segments_take_last", n_segments, offsets, scanned, out, n_segments,
            values.size,
        )  # fmt: skip
    return out[:n_segments].checked_by(flags.checks)


def _offsets_error(offsets: DeviceArray, length: int, segment: int) -> InvalidArgumentError:
    """Create the error about a segment that ends before it begins, or beyond the elements.

    `segment` is the number of the segment, and `length` the number of elements. The call waits for
    the device, to read the two offsets of the segment.
    """
    begin, end = (int(one) for one in offsets.to_host()[segment : segment + 2])
    fact = f"offsets[{segment}] is {begin} and offsets[{segment + 1}] is {end}"
    if begin <= end <= length:  # the offsets have been overwritten since the check
        fact = f"offsets[{segment}] or offsets[{segment + 1}] was wrong when it was used"
    return InvalidArgumentError(
        f"{fact}; offsets must not fall, nor exceed the number of elements, {length}"
    )


def _count_segments(offsets: DeviceArray, *, like: DeviceArray | None = None) -> int:
    check_array("offsets", offsets, np.uint32, like=like)
    if offsets.size == 0:
        raise InvalidArgumentError(
            "offsets are empty; there must be one more than there are segments"
        )
    return offsets.size - 1
