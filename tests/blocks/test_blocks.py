"""A solve by blocks has the same bits as one at once, whatever the points and the blocks are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import BlockOptions, BlockProgress, Device, InvalidArgumentError
from clmst.cluster import HDBSCAN, single_linkage
from clmst.core.errors import FileFormatError, StreamedWarning
from clmst.core.point_checks import UNROUNDED
from tests.helpers.capabilities import with_capabilities
from tests.helpers.metrics import points_by

Array = Any


def spread(rng: Any) -> Array:
    return rng.random((1200, 2))


def normal_in_space(rng: Any) -> Array:
    return rng.normal(size=(500, 3))


def many_dimensions(rng: Any) -> Array:
    return rng.random((400, 9))


def on_a_line(rng: Any) -> Array:
    return np.column_stack([rng.random(800), np.zeros(800)])


def one_dimension(rng: Any) -> Array:
    return rng.integers(0, 3000, (800, 1)).astype(float)


def heavy_ties(rng: Any) -> Array:
    return rng.integers(0, 7, (900, 3)).astype(float)


def all_equal(rng: Any) -> Array:
    return np.full((600, 2), rng.random())


def two_far_clusters(rng: Any) -> Array:
    return np.concatenate([rng.normal(0, 1, (700, 2)), rng.normal(1e4, 30, (500, 2))])


def far_outliers(rng: Any) -> Array:
    """At least one in each block, as far away as ten times the width of all others."""
    near = rng.random((900, 2))
    angles = rng.random(30) * 2 * np.pi
    return np.concatenate([near, 10 * np.column_stack([np.cos(angles), np.sin(angles)])])


def heavy_tails(rng: Any) -> Array:
    return rng.standard_cauchy((900, 2))


def tiny_scale(rng: Any) -> Array:
    return rng.random((500, 2)) * 2.0**-560


SETS: list[Callable[[Any], Array]] = [
    spread, normal_in_space, many_dimensions, on_a_line, one_dimension, heavy_ties, all_equal,
    two_far_clusters, far_outliers, heavy_tails, tiny_scale,
]  # fmt: skip
sets = pytest.mark.parametrize("make", SETS, ids=[make.__name__ for make in SETS])


@sets
@pytest.mark.parametrize("block_points", [60, 250])
def test_trees_have_the_same_bits(make: Callable[[Any], Array], block_points: int) -> None:
    for seed in range(2):
        points = clmst.Points(make(np.random.default_rng(seed)))
        at_once = clmst.minimum_spanning_forest(points)
        by_blocks = clmst.minimum_spanning_forest(points, block_points=block_points)
        assert by_blocks == at_once
        assert by_blocks.edges.dtype == at_once.edges.dtype
        assert by_blocks.edge_ids.dtype == at_once.edge_ids.dtype
        assert by_blocks.stats["route"]["record"] == "points-by-blocks"


@sets
@pytest.mark.parametrize("min_samples", [2, 9])
def test_core_distances_have_the_same_bits(make: Callable[[Any], Array], min_samples: int) -> None:
    points = clmst.Points(make(np.random.default_rng(2)))
    at_once = clmst.core_distances(points, min_samples)
    by_blocks = clmst.core_distances(points, min_samples, block_points=90)
    np.testing.assert_array_equal(by_blocks, at_once)
    mutual = points.with_core_distances(at_once)
    found = clmst.minimum_spanning_forest(mutual, block_points=90)
    assert found == clmst.minimum_spanning_forest(mutual)


@pytest.mark.parametrize(
    "metric",
    [
        "manhattan",
        "chebyshev",
        "minkowski",
        "cosine",
        "rounded-euclidean",
        "great-circle",
        "haversine",
    ],
)
def test_metrics(metric: Any) -> None:
    rng = np.random.default_rng(3)
    for array in (rng.random((500, 2)) * 80, rng.integers(1, 9, (300, 2)).astype(float)):
        points = points_by(array, metric)
        found = clmst.minimum_spanning_forest(points, block_points=50)
        assert found == clmst.minimum_spanning_forest(points)
        if metric in UNROUNDED:
            core = clmst.core_distances(points, 4)
            np.testing.assert_array_equal(clmst.core_distances(points, 4, block_points=50), core)
            mutual = points.with_core_distances(core)
            found = clmst.minimum_spanning_forest(mutual, block_points=50)
            assert found == clmst.minimum_spanning_forest(mutual)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 17])
@pytest.mark.parametrize("block_points", [2, 3, 8])
def test_few_points(n: int, block_points: int) -> None:
    points = clmst.Points(np.random.default_rng(n).random((n, 2)))
    found = clmst.minimum_spanning_forest(points, block_points=block_points)
    assert found == clmst.minimum_spanning_forest(points)


def test_single_linkage() -> None:
    array = np.random.default_rng(4).integers(0, 50, (700, 2)).astype(float)
    np.testing.assert_array_equal(single_linkage(array, block_points=100), single_linkage(array))


@pytest.mark.parametrize("alpha", [1.0, 1.3])
@pytest.mark.parametrize("ties", ["sequential", "simultaneous"])
def test_clusters(alpha: float, ties: Any) -> None:
    rng = np.random.default_rng(14)
    array = np.concatenate([rng.normal(k, 0.3, (200, 2)) for k in range(4)]).round(2)
    given: dict[str, Any] = {"min_cluster_size": 12, "alpha": alpha, "ties": ties}
    at_once = HDBSCAN(**given).fit(array)
    by_blocks = HDBSCAN(**given, block_points=90).fit(array)
    np.testing.assert_array_equal(by_blocks.labels_, at_once.labels_)
    np.testing.assert_array_equal(by_blocks.probabilities_, at_once.probabilities_)
    assert by_blocks.labels_.max() > 0


def test_clusters_that_have_no_blocks() -> None:
    array = np.random.default_rng(15).random((100, 2))
    for model, given, message in (
        (HDBSCAN(block_points=50, metric="haversine"), {}, "metric is 'haversine'"),
        (HDBSCAN(block_points=50), {"sample_weight": np.ones(100, int)}, "sample_weight and"),
        (HDBSCAN(block_points=9), {}, "a block must have at least twice"),
        (HDBSCAN(block_points=50, metric="sqeuclidean"), {}, "given for a DenseGraph"),
        (HDBSCAN(block_points=50, metric="canberra"), {}, "metric is 'canberra'"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            model.fit(array, **given)


def test_pairs_that_are_far_apart_are_dropped() -> None:
    """In the plane a block has few neighbours, so most pairs of blocks are not solved."""
    points = clmst.Points(np.random.default_rng(5).random((4000, 2)))
    counted = clmst.minimum_spanning_forest(points, block_points=100).stats["blocks"]
    assert counted["blocks"] == 40
    assert counted["dropped"] > 4 * counted["pairs"]


def test_several_devices(any_device: Device) -> None:
    points = clmst.Points(np.random.default_rng(6).random((900, 2)))
    devices = [any_device, any_device.forcing_off("int64-atomics")]
    found = clmst.minimum_spanning_forest(points, devices=devices, block_points=100)
    assert found == clmst.minimum_spanning_forest(points)
    core = clmst.core_distances(points, 4, devices=devices, block_points=100)
    np.testing.assert_array_equal(core, clmst.core_distances(points, 4))
    with pytest.raises(InvalidArgumentError, match=r"devices are .*, and block_points is"):
        clmst.core_distances(points, 4, devices=devices)
    with pytest.raises(InvalidArgumentError, match="give one of the two"):
        clmst.core_distances(points, 4, device=any_device, devices=devices, block_points=100)


def test_a_device_that_is_too_small_gets_blocks(any_device: Device) -> None:
    points = clmst.Points(np.random.default_rng(7).random((3000, 2)))
    tiny = with_capabilities(any_device, host_arrays="copied", max_allocation=40_000)
    with pytest.warns(StreamedWarning) as warned:
        found = clmst.minimum_spanning_forest(points, device=tiny)
    assert "the points are solved in blocks of 375, since they" in str(warned[0].message)
    assert found == clmst.minimum_spanning_forest(points, device=any_device)


# ------------------------------------------------------------------ progress and checkpoints


def test_progress() -> None:
    seen: list[BlockProgress] = []
    points = clmst.Points(np.random.default_rng(8).random((1000, 2)))
    options = BlockOptions(n_points=100, on_progress=seen.append)
    clmst.minimum_spanning_forest(points, block_points=options)
    by_step = {step: [one for one in seen if one.step == step] for step in (s.step for s in seen)}
    assert list(by_step) == ["trees of blocks", "edges between blocks"]
    for some in by_step.values():
        assert [one.done for one in some] == list(range(some[0].n_tasks + 1))
        assert some[-1].seconds_left == 0
    last = by_step["edges between blocks"][-1]
    assert last.n_tasks + last.n_dropped == 45  # pairs of ten blocks
    assert str(last).startswith(f"edges between blocks: {last.n_tasks} of {last.n_tasks}, ")


class StopError(Exception):
    """What stops a solve here."""


def test_an_interrupted_solve_continues(tmp_path: Path) -> None:
    points = clmst.Points(np.random.default_rng(9).random((1000, 2)))
    at_once = clmst.minimum_spanning_forest(points)
    solved = 0

    def stop(_: BlockProgress) -> None:
        nonlocal solved
        solved += 1
        if solved % 7 == 0:
            raise StopError

    def again(on_progress: Any) -> clmst.Forest:
        options = BlockOptions(
            n_points=100, checkpoint=tmp_path / "new" / "folder", on_progress=on_progress
        )
        found: clmst.Forest = clmst.minimum_spanning_forest(points, block_points=options)
        return found

    with pytest.raises(StopError):
        again(stop)
    n_files = len(list((tmp_path / "new" / "folder").glob("*.npz")))
    assert n_files == 6  # the first line of progress is from the beginning of the step
    assert again(None) == at_once
    assert len(list((tmp_path / "new" / "folder").glob("*.npz"))) > n_files
    assert again(None) == at_once


@pytest.mark.parametrize(
    "moments",
    [
        [25, 14],
        pytest.param([3, 8, 14, 20, 23, 27, 31, 34, 38, 42], marks=pytest.mark.exhaustive),
    ],
    ids=["two", "ten"],
)
def test_a_killed_process_continues(tmp_path: Path, moments: list[int]) -> None:
    """It is killed in the middle of some task, the first time after `moments[0]` reports.

    The three steps of the solve have 20, 10 and some 20 tasks, and report them all.
    """
    code = f"""
        import os, random, signal, threading, clmst, numpy as np
        from clmst.cluster import HDBSCAN
        X = np.random.default_rng(10).random((1500, 2))
        points = clmst.Points(X)
        left = int(os.environ["LEFT"])
        delay = random.Random(left).random() * 0.01
        def kill(progress):
            global left
            left -= 1
            if left == 0:
                threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL)).start()
        options = clmst.BlockOptions(
            n_points=150, checkpoint={str(tmp_path / "state")!r}, on_progress=kill
        )
        core = clmst.core_distances(points, 5, block_points=options)
        mutual = points.with_core_distances(core)
        forest = clmst.minimum_spanning_forest(mutual, block_points=options)
        print(np.array_equal(core, clmst.core_distances(points, 5)))
        print(forest == clmst.minimum_spanning_forest(mutual))
        labels = HDBSCAN(8, 5, block_points=options).fit(X).labels_
        print(np.array_equal(labels, HDBSCAN(8, 5).fit(X).labels_))
    """
    run = [sys.executable, "-c", textwrap.dedent(code)]
    for left in moments:
        killed = subprocess.run(run, env={**os.environ, "LEFT": str(left)}, check=False)
        assert killed.returncode == -signal.SIGKILL
    done = subprocess.run(
        run, env={**os.environ, "LEFT": "0"}, check=True, capture_output=True, text=True
    )
    assert done.stdout == "True\n" * 3


@pytest.mark.parametrize("change", ["points", "metric", "block_points"])
def test_a_checkpoint_of_another_solve(tmp_path: Path, change: str) -> None:
    array = np.random.default_rng(11).random((300, 2))
    options = BlockOptions(n_points=100, checkpoint=tmp_path)
    clmst.minimum_spanning_forest(clmst.Points(array), block_points=options)
    metric: Any = "manhattan" if change == "metric" else "euclidean"
    if change == "points":
        array = array + 1
    if change == "block_points":
        options = BlockOptions(n_points=99, checkpoint=tmp_path)
    with pytest.raises(InvalidArgumentError, match=r"of another solve .* differ"):
        clmst.minimum_spanning_forest(clmst.Points(array, metric), block_points=options)


def test_damaged_checkpoints(tmp_path: Path) -> None:
    points = clmst.Points(np.random.default_rng(12).random((300, 2)))
    options = BlockOptions(n_points=100, checkpoint=tmp_path)
    clmst.minimum_spanning_forest(points, block_points=options)
    path = next(tmp_path.glob("*.npz"))
    whole = path.read_bytes()
    at = len(whole) // 2
    for damaged in (b"", whole[:at], whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :]):
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match="is damaged; remove it"):
            clmst.minimum_spanning_forest(points, block_points=options)
    path.write_bytes(whole)
    for header in ("{", "3", "[1, 2]", "null"):
        (tmp_path / "points.json").write_text(header)
        with pytest.raises(FileFormatError, match="not the header of a checkpoint"):
            clmst.minimum_spanning_forest(points, block_points=options)


# ------------------------------------------------------------------ bad input


POINTS = clmst.Points(np.random.default_rng(13).random((100, 2)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (1, "block_points is 1; it must be at least 2"),
        (2.5, "block_points is 2.5; it must be an integer"),
        ("many", "block_points is 'many'; it must be an integer"),
        (True, "block_points is True; it must be an integer"),
    ],
)
def test_wrong_block_points(given: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        clmst.minimum_spanning_forest(POINTS, block_points=given)
    with pytest.raises(InvalidArgumentError, match=message):
        clmst.core_distances(POINTS, 2, block_points=given)


@pytest.mark.parametrize(
    "other",
    [
        {"algorithm": "dense"}, {"keep_on_device": True}, {"profile": True}, {"verify": True},
        {"options": clmst.DenseOptions()},
    ],
    ids=lambda other: next(iter(other)),
)  # fmt: skip
def test_arguments_that_contradict_blocks(other: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError, match=rf"{next(iter(other))} is .*block_points"):
        clmst.minimum_spanning_forest(POINTS, block_points=50, **other)


def test_what_has_no_blocks() -> None:
    with pytest.raises(InvalidArgumentError, match="maximum is True, and block_points is given"):
        clmst.maximum_spanning_forest(POINTS, block_points=50)
    matrix = clmst.DenseGraph(np.ones((3, 3)))
    for compute in (
        lambda: clmst.minimum_spanning_forest(matrix, block_points=50),
        lambda: clmst.core_distances(matrix, 2, block_points=50),
    ):
        with pytest.raises(InvalidArgumentError, match="block_points is given for a DenseGraph"):
            compute()
    with pytest.raises(InvalidArgumentError, match="a block must have at least twice"):
        clmst.core_distances(POINTS, 30, block_points=50)
    with pytest.raises(InvalidArgumentError, match="neighbours and block_points are given"):
        single_linkage(POINTS, neighbours=np.tile(np.arange(3), (100, 1)), block_points=50)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_points": 0}, "n_points is 0; it must be at least 2"),
        ({"n_points": 9, "on_progress": 3}, "on_progress is 3; it must be callable"),
        ({"n_points": 9, "checkpoint": 3}, "checkpoint is 3"),
    ],
)
def test_wrong_options(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        BlockOptions(**given)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    options = BlockOptions(n_points=50, checkpoint=tmp_path / "file" / "folder")
    with pytest.raises(InvalidArgumentError, match="cannot be made"):
        clmst.minimum_spanning_forest(POINTS, block_points=options)
