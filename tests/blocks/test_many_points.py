"""Blocks of so many points that the threads of all cores divide them, and trees are contracted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.blocks.regions import Cloud
from clmst.core.paths import components

Array = Any


def uneven(rng: Any) -> Array:
    """Half of the points are in clumps, which are far denser than the others."""
    centres, widths = rng.random((20, 2)) * 100, 0.01 + rng.random(20) ** 3
    which = rng.integers(0, 20, 160_000)
    clumps = centres[which] + widths[which, None] * rng.normal(size=(160_000, 2))
    return np.concatenate([rng.random((160_000, 2)) * 100, clumps]).astype(np.float32)


def two_far_clusters(rng: Any) -> Array:
    return np.concatenate([rng.normal(0, 1, (200_000, 2)), rng.normal(1e4, 30, (120_000, 2))])


def on_a_grid(rng: Any) -> Array:
    return rng.integers(0, 600, (320_000, 2)).astype(float)


@pytest.mark.parametrize(
    "make",
    [
        uneven,
        pytest.param(two_far_clusters, marks=pytest.mark.exhaustive),
        pytest.param(on_a_grid, marks=pytest.mark.exhaustive),
    ],
)
def test_trees_of_many_points_have_the_same_bits(make: Callable[[Any], Array]) -> None:
    points = clmst.Points(make(np.random.default_rng(20)))
    found = clmst.minimum_spanning_forest(points, block_points=160_000)
    assert found == clmst.minimum_spanning_forest(points)
    assert found.stats["blocks"]["blocks"] == 2


@pytest.mark.parametrize("n", [1, 700, 530_000])
@pytest.mark.parametrize("dimensions", [1, 2, 5])
@pytest.mark.parametrize("kind", ["spread", "all equal", "half equal", "ties"])
def test_leaves_have_all_points_and_their_boxes(n: int, dimensions: int, kind: str) -> None:
    """Of the greatest number, all threads divide the points before each divides a part."""
    X = np.random.default_rng(22).random((n, dimensions))
    if kind == "ties":
        X = np.floor(3 * X)
    elif kind != "spread":
        X[: n if kind == "all equal" else n // 2] = 0.25
    points = clmst.Points(X)
    cloud, order = Cloud.of(points, np.arange(n)[::-1])
    assert np.array_equal(np.sort(order), np.arange(n))
    assert np.array_equal(cloud.numbers, n - 1 - order)
    assert cloud.starts[0] == 0
    assert cloud.starts[-1] == n
    assert 0 < np.diff(cloud.starts).min() <= np.diff(cloud.starts).max() <= 512
    planes = points.planes[:, cloud.numbers]
    for found, expected in (
        (cloud.leaves.low, np.minimum.reduceat(planes, cloud.starts[:-1], axis=1)),
        (cloud.leaves.high, np.maximum.reduceat(planes, cloud.starts[:-1], axis=1)),
    ):
        np.testing.assert_array_equal(found, expected)


STAR = 300_000


@pytest.mark.parametrize(
    "edges",
    [
        [np.full(STAR - 1, STAR - 1), np.arange(STAR - 1)],
        [np.zeros(STAR - 1, int), np.arange(1, STAR)],
        [np.arange(STAR - 1), np.arange(1, STAR)],
        list(np.random.default_rng(21).integers(0, STAR, (2, STAR - 1)) // 2 * 2),
    ],
    ids=["star of the last", "star of the first", "path", "random"],
)
def test_components_of_many_edges(edges: list[Array]) -> None:
    """They are those of a graph of so few edges that SciPy finds them, in the same order."""
    count, found = components(STAR, *edges)
    some = clmst.kruskal(clmst.Graph.from_edges(edges[0], edges[1], n_vertices=STAR)).edges
    n_half = len(some) // 2
    of_half, half = components(STAR, *some[:n_half].T)
    n_expected, above = components(of_half, *half[some[n_half:]].T)
    assert count == n_expected
    np.testing.assert_array_equal(found, above[half])
