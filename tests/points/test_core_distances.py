"""Core distances: of the k-th nearest point, the point itself counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import clmst
from clmst import Device, InvalidArgumentError, Points
from tests.capabilities import with_capabilities


@pytest.mark.parametrize("d", [1, 2, 5, 11])
def test_the_kth_least_distance(d: int) -> None:
    """With duplicates, whose distance is 0."""
    rng = np.random.default_rng(d)
    coordinates = np.concatenate([rng.normal(size=(150, d)), np.ones((20, d))])
    distances = np.sort(cdist(coordinates, coordinates), axis=1)
    for k in (1, 2, 5, 170):
        np.testing.assert_array_equal(clmst.core_distances(coordinates, k), distances[:, k - 1])


def test_points_bring_their_metric() -> None:
    coordinates = np.random.default_rng(1).normal(size=(60, 3))
    expected = np.sort(cdist(coordinates, coordinates, "cityblock"), axis=1)[:, 3]
    points = Points(coordinates, "manhattan")
    np.testing.assert_array_equal(clmst.core_distances(points, 4), expected)


def test_the_host_has_the_same_bits(any_device: Device) -> None:
    """It compares all pairs where a device cannot."""
    rng = np.random.default_rng(3)
    coordinates = rng.normal(size=(400, 3)) * 10.0 ** rng.integers(-9, 9, (400, 1))
    poor = with_capabilities(any_device, doubles=False)
    for k in (2, 5, 9, 40, 257, 300):
        found = clmst.core_distances(coordinates, k, device=any_device)
        np.testing.assert_array_equal(found, clmst.core_distances(coordinates, k, device=poor))


def test_no_points() -> None:
    assert clmst.core_distances(np.zeros((0, 2)), 1).shape == (0,)


@pytest.mark.parametrize("k", [0, 4, 2.5, True])
def test_how_many_neighbours(k: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="min_samples"):
        clmst.core_distances(np.eye(3), k)
