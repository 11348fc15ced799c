"""Core distances: of the k-th nearest point, the point itself counted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import clmst
from clmst import Device, InvalidGraphError
from tests.capabilities import with_capabilities


def test_the_host_has_the_same_bits(any_device: Device) -> None:
    """It compares all pairs where a device cannot."""
    rng = np.random.default_rng(3)
    coordinates = rng.normal(size=(400, 3)) * 10.0 ** rng.integers(-9, 9, (400, 1))
    poor = with_capabilities(any_device, doubles=False)
    for k in (2, 5, 9, 40, 257, 300):
        found = clmst.core_distances(coordinates, k, device=any_device)
        np.testing.assert_array_equal(found, clmst.core_distances(coordinates, k, device=poor))


def test_stored_distances() -> None:
    """A matrix of all, and graphs of so many neighbours; diagonals and loops count as 0."""
    coordinates = np.random.default_rng(5).random((40, 2))
    distances = cdist(coordinates, coordinates)
    expected = np.sort(distances, axis=1)
    matrix = np.where(np.eye(40), 7.0, distances)
    nearest = np.where(distances <= expected[:, 6:7], distances, 0)
    complete = clmst.DenseGraph(matrix)
    for k in (1, 3, 6):
        for given in (complete, sparse.csr_array(distances), sparse.csr_array(nearest)):
            np.testing.assert_array_equal(clmst.core_distances(given, k), expected[:, k - 1])
    edges = clmst.Graph.from_edges([0, 1, 1, 1], [1, 2, 1, 0], [3.0, 4.0, 9.0, 5.0])
    assert clmst.core_distances(edges, 2).tolist() == [3, 3, 4]
    with pytest.raises(InvalidGraphError, match="point 2 has 1 stored distances"):
        clmst.core_distances(edges, 3)
    with pytest.raises(InvalidGraphError, match=r"edge \(0, 1\) has the weight -1"):
        clmst.core_distances(sparse.csr_array([[0, -1.0], [0, 0]]), 2)


def test_no_points() -> None:
    assert clmst.core_distances(np.zeros((0, 2)), 1).shape == (0,)
