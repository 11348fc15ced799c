"""HDBSCAN as one pipeline: what goes to the device and back, and the files that it goes through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks import structure
from clmst import Device
from clmst.cluster import HDBSCAN
from tests.helpers.bounds import bounds
from tests.helpers.capabilities import with_capabilities
from tests.helpers.launched import Transfers, transfers
from tests.helpers.variants import as_variant

Array = Any


def like_a_gpu(device: Device) -> Device:
    """Return a device in the shape of a GPU, with memory of its own."""
    return with_capabilities(as_variant(device, "gpu-shape"), host_arrays="copied")


def blobs(n: int, d: int) -> Array:
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, d)) + 9 * rng.integers(0, 4, (n, 1))


def copies(device: Device, X: Array, **how: Any) -> Transfers:
    """Return the copies of a fit, after one that has tested the device and built its programs."""
    expected = HDBSCAN(**how).fit(X)
    HDBSCAN(device=device, **how).fit(X)
    with transfers() as noted:
        found = HDBSCAN(device=device, **how).fit(X)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    assert found.probabilities_.tobytes() == expected.probabilities_.tobytes()
    assert found.forest_.weights.tobytes() == expected.forest_.weights.tobytes()
    return noted


@pytest.mark.parametrize(("n", "d"), [(1300, 64), (700, 9)])
def test_points_go_up_once_and_two_answers_come_back(any_device: Device, n: int, d: int) -> None:
    """The tree and the condensed tree are read; core distances stay where they are."""
    noted = copies(like_a_gpu(any_device), blobs(n, d))
    assert noted.up.count(8 * n * d) == 1
    assert sum(noted.up) < 8 * n * d + 8 * d + 32 * n  # beside them a tree's edges, once
    assert len(noted.down) == 2


@pytest.mark.parametrize(("n", "d"), [(1300, 2), (2500, 3)])
def test_few_dimensions_go_up_once(any_device: Device, n: int, d: int) -> None:
    """By one work-group, which finds core distances too; and by rows, behind tiles."""
    noted = copies(like_a_gpu(any_device), blobs(n, d))
    times = 1 if n <= 2048 else 2  # tiles have points by rows, and rows of cells by planes
    assert sum(one >= 8 * n * d for one in noted.up) == times


@pytest.mark.parametrize("least", [8500, pytest.param(20_000, marks=pytest.mark.exhaustive)])
def test_a_hierarchy_has_the_points_of_its_tree(any_device: Device, least: int) -> None:
    """Core distances by boxes; then a tree by boxes, from the least number on, or by rows.

    The tree by rows, of 40 million pairs, is for exhaustive runs.
    """
    n, d = 9000, 2
    with bounds(hierarchy_from=least):
        noted = copies(like_a_gpu(any_device), blobs(n, d), min_samples=4)
    assert sum(one >= 8 * n * d for one in noted.up) == 1


def test_what_is_multiplied_goes_through_the_host(any_device: Device) -> None:
    """Core distances times `alpha`, which the host checks; the points stay where they are."""
    n, d = 700, 9
    noted = copies(like_a_gpu(any_device), blobs(n, d), alpha=0.75)
    assert noted.up.count(8 * n * d) == 1
    assert noted.down.count(8 * n) == 1
    assert len(noted.down) == 3


_FIT = """
X = np.random.default_rng(0).normal(size=(1300, 64))
solve = lambda: clmst.cluster.HDBSCAN().fit(X)
"""


def test_files_of_a_fit() -> None:
    """All of them, each with a function that a fit calls; 57 before there was a pipeline."""
    path = structure.files_of_call("import clmst.cluster\n" + _FIT)
    assert path["files"][0] == "points/hdbscan.py"
    assert "api.py" not in path["files"]
    assert len(path["files"]) <= 47
