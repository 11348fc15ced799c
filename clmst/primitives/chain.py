"""Chains of tiles: scans in one pass, by look-back; host side of ``cl/device/tile_state.cl``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst.primitives.element import WORD_BYTES
from clmst.primitives.monoid import Monoid
from clmst.primitives.shares import Shares, tile_and_lane_groups
from clmst.primitives.sweeps import Segments, sweep_defines
from clmst.runtime.array import DeviceArray
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device import Device
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy
from clmst.runtime.program import Program

SOURCE = "primitives/scan_chain.cl"

# LOOK_WORDS of cl/device/tile_state.cl: what precedes the states, and what they are rounded up to.
LOOK_WORDS = 8
# A state has 16 bits of an element in each word, and LOOK_WORDS words at most.
_MOST_BYTES = 16


def chain_work_group(capabilities: Capabilities, tuning: Policy) -> int:
    """Return the work-items of a work-group that has one tile; 1: the device has no chains."""
    if tuning.work_group_size == 1:
        return 1
    return min(tuning.chain_work_group_size, capabilities.max_work_group_size)


def chains_by_itself(device: Device) -> bool:
    """Return whether a device takes one pass by default: it needs lanes that look back."""
    has_lanes = device.capabilities.lanes != "local"
    return has_lanes and chain_work_group(device.capabilities, device.policy) > 1


def cleared_states(launch: Launcher, n_tiles: int, words: int) -> Memory:
    """Return cleared states for `n_tiles` tiles of `words` words each."""
    count = LOOK_WORDS * (1 + -(-n_tiles * words // LOOK_WORDS))
    states = launch.device.allocate(4 * count)
    launch.fill(states, 0, count)
    return states


def scan_defines(
    capabilities: Capabilities,
    tuning: Policy,
    *,
    item_bytes: int,
    segments: Segments,
    exclusive: bool,
) -> dict[str, int | bool]:
    """Return the macros of ``scan_chain.cl`` beside the operator's.

    Elements of several words are scanned by half as many work-items, with as many registers as they
    like (docs/performance_log.md).
    """
    whole = tuning.chain_bytes_per_item
    work_group = chain_work_group(capabilities, tuning)
    is_wide = item_bytes > WORD_BYTES and work_group > 1
    half = max(work_group // 2, capabilities.lane_width)
    return {
        "SEGMENTS": segments,
        "EXCLUSIVE": exclusive,
        "BYTES_PER_ITEM": whole if segments == Segments.NONE else max(whole // 2, 16),
        "WG_SIZE": half if is_wide else work_group,
        "MAX_REGISTERS": 0 if is_wide else tuning.chain_registers,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainedScan:
    """A scan in one pass, of arguments that are checked."""

    values: DeviceArray
    flags: DeviceArray | None = None
    monoid: Monoid
    segments: Segments = Segments.NONE
    exclusive: bool

    def suits(self, out: DeviceArray) -> bool:
        """Return whether the results are right in one pass, and bit for bit the same each time."""
        device, item_bytes = self.values.device, self.values.dtype.itemsize
        is_right = bool(self.monoid.exact) and not out.is_at(self.values)
        if not is_right or item_bytes > _MOST_BYTES or not chains_by_itself(device):
            return False
        swept = sweep_defines(device.policy, segments=self.segments, exclusive=self.exclusive)
        loaded = int(swept["BYTES_PER_ITEM"])
        return not Shares.divide(device, self.values.size, item_bytes, bytes_per_item=loaded).alone

    def enqueue(
        self, launch: Launcher, out: DeviceArray, total: DeviceArray | None = None
    ) -> DeviceArray:
        """Enqueue the launch; return the written part of `out`."""
        values = self.values
        program = self._program
        n_tiles = -(-values.size // self._tile_of(program))
        states = cleared_states(launch, n_tiles, max(values.dtype.itemsize // 2, 2))
        launch(
            program, "scan_chain_tiles", n_tiles, values.memory,
            None if self.flags is None else self.flags.memory, states, out.memory,
            None if total is None else total.memory, np.uint32(values.size),
        )  # fmt: skip
        return out[: values.size]

    @property
    def tile(self) -> int:
        """Elements of a work-group's tile."""
        return self._tile_of(self._program)

    def _tile_of(self, program: Program) -> int:
        tile, lane_groups = tile_and_lane_groups(
            self.values.device,
            self.values.dtype.itemsize,
            bytes_per_item=int(self._defines["BYTES_PER_ITEM"]),
            work_group=program.work_group_size,
        )
        return tile * lane_groups

    @property
    def _program(self) -> Program:
        return self.values.device.program(SOURCE, self.monoid.prelude, **self._defines)

    @property
    def _defines(self) -> dict[str, int | bool]:
        device = self.values.device
        return scan_defines(
            device.capabilities,
            device.policy,
            item_bytes=self.values.dtype.itemsize,
            segments=self.segments,
            exclusive=self.exclusive,
        )
