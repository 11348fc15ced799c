"""Split: every length at which a share ends differently, every size of record, every field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst import Device
from clmst.primitives import radix, radix_chain
from clmst.primitives.radix import WORK_ITEMS, Key, Shape
from clmst.primitives.split import split
from clmst.runtime import policy
from clmst.runtime.array import DeviceArray
from clmst.runtime.capabilities import LanesKind
from clmst.runtime.launcher import Launcher, Profile
from tests.helpers.bounds import bounds
from tests.helpers.variants import Variant
from tests.primitives.shapes import SHAPES, assert_right, shape_of
from tests.prove.primitives.kinds import Kind
from tests.prove.primitives.orders import field_of
from tests.runtime.test_policy import CAPABILITIES

RANKING = radix.RANKING_LANES
WORDS = Kind(primitive="split", dtype="V4", value="V4")


def _has_sub_groups(one: Variant) -> bool:
    return one.device.capabilities.lanes == "khr" and one.device.policy.work_group_size > 1


@pytest.fixture(
    params=[
        *(pytest.param((one.device, RANKING), id=one.name) for one in SHAPES),
        *(
            pytest.param((one.device, RANKING | {"khr"}), id=f"{one.name}-ballots")
            for one in SHAPES
            if _has_sub_groups(one)
        ),
    ]
)
def shape(request: pytest.FixtureRequest) -> Iterator[Device]:
    """Return a device with few shares, in each shape and with each way to rank records.

    Ranking by ballots, which NVIDIA's lanes get, is done by sub-groups here where there are any.
    """
    device: Device
    device, ranking = request.param
    tuning = replace(device.policy, split_shares_per_compute_unit=1)
    with bounds(ranking_lanes=ranking):
        yield device.with_policy(tuning)


# ----------------------------------------------------------------------------- results


def test_every_length(shape: Device) -> None:
    """Lengths around a lane group, a work-group, a tile, a tile for each work-group."""
    chosen = shape_of(shape)
    marks = (32, chosen.work_group_size, chosen.tile, chosen.max_groups * chosen.tile)
    around = [mark + d for mark in marks for d in (-1, 0, 1)]
    lengths = sorted({0, 1, 2, *around, 2 * marks[-1] + chosen.tile + 77})
    assert_right(shape, lengths, WORDS, draws=3)


@pytest.mark.parametrize(
    ("size", "value"),
    [
        (4, 0), (8, 4), (12, 8), (16, 0), (20, 12), (28, 64), (32, 4), (64, 16), (4, 48),
        (1, 2), (3, 2), (15, 2),
    ],
)  # fmt: skip
@pytest.mark.covering
def test_every_size(shape: Device, size: int, value: int) -> None:
    kind = Kind(primitive="split", dtype=f"V{size}", value=f"V{value}" if value else "")
    assert_right(shape, [2 * shape_of(shape, max(size, value, 4) // 4).tile + 37], kind, draws=4)


@pytest.mark.parametrize("size", [4, 8, 12])
@pytest.mark.covering
def test_every_field(shape: Device, size: int) -> None:
    """Whole digits and parts of them, within a word, across two and across three; in place."""
    lengths = (100, shape_of(shape, size // 4).tile // 4 + 99)
    assert_right(shape, lengths, Kind(primitive="split", dtype=f"V{size}"), draws=40)


@pytest.mark.parametrize("name", ["equal", "rising", "falling", "two", "last digit", "few", "rare"])
def test_distributions(shape: Device, name: str) -> None:
    """No digit may be lost for being everywhere, nowhere, or at one end; equals stay in order."""
    length = 2 * shape_of(shape).tile + 1234
    rng = np.random.default_rng(1)
    keys = {
        "equal": np.full(length, 0x12345678),
        "rising": np.arange(length),
        "falling": np.arange(length)[::-1],
        "two": rng.integers(0, 2, length) * 0xFFFFFFFF,
        "last digit": np.full(length, 0xFFFFFFFF),
        "few": rng.choice([3, 0x300, 0x30000, 0x3000000], length),
        "rare": (rng.random(length) < 0.001) * 77,
    }[name].astype(np.uint32)
    records = DeviceArray.from_host(keys, shape)
    values = DeviceArray.from_host(np.arange(length, dtype=np.uint32), shape)
    found, moved = split(records, values=values, key_bits=32)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(found.to_host(), keys[order])
    np.testing.assert_array_equal(moved.to_host(), order)


def test_many_tiles(shape: Device) -> None:
    length = 1_000_003 if shape_of(shape).is_serial else 200_003
    assert_right(shape, [length], WORDS, draws=1)


def test_more_work_groups_than_a_work_group_has_work_items(shape: Device) -> None:
    """Their counts are scanned in several tiles."""
    work_group = shape_of(shape).work_group_size
    many = replace(shape.policy, split_shares_per_compute_unit=3 * work_group)
    device = shape.with_policy(many)
    length = (2 * work_group + 3) * shape_of(device).tile + 5
    assert shape_of(device).divide(length)[0] > work_group
    assert_right(device, [length], WORDS, draws=1)


@pytest.mark.parametrize("size", [4, 20])
def test_sequential_twin(shape: Device, size: int) -> None:
    kind = Kind(primitive="split", dtype=f"V{size}", value="V8", strategy="sequential")
    assert_right(shape, (0, 1, 4000, 70_001), kind)


# ---------------------------------------------------------------------------- launches


def test_one_launch_a_pass_for_one_tile_and_more_for_more(shape: Device) -> None:
    """Three a pass, or in one sweep a digit one, after one that counts four digits and another.

    A tile belongs to the work-groups that were built, which may be smaller than those asked for:
    these decide whether one sweep a digit pays.
    """
    asked, key = shape_of(shape), Key(start_bit=0, bits=20)
    built = asked.of(shape.program(radix.SOURCE, **asked.defines(key, 1, 0)))
    passes = len(key.digits(asked.radix_bits))
    profile = Profile()
    launch = Launcher(shape, shape.profiling_queue, profile)
    kernels = {"split_scatter"}
    for length in (built.tile, built.tile + 1, asked.tile + 1):
        if length <= built.tile:
            launches = passes
        elif radix_chain.suits(asked, shape, length):
            launches = passes + -(-passes // 4) + 1
            kernels |= {"split_chain_count", "split_chain_start", "split_chain_scatter"}
        else:
            launches = 3 * passes
            kernels |= {"split_count_digits", "split_scan_counts"}
        before = launch.launches
        records = np.random.default_rng(length).integers(0, 2**32, length, np.uint32)
        result = split(DeviceArray.from_host(records, shape), key_bits=20, launch=launch)
        launch.queue.finish()
        assert launch.launches - before == launches
        order = np.argsort(records & (2**20 - 1), kind="stable")
        assert result.to_host().tolist() == records[order].tolist()
    assert set(profile.summary()) >= kernels


@given(start=st.integers(0, 100), bits=st.integers(1, 64), radix_bits=st.integers(1, 8))
def test_digits_cover_the_field_evenly(start: int, bits: int, radix_bits: int) -> None:
    digits = Key(start_bit=start, bits=bits).digits(radix_bits)
    widths = [width for _, width in digits]
    assert [shift for shift, _ in digits] == [start + sum(widths[:k]) for k in range(len(widths))]
    assert sum(widths) == bits
    assert len(widths) == -(-bits // radix_bits)
    assert max(widths) <= radix_bits
    assert max(widths) - min(widths) <= 1


@given(length=st.integers(1, 2**32 - 1), most=st.integers(1, 5000))
def test_shares_cover_all_records(length: int, most: int) -> None:
    tuning = policy.choose(CAPABILITIES["gpu"])
    shape = replace(Shape.choose(CAPABILITIES["gpu"], tuning, 1), max_groups=most)
    groups, share = shape.divide(length)
    assert 1 <= groups <= most
    assert share % shape.tile == 0
    assert (groups - 1) * share < length <= groups * share


def test_shape_fits_the_device() -> None:
    """Work-groups of a size that it has, and tiles that leave room in local memory."""
    gpu = CAPABILITIES["gpu"]
    tuning = policy.choose(gpu).with_constants({WORK_ITEMS: 1024})
    small = replace(gpu, max_work_group_size=128)
    for words in range(1, 17):
        for lanes in get_args(LanesKind):
            assert Shape.choose(replace(small, lanes=lanes), tuning, words).work_group_size == 128
        for lanes in set(get_args(LanesKind)) - {"ptx"}:
            shape = Shape.choose(replace(gpu, lanes=lanes), tuning, words)
            assert 4 * words * shape.tile <= 2**14
            assert 2 * 2**shape.radix_bits * shape.work_group_size <= 2**13
    assert Shape.choose(gpu, tuning, 1, "sequential").work_group_size == 1


# ------------------------------------------------------------------- the expectations


@pytest.mark.parametrize("size", [1, 3, 4, 8, 12, 20])
def test_fields_are_those_of_python_integers(size: int) -> None:
    """What all the above compares with."""
    records = np.frombuffer(np.random.default_rng(size).bytes(20 * size), f"V{size}")
    numbers = [int.from_bytes(record.tobytes(), "little") for record in records]
    for start_bit in range(0, 8 * size, 7):
        for key_bits in (1, 13, 32, 64):
            if start_bit + key_bits <= 8 * size:
                expected = [number >> start_bit & (2**key_bits - 1) for number in numbers]
                assert field_of(records, start_bit, key_bits).tolist() == expected
