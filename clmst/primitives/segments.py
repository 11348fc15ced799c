"""Segments as CSR offsets, and one result a segment: host side of ``cl/primitives/segments.cl``."""

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
    """Make the head flags of segments that are given as CSR offsets.

    Parameters
    ----------
    offsets : DeviceArray of uint32, shape (s + 1,)
        Segment k consists of the elements ``offsets[k]`` to ``offsets[k + 1] - 1``. The offsets
        must not fall or exceed `length`. The device checks this: if they do, reading the result
        raises an error.
    length : int
        Number of elements, n.
    out : DeviceArray of uint8, shape (n,) or more, optional
        Where the flags go.
    launch : Launcher, optional
        As of :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray of uint8, shape (n,)
        1 where a segment that is not empty begins, else 0. Not waited for. Its
        :meth:`~clmst.DeviceArray.to_host` raises InvalidArgumentError if the offsets fall or exceed
        `length`, and so does that of every result of a primitive that takes these flags.

    Notes
    -----
    Reads s + 1 offsets, writes n bytes and one for each segment; two fills and a launch.
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
    """Make the flags of the last elements of segments from those of the first.

    Parameters
    ----------
    flags : DeviceArray of uint8 or bool, shape (n,)
        Not 0 where a segment begins.
    out : DeviceArray of uint8, shape (n,) or more, optional
        Where the flags go; apart from `flags`.
    launch : Launcher, optional
        As of :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray of uint8, shape (n,)
        1 where a segment ends, else 0. Not waited for. Reads and writes n bytes; one launch.
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
    """Combine the elements of each segment, in order.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
    flags : DeviceArray of uint8 or bool, shape (n,)
        Not 0 where a segment begins; the first element begins one anyway.
    offsets : DeviceArray of uint32, shape (s + 1,)
        Instead of flags: segments as :func:`head_flags` takes them; they may be empty. Elements
        before the first and from the last offset on are in no segment.
    monoid : Monoid, optional
        By default the sum.
    out : DeviceArray, optional
        Where the results go: shape (n,) or more with flags, (s,) or more with offsets.
    strategy, launch
        As of :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    results : DeviceArray
        With offsets, shape (s,): the identity for an empty segment. Its
        :meth:`~clmst.DeviceArray.to_host` raises InvalidArgumentError if the offsets fall or exceed
        n. With flags, shape (n,), of which as many are written as there are segments.
    count : DeviceArray of uint32, shape (1,)
        With flags only: the number of segments, left on the device.

    Raises
    ------
    InvalidArgumentError
        As of :func:`segmented_scan`; or both or neither of flags and offsets are given.
    KernelBuildError
        The operator does not compile; with the compiler's log.

    Notes
    -----
    A segmented scan and a pass over the segments; n elements of extra memory. The number of
    segments plays no part in the time.
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
    """Return the error about a segment whose end is before its begin or beyond the elements."""
    begin, end = (int(one) for one in offsets.to_host()[segment : segment + 2])
    fact = f"offsets[{segment}] is {begin} and offsets[{segment + 1}] is {end}"
    if begin <= end <= length:  # they were overwritten since
        fact = f"offsets[{segment}] or offsets[{segment + 1}] was wrong when it was used"
    return InvalidArgumentError(
        f"{fact}; offsets must not fall, nor exceed the number of elements, {length}"
    )


def _count_segments(offsets: DeviceArray, *, like: DeviceArray | None = None) -> int:
    check_array("offsets", offsets, np.uint32, like=like)
    if offsets.size == 0:
        raise InvalidArgumentError("offsets are empty; there is one more than there are segments")
    return offsets.size - 1
