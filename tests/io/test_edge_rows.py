"""Writing rows of edges."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest

from clmst.io import edge_rows
from clmst.io.blocks import scan
from clmst.io.edge_rows import EdgeRows, write_rows
from clmst.io.opposite_arcs import OppositeArcs


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


@pytest.mark.parametrize("is_weighted", [True, False])
@pytest.mark.parametrize("shift", [0, 1], ids=["from-an-even-row", "from-an-odd-row"])
def test_opposite_arcs_are_joined_to_the_same_graph(is_weighted: bool, shift: int) -> None:
    """Whether pairs follow each other, stand alone, repeat or are loops."""
    random = np.random.default_rng(shift)
    u, v = random.integers(0, 6, (2, 400))
    w = random.integers(-3, 4, 400)
    back = random.random(399) < 0.8  # the row after is the opposite arc
    u[1:][back], v[1:][back] = v[:-1][back].copy(), u[:-1][back].copy()
    u[1::2], v[1::2] = v[0::2], u[0::2]
    u, v, w = u[shift:], v[shift:], w[shift:]
    rows, plain = (
        EdgeRows(first_vertex=0, arcs=OppositeArcs(leaves_out=False)),
        EdgeRows(first_vertex=0),
    )
    for chosen in (rows, plain):
        for part in np.array_split(np.arange(u.size), 3):
            columns = zip(u[part], v[part], w[part], strict=True)
            lines = [f"{a} {b} {c}" if is_weighted else f"{a} {b}" for a, b, c in columns]
            block = scan("".join(f"{line}\n" for line in lines).encode(), 1)
            chosen.add(block, np.arange(len(lines)), n_vertices=6)
    assert rows.n_rows == plain.n_rows == u.size
    found, right = rows.graph(6), plain.graph(6)
    for name in ("indptr", "indices", "weights"):
        np.testing.assert_array_equal(getattr(found, name), getattr(right, name))


def test_opposite_arcs_take_one_row() -> None:
    rows = EdgeRows(first_vertex=1, arcs=OppositeArcs(leaves_out=False))
    rows.add(scan(b"3 1 9\n1 2 5\n2 1 4\n3 4 1\n4 3 2\n", 1), np.arange(5))
    u, v, w = rows.arrays()
    assert (u.tolist(), v.tolist()) == ([2, 0, 2], [0, 1, 3])
    assert w is not None
    assert w.tolist() == [9, 4, 1]
    assert rows.n_rows == 5
