"""Reduce and scan, plain and segmented: host side of ``cl/primitives/scan.cl``."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from clmst.core.errors import InvalidArgumentError
from clmst.primitives.checks import (
    check_apart,
    check_array,
    check_in_place,
    check_length,
    check_room,
)
from clmst.primitives.element import check_supported
from clmst.primitives.monoid import Monoid
from clmst.primitives.shares import Shares, Strategy, check_strategy, shape_defines, tile_and_teams
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device, Launcher, Program

ScanStrategy: TypeAlias = Literal["reduce-then-scan", "scan-then-propagate", "sequential"]
SCAN_STRATEGIES = ("reduce-then-scan", "scan-then-propagate", "sequential")

SOURCE = "primitives/scan.cl"
PROPAGATE_SOURCE = "primitives/scan_propagate.cl"
# SEGMENTS_... of cl/primitives/scan_share.cl
_UNSEGMENTED, _BYTE_FLAGS, _PACKED_FLAGS = 0, 1, 2
# Tiles in a block of scan-then-propagate: 1024 elements of 4 bytes on a GPU, as in CLPP.
_BLOCK_TILES = 2


def reduce(
    values: DeviceArray,
    *,
    monoid: Monoid | None = None,
    out: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> DeviceArray:
    """Combine all elements, in order.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
    monoid : Monoid, optional
        The sum of the elements' dtype when left out.
    out : DeviceArray, shape (1,) or more, optional
        Where the result goes; of the dtype of `values`, apart from it.
    strategy : {"parallel", "sequential"}
        "sequential": by a single work-item, for debugging.
    launch : Launcher, optional
        The queue to work in; the device's own when left out.

    Returns
    -------
    DeviceArray, shape (1,)
        The identity if there are no elements. Not waited for.

    Raises
    ------
    InvalidArgumentError
        A wrong dtype or device, no room in `out`, or `out` overlaps `values`.
    KernelBuildError
        The operator does not compile; with the compiler's log.

    Notes
    -----
    Reads n elements; two launches. The order of combination is fixed by n and the device, so
    floating-point results repeat.
    """
    monoid = _checked(values, monoid)
    check_strategy(strategy)
    if out is None:
        out = DeviceArray.empty(1, values.dtype, values.device)
    else:
        check_array("out", out, values.dtype, like=values)
        check_room("out", out, 1)
        check_apart("out", out, values=values)
    launch = launch or Launcher(values.device, values.device.queue)
    program = _program(values, monoid, _UNSEGMENTED, exclusive=True, strategy=strategy)
    shares = Shares.divide(values.device, values.size, values.dtype.itemsize, strategy)
    _carries(launch, program, shares, values, None, total=out)
    return out[:1]


def exclusive_scan(
    values: DeviceArray,
    *,
    monoid: Monoid | None = None,
    out: DeviceArray | None = None,
    total: DeviceArray | None = None,
    strategy: ScanStrategy = "reduce-then-scan",
    launch: Launcher | None = None,
) -> DeviceArray:
    """Combine, for each element, all elements before it.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
    monoid : Monoid, optional
        The sum of the elements' dtype when left out.
    out : DeviceArray, shape (n,) or more, optional
        Where the result goes; may be `values` itself.
    total : DeviceArray, shape (1,) or more, optional
        Where the combination of all elements goes too; not with "scan-then-propagate".
    strategy : {"reduce-then-scan", "scan-then-propagate", "sequential"}
        The first is the quickest; the second is the scheme of older libraries, to compare with;
        the third is a single work-item, for debugging.
    launch : Launcher, optional
        The queue to work in; the device's own when left out.

    Returns
    -------
    DeviceArray, shape (n,)
        ``out[i] = values[0] + ... + values[i - 1]`` for the sum; the identity first. Not waited
        for.

    Raises
    ------
    InvalidArgumentError
        A wrong dtype or device, no room in `out`, or `out` overlaps `values` without being equal.
    KernelBuildError
        The operator does not compile; with the compiler's log.

    Notes
    -----
    Two-level reduce-then-scan (Merrill, Grimshaw 2009; Sun, Skadron 2013): three launches whatever
    the length, reads the elements twice, writes them once, O(work-groups) extra memory. The order
    of combination is fixed by n and the device, so floating-point results repeat.
    """
    return _scan(values, monoid, out, total, strategy, launch, exclusive=True)


def inclusive_scan(
    values: DeviceArray,
    *,
    monoid: Monoid | None = None,
    out: DeviceArray | None = None,
    total: DeviceArray | None = None,
    strategy: ScanStrategy = "reduce-then-scan",
    launch: Launcher | None = None,
) -> DeviceArray:
    """Combine, for each element, all elements up to it; in all else as :func:`exclusive_scan`.

    ``out[i] = values[0] + ... + values[i]`` for the sum.
    """
    return _scan(values, monoid, out, total, strategy, launch, exclusive=False)


def segmented_scan(
    values: DeviceArray,
    flags: DeviceArray | None = None,
    *,
    monoid: Monoid | None = None,
    exclusive: bool = False,
    out: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> DeviceArray:
    """Scan within segments: what comes before a segment's head takes no part in it.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
    flags : DeviceArray of uint8, shape (n,), optional
        Not 0 where a segment begins; the first element begins one anyway. When left out, the flags
        are the top bits of the values, which must be unsigned scalars; what is scanned is the
        lower bits, and `out` has no flags.
    monoid : Monoid, optional
        The sum of the elements' dtype when left out.
    exclusive : bool
        Leave each element's own value out of its result.
    out : DeviceArray, shape (n,) or more, optional
        Where the result goes; may be `values` itself.
    strategy : {"parallel", "sequential"}
        "sequential": by a single work-item, for debugging.
    launch : Launcher, optional
        The queue to work in; the device's own when left out.

    Returns
    -------
    DeviceArray, shape (n,)
        Not waited for.

    Raises
    ------
    InvalidArgumentError
        As of :func:`exclusive_scan`; or `flags` have another length or dtype, or overlap `out`; or
        there are no flags and the values are no unsigned scalars.
    KernelBuildError
        The operator does not compile; with the compiler's log.

    Notes
    -----
    Costs as of :func:`exclusive_scan`, and two reads of the flags; the number of segments plays no
    part. Segments given as CSR offsets: :func:`head_flags` makes flags of them.
    """
    monoid = _checked(values, monoid)
    check_strategy(strategy)
    out = _checked_out(values, out)
    segments = _checked_flags(values, flags)
    if flags is not None:
        check_apart("out", out, flags=flags)
    launch = launch or Launcher(values.device, values.device.queue)
    program = _program(values, monoid, segments, exclusive=exclusive, strategy=strategy)
    shares = Shares.divide(
        values.device,
        values.size,
        values.dtype.itemsize,
        strategy,
        bytes_per_item=_bytes_per_item(values.device, segments),
    )
    memory = None if flags is None else flags.memory
    carries = None if shares.alone else _carries(launch, program, shares, values, memory)
    _write_shares(launch, program, shares, values, memory, carries, out)
    return out[: values.size]


# ---------------------------------------------------------------------------- checks


def _checked(values: Any, monoid: Monoid | None) -> Monoid:
    """Return the monoid, the sum if none is given, after all checks of values and monoid."""
    check_array("values", values)
    check_supported(values.dtype, values.device)
    monoid = Monoid.sum(values.dtype) if monoid is None else monoid
    if monoid.dtype != values.dtype:
        raise InvalidArgumentError(
            f"the monoid is of {monoid.dtype}, values are of {values.dtype}; they must agree"
        )
    return monoid


def _checked_out(values: DeviceArray, out: DeviceArray | None) -> DeviceArray:
    """Return where results go, a new array if nothing is given."""
    if out is None:
        return DeviceArray.empty(values.size, values.dtype, values.device)
    check_array("out", out, values.dtype, like=values)
    check_room("out", out, values.size)
    check_in_place("out", out, "values", values)
    return out


def _checked_flags(values: DeviceArray, flags: DeviceArray | None) -> int:
    """Return how segments are given, after all checks of the flags."""
    if flags is not None:
        check_array("flags", flags, np.uint8, like=values)
        check_length("flags", flags, values.size)
        return _BYTE_FLAGS
    if values.dtype.kind != "u":
        raise InvalidArgumentError(
            f"there are no flags, and values are of {values.dtype}; flags are packed into the top "
            "bits of unsigned integers only"
        )
    return _PACKED_FLAGS


# -------------------------------------------------------------------------- launches


def _program(
    values: DeviceArray, monoid: Monoid, segments: int, *, exclusive: bool, strategy: str
) -> Program:
    return values.device.program(
        SOURCE,
        monoid.prelude,
        SEGMENTS=segments,
        EXCLUSIVE=exclusive,
        BYTES_PER_ITEM=_bytes_per_item(values.device, segments),
        **shape_defines(strategy),
    )


def _bytes_per_item(device: Device, segments: int) -> int:
    """Return the bytes that a work-item loads at a time: half as many where heads take registers.

    Segmented minima of 8-byte pairs on an H200: 1.08 ms with half, 1.17 ms with the same as
    without segments (docs/performance.md).
    """
    whole = device.policy.bytes_per_item
    return whole if segments == _UNSEGMENTED else max(whole // 2, 16)


def _scan(
    values: DeviceArray,
    monoid: Monoid | None,
    out: DeviceArray | None,
    total: DeviceArray | None,
    strategy: str,
    launch: Launcher | None,
    *,
    exclusive: bool,
) -> DeviceArray:
    monoid = _checked(values, monoid)
    check_strategy(strategy, SCAN_STRATEGIES)
    out = _checked_out(values, out)
    if total is not None:
        check_array("total", total, values.dtype, like=values)
        check_room("total", total, 1)
        check_apart("total", total, values=values, out=out)
    launch = launch or Launcher(values.device, values.device.queue)
    if strategy == "scan-then-propagate":
        if total is not None:
            raise InvalidArgumentError("scan-then-propagate has no total; it takes no `total`")
        _scan_then_propagate(launch, values, out, monoid, exclusive=exclusive)
        return out[: values.size]
    program = _program(values, monoid, _UNSEGMENTED, exclusive=exclusive, strategy=strategy)
    shares = Shares.divide(values.device, values.size, values.dtype.itemsize, strategy)
    carries = None
    if total is not None or not shares.alone:
        carries = _carries(launch, program, shares, values, None, total=total)
    _write_shares(launch, program, shares, values, None, carries, out)
    return out[: values.size]


def _carries(
    launch: Launcher,
    program: Program,
    shares: Shares,
    values: DeviceArray,
    flags: Any,
    *,
    total: DeviceArray | None = None,
) -> Any:
    """Enqueue upsweep and spine; return what each share is to be scanned with."""
    entries = shares.groups * (1 + shares.teams)
    carries = launch.device.allocate(entries * (values.dtype.itemsize + 4))
    launch(
        program, "scan_reduce_shares", shares.groups, values.memory, flags, carries,
        np.uint32(values.size), np.uint64(shares.share),
    )  # fmt: skip
    launch(
        program, "scan_scan_spine", 1, carries, None if total is None else total.memory,
        np.uint32(shares.groups),
    )  # fmt: skip
    return carries


def _write_shares(
    launch: Launcher,
    program: Program,
    shares: Shares,
    values: DeviceArray,
    flags: Any,
    carries: Any,
    out: DeviceArray,
) -> None:
    """Enqueue the downsweep."""
    launch(
        program, "scan_write_shares", shares.groups, values.memory, flags, carries, out.memory,
        np.uint32(values.size), np.uint64(shares.share),
    )  # fmt: skip


def _scan_then_propagate(
    launch: Launcher, values: DeviceArray, out: DeviceArray, monoid: Monoid, *, exclusive: bool
) -> None:
    """Enqueue one level: scan blocks, scan their totals by the same way, add them back."""
    device = values.device
    program = device.program(
        PROPAGATE_SOURCE,
        monoid.prelude,
        EXCLUSIVE=exclusive,
        BYTES_PER_ITEM=device.policy.bytes_per_item,
    )
    tile, teams = tile_and_teams(device, values.dtype.itemsize)
    block = _BLOCK_TILES * tile
    n_blocks = -(-values.size // block)
    totals = DeviceArray.empty(n_blocks, values.dtype, device)
    extent = np.uint32(values.size), np.uint64(block)
    groups = max(-(-n_blocks // teams), 1)
    launch(
        program, "scan_propagate_scan_blocks", groups, values.memory, out.memory, totals.memory,
        *extent,
    )  # fmt: skip
    if n_blocks > 1:
        _scan_then_propagate(launch, totals, totals, monoid, exclusive=True)
        groups = launch.groups_for(-(-values.size // program.grid_tile))
        launch(
            program, "scan_propagate_add_totals", groups, totals.memory, out.memory, *extent
        )
