"""The first call with empty caches: what is built for points, and that nothing is built again."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from clmst import Device, Points, core_distances, minimum_spanning_forest
from clmst.cluster import HDBSCAN
from tests.helpers.variants import Variant, as_variant, native_variants

# Of a fit where work-items are alone: the trial, the hierarchy, two sorts, near points, the tree,
# the dendrogram and its condensed form.
MOST_PROGRAMS = 8
# Calls with few points of many dimensions, and the most programs of each: the trial, packed points,
# near points, the rounds, lightest pairs, the dendrogram and its condensed form.
DOORS: dict[str, tuple[Callable[[np.ndarray, Device], object], int]] = {
    "tree": (lambda X, device: minimum_spanning_forest(Points(X), device=device), 4),
    "core distances": (lambda X, device: core_distances(X, 5, device=device), 3),
    "HDBSCAN": (lambda X, device: HDBSCAN(min_cluster_size=5, device=device).fit(X), 7),
}
NATIVE = native_variants()


@pytest.fixture
def new(any_device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Device:
    """Return a device that has neither compiled nor tested anything, with an empty cache."""
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path))
    return Device(any_device.cl_device, _optimised=False)


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, "clmst")
    return caplog


def built(log: pytest.LogCaptureFixture) -> list[str]:
    """Return the programs that were compiled since the last call."""
    said = [one.getMessage() for one in log.records if one.name == "clmst"]
    log.clear()
    return [
        one.split("(")[1].split(")")[0] for one in said if one.startswith("compiling kernels (")
    ]


def points(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(d).normal(size=(n, d))


def test_no_dimension_pays_after_another_of_its_class(
    new: Device, log: pytest.LogCaptureFixture
) -> None:
    HDBSCAN(min_cluster_size=10, device=new).fit(points(2100, 5))
    first = built(log)
    assert first
    if new.policy.work_group_size == 1:
        assert len(first) <= MOST_PROGRAMS, first
    for d in (9, 4, 12):
        HDBSCAN(min_cluster_size=12, device=new).fit(points(2200, d))
        assert built(log) == []
    HDBSCAN(min_cluster_size=10, device=new).fit(points(2100, 2))
    assert 0 < len(built(log)) < len(first)  # sorts and dendrograms know no dimensions


def test_points_of_few_and_many_dimensions_by_dense(
    new: Device, log: pytest.LogCaptureFixture
) -> None:
    for d in (5, 11):
        minimum_spanning_forest(Points(points(200, d)), algorithm="dense", device=new)
        assert ("dense" in built(log)) == (d == 5)


def test_core_distances_build_the_lists_that_they_take(
    new: Device, log: pytest.LogCaptureFixture
) -> None:
    is_alone = new.policy.work_group_size == 1
    coordinates = points(700 if is_alone else 9000, 3)  # fewer go by tiles where there are groups
    core_distances(coordinates, 5, device=new)
    assert built(log).count("neighbours") == 1
    core_distances(coordinates, 12, device=new)
    assert built(log) == ["neighbours"]
    core_distances(coordinates[:, :2].repeat(2, 1)[:, :3], 30, device=new)
    assert built(log) == []


CASES = (("native", 64, 384), ("native", 384, 64), ("gpu-shape", 64, 384))


@pytest.mark.usefixtures("new")
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("driver", NATIVE, ids=lambda one: one.name)
@pytest.mark.covering
def test_programs_of_many_dimensions(
    driver: Variant, door: str, case: tuple[str, int, int], log: pytest.LogCaptureFixture
) -> None:
    """Few programs are built for the first points, and none for points of other dimensions."""
    (call, most), (shape, first, second) = DOORS[door], case
    device = as_variant(Device(driver.device.cl_device, _optimised=False), shape)
    call(points(200, first), device)
    found = built(log)
    assert 0 < len(found) <= most, found
    call(points(200, second), device)
    assert built(log) == []
