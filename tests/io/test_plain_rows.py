"""pyarrow's parser reads what clmst's own reads, or leaves it to that."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clmst.core.errors import FileFormatError
from clmst.core.weight_keys import Array
from clmst.io import blocks, plain_rows, read_graph
from clmst.io.blocks import Block
from clmst.io.edge_rows import EdgeRows
from tests.strategies import examples

pytest.importorskip("pyarrow")

ODD = "+5 007 1.5 .5 1. 1e3 -0 1e400 nan inf -Infinity 0x1f 1_0 9223372036854775807 x # NA null"
LARGE = '"1" 9223372036854775808 18446744073709551615 99999999999999999999 1e18 true'
WORDS = st.sampled_from(["", "-3", "\N{ARABIC-INDIC DIGIT ONE}", *ODD.split(), *LARGE.split()])
BANNER = "%%MatrixMarket matrix coordinate"
ENDS = st.sampled_from(["\n", "\r\n", "\n\n", " \n", "\r", ""])


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short blocks, too."""
    monkeypatch.setattr(plain_rows, "LEAST_BYTES", 0)


def as_own(text: bytes) -> tuple[Array, Array, Array | None] | None:
    """Return what clmst's own parser reads; None if that is an error."""
    rows, block = EdgeRows(first_vertex=0), Block(raw=text, first_line=1, commas=True)
    try:
        rows.add(block, np.flatnonzero(block.initials() != 0))
        return rows.arrays()
    except FileFormatError:
        return None


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    usual = st.integers(0, 99).map(str)
    word = st.one_of(usual, usual, usual, WORDS) if draw(st.booleans()) else usual
    delimiter = draw(st.sampled_from([" ", "\t", ",", "  ", ", "]))
    n_fields = draw(st.sampled_from([2, 3, 3, 4]))
    row = st.lists(word, min_size=n_fields, max_size=n_fields).map(delimiter.join)
    lines = draw(st.lists(row, min_size=1, max_size=6))
    return "".join(line + draw(st.one_of(st.just("\n"), ENDS)) for line in lines).encode()


@examples(share=2)
@given(texts())
@example(b"1 2 3\n4 5 6.5\n")
@example(b"1 2 3\r4 5 6\n")
@example(b"1 2 0x1f\n")
@example(b"1 2.5\n3 4\n")
@example(b"1 2 +5\n")
@example(b"1 2 18446744073709551615\n0 1 1.5\n")
def test_it_reads_what_the_own_parser_reads(text: bytes) -> None:
    rows = EdgeRows(first_vertex=0)
    if not rows.add_plain(Block(raw=text, first_line=1, commas=True)):
        return
    found, own = rows.arrays(), as_own(text)
    assert own is not None
    assert found[0].tolist() == own[0].tolist()
    assert found[1].tolist() == own[1].tolist()
    assert (found[2] is None) == (own[2] is None)
    if found[2] is not None and own[2] is not None:
        assert found[2].tolist() == own[2].tolist()
        assert found[2].dtype == own[2].dtype


@pytest.mark.parametrize(
    "text",
    [
        "1 2\n3 4\n",
        "1 2 3\n",
        "1\t2\t0.5\r\n3\t4\t5\r\n",
        "1,2,3\n4,5,6",
        "1, 2, 3\n",
        "01 2 1e3\n",
    ],
)
def test_what_is_plain_is_taken(text: str) -> None:
    assert plain_rows.parse(text.encode()) is not None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a 1 2 3\na 2 3 4\n", True),
        ("e 1 2\ne 2 3\n", True),
        ("a 1 2 3\ne 2 3 4\n", False),
        ("a 1 2 3\nc hello\n", False),
        ("a 1 2 3\nc 2 3 4\n", False),
        ("a 1 2 3\n\na 2 3 4\n", True),
        ("a 1 2 3\n2 3 4\n", False),
        ("aa 1 2 3\n", False),
        ("b 1 2 3\n", False),
        ("a 1 2 3\nab 2 3 4\n", False),
    ],
)
def test_letters_begin_every_row(text: str, plain: bool) -> None:
    columns = plain_rows.parse(text.encode(), letters=b"ae")
    assert (columns is not None) == plain


@pytest.mark.parametrize(
    ("suffix", "head", "row"),
    [
        (".gr", "p sp 3001 3000\n", "a {} {} {}\n"),
        (".gr", "p tw 3001 3000\n", "{} {} {}\n"),
        (".stp", "SECTION Graph\nNodes 3001\nEdges 3000\n", "E {} {} {}\n"),
        (".mtx", f"{BANNER} integer symmetric\n3001 3001 3000\n", "{} {} {}\n"),
        (".txt", "# a comment\n", "{}\t{}\t{}\n"),
        (".csv", "source,target,weight\n", "{},{},{}\n"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("odd", [None, "wrong", "comment"])
def test_every_reader_reads_alike_with_and_without(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    suffix: str,
    head: str,
    row: str,
    odd: str | None,
) -> None:
    """The same graph, or the same error with the same line, wherever blocks are cut."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1000)
    rows = [row.format(v, v + 1, v * v % 1009) for v in range(1, 3001)]
    if odd is not None:
        rows[1700] = {"wrong": row.format(5, "x", 1), "comment": "# c\n"}[odd]
    end = "END\nEOF\n" if suffix == ".stp" else ""
    (path := tmp_path / f"graph{suffix}").write_text(head + "".join(rows) + end)
    found = []
    n_taken = 0
    own = plain_rows.parse

    def counted(text: bytes, *, letters: bytes = b"") -> list[Array] | None:
        nonlocal n_taken
        columns = own(text, letters=letters)
        n_taken += columns is not None
        return columns

    monkeypatch.setattr(plain_rows, "parse", counted)
    for least in (0, 1 << 40):
        monkeypatch.setattr(plain_rows, "LEAST_BYTES", least)
        try:
            graph = read_graph(path)
            found.append((graph.indptr.tolist(), graph.indices.tolist(), graph.weights.tolist()))
        except FileFormatError as error:
            found.append((str(error),))  # type: ignore[arg-type]
        if least == 0:
            assert n_taken >= 10
    assert found[0] == found[1]


def test_blocks_that_are_never_plain_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def refuse(text: bytes, *, letters: bytes) -> None:
        calls.append(text + letters)

    monkeypatch.setattr(plain_rows, "parse", refuse)
    rows = EdgeRows(first_vertex=0)
    for _ in range(20):
        assert not rows.add_plain(Block(raw=b"1  2\n", first_line=1))
    assert len(calls) == 8


def test_without_pyarrow_nothing_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_rows, "_pyarrow", lambda: None)
    assert plain_rows.parse(b"1 2 3\n") is None
