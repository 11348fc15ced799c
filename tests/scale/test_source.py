"""Where the pieces of a stream come from."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from clmst.core.errors import FileFormatError
from clmst.scale.source import StreamPiece, one_ahead


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

    ahead = one_ahead(pieces())
    for k in range(4):
        assert next(ahead).chunk == str(k)
        if k < 3:
            assert came[k + 1].wait(10)
        assert len(asked) == min(k + 2, 4)
    assert next(ahead, None) is None
    assert threading.get_ident() not in asked


def test_an_error_comes_after_the_pieces_before_it() -> None:
    def pieces() -> Iterator[StreamPiece]:
        yield piece(0)
        raise FileFormatError("the rest is damaged")

    ahead = one_ahead(pieces())
    assert next(ahead).chunk == "0"
    with pytest.raises(FileFormatError, match="the rest is damaged"):
        next(ahead)


def test_a_reader_that_stops_leaves_no_thread() -> None:
    before = threading.active_count()
    ahead = one_ahead(piece(k) for k in range(9))
    next(ahead)
    ahead.close()  # type: ignore[attr-defined]  # it is a generator
    assert threading.active_count() == before
