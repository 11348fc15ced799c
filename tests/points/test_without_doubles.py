"""Points on devices without doubles: the same bits as with doubles, on the same device."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import clmst
from clmst import Device, InvalidGraphError, Points
from clmst.cluster import HDBSCAN
from clmst.core.point_checks import UNROUNDED
from clmst.route import LIMITS
from clmst.runtime.device_matrix import METRICS
from tests.helpers.bounds import bounds
from tests.helpers.metrics import points_by
from tests.helpers.processes import printed
from tests.helpers.strategies import EXHAUSTIVE, examples
from tests.helpers.variants import Variant, each_of, native_variants, shaped_variants

Array: TypeAlias = np.ndarray
Make: TypeAlias = Callable[[np.random.Generator, int, int], Array]

# Coordinates of all magnitudes, near each other and far apart, and equal ones.
COORDINATES: dict[str, Make] = {
    "spread": lambda rng, n, d: rng.normal(size=(n, d)),
    "float32": lambda rng, n, d: rng.normal(size=(n, d)).astype(np.float32),
    "lattice": lambda rng, n, d: rng.integers(0, 4, (n, d)),
    "all equal": lambda _, n, d: np.ones((n, d)),
    "far from zero": lambda rng, n, d: 1e6 + 1e-4 * rng.normal(size=(n, d)),
    "an outlier": lambda rng, n, d: np.r_[rng.normal(size=(n - 1, d)), np.full((1, d), 1e30)],
    "beyond floats": lambda rng, n, d: rng.normal(size=(n, d)) * 1e60,
    "below floats": lambda rng, n, d: rng.normal(size=(n, d)) * 1e-60,
    "denormal floats": lambda rng, n, d: rng.normal(size=(n, d)) * 2.0**-135,
    "squares near the greatest float": lambda rng, n, d: rng.random((n, d)) * 2.0**64,
    "tiny": lambda rng, n, d: rng.normal(size=(n, d)) * 2.0**-530,
    "denormal": lambda rng, n, d: rng.integers(0, 1 << 30, (n, d)) * 5e-324,
    "huge": lambda rng, n, d: rng.normal(size=(n, d)) * 2.0**505,
    "of all magnitudes": lambda rng, n, d: np.ldexp(
        rng.normal(size=(n, d)), rng.integers(-200, 200, (n, 1))
    ),
}  # fmt: skip
# Numbers of points and dimensions: Prim or all rows, boxes in each class of dimensions, tiles.
# Integers stand for doubles here, which takes long. So the standard run has a third of the points,
# and boxes are used from fewer points on.
SHAPES: tuple[tuple[int, int], ...] = (
    (60, 2), (400, 2), (400, 3), (300, 1), (300, 6), (150, 13), (100, 130)
)  # fmt: skip
BOXES_FROM = 200
if EXHAUSTIVE:
    SHAPES = ((150, 2), (1200, 2), (1200, 3), (900, 1), (900, 6), (300, 13), (200, 130))
    BOXES_FROM = LIMITS.hierarchy_alone
IN_THE_PLANE, IN_SPACE, WITH_TILES = SHAPES[1], (SHAPES[4][0], 3), SHAPES[5]


@cache
def without_doubles(device: Device) -> Device:
    """Return the same device without doubles, whose programs all tests of this file share."""
    return device.forcing_off("doubles")


def answers(points: Points, device: Device, min_samples: int) -> list[bytes]:
    """Return the bits of trees and core distances that a device computes."""
    tree = clmst.minimum_spanning_forest(points, device=device)
    found = [tree.edges, tree.weights]
    if points.metric in UNROUNDED:
        core = clmst.core_distances(points, min_samples, device=device)
        mutual = clmst.minimum_spanning_forest(points.with_core_distances(core), device=device)
        found += [core, mutual.edges, mutual.weights]
    assert tree.stats["device"] != "host"
    return [np.ascontiguousarray(one).tobytes() for one in found]


def assert_same(coordinates: Array, metric: Any, device: Device, *, min_samples: int = 5) -> None:
    """Assert that a device gives the same answers with and without doubles, if any."""
    try:
        points = points_by(coordinates, metric)
    except InvalidGraphError:
        return  # a distance is beyond all doubles, or the square of it is
    assert_same_answers(points, device, min_samples)


def assert_same_answers(points: Points, device: Device, min_samples: int) -> None:
    """Assert that a device finds the same trees and core distances with and without doubles."""
    k = min(min_samples, points.n_vertices)
    with bounds(hierarchy_alone_from=BOXES_FROM):
        assert answers(points, without_doubles(device), k) == answers(points, device, k)


@each_of(shaped_variants())
def test_every_number_of_dimensions(variant: Variant) -> None:
    rng = np.random.default_rng(0)
    for n, d in SHAPES:
        assert_same(rng.normal(size=(n, d)), "euclidean", variant.device)


@each_of(shaped_variants())
@pytest.mark.parametrize("kind", COORDINATES)
def test_coordinates_of_every_kind(variant: Variant, kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    for n, d in (IN_THE_PLANE, WITH_TILES):
        assert_same(COORDINATES[kind](rng, n, d), "euclidean", variant.device)


@each_of(shaped_variants())
@pytest.mark.parametrize("metric", sorted(METRICS))
def test_every_metric(variant: Variant, metric: str) -> None:
    """By boxes and by tiles. In the standard run most metrics take turns between the two."""
    rng = np.random.default_rng(1)
    if metric == "great-circle":
        degrees = rng.uniform((-90, -180), (90, 180), (400 if EXHAUSTIVE else 200, 2))
        assert_same(degrees, metric, variant.device)
        return
    ways = [IN_SPACE, WITH_TILES]
    if not (EXHAUSTIVE or metric in ("euclidean", "cosine")):
        ways = ways[sorted(METRICS).index(metric) % 2 :][:1]
    for n, d in ways:
        assert_same(100 * rng.normal(size=(n, d)), metric, variant.device)


@pytest.mark.exhaustive
@each_of(shaped_variants())
def test_powers_with_many_digits(variant: Variant, any_device: Device) -> None:
    """Searches compare lower bounds of such powers first, in every shape of a device."""
    points = Points(np.random.default_rng(3).normal(size=(220, 2)).round(2), "minkowski", p=2.3)
    assert_same_answers(points, variant.device, 5)
    assert answers(points, variant.device, 5) == answers(points, any_device, 5)


def test_maximum_trees(any_device: Device) -> None:
    points = Points(np.random.default_rng(4).normal(size=(300, 3)))
    found, expected = (
        clmst.maximum_spanning_forest(points, device=device)
        for device in (without_doubles(any_device), any_device)
    )
    assert found.edges.tobytes() == expected.edges.tobytes()
    assert found.weights.tobytes() == expected.weights.tobytes()


@pytest.mark.exhaustive
@each_of(shaped_variants())
def test_many_dimensions(variant: Variant) -> None:
    rng = np.random.default_rng(2)
    for n, d in ((1000, 64), (500, 384), (200, 1536)):
        assert_same(rng.normal(size=(n, d)), "euclidean", variant.device)
        assert_same(rng.normal(size=(n, d)).astype(np.float32), "cosine", variant.device)


@each_of(native_variants()[:1])
@examples(0.5)
@given(
    seed=st.integers(0, 2**32 - 1), shape=st.tuples(st.integers(2, 60), st.integers(1, 5)),
    kind=st.sampled_from(sorted(COORDINATES)), metric=st.sampled_from(sorted(UNROUNDED)),
)  # fmt: skip
def test_drawn_points(
    variant: Variant, seed: int, shape: tuple[int, int], kind: str, metric: str
) -> None:
    rng = np.random.default_rng(seed)
    coordinates = COORDINATES[kind](rng, *shape)
    assert_same(coordinates, metric, variant.device, min_samples=int(rng.integers(2, 9)))


SETS = 1000
_PARTS = 20
_CELLS = 1 << 22  # most pairs of the points of a set, times dimensions


@pytest.mark.exhaustive
@each_of(native_variants())
@pytest.mark.parametrize("part", range(_PARTS))
def test_a_thousand_sets(variant: Variant, part: int) -> None:
    """Sets of every kind, metric and number of dimensions from 1 to 1,536 have the same bits.

    These are the bits of trees, core distances, trees with core distances, and clusters.
    """
    for number in range(part, SETS, _PARTS):
        points, least = drawn_set(number)
        assert_same_answers(points, variant.device, least)
        if points.metric in UNROUNDED:
            assert_same_clusters(points, variant.device, least)


def drawn_set(number: int) -> tuple[Points, int]:
    """Return a drawn set of points, and a number of neighbours."""
    rng, metrics, kinds = np.random.default_rng([7, number]), sorted(METRICS), sorted(COORDINATES)
    while True:
        metric, kind = str(rng.choice(metrics)), COORDINATES[rng.choice(kinds)]
        d = (1, 1536)[number] if number < 2 else int(np.rint(1536 ** rng.random()))
        n = int(rng.integers(10, min(1200, (_CELLS // d) ** 0.5)))
        coordinates = kind(rng, n, d)
        if metric == "great-circle":
            coordinates = rng.uniform((-90, -180), (90, 180), (n, 2))
        try:
            return points_by(coordinates, metric), int(rng.integers(2, 9))
        except InvalidGraphError:
            continue  # a distance is beyond what the metric allows


def assert_same_clusters(points: Points, device: Device, least: int) -> None:
    """Assert that HDBSCAN finds the same clusters on a device with and without doubles."""
    found = [
        HDBSCAN(least, device=one).fit(points) for one in (device, without_doubles(device))
    ]  # fmt: skip
    for name in ("labels_", "probabilities_", "outlier_scores_"):
        one, other = (np.asarray(getattr(model, name)).tobytes() for model in found)
        assert one == other, name


def test_clusters(any_device: Device) -> None:
    rng = np.random.default_rng(3)
    blobs = rng.normal(size=(600, 3)) + 9 * rng.integers(0, 3, (600, 1))
    assert HDBSCAN(8, device=any_device).fit_predict(blobs).max() >= 2
    assert_same_clusters(Points(blobs), any_device, 8)


PLAIN_CALL = """
import json, warnings
from tests.helpers.unoptimised import compile_quickly
compile_quickly()
import numpy as np
import clmst
from clmst.cluster import HDBSCAN
points = np.random.default_rng(1).random((300, 3))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    forest = clmst.minimum_spanning_forest(clmst.Points(points))
    labels = HDBSCAN(5).fit_predict(points)
print(json.dumps({
    "doubles": clmst.get_device().capabilities.doubles, "device": forest.stats["device"],
    "said": [str(one.message) for one in said], "labels": labels.tolist(),
}))
"""


def test_a_plain_call_stays_on_the_device() -> None:
    """With doubles hidden, the device answers, and nothing is said."""
    found: list[Any] = [
        printed("-c", PLAIN_CALL, CLMST_WITHOUT=without) for without in ("", "doubles")
    ]
    assert [one["doubles"] for one in found] == [True, False]
    assert found[0]["device"] == found[1]["device"] != "host"
    assert found[0]["labels"] == found[1]["labels"]
    assert found[1]["said"] == []
