"""How reduce-then-scan shares an array out: to teams of work-items, a run of tiles each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clmst.core.arguments import check_choice, shown
from clmst.runtime.device import Device

Strategy: TypeAlias = Literal["parallel", "sequential"]
STRATEGIES = ("parallel", "sequential")

_CHUNK_BYTES = 16  # a vector load
# For as few tiles as this, one team alone is quicker than three launches.
_TILES_FOR_ONE_TEAM = 4


def check_strategy(strategy: str, known: tuple[str, ...] = STRATEGIES) -> None:
    """Raise unless `strategy` is one of those that the primitive has."""
    fact = f"no strategy is called {shown(strategy)}; there are"
    check_choice("strategy", strategy, known, fact=fact)


def shape_defines(strategy: str) -> dict[str, int]:
    """Return the macros by which kernels become those of one work-item for "sequential"."""
    return {"WG_SIZE": 1} if strategy == "sequential" else {}


def tile_and_teams(
    device: Device,
    element_bytes: int,
    strategy: str = "parallel",
    *,
    bytes_per_item: int | None = None,
) -> tuple[int, int]:
    """Return the elements of a team's tile, and the teams of a work-group."""
    tuning, capabilities = device.policy, device.capabilities
    bytes_per_item = bytes_per_item or tuning.bytes_per_item
    work_group = 1 if strategy == "sequential" else tuning.work_group_size
    lanes = work_group if capabilities.lanes == "local" else capabilities.lane_width
    team = 1 if work_group == 1 else lanes
    chunk_items = max(_CHUNK_BYTES // element_bytes, 1)
    chunks = max(bytes_per_item // (chunk_items * element_bytes), 1)
    return chunks * chunk_items * team, work_group // team


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """A division of an array into shares, one a team.

    Attributes
    ----------
    groups : int
        Work-groups.
    teams : int
        Teams in a work-group.
    share : int
        Elements a team, a multiple of the tile.
    alone : bool
        Whether one team has the whole array, so that nothing need be carried.
    """

    groups: int
    teams: int
    share: int
    alone: bool

    @classmethod
    def divide(
        cls,
        device: Device,
        length: int,
        element_bytes: int,
        strategy: str = "parallel",
        *,
        bytes_per_item: int | None = None,
    ) -> Shares:
        """Divide `length` elements of so many bytes among as many teams as are resident.

        Teams and tiles are those of ``cl/device/team.cl`` and ``cl/primitives/scan_share.cl``;
        `bytes_per_item` is the policy's unless given.
        """
        tile, teams = tile_and_teams(device, element_bytes, strategy, bytes_per_item=bytes_per_item)
        n_tiles = max(-(-length // tile), 1)
        if strategy == "sequential" or n_tiles <= _TILES_FOR_ONE_TEAM:
            return cls(groups=1, teams=teams, share=n_tiles * tile, alone=True)
        resident = device.capabilities.compute_units * device.policy.shares_per_compute_unit
        return cls.spread(n_tiles, tile=tile, teams=teams, most_groups=resident)

    @classmethod
    def spread(cls, n_tiles: int, *, tile: int, teams: int, most_groups: int) -> Shares:
        """Spread tiles of so many elements evenly over at most so many work-groups of teams."""
        tiles_each = -(-n_tiles // (most_groups * teams))
        groups = -(-n_tiles // (tiles_each * teams))
        return cls(groups=groups, teams=teams, share=tiles_each * tile, alone=False)
