"""Parquet files, and mapped arrays, as a whole and piece by piece."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import (
    FileFormatError,
    InvalidArgumentError,
    InvalidGraphError,
    MissingFileError,
)
from clmst.io import read_graph
from clmst.runtime.device import Device
from tests.helpers.forests import solve
from tests.io.files import refuses, weight_by_edge
from tests.scale.edges import forest_of_edges, random_edges

N = 50
EDGES = random_edges(N, 3000, dtype="float32")


def save_npy(path: Path, at: slice = slice(None)) -> None:
    u, v, w = (column[at] for column in EDGES)
    array = np.zeros(u.size, [("target", "u4"), ("weight", "f4"), ("source", "i8")])
    array["source"], array["target"], array["weight"] = u, v, w
    np.save(path, array)


def save_parquet(path: Path, at: slice = slice(None), **changes: Any) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = dict(zip(("source", "target", "weight"), (c[at] for c in EDGES), strict=True))
    parquet.write_table(pyarrow.table(columns | changes), path, row_group_size=400)


@pytest.mark.parametrize("suffix", ["npy", "parquet"])
@pytest.mark.parametrize("form", ["file", "folder", "list"])
def test_files_are_streamed(any_device: Device, tmp_path: Path, form: str, suffix: str) -> None:
    """A folder's files in the order of their names, ids going on from one to the next."""
    save = save_npy if suffix == "npy" else save_parquet
    if form == "file":
        save(tmp_path / f"edges.{suffix}")
        chunks: Any = tmp_path / f"edges.{suffix}"
    else:
        for k in (2, 0, 1):
            save(tmp_path / f"part-{k}.{suffix}", slice(1000 * k, 1000 * (k + 1)))
        (tmp_path / "_SUCCESS").write_text("")
        chunks = str(tmp_path) if form == "folder" else sorted(tmp_path.glob("part*"))
    seen: list[clmst.StreamProgress] = []
    found = clmst.stream_minimum_spanning_forest(
        chunks, N, device=any_device, on_progress=seen.append
    )
    assert found == forest_of_edges(EDGES, N)
    assert seen[-1].n_edges == (None if form == "list" else 3000)


def test_columns_by_their_names(any_device: Device, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    save_parquet(path, cost=np.arange(3000), weight=EDGES[2][::-1].copy())
    found = clmst.stream_minimum_spanning_forest(
        path, N, device=any_device, columns=("source", "target", "cost")
    )
    assert found == forest_of_edges((*EDGES[:2], np.arange(3000)), N)


def test_patterns(any_device: Device, tmp_path: Path) -> None:
    """In the order of names; a name that only looks like a pattern is a name."""
    (tmp_path / "deep").mkdir()
    save_parquet(tmp_path / "b.parquet")
    save_parquet(tmp_path / "deep" / "a.parquet", weight=EDGES[2][::-1].copy())
    save_npy(tmp_path / "c[1].npy")
    (tmp_path / "c[2].txt").write_text("no edges")
    mirrored = (*EDGES[:2], EDGES[2][::-1])
    for pattern, parts in (
        ("*", [EDGES, EDGES]),
        ("?.parquet", [EDGES]),
        ("**/*.parquet", [EDGES, mirrored]),
        ("c[1].npy", [EDGES]),
    ):
        found = clmst.stream_minimum_spanning_forest(tmp_path / pattern, N, device=any_device)
        both = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
        assert found == forest_of_edges((both[0], both[1], both[2]), N), pattern
    listed = clmst.stream_minimum_spanning_forest([str(tmp_path / "*.npy")], N, device=any_device)
    assert listed == forest_of_edges(EDGES, N)
    stream_refuses(
        tmp_path / "x*",
        InvalidArgumentError,
        r"matches .*x\* is no file that can be read in parts; there must",
    )


def test_tables_in_memory(any_device: Device) -> None:
    """Chunks as pandas and pyarrow give them one after the other; columns are named as in files."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    whole = pandas.DataFrame(dict(zip(("source", "target", "weight"), EDGES, strict=True)))
    table = pyarrow.Table.from_pandas(whole)
    given: Any
    for given in (
        [whole[:1000], whole[1000:]],
        whole,
        table,
        [table],
        table.to_batches(700),
        [dict(zip("uvw", EDGES, strict=True))],
        [whole.to_records(index=False)],
    ):
        found = clmst.stream_minimum_spanning_forest(given, N, device=any_device)
        assert found == forest_of_edges(EDGES, N)
    other = whole.assign(cost=-whole.weight)
    columns = ("source", "target", "cost")
    found = clmst.stream_minimum_spanning_forest([other], N, device=any_device, columns=columns)
    assert found == forest_of_edges((*EDGES[:2], -EDGES[2]), N)
    message = r"^chunk 1: the columns are 'source', 'target', 'x'; source, target and weight must"
    lacking = [whole, whole.rename(columns={"weight": "x"})]
    with pytest.raises(InvalidGraphError, match=message):
        clmst.stream_minimum_spanning_forest(lacking, N, device=any_device)


def stream_refuses(path: Path, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        clmst.stream_minimum_spanning_forest(path, N)


def test_rows_are_named_by_file(tmp_path: Path) -> None:
    save_parquet(tmp_path / "a.parquet")
    u = EDGES[0].copy()
    u[1234] = N
    save_parquet(tmp_path / "b.parquet", source=u)
    stream_refuses(tmp_path, InvalidGraphError, r"^chunk 1 \(b.parquet\): u of row 1234 is 50")


def test_what_cannot_be_streamed(tmp_path: Path) -> None:
    stream_refuses(tmp_path / "no.parquet", MissingFileError, "there is no file")
    stream_refuses(tmp_path, InvalidArgumentError, "has no file that can be read in parts")
    (tmp_path / "a.txt").write_text("1 2 3")
    stream_refuses(
        tmp_path / "a.txt", InvalidArgumentError, r"suffix must be one of .npy, .parquet"
    )


def test_damaged_files(tmp_path: Path) -> None:
    npy, pq = tmp_path / "a.npy", tmp_path / "a.parquet"
    save_npy(npy)
    save_parquet(pq)
    for path in (npy, pq):
        whole = path.read_bytes()
        for end in (0, 5, len(whole) // 2):
            path.write_bytes(whole[:end])
            stream_refuses(path, FileFormatError, "cannot be read")
    np.save(npy, np.zeros((3, 3)))
    stream_refuses(
        npy, FileFormatError, r"dtype float64 and shape \(3, 3\); it must be a structured"
    )
    save_parquet(pq, source=[None, *EDGES[0][1:].tolist()])
    stream_refuses(pq, FileFormatError, r"row 0 of column 'source' is missing")
    save_parquet(pq, source=EDGES[0].astype(float))
    stream_refuses(pq, InvalidGraphError, r"^chunk 0 .a.parquet.: u has dtype float64")


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


def test_parallel_edges_are_one(tmp_path: Path) -> None:
    (tmp_path / "g.parquet").write_bytes(saved(source=["a", "b", "b"], target=["b", "a", "a"]))
    assert weight_by_edge(read_graph(tmp_path / "g.parquet")) == {("a", "b"): 1.0}


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    message = "row 2 of column 'weight', the weight of edge ('a', 'c'), is missing"
    refuses(tmp_path, ".parquet", saved(weight=[1.0, 2.0, None]), message)
    refuses(tmp_path, ".parquet", b"source,target\n0,1\n", "pyarrow cannot read it")


def test_damaged_text_is_refused(tmp_path: Path) -> None:
    """Parquet's pages usually lack checksums, and pyarrow reads text as it comes."""
    stream = BytesIO()
    table = pa.table({"source": ["a", "\xe9"], "target": ["b", "c"]})
    parquet.write_table(table, stream, compression="none")
    damaged = stream.getvalue().replace("\xe9".encode(), b"\xc3\x28")
    refuses(tmp_path, ".parquet", damaged, "Invalid UTF8")
    (path := tmp_path / "names.parquet").write_bytes(damaged)
    with pytest.raises(FileFormatError, match=r"names.parquet cannot be read \(.*Invalid UTF8"):
        clmst.stream_minimum_spanning_forest(path, 5)


def test_column_without_values_is_refused(tmp_path: Path) -> None:
    """In this damaged file the column of weights has a name and nothing else."""
    stream = BytesIO()
    table = pa.table({"source": [0, 1], "target": [1, 2], "weight": [5, 6]})
    parquet.write_table(table, stream, store_schema=False)
    sound = stream.getvalue()
    footer = sound.rindex(b"schema")
    name = sound.index(b"\x06weight", footer)
    orders = sound.rindex(b"\x19<\x1c")
    damaged = bytearray(sound)
    damaged[name - 5], damaged[orders] = 0x14, 0x15  # no type; no orders of columns
    refuses(tmp_path, ".parquet", bytes(damaged), "pyarrow cannot read it")


def test_a_small_file_of_many_rows_is_refused(tmp_path: Path) -> None:
    """Equal rows are stored once: a few kilobytes may stand for gigabytes."""
    zeros = np.zeros(20_000_000, np.int8)
    data = saved(source=zeros, target=zeros, weight=zeros)
    assert len(data) < 1_000_000
    refuses(tmp_path, ".parquet", data, "compressed bytes expand to 480000000 or more")


# ----------------------------------------------------------------------- writing


@pytest.mark.parametrize("labels", [None, (10, 20, 40, 50), ("a", "b", "c", "d")])
@pytest.mark.parametrize("maximum", [False, True])
def test_a_forest_comes_back(
    tmp_path: Path, labels: tuple[int | str, ...] | None, maximum: bool
) -> None:
    """With its edge ids: of two parallel edges of one weight they tell which it was."""
    graph = clmst.Graph.from_edges([0, 0, 1, 1], [1, 1, 2, 3], [5, 5, 6, 7])
    graph = graph.replace(vertex_labels=labels)
    forest = solve(graph, None, maximum=maximum)
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
