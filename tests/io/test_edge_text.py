"""Texts of edges: pyarrow's parser reads what clmst's own reads, or leaves it to that."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clmst.core.errors import FileFormatError
from clmst.core.weight_keys import Array
from clmst.io import edge_text, read_graph
from clmst.io.edge_text import EdgeText
from clmst.io.files import SourceFile
from tests.helpers.bounds import bounds
from tests.helpers.processes import run_python
from tests.helpers.strategies import examples

csv = pytest.importorskip("pyarrow.csv")

ODD = "+5 007 1.5 .5 1. 1e3 -0 1e400 nan inf -Infinity 0x1f 1_0 9223372036854775807 x # NA null"
LARGE = '"1" 9223372036854775808 18446744073709551615 99999999999999999999 1e18 true'
WORDS = st.sampled_from(["", "-3", "\N{ARABIC-INDIC DIGIT ONE}", *ODD.split(), *LARGE.split()])
BANNER = "%%MatrixMarket matrix coordinate"
ENDS = st.sampled_from(["\n", "\r\n", "\n\n", " \n", "\r", ""])


class Lines(EdgeText):
    """Lines without a header."""

    first_vertex = 0
    commas = True


def edges_of(text: bytes, *, by_arrow: bool) -> tuple[Array, Array, Array | None] | None:
    """Return the edges that one of the parsers reads, or None if it refuses the text."""
    lines = Lines(SourceFile(stream=BytesIO(text), size=None))
    with bounds(arrow_from=0 if by_arrow else 1 << 40):
        if by_arrow:
            return lines.arrays() if lines.add_plain(text) else None
        try:
            return lines.gathered().arrays()
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
    found = edges_of(text, by_arrow=True)
    if found is None:
        return
    own = edges_of(text, by_arrow=False)
    assert own is not None
    assert found[0].tolist() == own[0].tolist()
    assert found[1].tolist() == own[1].tolist()
    assert (found[2] is None) == (own[2] is None)
    if found[2] is not None and own[2] is not None:
        assert found[2].tolist() == own[2].tolist()
        assert found[2].dtype == own[2].dtype


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        *[(text, True) for text in ("1 2\n3 4\n", "1\t2\t0.5\r\n3\t4\t5\r\n", "1,2,3\n4,5,6")],
        *[(text, True) for text in ("1 2 3\n", "1, 2, 3\n", "01 2 1e3\n")],
        ("a 1 2 3\na 2 3 4\n", True),
        ("e 1 2\ne 2 3\n", True),
        ("a 1 2 3\ne 2 3 4\n", True),
        ("a 1 2 3\nc hello\n", False),
        ("a 1 2 3\nc 2 3 4\n", False),
        ("a 1 2 3\n\na 2 3 4\n", True),
        ("a 1 2 3\n2 3 4\n", False),
        ("aa 1 2 3\n", False),
        ("b 1 2 3\n", False),
        ("a 1 2 3\nab 2 3 4\n", False),
    ],
)
def test_what_is_plain_is_taken(text: str, plain: bool) -> None:
    with bounds(arrow_from=0):
        columns = edge_text.arrow_rows(text.encode(), letters=("a", "e"))
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
    tmp_path: Path, *, suffix: str, head: str, row: str, odd: str | None
) -> None:
    """The same graph, or the same error with the same line, wherever blocks are cut."""
    rows = [row.format(v, v + 1, v * v % 1009) for v in range(1, 3001)]
    if odd is not None:
        rows[1700] = {"wrong": row.format(5, "x", 1), "comment": "# c\n"}[odd]
    end = "END\nEOF\n" if suffix == ".stp" else ""
    (path := tmp_path / f"graph{suffix}").write_text(head + "".join(rows) + end)
    found, read = [], list[int]()
    with mock.patch("pyarrow.csv.read_csv", wraps=csv.read_csv) as by_arrow:
        for least in (0, 1 << 40):
            with bounds(text_block=1000, arrow_from=least):
                try:
                    graph = read_graph(path)
                    arrays = graph.indptr, graph.indices, graph.weights
                    found.append(tuple(array.tolist() for array in arrays))
                except FileFormatError as error:
                    found.append((str(error),))
            read.append(by_arrow.call_count)
    assert read[0] == read[1] >= 10
    assert found[0] == found[1]


@pytest.mark.parametrize("least", [0, 1 << 40], ids=["pyarrow", "NumPy"])
@pytest.mark.parametrize(
    ("suffix", "text", "why"),
    [
        (".txt", "0 1 2\n,\n", "line 2: a field is empty"),
        (".tsv", "0\t1\t2\n,,", "line 2: a field is empty"),
        (".txt", ",\n0 1 2\n", "line 1: a field is empty"),
        (".txt", "0 1 2\n\ufeff1 2 3\n", "line 2: .* is not a vertex number"),
        (".gr", "p sp 3 2\na 1 2 1\n\ufeffa 2 3 1\n", "line 3: .* is not a kind of line of a "
                                        "DIMACS"),
        (".txt", "\ufeff\ufeff0 1 2\n", "line 1: .* is not a vertex number"),
    ],
)  # fmt: skip
def test_odd_signs_are_refused_wherever_blocks_are_cut(
    tmp_path: Path, suffix: str, text: str, why: str, least: int
) -> None:
    """Commas alone on a line, and byte order marks that are not at the beginning of the file."""
    (path := tmp_path / f"odd{suffix}").write_text(text, encoding="utf-8")
    for size in (*range(3, 2 * len(text)), 1 << 20):
        with (
            bounds(text_block=size, arrow_from=least),
            pytest.raises(FileFormatError, match=f"odd{suffix}: {why}"),
        ):
            read_graph(path)


def test_only_a_comment_before_the_edges_is_a_header(tmp_path: Path) -> None:
    """The counts of SNAP's header are taken wherever blocks are cut, and nowhere else."""
    (early := tmp_path / "early.txt").write_text("# Nodes: 5 Edges: 99\n3 4\n4 5\n")
    (late := tmp_path / "late.txt").write_text("3 4\n4 5\n# Nodes: 5 Edges: 99\n")
    for size in (3, 7, 30, 1 << 20):
        with bounds(text_block=size):
            assert read_graph(late).n_edges == 2
            with pytest.raises(FileFormatError, match="declares 99 edges but the file holds 2"):
                read_graph(early)


def test_without_pyarrow(tmp_path: Path) -> None:
    """Blocks that it would read are read by NumPy."""
    (path := tmp_path / "path.txt").write_text("".join(f"{v} {v + 1} 0.5\n" for v in range(20_000)))
    assert path.stat().st_size > 1 << 17
    code = (
        "import sys; sys.modules['pyarrow'] = None; import clmst; "
        "assert clmst.read_graph(sys.argv[1]).weights.sum() == 10_000"
    )
    run_python("-c", code, str(path))
