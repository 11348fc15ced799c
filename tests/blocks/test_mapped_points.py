"""Points that are mapped from a file: the same bits, in memory that has a stated bound."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import BlockOptions
from clmst.cluster import HDBSCAN, single_linkage
from clmst.core.machine import usable_cores

Array = Any


def mapped(folder: Path, rows: Array) -> Array:
    np.save(folder / "rows.npy", rows)
    return np.load(folder / "rows.npy", mmap_mode="r")


@pytest.mark.parametrize("dtype", ["<f4", "<f8", ">f4", "<i2"])
@pytest.mark.parametrize(
    "metric",
    [
        "euclidean", "manhattan", "chebyshev", "cosine", "rounded-euclidean", "great-circle",
        "haversine",
    ],
)  # fmt: skip
def test_metrics(tmp_path: Path, metric: Any, dtype: str) -> None:
    """Coordinates that are converted block by block have the bits of those converted at once."""
    rows = (np.random.default_rng(0).random((400, 2)) * 80 + 1).astype(dtype)
    at_once = clmst.Points(rows.astype(float), metric)
    points = clmst.Points(mapped(tmp_path, rows), metric)
    assert points.coordinates.dtype == np.dtype(dtype)
    expected = clmst.minimum_spanning_forest(at_once)
    assert clmst.minimum_spanning_forest(points, block_points=60) == expected
    assert clmst.minimum_spanning_forest(points) == expected
    if metric in ("euclidean", "manhattan", "chebyshev", "cosine"):
        core = clmst.core_distances(at_once, 5)
        np.testing.assert_array_equal(clmst.core_distances(points, 5, block_points=60), core)
        mutual = points.with_core_distances(core)
        assert clmst.minimum_spanning_forest(
            mutual, block_points=60
        ) == clmst.minimum_spanning_forest(at_once.with_core_distances(core))


@pytest.mark.parametrize("make", ["strided", "columns", "one dimension", "tiny"])
def test_kinds_of_arrays(tmp_path: Path, make: str) -> None:
    rows = np.random.default_rng(1).random((500, 4))
    if make == "tiny":  # of another exponent
        rows *= 2.0**-600
    given = mapped(tmp_path, rows)
    given = {"strided": given[::2], "columns": given[:, 1:3], "one dimension": given[:, 3:]}.get(
        make, given
    )
    points = clmst.Points(np.array(given))
    core = clmst.core_distances(points, 4)
    np.testing.assert_array_equal(clmst.core_distances(given, 4, block_points=60), core)
    mutual = clmst.Points(given).with_core_distances(core)
    found = clmst.minimum_spanning_forest(mutual, block_points=60)
    assert found == clmst.minimum_spanning_forest(points.with_core_distances(core))
    np.testing.assert_array_equal(single_linkage(given, block_points=60), single_linkage(points))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("block_points", [None, 90])
def test_clusters_with_gaps(tmp_path: Path, dtype: Any, block_points: Any) -> None:
    """Rows that are not finite are left out; all that a fit offers is as if rows were in memory."""
    rng = np.random.default_rng(2)
    rows = np.concatenate([rng.normal(k, 0.3, (150, 2)) for k in range(4)]).astype(dtype)
    rows[[7, 8, 300]] = np.nan
    rows[9, 1] = np.inf
    given: dict[str, Any] = {"min_cluster_size": 12, "store_centers": "both"}
    at_once = HDBSCAN(**given).fit(rows)
    found = HDBSCAN(**given, block_points=block_points).fit(mapped(tmp_path, rows))
    for name in ("labels_", "probabilities_", "centroids_", "medoids_", "outlier_scores_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(at_once, name), err_msg=name)
    assert found.labels_[[7, 9]].tolist() == [-3, -2]
    for one, other in zip(found.exemplars_, at_once.exemplars_, strict=True):
        assert one.dtype == np.float64
        np.testing.assert_array_equal(one, other)
    new = rng.normal(2, 2, (50, 2))
    np.testing.assert_array_equal(found.predict(new), at_once.predict(new))


@pytest.mark.parametrize(
    ("metric", "row", "value", "message"),
    [
        ("euclidean", 250, np.nan, "coordinate 1 of point 250 is NaN"),
        ("manhattan", 299, -np.inf, "coordinate 1 of point 299 is -inf"),
        ("haversine", 250, 361, "point 250 has the longitude 361"),
        ("cosine", 250, 0, "all coordinates of point 250 are 0"),
    ],
)
def test_wrong_coordinates(
    tmp_path: Path, metric: Any, row: int, value: float, message: str
) -> None:
    rows = np.random.default_rng(3).random((300, 2)).astype(np.float32)
    rows[row] = (0, value)
    with pytest.raises(clmst.InvalidGraphError, match=message):
        clmst.Points(mapped(tmp_path, rows), metric)


def test_a_checkpoint_of_points_in_memory(tmp_path: Path) -> None:
    """It belongs to the same points in a file, since it knows them by their values."""
    rows = np.random.default_rng(4).random((600, 2)).astype(np.float32)
    options = BlockOptions(n_points=100, checkpoint=tmp_path / "state")
    expected = clmst.minimum_spanning_forest(clmst.Points(rows), block_points=options)
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "state").iterdir()}
    points = clmst.Points(mapped(tmp_path, rows))
    assert clmst.minimum_spanning_forest(points, block_points=options) == expected
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "state").iterdir()} == stored


def test_points_are_divided_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Core distances and the tree of HDBSCAN are of the same blocks."""
    from clmst.blocks import checkpoint, solve

    calls: list[Any] = []

    def counted(function: Any) -> Any:
        def call(*given: Any) -> Any:
            calls.append(function)
            return function(*given)

        return call

    for module, name in ((solve, "divide"), (checkpoint, "checksum")):
        monkeypatch.setattr(module, name, counted(getattr(module, name)))
    options = BlockOptions(n_points=100, checkpoint=tmp_path)
    HDBSCAN(min_cluster_size=5, block_points=options).fit(np.random.default_rng(5).random((400, 2)))
    assert len(calls) == len(set(calls)) == 2


def peaks_of(few: Path, *paths: Path, block_points: int) -> list[int]:
    """Return the greatest number of bytes that Python and NumPy hold in a fit of each file.

    They are measured in another process, after a fit of a few points that builds programs.
    """
    code = f"""
        import json, tracemalloc, clmst
        from clmst.cluster import HDBSCAN

        def fit(path):
            model = HDBSCAN(min_cluster_size=5, block_points={block_points})
            model.fit(clmst.read_points(path, mapped=True))

        fit({str(few)!r})
        found = []
        for path in {[str(path) for path in paths]!r}:
            tracemalloc.start()
            fit(path)
            found.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        print(json.dumps(found))
    """
    run = [sys.executable, "-c", textwrap.dedent(code)]
    found: list[int] = json.loads(
        subprocess.run(run, check=True, capture_output=True, text=True).stdout
    )
    return found


@pytest.mark.slow
def test_memory_has_its_bound(tmp_path: Path) -> None:
    """The bound of docs/scaling.md; and more points take no memory for their coordinates.

    The coordinates of a point are 192 bytes here, so a fit that kept them would need more for
    each point than the bound allows. Both sizes have enough blocks to keep all cores busy:
    the buffers of the cores, which do not grow with the points, are the same in both.
    """
    rng, dimensions, block_points = np.random.default_rng(6), 48, 1000
    few, *sizes = 2_000, 8_000, 16_000
    for n in (few, *sizes):
        rows = rng.random((n, 2)) @ rng.random((2, dimensions))
        np.save(tmp_path / f"{n}.npy", rows.astype(np.float32))
    paths = [tmp_path / f"{n}.npy" for n in (few, *sizes)]
    found = peaks_of(*paths, block_points=block_points)
    constant = 48 * dimensions * block_points + (16 << 20) * usable_cores()
    for n, peak in zip(sizes, found, strict=True):
        assert peak <= 180 * n + constant
    assert found[1] - found[0] <= 180 * (sizes[1] - sizes[0])
