"""Points of many dimensions, by tiles of pairs: trees and core distances are those of all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device, OutOfDeviceMemoryError, Points
from clmst.algorithms.dense import tile_pairs
from clmst.algorithms.dense.tiles import PackedPoints
from clmst.core.weight_keys import Array
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher
from tests.capabilities import with_capabilities

METRICS: tuple[Any, ...] = ("euclidean", "manhattan", "chebyshev", "cosine")


FILTERS: tuple[Any, ...] = ("differences", "products")


def assert_right(points: Points, device: Device, *, k: int = 5) -> None:
    """Assert that core distances and both trees are those of all pairs, bit for bit."""
    n = points.n_vertices
    everyone = np.arange(n)
    plain = points.with_core_distances(None)
    if points.metric in METRICS:
        distances = np.sort(plain.weights_of(everyone[:, None], everyone), axis=1)
        core = clmst.core_distances(plain, min(k, n), device=device)
        np.testing.assert_array_equal(core, distances[:, min(k, n) - 1])
        assert_near(plain, device, min(k, n) - 1, core)
        assert_tree(plain.with_core_distances(core), device)
    assert_tree(plain, device)


def assert_tree(points: Points, device: Device) -> None:
    expected = clmst.kruskal(points.to_graph())
    for by in FILTERS:
        options = clmst.DenseOptions(filter=by)
        found = clmst.minimum_spanning_forest(
            points, algorithm="dense", device=device, options=options
        )
        np.testing.assert_array_equal(found.edge_ids, expected.edge_ids, err_msg=by)
        assert found.weights.tobytes() == expected.weights.tobytes(), by


def assert_near(points: Points, device: Device, k: int, expected: Array) -> None:
    """Assert that tiles by either filter find distances to the k-th nearest points."""
    if k == 0 or points.dimensions < 4:
        return
    matrix, launch = DeviceMatrix.upload(points, device), Launcher(device, device.queue)
    for by in FILTERS:
        packed = PackedPoints.upload(matrix, launch, by=by)
        found = tile_pairs.distances(packed, k, launch).to_host()
        np.testing.assert_array_equal(found, expected, err_msg=by)


def hard(rng: np.random.Generator, n: int, d: int) -> Iterator[tuple[str, Array]]:
    """Yield coordinates that a filter in float32 tells apart badly, or not at all."""
    plain = rng.normal(size=(n, d))
    yield "spread", plain
    yield "lattice", rng.integers(0, 3, (n, d)).astype(np.float64)
    yield "duplicates", plain[rng.integers(0, max(n // 5, 1), n)]
    steps = rng.integers(0, 3, (n, d)) * 2.0**-50
    yield "last bits", 1 + steps
    yield "far from the origin", 1e9 + plain
    yield "an outlier", np.concatenate([plain[1:], np.full((1, d), 1e12)])
    yield "scales", plain * 10.0 ** rng.integers(-12, 12, (n, 1))
    yield "greatest", plain * 1e307
    yield "squares beyond all doubles", plain * 1e160
    yield "squares that underflow", plain * 1e-162
    yield "subnormal", rng.integers(0, 9, (n, d)) * 5e-324


@pytest.mark.parametrize("metric", METRICS)
def test_hard_points(any_device: Device, metric: Any) -> None:
    """The filter may let pairs through, but must not reject one that counts."""
    rng = np.random.default_rng(len(metric))
    for name, given in hard(rng, 140, 19):
        is_origin = np.abs(given).max(axis=1, keepdims=True) == 0
        coordinates = given + (is_origin if metric == "cosine" else 0)
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                assert_right(Points(coordinates, metric), any_device)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from None


@pytest.mark.parametrize("n", [1, 2, 3, 63, 64, 65, 127, 128, 129, 257, 390])
def test_sizes_around_tiles(device: Device, n: int) -> None:
    points = np.random.default_rng(n).normal(size=(n, 21))
    assert_right(Points(points), device)


@pytest.mark.parametrize("d", [4, 5, 15, 16, 17, 31, 32, 33, 64, 130])
def test_any_number_of_dimensions(device: Device, d: int) -> None:
    points = np.random.default_rng(d).integers(0, 4, (150, d))
    assert_right(Points(points), device)


def test_thousands_of_dimensions(any_device: Device) -> None:
    """A sum in float32 loses each of many small terms, so that the farther point seems nearer."""
    points = np.zeros((3, 3000))
    points[1, 0] = 1
    points[2] = 2.0**-12.75
    points[2, 0] = np.sqrt(1 - 1e-5)
    assert clmst.core_distances(points, 2, device=any_device)[0] == 1
    assert_right(Points(points), any_device)


@pytest.mark.parametrize("k", [2, 16, 17, 18, 33, 34, 60, 150])
def test_lists_of_any_length(device: Device, k: int) -> None:
    """A sample has too few values for the longest lists."""
    points = np.random.default_rng(k).normal(size=(300, 14))
    assert_right(Points(points), device, k=k)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_long_lists_in_few_dimensions(any_device: Device, d: int) -> None:
    """Hierarchies have no lists of so many points; a line has a second coordinate, 0."""
    points = np.random.default_rng(d).normal(size=(320, d))
    distances = np.sort(Points(points).weights_of(np.arange(320)[:, None], np.arange(320)), axis=1)
    found = clmst.core_distances(points, 300, device=any_device)
    np.testing.assert_array_equal(found, distances[:, 299])


def test_rounded_distances(device: Device) -> None:
    """Equal integers are in the order of edge ids, however their squares compare."""
    points = np.random.default_rng(7).normal(size=(300, 13))
    assert_right(Points(points, "rounded-euclidean"), device)
    assert_right(Points(3 * points, "rounded-euclidean"), device)


def test_every_block_is_read_again(device: Device) -> None:
    points = Points(np.random.default_rng(8).integers(0, 5, (300, 14)))
    every = clmst.minimum_spanning_forest(
        points, algorithm="dense", device=device, options=clmst.DenseOptions(reread="all")
    )
    np.testing.assert_array_equal(every.edge_ids, clmst.kruskal(points.to_graph()).edge_ids)


def test_memory_is_said_before_anything_is_built(any_device: Device) -> None:
    small = with_capabilities(any_device, global_memory=1 << 20)
    with pytest.raises(OutOfDeviceMemoryError, match="points of 100000 dimensions need"):
        clmst.core_distances(np.eye(20, 100_000) + 1.0, 3, device=small)


def test_filter_is_chosen_by_a_sample(any_device: Device) -> None:
    """Products separate points that are spread, but not clusters far from the center, or few."""
    rng = np.random.default_rng(20)
    spread = rng.normal(size=(1100, 128))
    tight = np.repeat(1e3 * rng.normal(size=(11, 128)), 100, axis=0) + 1e-3 * spread
    for expected, given in (("products", spread), ("differences", tight)):
        trees = {
            by: clmst.minimum_spanning_forest(
                Points(given), algorithm="dense", device=any_device,
                options=clmst.DenseOptions(filter=by),
            )
            for by in ("auto", *FILTERS)
        }  # fmt: skip
        is_long = any_device.policy.work_group_size == 1
        assert trees["auto"].stats["filter"] == (expected if is_long else "differences")
        for by in FILTERS:
            assert trees[by].stats["filter"] == by
            np.testing.assert_array_equal(trees["auto"].edge_ids, trees[by].edge_ids)
    few = clmst.minimum_spanning_forest(Points(spread[:99]), device=any_device)
    assert few.stats["filter"] == "differences"
