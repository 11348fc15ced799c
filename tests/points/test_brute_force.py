"""A part of the comparison of random sets of points with all pairs, of few kernels."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from scipy.spatial.distance import pdist

from clmst import Device
from clmst.bench.harness import WrongResultError
from tests.prove import brute_force, trees_of_points


def in_the_plane(count: int) -> Iterator[int]:
    """Yield the numbers of sets that a single metric in two dimensions compares."""
    for number in range(20 * count):
        points = brute_force.draw(number)[1]
        if points.metric == "euclidean" and points.planes.shape[0] == 2:
            yield number


def test_random_sets_are_right(any_device: Device) -> None:
    """Of each kind; with equal distances, and with core distances."""
    kinds = brute_force.compare(in_the_plane(100), any_device)
    assert kinds.keys() >= {"uniform", "lattice", "duplicates", "clusters"}
    assert kinds["with equal distances"] > 50
    assert kinds["with core distances"] > 20


def test_what_is_wrong_is_told(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees_of_points, "pdist", lambda X, metric: 2 * pdist(X, metric))
    with pytest.raises(WrongResultError, match=r"set \d+, .*: the linkage has other heights"):
        brute_force.compare(in_the_plane(100), any_device)
