"""Scans, selections and sorts in a single pass over an array, and when they are used.

A work-group processes one tile, which is a range of consecutive elements. It publishes the total of
the tile, and looks back at the totals that earlier work-groups have published. ``tile_state.cl``
explains this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from clmst import route
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device import Device
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Constant, Policy

# The macro LOOK_WORDS of cl/device/tile_state.cl. In a single-pass scan, every tile has a state in
# global memory, which work-groups of later tiles read. In the array of all states, LOOK_WORDS words
# with other contents come before the first state. The array's length is a multiple of LOOK_WORDS.
LOOK_WORDS = 8
# Number of work-items in a work-group, which processes one tile. With 512, an H200 scans 2**28
# uint32 in 0.669 ms. With 256, it takes 0.685 ms.
WORK_ITEMS = Constant("chain.WORK_ITEMS", 512)
# Maximum number of registers of a work-item. Only NVIDIA's compiler takes such a limit. With 56
# registers, the scan of 0.669 ms above takes 0.766 ms, and with 80 it takes 0.874 ms.
REGISTERS = 64


def chain_work_group(capabilities: Capabilities, tuning: Policy) -> int:
    """Return the number of work-items in a work-group of a single-pass kernel.

    `capabilities` and `tuning` are the properties and the settings of the device. The result is 1
    if the device's work-groups have one work-item, as on CPUs.
    """
    if tuning.work_group_size == 1:
        return 1
    return min(WORK_ITEMS.under(tuning), capabilities.max_work_group_size)


def chains_by_itself(device: Device) -> bool:
    """Return whether single-pass kernels may be used on a device by default.

    They need sub-groups, whose work-items (lanes) run in lockstep, in a form that clmst can use.
    """
    has_lanes = device.capabilities.lanes != "local"
    return has_lanes and chain_work_group(device.capabilities, device.policy) > 1


def is_taken(
    device: Device,
    primitive: Literal["scan", "selection", "sort"],
    n_tiles: Callable[[], int] = lambda: 0,
) -> bool:
    """Return whether a primitive should work in a single pass on a device, because that is faster.

    `n_tiles` returns the number of tiles of the array, which are the ranges that a work-group takes
    at a time. It is called only if the device can run single-pass kernels. The caller must have
    checked that a single pass gives correct results.
    """
    return chains_by_itself(device) and route.in_one_pass(primitive, n_tiles())


def cleared_states(launch: Launcher, n_tiles: int, words: int) -> Memory:
    """Allocate the states of `n_tiles` tiles, of `words` words each, and clear them to 0.

    A tile is the range of elements that one work-group processes. A tile's state is what its
    work-group publishes for later work-groups in a single pass.
    """
    count = LOOK_WORDS * (1 + -(-n_tiles * words // LOOK_WORDS))
    states = launch.device.allocate(4 * count)
    launch.fill(states, 0, count)
    return states
