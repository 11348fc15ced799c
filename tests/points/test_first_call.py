"""The first call with empty caches: what is built for points, and that nothing is built again."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from clmst import Device, Points, core_distances, minimum_spanning_forest
from clmst.cluster import HDBSCAN
from tests.faults.mock_driver import first_use

# Of a fit where work-items are alone: the trial, the hierarchy, two sorts, near points, the tree
# and the dendrogram.
MOST_PROGRAMS = 7
# Of few points of many dimensions, at each door: the trial, packed points, near points, the rounds,
# lightest pairs, and the dendrogram.
MOST_BY_TILES = {"tree": 4, "core distances": 3, "HDBSCAN": 6}


@pytest.fixture
def new(any_device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Device:
    """Return a device that has neither compiled nor tested anything, with an empty cache."""
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path))
    return Device(any_device.cl_device, _optimised=False)


def built(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what was compiled since the last time."""
    said = [one.getMessage() for one in caplog.records if one.name == "clmst"]
    caplog.clear()
    return [
        one.split("(")[1].split(")")[0] for one in said if one.startswith("compiling kernels (")
    ]


def points(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(d).normal(size=(n, d))


def test_no_dimension_pays_after_another_of_its_class(
    new: Device, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "clmst")
    HDBSCAN(min_cluster_size=10, device=new).fit(points(1200, 5))
    first = built(caplog)
    assert first
    if new.policy.work_group_size == 1:
        assert len(first) <= MOST_PROGRAMS, first
    for d in (9, 4, 12):
        HDBSCAN(min_cluster_size=12, device=new).fit(points(1300, d))
        assert built(caplog) == []
    HDBSCAN(min_cluster_size=10, device=new).fit(points(1200, 2))
    assert 0 < len(built(caplog)) < len(first)  # sorts and dendrograms know no dimensions


def test_points_of_few_and_many_dimensions_by_dense(
    new: Device, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "clmst")
    for d in (5, 11):
        minimum_spanning_forest(Points(points(200, d)), algorithm="dense", device=new)
        assert ("dense" in built(caplog)) == (d == 5)


def test_core_distances_build_the_lists_that_they_take(
    new: Device, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "clmst")
    coordinates = points(700, 3)
    core_distances(coordinates, 5, device=new)
    assert built(caplog).count("neighbours") == 1
    core_distances(coordinates, 12, device=new)
    assert built(caplog) == ["neighbours"]
    core_distances(coordinates[:, :2].repeat(2, 1)[:, :3], 30, device=new)
    assert built(caplog) == []


@pytest.mark.parametrize(
    ("shape", "dimensions"),
    [("native", ("64", "384")), ("native", ("384", "64")), ("gpu-shape", ("64", "384"))],
)
def test_programs_of_many_dimensions_with_all_caches_empty(
    tmp_path: Path, shape: str, dimensions: tuple[str, ...]
) -> None:
    """In processes of their own: clmst's cache, PyOpenCL's and the driver's are all empty."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.points.first_calls", shape, *dimensions],
        env=first_use(os.environ, tmp_path), capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    calls = json.loads(done.stdout)
    assert {door for _, door, _ in calls} == MOST_BY_TILES.keys()
    for platform, door, (first, second) in calls:
        assert 0 < len(first) <= MOST_BY_TILES[door], (platform, door, first)
        assert second == [], (platform, door)
