"""Parquet files, whole and damaged."""

from __future__ import annotations

from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import FileFormatError
from clmst.io import read_graph
from tests.io.files import refuses, weight_by_edge

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TABLE = {"source": ["a", "b", "a"], "target": ["b", "c", "c"], "weight": [2.5, 1.0, 9.0]}


def saved(**changes: Any) -> bytes:
    stream = BytesIO()
    parquet.write_table(pa.table({**TABLE, **changes}), stream)
    return stream.getvalue()


def test_a_table_is_read_by_its_columns(tmp_path: Path) -> None:
    (tmp_path / "roads.parquet").write_bytes(saved(road=["x", "y", "z"]))
    graph = read_graph(tmp_path / "roads.parquet")
    assert weight_by_edge(graph) == {("a", "b"): 2.5, ("b", "c"): 1.0, ("a", "c"): 9.0}
    graph = read_graph(tmp_path / "roads.parquet", columns=("target", "road"))
    assert graph.vertex_labels == ("b", "x", "c", "y", "z")
    assert graph.weights.tolist() == [1, 1, 1]
    with pytest.raises(FileFormatError, match="0 columns are called 'cost'"):
        read_graph(tmp_path / "roads.parquet", columns=("source", "target", "cost"))


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "bool"])
def test_weights_keep_their_dtype(tmp_path: Path, dtype: str) -> None:
    weights = np.array([1, 0, 1]).astype(dtype)
    (tmp_path / "g.parquet").write_bytes(saved(weight=weights))
    assert read_graph(tmp_path / "g.parquet").weights.dtype == dtype


def test_parallel_edges_are_one(tmp_path: Path) -> None:
    (tmp_path / "g.parquet").write_bytes(saved(source=["a", "b", "b"], target=["b", "a", "a"]))
    assert weight_by_edge(read_graph(tmp_path / "g.parquet")) == {("a", "b"): 1.0}


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    message = "row 2 of column 'weight', the weight of edge ('a', 'c'), is missing"
    refuses(tmp_path, ".parquet", saved(weight=[1.0, 2.0, None]), message)
    refuses(tmp_path, ".parquet", b"source,target\n0,1\n", "pyarrow cannot read it")


def test_a_small_file_of_many_rows_is_refused(tmp_path: Path) -> None:
    """Equal rows are stored once: a few kilobytes may stand for gigabytes."""
    zeros = np.zeros(20_000_000, np.int8)
    data = saved(source=zeros, target=zeros, weight=zeros)
    assert len(data) < 1_000_000
    refuses(tmp_path, ".parquet", data, "compressed bytes expand to 480000000 or more")


def test_damage_is_an_error_or_another_graph(tmp_path: Path) -> None:
    """Whatever bytes a file holds, reading it raises nothing else."""
    original, random = saved(), np.random.default_rng(1)
    path = tmp_path / "damaged.parquet"
    refused = 0
    for _ in range(300):
        damaged = bytearray(original)
        for at in random.integers(0, len(damaged), 2):
            damaged[at] = random.integers(256)
        path.write_bytes(
            damaged if random.random() < 0.8 else damaged[: random.integers(1, len(damaged))]
        )
        refused += 1
        with suppress(FileFormatError):
            assert clmst.read_graph(path).n_edges <= 3
            refused -= 1
    assert refused > 50


# ----------------------------------------------------------------------- writing


@pytest.mark.parametrize("labels", [None, (10, 20, 40, 50), ("a", "b", "c", "d")])
@pytest.mark.parametrize("maximum", [False, True])
def test_a_forest_comes_back(
    tmp_path: Path, labels: tuple[int | str, ...] | None, maximum: bool
) -> None:
    """With its edge ids: of two parallel edges of one weight they tell which it was."""
    graph = clmst.Graph.from_edges([0, 0, 1, 1], [1, 1, 2, 3], [5, 5, 6, 7])
    graph = graph.replace(vertex_labels=labels)
    solve = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
    forest = solve(graph)
    clmst.write_forest(forest, path := tmp_path / "forest.parquet")
    again = clmst.read_forest(path, graph)
    assert again == forest
    assert again.maximum == maximum
    assert again.edge_ids.tolist() == forest.edge_ids.tolist()
    assert parquet.read_table(path).column_names == ["source", "target", "weight", "edge_id"]


def test_ids_of_a_forest_are_integers(tmp_path: Path) -> None:
    (path := tmp_path / "forest.parquet").write_bytes(saved(edge_id=[0.5, 1.0, 2.0]))
    graph = clmst.read_graph(path, columns=("source", "target", "weight"))
    with pytest.raises(FileFormatError, match="the column 'edge_id' is float64; ids are integers"):
        clmst.read_forest(path, graph)


@pytest.mark.parametrize("dtype", ["bool", "i1", "u8", "f2", "f4", "f8"])
def test_written_weights_keep_their_dtype(tmp_path: Path, dtype: str) -> None:
    graph = clmst.Graph.from_edges([0, 1], [1, 2], np.array([1, 0], dtype))
    clmst.write_graph(graph, path := tmp_path / "graph.parquet")
    expected = "uint8" if dtype == "bool" else np.dtype(dtype).name
    assert read_graph(path).weights.dtype == expected
