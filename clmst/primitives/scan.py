"""Reductions and scans (prefix sums), plain and segmented. The kernels are in ``scan.cl``."""

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
# The strategy scan-then-propagate scans blocks of this number of tiles each. On a GPU, a block then
# has 1024 elements of 4 bytes, as in the library CLPP.
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
    """Combine all elements of an array, in order, with an associative operator.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
        The elements.
    monoid : Monoid, optional
        The operator with its identity. By default it is the sum.
    out : DeviceArray, shape (1,) or more, optional
        Output of the dtype of `values`. It must not overlap `values`.
    strategy, launch
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray, shape (1,)
        The combination of all elements, or the identity if there are none. The call returns without
        waiting for the device.

    Raises
    ------
    InvalidArgumentError
        An array has a wrong dtype or device, or `out` is too short or overlaps `values`.
    KernelBuildError
        The operator does not compile. The error holds the compiler's log.

    Notes
    -----
    It reads n elements, in two launches. The grouping of the elements depends only on n and the
    device, so floating-point results are reproducible.

    Examples
    --------
    >>> import clmst
    >>> values = clmst.DeviceArray.from_host(np.array([3, 1, 2], np.uint32))
    >>> reduce(values).to_host().tolist()
    [6]
    >>> reduce(values, monoid=Monoid.maximum("u4")).to_host().tolist()
    [3]
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
    """Combine, for each element, all elements before it: the exclusive prefix sum.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
        The elements.
    monoid : Monoid, optional
        The operator with its identity. By default it is the sum.
    out : DeviceArray, shape (n,) or more, optional
        Output of the dtype of `values`. It may be `values` itself.
    total : DeviceArray, shape (1,) or more, optional
        Output for the combination of all elements. It must not be given with "scan-then-propagate".
    strategy : {"auto", "reduce-then-scan", "scan-then-propagate", "sequential"}
        "auto" takes a single pass if that is correct and fastest, and otherwise reduce-then-scan.
        "scan-then-propagate" is the scheme of older libraries, for comparison. "sequential" runs on
        a single work-item, for debugging.
    launch : Launcher, optional
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray, shape (n,)
        For the sum, ``out[i] = values[0] + ... + values[i - 1]``. The first element is the
        identity. The call returns without waiting for the device.

    Raises
    ------
    InvalidArgumentError
        An array has a wrong dtype or device, or `out` is too short, or it overlaps `values` without
        being `values` itself.
    KernelBuildError
        The operator does not compile. The error holds the compiler's log.

    Notes
    -----
    The single pass uses decoupled look-back and fallback (Merrill, Garland 2016; Smith, Levien,
    Owens 2025). It takes one launch, which reads and writes each element once. The extra memory
    per tile is twice the size of an element. The single pass needs a device whose work-groups have
    lanes, elements of up to 16 bytes, an exact monoid, more than a few tiles of elements, and an
    `out` other than `values`.

    Otherwise the scan is a two-level reduce-then-scan (Merrill, Grimshaw 2009; Sun, Skadron 2013),
    in three launches for any length. It reads each element twice and writes it once, with
    O(work-groups) extra memory. The grouping of the elements depends only on n and the device, so
    floating-point results are reproducible.

    Examples
    --------
    >>> import clmst
    >>> values = clmst.DeviceArray.from_host(np.array([3, 1, 2], np.uint32))
    >>> exclusive_scan(values).to_host().tolist()
    [0, 3, 4]
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
    """Combine, for each element, all elements up to and including it: the inclusive prefix sum.

    For the sum, ``out[i] = values[0] + ... + values[i]``. Parameters, errors and costs are
    explained at :func:`exclusive_scan`.

    Examples
    --------
    >>> import clmst
    >>> values = clmst.DeviceArray.from_host(np.array([3, 1, 2], np.uint32))
    >>> inclusive_scan(values).to_host().tolist()
    [3, 4, 6]
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
    """Scan within segments: the scan starts anew at the first element of each segment.

    Parameters
    ----------
    values : DeviceArray, shape (n,)
        The elements.
    flags : DeviceArray of uint8 or bool, shape (n,), optional
        Nonzero where a segment begins. The first element always begins one. Without `flags`, the
        highest bit of each value is its flag. The values must then be unsigned integers. Their
        other bits are scanned, and `out` contains no flags.
    monoid : Monoid, optional
        The operator with its identity. By default it is the sum.
    exclusive : bool
        Whether to leave each element's own value out of its result.
    out : DeviceArray, shape (n,) or more, optional
        Output of the dtype of `values`. It may be `values` itself.
    strategy : {"parallel", "reduce-then-scan", "sequential"}
        "parallel" takes a single pass if that is correct and fastest, and otherwise
        reduce-then-scan; see :func:`exclusive_scan`. "sequential" runs on a single work-item, for
        debugging.
    launch : Launcher, optional
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray, shape (n,)
        For each element, the combination of the elements of its segment up to it. The call returns
        without waiting for the device.

    Raises
    ------
    InvalidArgumentError
        An array has a wrong dtype, length or device; `out` is too short, overlaps `flags`, or
        overlaps `values` without being `values` itself; or `flags` is None and the values are
        not unsigned integers.
    KernelBuildError
        The operator does not compile. The error holds the compiler's log.

    Notes
    -----
    It costs as much as :func:`exclusive_scan`, and two reads of the flags. The number of segments
    does not matter. If segments are given as CSR offsets, :func:`head_flags` computes their flags.

    Examples
    --------
    >>> import clmst
    >>> values = clmst.DeviceArray.from_host(np.array([3, 1, 2], np.uint32))
    >>> flags = clmst.DeviceArray.from_host(np.array([1, 0, 1], np.uint8))
    >>> segmented_scan(values, flags).to_host().tolist()
    [3, 4, 2]
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
        raise InvalidArgumentError(
            "scan-then-propagate does not compute a total; leave `total` out"
        )
    launch = launcher_for(values, launch)
    if strategy == "scan-then-propagate":
        _scan_then_propagate(launch, values, out, monoid, exclusive=exclusive)
        return out[: values.size]
    scan = Scan(values=values, monoid=monoid, exclusive=exclusive, strategy=strategy)
    return scan.enqueue(launch, out, total)


def _scan_then_propagate(
    launch: Launcher, values: DeviceArray, out: DeviceArray, monoid: Monoid, *, exclusive: bool
) -> None:
    """Enqueue a scan of each block of the array, then a scan of the totals, which are added.

    A total of each block is added to all elements of the next blocks. The totals are scanned in the
    same way. The scan of `values` by `monoid` is written to `out`. With `exclusive`, the result of
    an element leaves the element itself out.
    """
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
