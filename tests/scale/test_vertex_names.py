"""Streams whose ends are strings give the numbers and forests of a data frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.errors import InvalidArgumentError, InvalidGraphError, StreamedWarning
from clmst.runtime.device import Device
from clmst.scale import capacity
from tests.scale.edges import (
    KilledError,
    cut,
    kill_at,
    limit_for,
    limit_for_passes,
    random_edges,
)

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")
ParquetFile = pytest.importorskip("pyarrow.parquet").ParquetFile

N, M = 3000, 12_000
U, V, W = random_edges(N, M, n_weights=7)
NAMES = np.array([f"town {k * 7919 % N} é" for k in range(N)], object)
ROWS = NAMES[U], NAMES[V], W
FRAME = pandas.DataFrame(dict(zip(("source", "target", "weight"), ROWS, strict=True)))
stream = clmst.stream_minimum_spanning_forest


@pytest.fixture(scope="module")
def right() -> clmst.Forest:
    """Return the forest that the frame has as a whole."""
    return clmst.kruskal(FRAME)


def parquet(folder: Path) -> Path:
    for k in range(4):
        FRAME[k * 3000 : (k + 1) * 3000].to_parquet(folder / f"{k}.parquet", row_group_size=700)
    return folder


def npy(folder: Path) -> Path:
    rows = np.empty(M, [("source", "S20"), ("target", "S20"), ("weight", W.dtype)])
    rows["source"], rows["target"] = (np.char.encode(one.astype("U"), "utf-8") for one in ROWS[:2])
    rows["weight"] = W
    np.save(folder / "edges.npy", rows)
    return folder


FORMS: dict[str, Callable[[Path], Any]] = {
    "arrays of objects": lambda _: [*cut(ROWS, 1700)],
    "arrays of text": lambda _: [*cut((ROWS[0].astype("U"), ROWS[1].astype("U"), W), 1700)],
    "lists": lambda _: [(u.tolist(), v.tolist(), w) for u, v, w in cut(ROWS, 1700)],
    "series": lambda _: [tuple(FRAME[name] for name in FRAME.columns)],
    "frames": lambda _: [FRAME[:5000], FRAME[5000:]],
    "batches": lambda _: pyarrow.Table.from_pandas(FRAME).to_batches(900),
    "categories": lambda _: [FRAME.astype({"source": "category"})],
    "parquet": parquet,
    "npy": npy,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_vertices", [None, N, 10 * N])
def test_every_form(
    any_device: Device, tmp_path: Path, right: clmst.Forest, form: str, n_vertices: int | None
) -> None:
    chunks = FORMS[form](tmp_path)
    assert stream(chunks, n_vertices, device=any_device) == right


def test_an_iterator_is_read_once(any_device: Device, right: clmst.Forest) -> None:
    assert stream(cut(ROWS, 1000), N, device=any_device) == right
    with pytest.raises(InvalidArgumentError, match=r"n_vertices is missing, .* be read twice"):
        stream(cut(ROWS, 1000), device=any_device)


def test_vertices_are_counted(any_device: Device, tmp_path: Path) -> None:
    """Numbers go up to the greatest; rows of a file are read for that, and again."""
    last = int(max(U.max(), V.max()))
    rows = pandas.DataFrame({"source": U, "target": V, "weight": W})
    rows.to_parquet(tmp_path / "edges.parquet", row_group_size=700)
    for chunks in ([*cut((U, V, W), 1700)], tmp_path, rows):
        assert stream(chunks, device=any_device) == stream([(U, V, W)], last + 1, device=any_device)
    assert stream([], device=any_device).n_vertices == 0


@pytest.mark.parametrize("memory", [1 << 40, 4 * 24 * (M - 1), None])
@pytest.mark.parametrize("ends", [(U, V), ROWS[:2]], ids=["numbers", "names"])
def test_files_are_read_once_if_memory_holds_them(
    any_device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: Any,
    memory: int | None,
) -> None:  # fmt: skip
    """The vertices are counted in the only reading of a file, unless its rows are too many."""
    rows = {"source": ends[0], "target": ends[1], "weight": W.astype(np.float64)}
    pandas.DataFrame(rows).to_parquet(tmp_path / "edges.parquet", row_group_size=700)
    n_read, read = 0, ParquetFile.iter_batches

    def counted(*given: Any, **named: Any) -> Iterator[Any]:
        nonlocal n_read
        for batch in read(*given, **named):
            n_read += batch.num_rows
            yield batch

    monkeypatch.setattr(ParquetFile, "iter_batches", counted)
    monkeypatch.setattr(capacity, "physical_memory", lambda: memory)
    found = stream([tmp_path / "edges.parquet"], device=any_device)
    assert n_read == (M if memory == 1 << 40 else 2 * M)
    right = stream([(*ends, W.astype(np.float64))], N, device=any_device)
    assert np.array_equal(found.edge_ids, right.edge_ids)
    assert np.array_equal(found.edges, right.edges)


def test_by_passes_and_from_a_checkpoint(
    any_device: Device, tmp_path: Path, right: clmst.Forest
) -> None:
    """Rows are read several times; names keep the numbers of the first time."""
    chunks, path = [*cut(ROWS, 1700)], tmp_path / "passes.ckpt"
    with pytest.warns(StreamedWarning, match="once for each round"):
        found = stream(
            chunks, device=any_device, memory_limit=limit_for_passes(right.n_vertices, 1000),
            checkpoint=path,
        )  # fmt: skip
    assert found == right
    again = stream(chunks, device=any_device, checkpoint=path)
    assert again == right


def test_a_stream_goes_on(any_device: Device, tmp_path: Path, right: clmst.Forest) -> None:
    path = tmp_path / "stream.ckpt"
    limit = limit_for(any_device, N, N + 2000)
    given: dict[str, Any] = {"checkpoint": path, "memory_limit": limit}
    with pytest.raises(KilledError):
        stream(cut(ROWS, 500), N, device=any_device, on_progress=kill_at(M // 2 + 1), **given)
    found = stream(cut(ROWS, 800), N, device=any_device, **given)
    assert found == right
    assert found.stats["resumed_at"] > 0


@pytest.mark.parametrize(
    ("chunks", "n", "message"),
    [
        ([(["a", "b"], ["b", "c"], [1, 2])], 2, "^chunk 0: v of row 1 is 'c', name 3 of the stre"),
        (
            [(["a"], ["b"]), ([0], [1])],
            9,
            "^chunk 1 has vertex numbers where others are names; all",
        ),
        (
            [([0], [1]), (["a"], ["b"])],
            9,
            "^chunk 1 has vertex numbers where others are names; all",
        ),
        (
            [(["a"], [1])],
            9,
            "^chunk 0 has vertex numbers where others are names; all ids of a stream",
        ),
        ([(["a", None], ["b", "c"])], 9, "^chunk 0: u of row 1 is None beside names; all ids of"),
        ([(["a", "b"], ["b", 5])], 9, "^chunk 0: v of row 1 is 5 beside names; all ids of a str"),
        ([(["a", "b"], ["b"])], 9, "^chunk 0: the shapes are u \\(2,\\), v \\(1,\\)"),
        ([(np.array([b"a", b"\xff"]), ["b", "c"])], 9, "^u of chunk 0 is not UTF-8 text"),
        (
            [(np.array([97, 2**32 - 1], "u4").view("U1"), ["b", "c"])],
            9,
            "^chunk 0: u of row 1 has a code above 0x10ffff, which is not a character",
        ),
    ],
)
def test_bad_names(any_device: Device, chunks: Any, n: int, message: str) -> None:
    with pytest.raises(InvalidGraphError, match=message):
        stream(chunks, n, device=any_device)


def test_empty_chunks_are_of_either_kind(any_device: Device) -> None:
    empty: Any = ([], [], np.zeros(0, np.int64))
    found = stream([empty, (["a"], ["b"], np.array([5])), empty], 2, device=any_device)
    assert found.total_weight == 5
    assert found.vertex_labels is not None
    assert list(found.vertex_labels) == ["a", "b"]
    assert stream([empty, (np.array([0]), [1], np.array([5]))], 2, device=any_device).n_edges == 1
