"""Reduce and scan, plain and segmented: host side of ``cl/primitives/scan.cl``."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from clmst.core.arguments import check_bool
from clmst.core.errors import InvalidArgumentError
from clmst.primitives.checks import check_apart, check_array, check_fits, launcher_for, output_for
from clmst.primitives.monoid import Monoid
from clmst.primitives.shares import BYTES_PER_ITEM, Strategy, check_strategy, tile_and_lane_groups
from clmst.primitives.sweeps import Scan, Segments, checked_flags, checked_monoid, checked_out
from clmst.runtime.array import DeviceArray
from clmst.runtime.failures import guarded
from clmst.runtime.launcher import Launcher

ScanStrategy: TypeAlias = Literal["auto", "reduce-then-scan", "scan-then-propagate", "sequential"]
SCAN_STRATEGIES: tuple[ScanStrategy, ...] = get_args(ScanStrategy)

SegmentedStrategy: TypeAlias = Literal["parallel", "reduce-then-scan", "sequential"]

PROPAGATE_SOURCE = "primitives/scan_propagate.cl"
# Tiles in a block of scan-then-propagate: 1024 elements of 4 bytes on a GPU, as in CLPP.
_BLOCK_TILES = 2


@guarded
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
        By default the sum.
    out : DeviceArray, shape (1,) or more, optional
        Where the result goes; of the dtype of `values`, apart from it.
    strategy, launch
        As of :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray, shape (1,)
        The identity if there are no elements. Not waited for.

    Raises
    ------
    InvalidArgumentError
        A wrong dtype or device, an `out` that is too short, or `out` overlaps `values`.
    KernelBuildError
        The operator does not compile; with the compiler's log.

    Notes
    -----
    Reads n elements; two launches. The order of combination is fixed by n and the device, so
    floating-point results repeat.
    """
    monoid = checked_monoid(values, monoid)
    check_strategy(strategy)
    out = output_for("out", out, values.dtype, 1, like=values)
    check_apart("out", out, values=values)
    scan = Scan(values=values, monoid=monoid, strategy=strategy)
    scan.enqueue_reduction(launcher_for(values, launch), out)
    return out[:1]


@guarded
def exclusive_scan(
    values: DeviceArray,
    *,
    monoid: Monoid | None = None,
    out: DeviceArray | None = None,
    total: DeviceArray | None = None,
    strategy: ScanStrategy = "auto",
    launch: Launcher | None = None,
) -> DeviceArray:
    """Combine, for each element, all elements before it.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
    monoid : Monoid, optional
        By default the sum.
    out : DeviceArray, shape (n,) or more, optional
        Where the result goes; may be `values` itself.
    total : DeviceArray, shape (1,) or more, optional
        Where the combination of all elements goes too; not with "scan-then-propagate".
    strategy : {"auto", "reduce-then-scan", "scan-then-propagate", "sequential"}
        "auto": one pass where that is right and the quickest, else reduce-then-scan;
        "scan-then-propagate" is the scheme of older libraries, to compare with; "sequential" is a
        single work-item, for debugging.
    launch : Launcher, optional
        As of :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray, shape (n,)
        ``out[i] = values[0] + ... + values[i - 1]`` for the sum; the identity first. Not waited
        for.

    Raises
    ------
    InvalidArgumentError
        A wrong dtype or device, an `out` that is too short, or `out` overlaps `values` without
        being equal.
    KernelBuildError
        The operator does not compile; with the compiler's log.

    Notes
    -----
    One pass with decoupled look-back and fallback (Merrill, Garland 2016; Smith, Levien, Owens
    2025): one launch, which reads the elements once and writes them once; extra memory of half of
    their size for each tile. So it is on devices whose work-groups have lanes, for elements of up
    to 16 bytes and an exact monoid, if the array is not a few tiles short, and not in place.

    Else two-level reduce-then-scan (Merrill, Grimshaw 2009; Sun, Skadron 2013): three launches for
    any length. Reads the elements twice, writes them once, O(work-groups) extra memory. The order
    of combination is fixed by n and the device, so floating-point results repeat.
    """
    return _scan(values, monoid, out, total, strategy, launch=launch, exclusive=True)


@guarded
def inclusive_scan(
    values: DeviceArray,
    *,
    monoid: Monoid | None = None,
    out: DeviceArray | None = None,
    total: DeviceArray | None = None,
    strategy: ScanStrategy = "auto",
    launch: Launcher | None = None,
) -> DeviceArray:
    """Combine, for each element, all elements up to it; else as :func:`exclusive_scan`.

    ``out[i] = values[0] + ... + values[i]`` for the sum.
    """
    return _scan(values, monoid, out, total, strategy, launch=launch, exclusive=False)


@guarded
def segmented_scan(
    values: DeviceArray,
    flags: DeviceArray | None = None,
    *,
    monoid: Monoid | None = None,
    exclusive: bool = False,
    out: DeviceArray | None = None,
    strategy: SegmentedStrategy = "parallel",
    launch: Launcher | None = None,
) -> DeviceArray:
    """Scan within segments: the scan starts anew at each segment's head.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
    flags : DeviceArray of uint8 or bool, shape (n,), optional
        Not 0 where a segment begins; the first element always begins one. By default the flags are
        the top bits of the values, which must be unsigned scalars; the lower bits are scanned, and
        `out` has no flags.
    monoid : Monoid, optional
        By default the sum.
    exclusive : bool
        Leave each element's own value out of its result.
    out : DeviceArray, shape (n,) or more, optional
        Where the result goes; may be `values` itself.
    strategy : {"parallel", "reduce-then-scan", "sequential"}
        "parallel": one pass where that is right and the quickest, else reduce-then-scan, as the
        "auto" of :func:`exclusive_scan`; "sequential": by a single work-item, for debugging.
    launch : Launcher, optional
        As of :func:`~clmst.primitives.compact.compact`.

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
    Costs as of :func:`exclusive_scan`, and two reads of the flags; the number of segments does not
    matter. Segments given as CSR offsets: :func:`head_flags` makes flags of them.
    """
    monoid = checked_monoid(values, monoid)
    check_strategy(strategy, get_args(SegmentedStrategy))
    check_bool("exclusive", exclusive)
    out = checked_out(values, out)
    checked_flags(values, flags)
    if flags is not None:
        check_apart("out", out, flags=flags)
    scan = Scan(
        values=values, flags=flags, monoid=monoid, exclusive=exclusive,
        segments=Segments.PACKED if flags is None else Segments.FLAGS,
        strategy="auto" if strategy == "parallel" else strategy,
    )  # fmt: skip
    return scan.enqueue(launcher_for(values, launch), out)


def _scan(
    values: DeviceArray, monoid: Monoid | None, out: DeviceArray | None, total: DeviceArray | None,
    strategy: str, *, launch: Launcher | None, exclusive: bool,
) -> DeviceArray:  # fmt: skip
    monoid = checked_monoid(values, monoid)
    check_strategy(strategy, SCAN_STRATEGIES)
    out = checked_out(values, out)
    if total is not None:
        check_array("total", total, values.dtype, like=values)
        check_fits("total", total, 1)
        check_apart("total", total, values=values, out=out)
    if strategy == "scan-then-propagate" and total is not None:
        raise InvalidArgumentError("scan-then-propagate has no total; it takes no `total`")
    launch = launcher_for(values, launch)
    if strategy == "scan-then-propagate":
        _scan_then_propagate(launch, values, out, monoid, exclusive=exclusive)
        return out[: values.size]
    scan = Scan(values=values, monoid=monoid, exclusive=exclusive, strategy=strategy)
    return scan.enqueue(launch, out, total)


def _scan_then_propagate(
    launch: Launcher, values: DeviceArray, out: DeviceArray, monoid: Monoid, *, exclusive: bool
) -> None:
    """Enqueue one level: scan blocks, scan their totals in the same way, add them back."""
    device = values.device
    program = device.program(
        PROPAGATE_SOURCE,
        monoid.prelude,
        EXCLUSIVE=exclusive,
        BYTES_PER_ITEM=BYTES_PER_ITEM.under(device.policy),
    )
    tile, lane_groups = tile_and_lane_groups(
        device, monoid.held_bytes, work_group=program.work_group_size
    )
    block = _BLOCK_TILES * tile
    n_blocks = -(-values.size // block)
    totals = DeviceArray.empty(n_blocks, values.dtype, device)
    extent = np.uint32(values.size), np.uint64(block)
    groups = max(-(-n_blocks // lane_groups), 1)
    launch.enqueue(program, "scan_propagate_scan_blocks", groups, values, out, totals, *extent)
    if n_blocks > 1:
        _scan_then_propagate(launch, totals, totals, monoid, exclusive=True)
        launch.for_each(program, "scan_propagate_add_totals", values.size, totals, out, *extent)
