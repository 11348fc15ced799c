"""Divide an array among lane groups, each of which scans one contiguous range of the array.

A lane group is a set of work-items that scan together: a sub-group if the device has sub-groups,
and otherwise a whole work-group. It goes through its range tile by tile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clmst import route
from clmst.core.arguments import check_choice, shown
from clmst.primitives.element import WORD_BYTES
from clmst.runtime.device import Device
from clmst.runtime.policy import Constant

Strategy: TypeAlias = Literal["parallel", "sequential"]
STRATEGIES = ("parallel", "sequential")

_CHUNK_BYTES = 16  # number of bytes in a vector load
# Number of bytes that a work-item loads from each tile. An H200 scans 2**28 uint32 in 0.819 ms with
# 64 bytes, in 0.812 ms with 128 bytes and in 0.827 ms with 32 bytes.
BYTES_PER_ITEM = Constant("shares.BYTES_PER_ITEM", 64)


def check_strategy(strategy: str, known: tuple[str, ...] = STRATEGIES) -> None:
    """Raise InvalidArgumentError unless `strategy` is one of the names in `known`."""
    fact = f"no strategy is called {shown(strategy)}; there are"
    check_choice("strategy", strategy, known, fact=fact)


def shape_defines(strategy: str) -> dict[str, int]:
    """Return the preprocessor macros with which kernels are compiled for a strategy.

    With the strategy "sequential", a work-group has one work-item. Otherwise the result is empty.
    """
    return {"WG_SIZE": 1} if strategy == "sequential" else {}


def tile_and_lane_groups(
    device: Device,
    element_bytes: int,
    strategy: str = "parallel",
    *,
    bytes_per_item: int | None = None,
    work_group: int | None = None,
) -> tuple[int, int]:
    """Return the number of elements in a tile, and the number of lane groups in a work-group.

    A lane group is a set of work-items that scan together. A tile is the range of elements that it
    loads at a time. `element_bytes` is the size of an element. With the `strategy` "sequential" a
    work-group is one work-item. `bytes_per_item` is the number of bytes that a work-item loads from
    a tile, and `work_group` is the size of a work-group. None stands for the device's usual values.
    """
    tuning, capabilities = device.policy, device.capabilities
    bytes_per_item = bytes_per_item or BYTES_PER_ITEM.under(tuning)
    work_group = 1 if strategy == "sequential" else work_group or tuning.work_group_size
    lanes = work_group if capabilities.lanes == "local" else capabilities.lane_width
    lane_group = 1 if work_group == 1 else lanes
    element_bytes = max(element_bytes, WORD_BYTES)  # elements of 1 or 2 bytes count as 4
    chunk_items = max(_CHUNK_BYTES // element_bytes, 1)
    chunks = max(bytes_per_item // (chunk_items * element_bytes), 1)
    return chunks * chunk_items * lane_group, work_group // lane_group


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """A division of an array into ranges, one for each lane group (a set of work-items)."""

    groups: int  # number of work-groups
    lane_groups: int  # number of lane groups in a work-group
    share: int  # number of elements in a lane group's range, a multiple of the tile
    alone: bool  # whether a single launch does all, because no carries are needed between ranges

    @classmethod
    def divide(
        cls,
        device: Device,
        length: int,
        element_bytes: int,
        strategy: str = "parallel",
        *,
        bytes_per_item: int | None = None,
        work_group: int | None = None,
    ) -> Shares:
        """Divide `length` elements evenly among the lane groups of some number of work-groups.

        A lane group is a set of work-items that scan together. It goes through its elements tile by
        tile. `element_bytes` is the size of an element. With the `strategy` "sequential" there is
        one work-group of one work-item. Otherwise there are at most as many work-groups as the
        device runs at the same time. `bytes_per_item` is the number of bytes that a work-item loads
        from a tile, and `work_group` is the size of a work-group. None stands for the device's
        usual values.
        """
        tile, lane_groups = tile_and_lane_groups(
            device, element_bytes, strategy, bytes_per_item=bytes_per_item, work_group=work_group
        )
        n_tiles = max(-(-length // tile), 1)
        if strategy == "sequential" or route.scanned_in_one_launch(n_tiles):
            return cls(groups=1, lane_groups=lane_groups, share=n_tiles * tile, alone=True)
        resident = device.capabilities.compute_units * device.policy.shares_per_compute_unit
        return cls.spread(n_tiles, tile=tile, lane_groups=lane_groups, most_groups=resident)

    @classmethod
    def spread(cls, n_tiles: int, *, tile: int, lane_groups: int, most_groups: int) -> Shares:
        """Divide tiles evenly among the lane groups of at most `most_groups` work-groups.

        There are `n_tiles` tiles of `tile` elements each. A work-group has `lane_groups` lane
        groups, which are sets of work-items that scan together. Each lane group gets the same
        number of consecutive tiles; the last ones may get fewer, or none.
        """
        tiles_each = -(-n_tiles // (most_groups * lane_groups))
        groups = -(-n_tiles // (tiles_each * lane_groups))
        return cls(groups=groups, lane_groups=lane_groups, share=tiles_each * tile, alone=False)
