"""One pass by look-back: right whatever tiles publish, and taken only where it may be."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pytest

from clmst import Device
from clmst.primitives.chain import chains_by_itself
from clmst.primitives.compact import compact, partition
from clmst.primitives.function import Predicate
from clmst.primitives.monoid import Monoid
from clmst.primitives.scan import exclusive_scan, segmented_scan
from clmst.primitives.sort import sort
from clmst.primitives.sweeps import Scan
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher, Profile
from tests.primitives.chain_cases import (
    ALL_STARVE,
    NONE_STARVE,
    Starved,
    in_shape,
    wrong_of,
)
from tests.primitives.shapes import SHAPES
from tests.prove.primitives.kinds import Kind
from tests.prove.primitives.operators import operator, vector_of

GROUP_SHAPES = [pytest.param(one.device, id=one.name) for one in SHAPES if in_shape(one.device)]
few_group_shapes = pytest.mark.parametrize("shape", GROUP_SHAPES[:2])

U4, F4 = np.dtype(np.uint32), np.dtype(np.float32)
AFFINE = operator("affine maps").monoid


# ------------------------------------------------------------------- whatever is published

# Compilers take a second or more for a kernel: with lanes and without them is enough for most.
EVERY, FEW = GROUP_SHAPES, GROUP_SHAPES[:2]
FEW_TILES = ((1, -1), (1, 1), (40, 1))


def kind(primitive: str, dtype: str = "", value: str = "", how: str = "") -> Kind:
    strategy = "auto" if primitive in ("exclusive_scan", "inclusive_scan") else "parallel"
    return Kind(primitive=primitive, dtype=dtype, value=value, how=how, strategy=strategy)


# Shapes, a kind, and numbers of tiles with what more elements there are. Tiles are fewer than lanes
# look at together, or several times as many; the operator does not commute.
STARVED: tuple[tuple[Any, Kind, Iterable[tuple[int, int]]], ...] = (
    (EVERY, kind("exclusive_scan", how="affine maps"), [*product((1, 70, 300), (-1, 0, 1))]),
    # Elements of 16 bytes: their states are the longest.
    (FEW, kind("inclusive_scan", how="products of matrices"), ((3, 5), (70, 5))),
    # Records of 12 bytes, whose states are of 16.
    (FEW, kind("inclusive_scan", how="leftmost minimum of 3 f4"), ((3, 5), (70, 5))),
    # A head anywhere ends the search, a tile without one does not.
    (FEW, kind("segmented_scan exclusive", how="sum of u4"), ((1, -2), (70, -2))),
    (FEW, kind("segmented_scan exclusive", "u4", how="flags in the values"), ((1, -2), (70, -2))),
    (EVERY, kind("unique_by_key", "V4", "V4"), FEW_TILES),
    (FEW, kind("compact", "V4"), FEW_TILES),
    (FEW, kind("compact", "u4", how="by a predicate"), FEW_TILES),
    (FEW, kind("positions", "u1"), ((30, 1),)),
    # More than four digits take two counts; odd numbers of digits in place take a copy.
    (EVERY, kind("sort_by_key", "u4", "V4"), ((1, 0), (1, 1), (5, 0), (9, -1))),
    (FEW, kind("sort_by_key", "f8", "V4"), ((5, 3),)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "called", "tiles"),
    [
        pytest.param(*shape.values, called, tiles, id=f"{called.primitive}-{k}-{shape.id}")
        for k, (shapes, called, tiles) in enumerate(STARVED)
        for shape in shapes
    ],
)
@pytest.mark.covering
def test_tiles_that_never_publish(
    shape: Device, called: Kind, tiles: Iterable[tuple[int, int]]
) -> None:
    """They must stop nobody, nor those that look for the first tile."""
    for count, more in tiles:
        assert wrong_of(shape, called, tiles=count, more=more) is None


@pytest.mark.parametrize("starved", [ALL_STARVE, NONE_STARVE])
@few_group_shapes
def test_nothing_or_everything_is_published(shape: Device, starved: Starved) -> None:
    for count in (1, 70, 300):
        called = kind("exclusive_scan", how="sum of u4")
        assert wrong_of(shape, called, tiles=count, more=3, starved=starved) is None


# ------------------------------------------------------------------------- when it is taken


def kernels_of(device: Device, call: Any) -> set[str]:
    """Return the kernels that a call launches."""
    profile = Profile()
    call(Launcher(device, device.profiling_queue, profile))
    device.profiling_queue.finish()
    return set(profile.summary())


@few_group_shapes
def test_taken_only_where_the_result_cannot_depend_on_it(shape: Device) -> None:
    """Sums of floats depend on the grouping; in place no input is left to fall back on."""
    rng = np.random.default_rng(0)
    n = 100_000
    words = DeviceArray.from_host(rng.integers(0, 2**32, n, dtype=np.uint32), shape)
    floats = DeviceArray.from_host(rng.random(n).astype(np.float32), shape)
    flags = DeviceArray.from_host(np.ones(n, np.uint8), shape)
    own = DeviceArray.from_host(np.ones(n, np.uint32), shape)
    chain = {"scan_chain_tiles"} if chains_by_itself(shape) else set[str]()

    def chains(call: Any) -> set[str]:
        return {name for name in kernels_of(shape, call) if "chain" in name}

    assert chains(lambda launch: exclusive_scan(words, launch=launch)) == chain
    assert chains(lambda launch: segmented_scan(words, flags, launch=launch)) == chain
    least = Monoid.minimum(np.float32)
    assert chains(lambda launch: exclusive_scan(floats, monoid=least, launch=launch)) == chain
    assert chains(lambda launch: exclusive_scan(floats, launch=launch)) == set()
    assert chains(lambda launch: exclusive_scan(own, out=own, launch=launch)) == set()
    named: Any = {"strategy": "reduce-then-scan"}
    assert chains(lambda launch: exclusive_scan(words, launch=launch, **named)) == set()
    selects = {"compact_chain_select"} if chain else set[str]()
    assert chains(lambda launch: compact(words, flags, launch=launch)) == selects
    above = Predicate(dtype=U4, expression="x > 7u")
    assert chains(lambda launch: compact(words, predicate=above, launch=launch)) == selects
    assert chains(lambda launch: partition(words, predicate=above, launch=launch)) == set()
    assert chains(lambda launch: partition(words, flags, launch=launch)) == set()
    sorts = {f"split_chain_{name}" for name in ("count", "start", "scatter")} if chain else set()
    assert chains(lambda launch: sort(words, launch=launch)) == sorts


@pytest.mark.parametrize(
    ("monoid", "is_exact"),
    [
        (Monoid.sum(np.int64), True),
        (Monoid.sum(np.float32), False),
        (Monoid.product(np.float64), False),
        (Monoid.maximum(np.float64), True),
        (Monoid.minimum_by_key(np.float32), True),
        (AFFINE, True),
        (Monoid(dtype=U4, combine="a * b + 7", identity="1"), True),
        (Monoid(dtype=U4, combine="(uint)(a * 0.5f + b)", identity="0"), False),
        (
            Monoid(dtype=U4, combine="as_uint(as_float(a) + as_float(b))", identity="0"),
            False,
        ),
        (Monoid(dtype=U4, combine="a + b", identity="0", exact=False), False),
        (Monoid(dtype=F4, combine="fmax(a, b)", identity="-INFINITY", exact=True), True),
    ],
    ids=lambda value: value.name if isinstance(value, Monoid) else None,
)
def test_which_operators_are_exact(monoid: Monoid, is_exact: bool) -> None:
    assert monoid.exact is is_exact


@pytest.mark.parametrize("shape", GROUP_SHAPES[:1])
def test_long_elements_are_not_chained(shape: Device) -> None:
    """Their states would need more words than lanes look at together."""
    for length, is_short in ((4, True), (8, False)):
        dtype = vector_of("u4", length)
        values, out = (DeviceArray.empty(10**5, dtype, shape) for _ in range(2))
        scan = Scan(values=values, monoid=Monoid.sum(dtype), strategy="auto")
        assert scan.suits_chain(out) == (is_short and chains_by_itself(shape))
