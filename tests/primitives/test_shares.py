"""Shares: every element in exactly one, as many as are resident, and tiles as in ``cl/``."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst import Device, route
from clmst.primitives import shares
from clmst.primitives.monoid import Monoid
from clmst.primitives.shares import BYTES_PER_ITEM, Shares, shape_defines, tile_and_lane_groups
from clmst.primitives.sweeps import Segments, sweep_defines
from clmst.runtime import policy
from clmst.runtime.array import DeviceArray
from clmst.runtime.capabilities import DeviceKind, LanesKind
from clmst.runtime.specialisation import specialise
from tests.primitives.shapes import built, each_shape
from tests.prove.primitives.operators import vector_of
from tests.runtime.test_policy import CAPABILITIES

ELEMENT_BYTES = (4, 8, 16, 32, 64)

TELL_TILE = """
kernel void tell_tile(global uint *out) {
  out[0] = RANGE_TILE;
  out[1] = LANE_GROUPS;
  out[2] = LANE_GROUP;
}
"""


def model_of(
    kind: DeviceKind, lanes: LanesKind, tuning: dict[str, Any], width: int = 32, n_bytes: int = 64
) -> Any:
    """Return a device that has only the attributes that shares read."""
    capabilities = replace(CAPABILITIES[kind], compute_units=4, lanes=lanes, lane_width=width)
    chosen = replace(policy.choose(capabilities), **tuning)
    return SimpleNamespace(
        capabilities=capabilities, policy=chosen.with_constants({BYTES_PER_ITEM: n_bytes})
    )


GPU = {"work_group_size": 256, "shares_per_compute_unit": 8}
CPU = {"work_group_size": 1, "shares_per_compute_unit": 4}
SMALL = {"work_group_size": 64, "shares_per_compute_unit": 1}

MODELS = {
    "lanes": model_of("gpu", "ptx", GPU),
    "sub-groups": model_of("gpu", "khr", GPU, 16),
    "local": model_of("gpu", "local", GPU),
    "small": model_of("gpu", "ptx", SMALL, n_bytes=16),
    "cpu": model_of("cpu", "local", CPU),
}

each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@given(
    model=st.sampled_from(list(MODELS.values())),
    length=st.one_of(st.integers(0, 100_000), st.integers(0, 2**32 - 1)),
    element_bytes=st.sampled_from(ELEMENT_BYTES),
    strategy=st.sampled_from(shares.STRATEGIES),
)
def test_all_elements_are_in_shares(
    model: Any, length: int, element_bytes: int, strategy: str
) -> None:
    """And no work-group is without any; no more work-groups than are resident; whole tiles."""
    divided = Shares.divide(model, length, element_bytes, strategy)
    tile, lane_groups = tile_and_lane_groups(model, element_bytes, strategy)
    resident = model.capabilities.compute_units * model.policy.shares_per_compute_unit
    assert divided.lane_groups == lane_groups
    assert divided.share % tile == 0
    assert divided.groups * lane_groups * divided.share >= length
    assert (divided.groups - 1) * lane_groups * divided.share < max(length, 1)
    assert 1 <= divided.groups <= resident
    if divided.alone:
        assert divided.groups == 1
        assert divided.share >= length
        assert divided.share - tile < max(length, 1)


@each_model
def test_short_arrays_go_to_one_lane_group(model: Any) -> None:
    tile, _ = tile_and_lane_groups(model, 4)
    most = route.LIMITS.scan_one_launch * tile
    for length in (0, 1, tile, most):
        assert Shares.divide(model, length, 4).alone
    assert not Shares.divide(model, most + 1, 4).alone
    assert Shares.divide(model, 10**9, 4, "sequential").alone


def test_shares_are_as_even_as_tiles_allow() -> None:
    """4 compute units with 8 work-groups each, of 8 warps; tiles of 16 elements a lane."""
    model = MODELS["lanes"]
    assert tile_and_lane_groups(model, 4) == (512, 8)
    full = 4 * 8 * 8 * 512
    assert Shares.divide(model, full, 4) == Shares(groups=32, lane_groups=8, share=512, alone=False)
    more = Shares.divide(model, full + 1, 4)
    assert more == Shares(groups=17, lane_groups=8, share=1024, alone=False)
    few = Shares.divide(model, 5 * 512, 4)
    assert few == Shares(groups=1, lane_groups=8, share=512, alone=False)


@pytest.mark.parametrize(
    ("name", "element_bytes", "tile", "lane_groups"),
    [
        ("lanes", 4, 16 * 32, 8),
        ("lanes", 8, 8 * 32, 8),
        ("lanes", 64, 32, 8),
        ("sub-groups", 4, 16 * 16, 16),
        ("local", 4, 16 * 256, 1),
        ("small", 4, 4 * 32, 2),
        ("small", 64, 32, 2),  # an element is more than a work-item's bytes
        ("cpu", 4, 16, 1),
        ("cpu", 32, 2, 1),
    ],
)
def test_tiles(name: str, element_bytes: int, tile: int, lane_groups: int) -> None:
    assert tile_and_lane_groups(MODELS[name], element_bytes) == (tile, lane_groups)


def test_bytes_that_a_kernel_was_given_win() -> None:
    assert tile_and_lane_groups(MODELS["lanes"], 4, bytes_per_item=32) == (8 * 32, 8)
    divided = Shares.divide(MODELS["lanes"], 10_000, 4, bytes_per_item=32)
    assert divided.share % (8 * 32) == 0


@each_model
def test_sequential_is_one_work_item(model: Any) -> None:
    tile, lane_groups = tile_and_lane_groups(model, 4, "sequential")
    assert (tile, lane_groups) == (BYTES_PER_ITEM.under(model.policy) // 4, 1)
    assert shape_defines("sequential") == {"WG_SIZE": 1}
    assert shape_defines("parallel") == {}


@pytest.mark.parametrize("strategy", shares.STRATEGIES)
@each_shape
def test_kernels_have_the_same_tiles(shape: Device, strategy: str) -> None:
    """Else shares would be cut in the middle of tiles, which costs time and shows nowhere."""
    for element_bytes in (4, 64):
        for segments in (Segments.NONE, Segments.FLAGS):
            defines = sweep_defines(
                shape.policy, segments=segments, exclusive=True, strategy=strategy
            )
            monoid = Monoid.sum("u4" if element_bytes == 4 else vector_of("u8", 8))
            one = specialise(
                "primitives/scan_range.cl", shape.capabilities, shape.policy, monoid.prelude,
                **defines,
            )  # fmt: skip
            program = built(shape, one.text + TELL_TILE, one.options)
            out = DeviceArray.empty(3, np.uint32, shape)
            program.tell_tile(shape.queue, (1,), None, out.memory)
            tile, lane_groups, lane_group = out.to_host().tolist()
            given_bytes = int(defines["BYTES_PER_ITEM"])
            expected = tile_and_lane_groups(
                shape, element_bytes, strategy, bytes_per_item=given_bytes
            )
            assert (tile, lane_groups) == expected
            assert lane_group * lane_groups == dict(one.defines)["WG_SIZE"]
