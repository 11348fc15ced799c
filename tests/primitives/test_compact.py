"""Compaction: the positions of set flags, for every length at which a share ends differently."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from clmst import Device
from clmst.primitives.compact import FLAGS_PER_VECTOR, flag_bytes, select_flagged
from clmst.runtime.device import Launcher

Flags = npt.NDArray[np.uint8]
UNTOUCHED = np.uint32(0xABCDABCD)


@cache
def with_groups(device: Device, groups_per_compute_unit: int) -> Device:
    """Return the device with so many work-groups, which bounds how long an array must be."""
    tuning = replace(device.policy, groups_per_compute_unit=groups_per_compute_unit)
    return device.with_policy(tuning)


def lengths_for(device: Device) -> list[int]:
    """Return lengths around a vector, a tile, a tile for each work-group, and several of them."""
    tile = FLAGS_PER_VECTOR * device.policy.work_group_size
    shares = tile * device.policy.groups_per_compute_unit * device.capabilities.compute_units
    around = [k + d for k in (FLAGS_PER_VECTOR, tile, shares) for d in (-1, 0, 1)]
    return sorted({0, 1, 2, *around, 3 * tile + 5, 5 * shares, 5 * shares - tile - 7})


def select(device: Device, flags: Flags, *, behind: int = 0) -> tuple[npt.NDArray[np.uint32], int]:
    """Return what `select_flagged` writes, two untouched words more, and the total it tells.

    The flags' buffer goes on with bytes of `behind` where the padding ends.
    """
    launch = Launcher(device, device.queue)
    stored = np.zeros(flag_bytes(flags.size), np.uint8)
    stored[: flags.size] = flags
    stored = np.concatenate([stored, np.full(64, behind, np.uint8)])
    given = device.allocate(stored.nbytes)
    launch.write(given, stored)
    found = np.full(np.count_nonzero(flags) + 2, UNTOUCHED)
    positions, total = device.allocate(found.nbytes), device.allocate(4)
    launch.write(positions, found)
    select_flagged(launch, given, flags.size, positions=positions, total=total)
    count = np.zeros(1, np.uint32)
    launch.read(positions, found)
    launch.read(total, count)
    return found, int(count[0])


def assert_selects(device: Device, flags: Flags, *, behind: int = 0) -> None:
    found, count = select(device, flags, behind=behind)
    expected = np.flatnonzero(flags)
    assert count == expected.size
    np.testing.assert_array_equal(found[:-2], expected)
    assert (found[-2:] == UNTOUCHED).all()


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0], ids=["none", "few", "half", "all"])
def test_every_length(device: Device, share: float) -> None:
    """A vector, tile or share that is just filled, or not, must lose or repeat nothing."""
    device = with_groups(device, 2)
    for length in lengths_for(device):
        rng = np.random.default_rng(length)
        assert_selects(device, (rng.random(length) < share).astype(np.uint8))


def test_single_flags(device: Device) -> None:
    """The first and the last flag of all, of a vector and of a word."""
    device = with_groups(device, 2)
    for length in lengths_for(device):
        for at in {0, 3, 4, 15, 16, length // 2, length - 1} & set(range(length)):
            flags = np.zeros(length, np.uint8)
            flags[at] = 1
            assert_selects(device, flags)


def test_more_work_groups_than_a_work_group_has_work_items(device: Device) -> None:
    """Their sums are scanned in several tiles; those in front find nothing."""
    device = with_groups(device, 2 * device.policy.work_group_size)
    tile = FLAGS_PER_VECTOR * device.policy.work_group_size
    rng = np.random.default_rng(1)
    flags = rng.integers(0, 2, 2 * tile * device.policy.work_group_size + 77).astype(np.uint8)
    flags[: tile * device.policy.work_group_size // 2] = 0
    assert_selects(device, flags)


@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 1000])
def test_what_follows_the_padding_is_not_read(device: Device, length: int) -> None:
    """Buffers come from a pool, and may be longer than was asked for."""
    flags = (np.arange(length) % 3 == 0).astype(np.uint8)
    assert_selects(device, flags, behind=1)


@pytest.mark.parametrize(("length", "n_bytes"), [(0, 0), (1, 16), (16, 16), (17, 32)])
def test_flag_bytes(length: int, n_bytes: int) -> None:
    assert flag_bytes(length) == n_bytes
