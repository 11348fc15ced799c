"""The launches of a scan: a single pass with look-back, or the three launches of reduce-then-scan.

Reduce-then-scan divides the array into ranges. The upsweep reduces each range, the spine scans the
totals of the ranges, and the downsweep scans each range. The kernels are in
``cl/primitives/scan_chain.cl`` and ``cl/primitives/scan.cl``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from clmst.core.arguments import check_kind
from clmst.core.errors import InvalidArgumentError
from clmst.primitives import chain
from clmst.primitives.chain import REGISTERS, chain_work_group, cleared_states
from clmst.primitives.checks import check_array, check_flags, check_in_place, output_for
from clmst.primitives.element import WORD_BYTES, check_supported
from clmst.primitives.monoid import Monoid
from clmst.primitives.shares import BYTES_PER_ITEM, Shares, shape_defines, tile_and_lane_groups
from clmst.runtime.array import DeviceArray
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy
from clmst.runtime.program import Program

SOURCE = "primitives/scan.cl"
CHAIN_SOURCE = "primitives/scan_chain.cl"

# Maximum size in bytes of an element in a one-pass scan. Each tile publishes its total in a state
# of at most LOOK_WORDS words, and each of these words has 16 bits of an element.
_MOST_CHAINED_BYTES = 16


class Segments(IntEnum):
    """The form in which segments are given: SEGMENTS of ``cl/primitives/scan_kind.cl``."""

    NONE = 0
    FLAGS = 1
    PACKED = 2


def checked_monoid(values: Any, monoid: Monoid | None) -> Monoid:
    """Check the values and the monoid of a scan. Return the monoid, or the sum if it is None.

    A monoid is an associative operator with its identity. Raises InvalidArgumentError.
    """
    check_array("values", values)
    check_supported(values.dtype, values.device)
    monoid = Monoid.sum(values.dtype) if monoid is None else check_kind("monoid", monoid, Monoid)
    if monoid.dtype != values.dtype:
        raise InvalidArgumentError(
            f"the monoid is of {monoid.dtype}, values are of {values.dtype}; they must agree"
        )
    return monoid


def checked_out(values: DeviceArray, out: DeviceArray | None) -> DeviceArray:
    """Check the output `out` of a scan of `values` and return it, or a new array if it is None."""
    out = output_for("out", out, values.dtype, values.size, like=values)
    check_in_place("out", out, "values", values)
    return out


def checked_flags(values: DeviceArray, flags: DeviceArray | None) -> None:
    """Check the flags that mark the beginnings of segments in `values`.

    `flags` is None if the highest bit of each value is its flag; the values must then be unsigned
    integers. Raises InvalidArgumentError.
    """
    if flags is not None:
        check_flags(flags, values)
    elif values.dtype.kind != "u":
        raise InvalidArgumentError(
            f"there are no flags, and values are of {values.dtype}; flags are packed into the top "
            "bits of unsigned integers only"
        )


def _bytes_per_item(most: int, segments: Segments) -> int:
    """Return the bytes that a work-item loads at once: `most`, or half of it with segments.

    The flags of segments take registers. On an H200, segmented minima of 8-byte pairs took 1.08 ms
    with half the bytes and 1.17 ms with all of them, for an operator that branches. For an operator
    without branches they took 0.94 and 0.95 ms.
    """
    return most if segments == Segments.NONE else max(most // 2, 16)


def sweep_defines(
    tuning: Policy, *, segments: Segments, exclusive: bool, strategy: str = "parallel"
) -> dict[str, int | bool]:
    """Return the macros of ``scan.cl``, except the macros of the operator.

    The file has the kernels of reduce-then-scan. `tuning` has the device's settings of kernels.
    `segments` says in which form segments are given, and `exclusive` whether an element's result
    leaves the element itself out. `strategy` is "sequential" for a single work-item.
    """
    return {
        "SEGMENTS": segments,
        "EXCLUSIVE": exclusive,
        "BYTES_PER_ITEM": _bytes_per_item(BYTES_PER_ITEM.under(tuning), segments),
        **shape_defines(strategy),
    }


def chain_defines(
    capabilities: Capabilities,
    tuning: Policy,
    *,
    item_bytes: int,
    segments: Segments,
    exclusive: bool,
) -> dict[str, int | bool]:
    """Return the macros of ``scan_chain.cl``, except the macros of the operator.

    The file has the kernel of a single pass. `capabilities` and `tuning` are the properties and the
    settings of the device. `item_bytes` is the size of an element in a kernel. `segments` says in
    which form segments are given, and `exclusive` whether an element's result leaves the element
    itself out. Elements of several words are scanned by half as many work-items, without a limit on
    registers (benchmarks/log.md).
    """
    work_group = chain_work_group(capabilities, tuning)
    is_wide = item_bytes > WORD_BYTES and work_group > 1
    half = max(work_group // 2, capabilities.lane_width)
    return {
        "SEGMENTS": segments,
        "EXCLUSIVE": exclusive,
        "BYTES_PER_ITEM": _bytes_per_item(tuning.chain_bytes_per_item, segments),
        "WG_SIZE": half if is_wide else work_group,
        "MAX_REGISTERS": 0 if is_wide else REGISTERS,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A scan or reduction whose arguments have been checked."""

    values: DeviceArray
    monoid: Monoid
    flags: DeviceArray | None = None
    segments: Segments = Segments.NONE
    exclusive: bool = True
    strategy: str

    def enqueue(
        self, launch: Launcher, out: DeviceArray, total: DeviceArray | None = None
    ) -> DeviceArray:
        """Enqueue the scan, and return the part of `out` that is written.

        `total` receives the combination of all elements, unless it is None. With the strategy
        "auto", the scan is a single pass if :meth:`suits_chain` is true. Otherwise it is
        reduce-then-scan.
        """
        if self.strategy == "auto" and self.suits_chain(out):
            self._enqueue_chain(launch, out, total)
        else:
            self._enqueue_sweeps(launch, out, total)
        return out[: self.values.size]

    def enqueue_reduction(self, launch: Launcher, out: DeviceArray) -> None:
        """Enqueue the combination of all elements into `out`, in two launches.

        They are the first two of reduce-then-scan: one reduces ranges, one combines their totals.
        """
        self._enqueue_upsweep(launch, *self._sweeps, total=out)

    # ------------------------------------------------------------------ in one pass

    def suits_chain(self, out: DeviceArray) -> bool:
        """Return whether a scan in a single pass is correct, reproducible and fastest.

        `out` is the output, which must not be the input, because a single pass cannot work in
        place.
        """
        device, item_bytes = self.values.device, self.monoid.held_bytes

        def n_tiles() -> int:
            loaded = _bytes_per_item(BYTES_PER_ITEM.under(device.policy), self.segments)
            tile, _ = tile_and_lane_groups(device, item_bytes, bytes_per_item=loaded)
            return -(-self.values.size // tile)

        is_right = bool(self.monoid.exact) and not out.is_at(self.values)
        is_right = is_right and item_bytes <= _MOST_CHAINED_BYTES
        return is_right and chain.is_taken(device, "scan", n_tiles)

    def _enqueue_chain(self, launch: Launcher, out: DeviceArray, total: DeviceArray | None) -> None:
        values, (program, tile) = self.values, self.chain
        n_tiles = -(-values.size // tile)
        states = cleared_states(launch, n_tiles, max(self.monoid.held_bytes // 2, 2))
        launch.enqueue(
            program, "scan_chain_tiles", n_tiles, values, self.flags, states, out, total,
            values.size,
        )  # fmt: skip

    @property
    def chain(self) -> tuple[Program, int]:
        """The program of a scan in one launch, and the number of elements per work-group."""
        device, item_bytes = self.values.device, self.monoid.held_bytes
        defines = chain_defines(
            device.capabilities, device.policy, item_bytes=item_bytes, segments=self.segments,
            exclusive=self.exclusive,
        )  # fmt: skip
        program = device.program(CHAIN_SOURCE, self.monoid.prelude, **defines)
        tile, lane_groups = tile_and_lane_groups(
            device, item_bytes, bytes_per_item=int(defines["BYTES_PER_ITEM"]),
            work_group=program.work_group_size,
        )  # fmt: skip
        return program, tile * lane_groups

    # ------------------------------------------------------------- reduce-then-scan

    def _enqueue_sweeps(
        self, launch: Launcher, out: DeviceArray, total: DeviceArray | None
    ) -> None:
        """Enqueue a scan by reduce-then-scan, in three launches, or one for a short array.

        The scan is written to `out`. `total` receives the combination of all elements, unless it is
        None.
        """
        program, shares = self._sweeps
        carries = None
        if total is not None or not shares.alone:
            carries = self._enqueue_upsweep(launch, program, shares, total=total)
        launch.enqueue(
            program, "scan_write_ranges", shares.groups, self.values, self.flags, carries, out,
            self.values.size, np.uint64(shares.share),
        )  # fmt: skip

    def _enqueue_upsweep(
        self, launch: Launcher, program: Program, shares: Shares, *, total: DeviceArray | None
    ) -> Memory:
        """Enqueue the first two launches of reduce-then-scan, and return the memory of the carries.

        `shares` says how the elements are divided into ranges. The first launch reduces each range,
        and the second scans the totals of the ranges. The results of the second launch are the
        carries: for each range, the combination of all elements before it. `total` receives the
        combination of all elements, unless it is None. `program` has the kernels.
        """
        entries = shares.groups * (1 + shares.lane_groups)
        carries = launch.device.allocate(entries * (self.monoid.held_bytes + 4) + 4)
        launch.enqueue(
            program, "scan_reduce_ranges", shares.groups, self.values, self.flags, carries,
            self.values.size, np.uint64(shares.share),
        )  # fmt: skip
        launch.enqueue(program, "scan_scan_spine", 1, carries, total, shares.groups)
        return carries

    @property
    def _sweeps(self) -> tuple[Program, Shares]:
        """The program of a scan in three launches, and the ranges of elements that it scans."""
        device, strategy = self.values.device, self.strategy
        defines = sweep_defines(
            device.policy, segments=self.segments, exclusive=self.exclusive, strategy=strategy
        )
        program = device.program(SOURCE, self.monoid.prelude, **defines)
        shares = Shares.divide(
            device, self.values.size, self.monoid.held_bytes, strategy,
            bytes_per_item=int(defines["BYTES_PER_ITEM"]), work_group=program.work_group_size,
        )  # fmt: skip
        return program, shares
