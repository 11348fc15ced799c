"""Chains of tiles, which look back in one pass; host side of ``cl/device/tile_state.cl``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from clmst import route
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device import Device
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Constant, Policy

# LOOK_WORDS of cl/device/tile_state.cl: what precedes the states, and what they are rounded up to.
LOOK_WORDS = 8
# Work-items of a work-group that has one tile. An H200 scans 2**28 uint32 in 0.669 ms, with 256
# work-items in 0.685.
WORK_ITEMS = Constant("chain.WORK_ITEMS", 512)
# Registers of a work-item, at most, of the compilers that take a limit: NVIDIA's. With 56 the same
# scan takes 0.766 ms, with 80 it takes 0.874.
REGISTERS = 64


def chain_work_group(capabilities: Capabilities, tuning: Policy) -> int:
    """Return the work-items of a work-group that has one tile; 1: the device has no chains."""
    if tuning.work_group_size == 1:
        return 1
    return min(WORK_ITEMS.under(tuning), capabilities.max_work_group_size)


def chains_by_itself(device: Device) -> bool:
    """Return whether a device takes one pass by default: it needs lanes that look back."""
    has_lanes = device.capabilities.lanes != "local"
    return has_lanes and chain_work_group(device.capabilities, device.policy) > 1


def is_taken(
    device: Device,
    primitive: Literal["scan", "selection", "sort"],
    n_tiles: Callable[[], int] = lambda: 0,
) -> bool:
    """Return whether a primitive for which one pass is right is done in one, by the router."""
    return chains_by_itself(device) and route.in_one_pass(primitive, n_tiles())


def cleared_states(launch: Launcher, n_tiles: int, words: int) -> Memory:
    """Return cleared states for `n_tiles` tiles of `words` words each."""
    count = LOOK_WORDS * (1 + -(-n_tiles * words // LOOK_WORDS))
    states = launch.device.allocate(4 * count)
    launch.fill(states, 0, count)
    return states
