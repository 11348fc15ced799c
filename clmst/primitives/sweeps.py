"""The sweeps of reduce-then-scan: the launches of ``cl/primitives/scan.cl``, and their checks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from clmst.core.arguments import check_kind
from clmst.core.errors import InvalidArgumentError
from clmst.primitives.checks import (
    check_array,
    check_in_place,
    check_length,
    launcher_for,
    output_for,
)
from clmst.primitives.element import check_supported
from clmst.primitives.monoid import Monoid
from clmst.primitives.shares import Shares, shape_defines
from clmst.runtime.array import DeviceArray
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy
from clmst.runtime.program import Program

SOURCE = "primitives/scan.cl"


class Segments(IntEnum):
    """The form of segments: SEGMENTS of ``cl/primitives/scan_range.cl``."""

    NONE = 0
    FLAGS = 1
    PACKED = 2


def checked_monoid(values: Any, monoid: Monoid | None) -> Monoid:
    """Check values and monoid; return the monoid, by default the sum."""
    check_array("values", values)
    check_supported(values.dtype, values.device)
    monoid = Monoid.sum(values.dtype) if monoid is None else check_kind("monoid", monoid, Monoid)
    if monoid.dtype != values.dtype:
        raise InvalidArgumentError(
            f"the monoid is of {monoid.dtype}, values are of {values.dtype}; they must agree"
        )
    return monoid


def checked_out(values: DeviceArray, out: DeviceArray | None) -> DeviceArray:
    """Return the output, by default a new array."""
    out = output_for("out", out, values.dtype, values.size, like=values)
    check_in_place("out", out, "values", values)
    return out


def checked_flags(values: DeviceArray, flags: DeviceArray | None) -> None:
    """Raise unless there are flags, or the values can hold them."""
    if flags is not None:
        check_array("flags", flags, np.uint8, like=values)
        check_length("flags", flags, values.size)
    elif values.dtype.kind != "u":
        raise InvalidArgumentError(
            f"there are no flags, and values are of {values.dtype}; flags are packed into the top "
            "bits of unsigned integers only"
        )


def sweep_defines(
    tuning: Policy, *, segments: Segments, exclusive: bool, strategy: str = "parallel"
) -> dict[str, int | bool]:
    """Return the macros of ``scan.cl`` beside the operator's.

    With head flags, which take registers, a work-item loads half as many bytes at a time: segmented
    minima of 8-byte pairs by a branching operator took 1.08 ms on an H200 with half, 1.17 ms with
    all; by one without branches 0.94 and 0.95 ms.
    """
    whole = tuning.bytes_per_item
    return {
        "SEGMENTS": segments,
        "EXCLUSIVE": exclusive,
        "BYTES_PER_ITEM": whole if segments == Segments.NONE else max(whole // 2, 16),
        **shape_defines(strategy),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeps:
    """Upsweep, spine and downsweep over an array, in a queue."""

    launch: Launcher
    program: Program
    values: DeviceArray
    flags: Any
    shares: Shares

    @classmethod
    def of(
        cls,
        values: DeviceArray,
        monoid: Monoid,
        flags: DeviceArray | None = None,
        *,
        segments: Segments = Segments.NONE,
        exclusive: bool = True,
        strategy: str,
        launch: Launcher | None,
    ) -> Sweeps:
        """Prepare the sweeps over checked arguments; `launch` is the device's own if None."""
        device = values.device
        defines = sweep_defines(
            device.policy, segments=segments, exclusive=exclusive, strategy=strategy
        )
        program = device.program(SOURCE, monoid.prelude, **defines)
        return cls(
            launch=launcher_for(values, launch),
            program=program,
            values=values,
            flags=None if flags is None else flags.memory,
            shares=Shares.divide(
                device,
                values.size,
                values.dtype.itemsize,
                strategy,
                bytes_per_item=int(defines["BYTES_PER_ITEM"]),
                work_group=program.work_group_size,
            ),
        )

    def scan(self, out: DeviceArray, *, total: DeviceArray | None = None) -> DeviceArray:
        """Enqueue all necessary sweeps; return the written part of `out`."""
        carries = self.up(total=total) if total is not None or not self.shares.alone else None
        self.launch(
            self.program, "scan_write_ranges", self.shares.groups, self.values.memory, self.flags,
            carries, out.memory, *self._extent,
        )  # fmt: skip
        return out[: self.values.size]

    def up(self, *, total: DeviceArray | None = None) -> Memory | None:
        """Enqueue upsweep and spine; return the prefix of each share."""
        shares, launch = self.shares, self.launch
        entries = shares.groups * (1 + shares.lane_groups)
        carries = launch.device.allocate(entries * (self.values.dtype.itemsize + 4) + 4)
        launch(
            self.program, "scan_reduce_ranges", shares.groups, self.values.memory, self.flags,
            carries, *self._extent,
        )  # fmt: skip
        launch(
            self.program, "scan_scan_spine", 1, carries, None if total is None else total.memory,
            np.uint32(shares.groups),
        )  # fmt: skip
        return carries

    @property
    def _extent(self) -> tuple[np.uint32, np.uint64]:
        return np.uint32(self.values.size), np.uint64(self.shares.share)
