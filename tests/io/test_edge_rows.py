"""Writing rows of edges."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest

from clmst.io import edge_rows
from clmst.io.blocks import scan
from clmst.io.edge_rows import EdgeRows, write_rows


def test_rows_are_written_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_rows, "_ROWS_AT_ONCE", 2)
    stream = BytesIO()
    write_rows(stream, "%d:%r\n", np.arange(5, dtype=np.uint32), np.linspace(0, 1, 5))
    assert stream.getvalue() == b"0:0.0\n1:0.25\n2:0.5\n3:0.75\n4:1.0\n"


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.array([True, False]), ["1", "0"]),
        (np.array([2**64 - 1, 0], np.uint64), ["18446744073709551615", "0"]),
        (np.array([0.1, np.inf]), ["0.1", "inf"]),
        (np.array([0.1, -0.0], np.float32), ["0.10000000149011612", "-0.0"]),
        (np.array([0.1, 6e-8], np.float16), ["0.0999755859375", "5.960464477539063e-08"]),
    ],
)
def test_weights_are_written_exactly(weights: np.ndarray, words: list[str]) -> None:
    stream = BytesIO()
    write_rows(stream, "%r\n", weights)
    assert stream.getvalue().decode().split() == words


def test_no_lines_are_no_edges() -> None:
    rows = EdgeRows(first_vertex=1)
    rows.add(scan(b"\n\n", 1), np.zeros(0, np.int64))
    u, v, weights = rows.arrays()
    assert (u.size, v.size, weights, rows.n_rows) == (0, 0, None, 0)
