"""The division of an array for reduce-then-scan: a contiguous range of tiles a lane group."""

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

_CHUNK_BYTES = 16  # a vector load
# Bytes that a work-item loads from each tile of its share. An H200 scans 2**28 uint32 in 0.819 ms,
# with 128 bytes in 0.812, with 32 in 0.827.
BYTES_PER_ITEM = Constant("shares.BYTES_PER_ITEM", 64)


def check_strategy(strategy: str, known: tuple[str, ...] = STRATEGIES) -> None:
    """Raise unless `strategy` is one of the primitive's."""
    fact = f"no strategy is called {shown(strategy)}; there are"
    check_choice("strategy", strategy, known, fact=fact)


def shape_defines(strategy: str) -> dict[str, int]:
    """Return the macros that make kernels run on one work-item for "sequential"."""
    return {"WG_SIZE": 1} if strategy == "sequential" else {}


def tile_and_lane_groups(
    device: Device,
    element_bytes: int,
    strategy: str = "parallel",
    *,
    bytes_per_item: int | None = None,
    work_group: int | None = None,
) -> tuple[int, int]:
    """Return the elements of a lane group's tile, and the lane groups of a work-group."""
    tuning, capabilities = device.policy, device.capabilities
    bytes_per_item = bytes_per_item or BYTES_PER_ITEM.under(tuning)
    work_group = 1 if strategy == "sequential" else work_group or tuning.work_group_size
    lanes = work_group if capabilities.lanes == "local" else capabilities.lane_width
    lane_group = 1 if work_group == 1 else lanes
    element_bytes = max(element_bytes, WORD_BYTES)  # as many short elements as words
    chunk_items = max(_CHUNK_BYTES // element_bytes, 1)
    chunks = max(bytes_per_item // (chunk_items * element_bytes), 1)
    return chunks * chunk_items * lane_group, work_group // lane_group


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """A division of an array into shares, one for each lane group."""

    groups: int  # work-groups
    lane_groups: int  # of a work-group
    share: int  # elements of a lane group, a multiple of the tile
    alone: bool  # whether one lane group has the whole array, so that no carry is needed

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
        """Divide `length` elements among the lane groups that are resident.

        ``cl/device/lane_group.cl`` has the lane groups, ``cl/primitives/scan_range.cl`` the tiles.
        `bytes_per_item` and `work_group` are the policy's unless given.
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
        """Divide tiles evenly among the lane groups of at most `most_groups` work-groups."""
        tiles_each = -(-n_tiles // (most_groups * lane_groups))
        groups = -(-n_tiles // (tiles_each * lane_groups))
        return cls(groups=groups, lane_groups=lane_groups, share=tiles_each * tile, alone=False)
