"""Dask: threads of this process, clusters of one and four workers, and workers that die."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.cluster import HDBSCAN
from clmst.core.errors import (
    InvalidArgumentError,
    InvalidGraphError,
    MissingFileError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)
from tests.helpers.engines import (
    EDGES,
    PARTS,
    N,
    assert_plain,
    assert_refused_plainly,
    killed_once,
    named_edges,
    write_parts,
)
from tests.scale.edges import forest_of_edges

dask = pytest.importorskip("dask")
frames = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def frame() -> Any:
    import pandas

    whole = pandas.DataFrame(dict(zip(("source", "target", "weight"), EDGES, strict=True)))
    return frames.from_pandas(whole, npartitions=7, sort=False)


def test_frame_without_a_cluster(frame: Any) -> None:
    found = clmst.dask.minimum_spanning_forest(frame, N)
    assert found == forest_of_edges(EDGES, N)
    assert found.stats["partitions"] == frame.npartitions


@pytest.mark.parametrize("split_every", [2, 3, 100])
def test_delayed_parts_and_any_tree(split_every: int) -> None:
    """Where parts bring ids, the parts and the rows of each part may be in any order."""
    parts = [dask.delayed(part) for part in PARTS]
    ids = np.split(np.arange(EDGES[0].size), np.cumsum([part[0].size for part in PARTS])[:-1])
    named = [dask.delayed((*part, own)) for part, own in zip(PARTS, ids, strict=True)]
    given: Any = {"split_every": split_every, "maximum": True}
    order = np.random.default_rng(1).permutation(EDGES[0].size)
    columns = [column[order] for column in (*EDGES, np.arange(order.size))]
    mixed = [
        dask.delayed(part)
        for part in zip(*(np.array_split(column, 8) for column in columns), strict=True)
    ]
    for found in (
        clmst.dask.minimum_spanning_forest(mixed, N, edge_id="id", **given),
        clmst.dask.minimum_spanning_forest(parts, N, **given),
        clmst.dask.minimum_spanning_forest(named[::-1], N, edge_id="id", **given),
        clmst.dask.minimum_spanning_forest(named[1::2] + named[::2], N, edge_id="id", **given),
    ):
        assert found == forest_of_edges(EDGES, N, maximum=True)


def test_parquet(frame: Any, tmp_path: Path) -> None:
    """As from any store that fsspec knows."""
    names = {"source": "from", "target": "to", "weight": "cost"}
    frame.rename(columns=names).to_parquet(tmp_path)
    read = frames.read_parquet(f"file://{tmp_path}")
    found = clmst.dask.minimum_spanning_forest(
        read, N, columns=("from", "to", "cost"), memory_limit=1 << 20
    )
    assert found == forest_of_edges(EDGES, N)


def test_paths(tmp_path: Path) -> None:
    """Workers read the files; a folder's are partitions in the order of names."""
    folder = tmp_path / "edges"
    write_parts(folder)
    whole = forest_of_edges(EDGES, N)
    for given in (folder, sorted(folder.iterdir()), [str(one) for one in sorted(folder.iterdir())]):
        found = clmst.dask.minimum_spanning_forest(given, N)
        assert found == whole
        assert found.stats["partitions"] == len(PARTS)
    with pytest.raises(InvalidArgumentError, match=r"edge_id is 'id' and the edges are in files"):
        clmst.dask.minimum_spanning_forest(folder, N, edge_id="id")
    with pytest.raises(MissingFileError, match=r"there is no file .*nowhere"):
        clmst.dask.minimum_spanning_forest(tmp_path / "nowhere.parquet", N)


def test_a_folder_that_streams_is_one_for_dask(tmp_path: Path) -> None:
    """By the same names, given or not; only its columns of edges are read."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for k, part in enumerate(PARTS):
        table = pandas.DataFrame(dict(zip(("source", "target", "weight"), part, strict=True)))
        table.assign(cost=-table.weight, note="").to_parquet(tmp_path / f"{k}.parquet")
    columns = ("source", "target", "cost")
    for given in (None, columns):
        found = clmst.dask.minimum_spanning_forest(tmp_path, N, columns=given)
        assert found == clmst.stream_minimum_spanning_forest(tmp_path, N, columns=given)
        collected = frames.read_parquet(f"file://{tmp_path}")
        assert clmst.dask.minimum_spanning_forest(collected, N, columns=given) == found
    assert found == forest_of_edges((*EDGES[:2], -EDGES[2]), N)


@pytest.mark.parametrize("n_vertices", [None, N, 10 * N])
def test_names_of_vertices(tmp_path: Path, n_vertices: int | None) -> None:
    """They have the numbers that a stream of all partitions gives them."""
    whole, right = named_edges()
    whole.to_parquet(tmp_path / "0.parquet")
    frame = frames.from_pandas(whole, npartitions=7, sort=False)
    parts = [dask.delayed(whole[k : k + 300]) for k in range(0, len(whole), 300)]
    for given in (frame, [dask.delayed(whole[:0]), *parts], tmp_path):
        assert clmst.dask.minimum_spanning_forest(given, n_vertices) == right


def test_vertices_are_counted(frame: Any, tmp_path: Path) -> None:
    write_parts(tmp_path / "edges")
    parts = [dask.delayed(part) for part in PARTS]
    for given in (frame, parts, tmp_path / "edges"):
        found = clmst.dask.minimum_spanning_forest(given)
        assert found == clmst.stream_minimum_spanning_forest([EDGES])
    assert clmst.dask.minimum_spanning_forest([]).n_vertices == 0


def test_bad_names() -> None:
    whole, _ = named_edges()
    numbers = PARTS[0]
    for parts in ([whole[:5], numbers], [numbers, whole[:5]]):
        for n_vertices in (None, N):
            message = "partition 1 has vertex numbers where others are names; all ids .* strings"
            with pytest.raises(InvalidGraphError, match=message):
                clmst.dask.minimum_spanning_forest([*map(dask.delayed, parts)], n_vertices)
    with pytest.raises(InvalidGraphError, match="have 60 names of vertices; there may be n_vertic"):
        clmst.dask.minimum_spanning_forest([dask.delayed(whole)], 5)
    readings = iter([whole[:5], whole[5:10]])
    other = dask.delayed(lambda: next(readings), pure=False)()
    with pytest.raises(InvalidGraphError, match=r"partition 0 has other names .* the same rows"):
        clmst.dask.minimum_spanning_forest([other])


def test_a_memory_limit_that_is_too_small(frame: Any) -> None:
    with pytest.raises(OutOfDeviceMemoryError, match="memory limit must be greater") as caught:
        clmst.dask.minimum_spanning_forest(frame, N, memory_limit=1)
    assert_plain(caught.value)


def test_bad_input(frame: Any) -> None:
    assert clmst.dask.minimum_spanning_forest([], 3).n_components == 3
    with pytest.raises(InvalidGraphError, match="0 columns are called 'cost' among 'source', 'tar"):
        clmst.dask.minimum_spanning_forest(frame, N, columns=("source", "target", "cost"))
    with pytest.raises(InvalidGraphError, match="'weight'; edge_id is 'id', which must be one of"):
        clmst.dask.minimum_spanning_forest(frame, N, edge_id="id")
    given: Any = {"source": "from", "weight": None}
    with pytest.raises(
        InvalidArgumentError, match=r"given source, weight; .*: columns=\(source, ta"
    ):
        clmst.dask.minimum_spanning_forest(frame, N, **given)
    with pytest.raises(InvalidArgumentError, match="edges is 5; it must be a Dask DataFrame"):
        clmst.dask.minimum_spanning_forest(5, N)
    with pytest.raises(InvalidArgumentError, match="split_every is 1; it must be at least 2"):
        clmst.dask.minimum_spanning_forest(frame, N, split_every=1)
    with pytest.raises(InvalidGraphError, match=r"^partition \d: [uv] of row .* below 5"):
        clmst.dask.minimum_spanning_forest(frame, 5)


def test_one_worker(frame: Any) -> None:
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        assert clmst.dask.minimum_spanning_forest(frame, N) == forest_of_edges(EDGES, N)
        with pytest.raises(UnsupportedDeviceError, match=r"the worker inproc://.* has no device"):
            clmst.dask.minimum_spanning_forest(frame, N, device="no such device")


def test_errors_in_one_line(four_workers: Any, tmp_path: Path) -> None:
    """Whatever ran before, on whichever worker."""

    def solve(paths: list[Path]) -> object:
        return clmst.dask.minimum_spanning_forest(paths, 3)

    assert_refused_plainly(solve, tmp_path, r"tcp://[\d.:]+")


@pytest.fixture(scope="module")
def four_workers() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=4, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_clusters_without_a_cluster() -> None:
    """Dask's threads find them. What no worker can solve is refused in this process."""
    rows = np.random.default_rng(7).normal(size=(300, 2)).round(1)
    expected = HDBSCAN(min_cluster_size=6).fit(rows)
    found = clmst.dask.cluster(HDBSCAN(min_cluster_size=6, block_points=60), rows)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    for model, message in (
        (clmst, "model is <module 'clmst'"),
        (HDBSCAN(), "block_points of the model is None"),
        (HDBSCAN(block_points=60, device=3), "device of the model is 3; each worker"),
        (HDBSCAN(block_points=9), "a block must have at least twice"),
        (HDBSCAN(block_points=60, metric="sqeuclidean"), "given for a DenseGraph"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            clmst.dask.cluster(model, rows)  # type: ignore[arg-type]


@pytest.mark.slow
def test_clusters_by_two_workers(tmp_path: Path) -> None:
    """The bits are those of one process, and a checkpoint of one is continued by the other."""
    rng = np.random.default_rng(8)
    rows = np.concatenate([rng.normal(k, 0.3, (400, 2)) for k in range(4)]).round(2)
    np.save(tmp_path / "rows.npy", rows.astype(np.float32))
    points = clmst.read_points(tmp_path / "rows.npy", mapped=True)
    expected = HDBSCAN(min_cluster_size=15).fit(points)
    options = clmst.BlockOptions(n_points=200, checkpoint=tmp_path / "state")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        found = clmst.dask.cluster(HDBSCAN(min_cluster_size=15, block_points=options), points)
        with pytest.raises(InvalidArgumentError, match="no device matches 'no such device'"):
            clmst.dask.cluster(HDBSCAN(block_points=200, device="no such device"), points)
    assert found.forest_ == expected.forest_
    assert found.forest_.stats["blocks"]["blocks"] == 8
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.probabilities_, expected.probabilities_)
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "state").iterdir()}
    again = HDBSCAN(min_cluster_size=15, block_points=options).fit(points)
    assert again.forest_ == expected.forest_
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "state").iterdir()} == files


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_parts", "number"),
    [
        pytest.param(70, 0, marks=pytest.mark.exhaustive),
        pytest.param(70, 20, marks=pytest.mark.exhaustive),
        pytest.param(70, 69, marks=pytest.mark.exhaustive),
        (8, 5),
    ],
)
def test_a_worker_that_is_killed_in_any_round(
    four_workers: Any, tmp_path: Path, n_parts: int, number: int
) -> None:
    """The first partition, a later one of its round, one of the last; Dask computes them again.

    The standard run takes one of few partitions.
    """
    four_workers.wait_for_workers(4, timeout=60)  # one may have been killed before this test
    mark = tmp_path / "killed"
    columns: Any = [np.array_split(column, n_parts) for column in EDGES]
    parts = [dask.delayed(part) for part in zip(*columns, strict=True)]
    parts[number] = dask.delayed(killed_once)(parts[number], mark)
    found = clmst.dask.minimum_spanning_forest(parts, N, memory_limit=1 << 20, split_every=2)
    assert found == forest_of_edges(EDGES, N)
    assert found.stats["partitions"] == n_parts
    assert int(mark.read_text()) != os.getpid()


@pytest.mark.slow
@pytest.mark.parametrize("kills", [0, 1])
def test_files_by_workers_that_share_a_device(
    four_workers: Any, tmp_path: Path, kills: int
) -> None:
    """They take the rounds in turns, so that the forest is never on one of them alone."""
    four_workers.wait_for_workers(4, timeout=60)
    folder = tmp_path / "edges"
    folder.mkdir()
    for k, part in enumerate(zip(*(np.array_split(one, 24) for one in EDGES), strict=True)):
        kinds = list(zip("uvw", (column.dtype for column in part), strict=True))
        rows: Any = np.rec.fromarrays(list(part), dtype=kinds)
        np.save(folder / f"{k:02}.npy", rows)
    if kills:
        four_workers.run(killed_when_it_reads, "08.npy", str(tmp_path / "killed"))
    with distributed.get_task_stream(four_workers) as stream:
        found = clmst.dask.minimum_spanning_forest(folder, N)
    assert found == forest_of_edges(EDGES, N)
    assert found.stats["partitions"] == 24
    by = {task["worker"] for task in stream.data if "_take" in str(task["key"])}
    assert len(by) == 3 if kills == 0 else len(by) > 1
    assert (tmp_path / "killed").exists() == bool(kills)


def killed_when_it_reads(name: str, mark: str) -> None:
    """Let the first worker that reads a file be killed."""
    from clmst.scale import partition_pieces

    names = vars(partition_pieces)
    read = names["pieces_of_file"]

    def reading(path: Path, *given: Any) -> Any:
        if path.name == name and not Path(mark).exists():
            Path(mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return read(path, *given)

    names["pieces_of_file"] = reading
