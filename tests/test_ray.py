"""Ray: one and four workers, datasets and references, and a worker that dies."""

from __future__ import annotations

import os
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

pandas = pytest.importorskip("pandas")
ray = pytest.importorskip("ray")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Start Ray for four tasks at a time; they share the cores that there are."""
    ray.init(
        num_cpus=4, object_store_memory=100 << 20, include_dashboard=False, log_to_driver=False
    )
    yield
    ray.shutdown()


@pytest.mark.parametrize("workers", [1, 4])
def test_references(cluster: None, workers: int) -> None:
    references = [ray.put(part) for part in PARTS]
    found = clmst.ray.minimum_spanning_forest(
        references, N, split_every=3, task_options={"num_cpus": 4 // workers}
    )
    assert found == forest_of_edges(EDGES, N)
    assert found.stats["partitions"] == 8


def test_names_of_vertices(cluster: None, tmp_path: Path) -> None:
    """They have the numbers that a stream of all partitions gives them."""
    whole, right = named_edges()
    whole.to_parquet(tmp_path / "0.parquet")
    references = [ray.put(whole[:900]), ray.put(whole[900:])]
    for given in (references, ray.data.from_pandas([whole[:900], whole[900:]]), tmp_path):
        assert clmst.ray.minimum_spanning_forest(given) == right
    assert clmst.ray.minimum_spanning_forest(references, N) == right
    numbers = clmst.ray.minimum_spanning_forest([ray.put(part) for part in PARTS])
    assert numbers == clmst.stream_minimum_spanning_forest([EDGES])
    with pytest.raises(OutOfDeviceMemoryError, match="memory limit must be greater") as caught:
        clmst.ray.minimum_spanning_forest(references, memory_limit=1)
    assert_plain(caught.value)


def test_paths(cluster: None, tmp_path: Path) -> None:
    """Tasks read the files."""
    write_parts(tmp_path / "edges")
    found = clmst.ray.minimum_spanning_forest(tmp_path / "edges", N)
    assert found == forest_of_edges(EDGES, N)
    assert found.stats["partitions"] == 8


def test_a_killed_worker(cluster: None, tmp_path: Path) -> None:
    """Ray runs its task again."""
    mark = tmp_path / "killed"
    references = [ray.put(part) for part in PARTS]
    references[3] = ray.remote(killed_once).remote(references[3], mark)
    found = clmst.ray.minimum_spanning_forest(references, N, maximum=True)
    assert found == forest_of_edges(EDGES, N, maximum=True)
    assert int(mark.read_text()) != os.getpid()


def test_dataset(cluster: None) -> None:
    """Ids of a materialized dataset are positions in its own order."""
    whole = pandas.DataFrame(dict(zip(("from", "to", "cost"), EDGES, strict=True)))
    dataset = ray.data.from_pandas([whole[:900], whole[900:]])
    columns = ("from", "to", "cost")
    for given in (columns, None):  # three columns tell by their order
        found = clmst.ray.minimum_spanning_forest(dataset, N, columns=given)
        assert found == forest_of_edges(EDGES, N)
    with pytest.raises(InvalidGraphError, match="0 columns are called 'u' among 'from', 'to', 'co"):
        clmst.ray.minimum_spanning_forest(dataset, N, columns=("u", "v", "w"))
    old: Any = {"source": "from", "target": "to"}
    with pytest.raises(InvalidArgumentError, match=r"was given source, target; .*: columns=\(sour"):
        clmst.ray.minimum_spanning_forest(dataset, N, **old)


@pytest.mark.exhaustive
def test_a_dataset_that_is_read_in_any_order(cluster: None, tmp_path: Path) -> None:
    """Ray distributes the files of 40 blocks by turns, so rows come in another order than in files.

    Positions of rows are not ids then, unless the dataset is held in a fixed order.
    """
    table = pandas.DataFrame(dict(zip(("source", "target", "weight"), EDGES, strict=True)))
    table["row"] = range(len(table))
    for k in range(40):
        table[50 * k : 50 * (k + 1)].to_parquet(tmp_path / f"{k:02}.parquet")
    dataset = ray.data.read_parquet(str(tmp_path), override_num_blocks=40)
    with pytest.raises(InvalidArgumentError, match=r"not materialized, .* dataset.materialize\(\)"):
        clmst.ray.minimum_spanning_forest(dataset, N)
    right = forest_of_edges(EDGES, N)
    assert clmst.ray.minimum_spanning_forest(dataset, N, edge_id="row") == right
    fixed = dataset.materialize()
    found = clmst.ray.minimum_spanning_forest(fixed, N)
    assert (found.edges == right.edges).all()
    assert (found.weights == right.weights).all()
    in_order = fixed.to_pandas()
    assert in_order.row.tolist() != table.row.tolist()
    assert found.rows(in_order).weight.tolist() == found.weights.tolist()


def test_errors_in_one_line(cluster: None, tmp_path: Path) -> None:
    def solve(paths: list[Path]) -> object:
        return clmst.ray.minimum_spanning_forest(paths, 3)

    assert_refused_plainly(solve, tmp_path, r"process \d+ on node \w+")


def test_bad_input(cluster: None) -> None:
    references = [ray.put(part) for part in PARTS[:2]]
    with pytest.raises(InvalidGraphError, match=r"partition [01]: [uv] of row .* below 5"):
        clmst.ray.minimum_spanning_forest(references, 5)
    with pytest.raises(UnsupportedDeviceError, match=r"the worker process .* on node .* no device"):
        clmst.ray.minimum_spanning_forest(references, N, device="no such device")
    with pytest.raises(InvalidArgumentError, match="edges is 5; it must be a Ray Dataset"):
        clmst.ray.minimum_spanning_forest(5, N)
    assert clmst.ray.minimum_spanning_forest([], 3).n_components == 3


def test_clusters(cluster: None, tmp_path: Path) -> None:
    """The bits are those of one process, which continues from the checkpoint of the tasks."""
    rng = np.random.default_rng(8)
    rows = np.concatenate([rng.normal(k, 0.3, (200, 2)) for k in range(4)]).round(2)
    np.save(tmp_path / "rows.npy", rows.astype(np.float32))
    points = clmst.read_points(tmp_path / "rows.npy", mapped=True)
    expected = HDBSCAN(min_cluster_size=15).fit(points)
    options = clmst.BlockOptions(n_points=200, checkpoint=tmp_path / "state")
    found = clmst.ray.cluster(HDBSCAN(min_cluster_size=15, block_points=options), points)
    assert found.forest_ == expected.forest_
    assert found.forest_.stats["blocks"]["blocks"] == 4
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.probabilities_, expected.probabilities_)
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "state").iterdir()}
    again = HDBSCAN(min_cluster_size=15, block_points=options).fit(points)
    assert again.forest_ == expected.forest_
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "state").iterdir()} == files
    with pytest.raises(InvalidArgumentError, match="no device matches 'no such device'") as caught:
        clmst.ray.cluster(HDBSCAN(block_points=200, device="no such device"), points)
    assert_plain(caught.value)


def test_clusters_that_are_refused() -> None:
    """Before any task begins."""
    rows = np.zeros((300, 2))
    for model, given, message in (
        (clmst, {}, "model is <module 'clmst'"),
        (HDBSCAN(), {}, "block_points of the model is None; Ray's workers"),
        (HDBSCAN(block_points=60, device=3), {}, "device of the model is 3; each worker"),
        (HDBSCAN(block_points=60), {"task_options": 3}, "task_options is 3"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            clmst.ray.cluster(model, rows, **given)  # type: ignore[arg-type]
