"""Where the pieces of a stream come from."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import clmst
from clmst.core.errors import FileFormatError
from clmst.scale.rows import StreamPiece
from clmst.scale.source import Pieces, parts_of_file, read_ahead
from tests.helpers.threads import all_end, own_threads


def piece(number: int) -> StreamPiece:
    return StreamPiece(chunk=str(number), first_row=0, u=[0], v=[0], weights=None, edge_ids=None)


def test_one_piece_is_read_ahead() -> None:
    """Not more, or memory would fill; and in another thread."""
    asked: list[int] = []
    came = [threading.Event() for _ in range(5)]

    def pieces() -> Iterator[StreamPiece]:
        for k in range(4):
            asked.append(threading.get_ident())
            came[k].set()
            yield piece(k)

    ahead = read_ahead(iter([pieces]), 1)
    for k in range(4):
        assert next(ahead).chunk == str(k)
        if k < 3:
            assert came[k + 1].wait(10)
        assert len(asked) == min(k + 2, 4)
    assert next(ahead, None) is None
    assert threading.get_ident() not in asked


def test_a_reader_that_stops_leaves_no_thread() -> None:
    before = own_threads("clmst-stream")
    ahead = read_ahead(iter([partial(part, 0, 9)]), 1)
    next(ahead)
    assert own_threads("clmst-stream") - before
    ahead.close()  # type: ignore[attr-defined]  # it is a generator
    assert all_end(own_threads("clmst-stream") - before)


# ------------------------------------------------------------------------ parts at once


def part(number: int, size: int) -> Iterator[StreamPiece]:
    for k in range(size):
        yield piece(10 * number + k)


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_pieces_of_parts_come_in_order(n_threads: int) -> None:
    sizes = [3, 0, 1, 5, 0, 0, 2]
    parts = (partial(part, number, size) for number, size in enumerate(sizes))
    names = [int(one.chunk) for one in read_ahead(parts, n_threads)]
    assert names == [10 * k + i for k, size in enumerate(sizes) for i in range(size)]


def test_parts_are_read_at_once() -> None:
    """Three wait for one another, which two threads could not."""
    meet = threading.Barrier(3, timeout=10)

    def waiting(number: int) -> Iterator[StreamPiece]:
        meet.wait()
        yield piece(number)

    found = read_ahead((partial(waiting, k) for k in range(6)), 3)
    assert [one.chunk for one in found] == list("012345")


def test_an_error_of_a_later_part_waits_for_its_turn() -> None:
    def failing() -> Iterator[StreamPiece]:
        raise FileFormatError("a part is damaged")
        yield

    def parts() -> Iterator[Pieces]:
        yield partial(part, 0, 2)
        yield partial(part, 1, 2)
        raise FileFormatError("the next file is damaged")

    given: list[Pieces] = [partial(part, 0, 2), partial(part, 1, 2), failing]
    for many, message in (
        (iter(given), "a part is damaged"),
        (parts(), "the next file is damaged"),
    ):
        ahead = read_ahead(many, 4)
        assert [next(ahead).chunk for _ in range(4)] == ["0", "1", "10", "11"]
        with pytest.raises(FileFormatError, match=message):
            next(ahead)


@pytest.mark.parametrize(
    ("group", "later"),
    [(1 << 18, [251_424]), ((1 << 20) + 100, [100, 251_324]), (1 << 22, [251_424])],
)
def test_row_groups_are_parts(tmp_path: Path, group: int, later: list[int]) -> None:
    """Small ones together; of large ones a million rows at a time."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    first, m, random = 1_300_000, 2_400_000, np.random.default_rng(3)
    u, v = random.integers(0, 40, (2, m), np.uint32)
    w = random.integers(0, 99, m, np.int32)
    folder = tmp_path / "edges"
    folder.mkdir()
    for k, some in enumerate((slice(first), slice(0), slice(first, m))):
        table = pyarrow.table({"source": u[some], "target": v[some], "weight": w[some]})
        parquet.write_table(table, folder / f"{k}.parquet", row_group_size=group)
    paths = enumerate(sorted(folder.iterdir()))
    readers = (part for k, path in paths for part in parts_of_file(path, None, f"chunk {k}"))
    found = list(read_ahead(readers, 4))
    columns = [np.concatenate([getattr(one, c) for one in found]) for c in ("u", "v", "weights")]
    assert all(np.array_equal(a, b) for a, b in zip(columns, (u, v, w), strict=True))
    first_rows = [one.first_row for one in found if one.chunk == "chunk 0 (0.parquet)"]
    sizes = [len(one.u) for one in found if one.chunk == "chunk 0 (0.parquet)"]
    assert first_rows == [0, *np.cumsum(sizes)[:-1]]
    assert sizes == [1 << 20, *later]
    stream = clmst.stream_minimum_spanning_forest(folder, 40)
    expected = clmst.stream_minimum_spanning_forest([(u, v, w)], 40)
    assert np.array_equal(stream.edge_ids, expected.edge_ids)
