"""Headers are believed only as far as memory and the rest of the file go."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from clmst.core.errors import FileFormatError
from clmst.io import files, read_graph
from clmst.io.files import DeclaredSizes


def test_sizes_that_memory_could_hold_are_taken() -> None:
    assert DeclaredSizes.parse("0004", "7", line=1) == DeclaredSizes(n_vertices=4, n_edges=7)


@pytest.mark.parametrize(
    ("n", "m"), [(2**32 - 1, 0), (0, 2**32), (10**60, 1), (4_000_000_000, 99_999_999_999)]
)
def test_more_than_a_graph_may_have_is_refused(n: int, m: int) -> None:
    with pytest.raises(FileFormatError, match="there may be 4294967294 vertices and 4294967295"):
        DeclaredSizes(n_vertices=n, n_edges=m)
    with pytest.raises(FileFormatError, match="line 3: the header declares"):
        DeclaredSizes.parse(str(n), str(m), line=3)


@pytest.mark.parametrize(("n", "m"), [(100_000_000, 0), (2, 50_000_000), (4_294_967_294, 1)])
def test_more_than_memory_holds_is_refused(monkeypatch: pytest.MonkeyPatch, n: int, m: int) -> None:
    monkeypatch.setattr(files, "physical_memory", lambda: 1 << 30)
    with pytest.raises(FileFormatError, match="this machine has 1024 MiB of memory"):
        DeclaredSizes(n_vertices=n, n_edges=m)


def test_where_memory_is_unknown_only_the_limits_of_graphs_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(files, "physical_memory", lambda: None)
    assert DeclaredSizes(n_vertices=2**32 - 2, n_edges=2**32 - 1).n_edges == 2**32 - 1


@pytest.mark.parametrize("word", ["-1", "x", "1.5", "1e3", "²", "٣", "+4", ""])
def test_counts_are_plain_numbers(word: str) -> None:
    with pytest.raises(FileFormatError, match=re.escape(f"line 1: the header says {word!r}")):
        DeclaredSizes.parse(word, "1", line=1)


@pytest.mark.parametrize("found", [4, 6])
def test_more_and_fewer_edges_than_declared_are_refused(found: int) -> None:
    declared = DeclaredSizes(n_vertices=3, n_edges=5)
    declared.check_edges(5)
    with pytest.raises(FileFormatError, match=f"declares 5 arcs but the file holds {found}"):
        declared.check_edges(found, what="arcs")


@pytest.mark.parametrize("suffix", [".gr", ".stp", ".mtx", ".graph", ".tsp", ".txt"])
def test_vertices_of_a_header_are_bounded_by_the_file(tmp_path: Path, suffix: str) -> None:
    """A line of text must not make gigabytes: vertices without an edge take none."""
    n = 10**9
    header = {
        ".gr": f"p sp {n} 0\n",
        ".stp": f"33D32945 STP File\nSECTION Graph\nNodes {n}\nEdges 0\nEND\nEOF\n",
        ".mtx": f"%%MatrixMarket matrix coordinate real general\n{n} {n} 0\n",
        ".graph": f"{n} 0\n",
        ".tsp": f"TYPE : TSP\nDIMENSION : {n}\nEDGE_WEIGHT_TYPE : EUC_2D\nEOF\n",
        ".txt": f"{n}\n0\n",
    }[suffix]
    for name, data in ((suffix, header.encode()), (f"{suffix}.gz", gzip.compress(header.encode()))):
        path = tmp_path / f"hostile{name}"
        path.write_bytes(data)
        with pytest.raises(FileFormatError, match="16777216 vertices, or 64 for each byte"):
            read_graph(path)


def test_vertices_that_a_file_may_declare() -> None:
    assert DeclaredSizes(n_vertices=2**24, n_edges=0, file_bytes=1).n_vertices == 2**24
    assert DeclaredSizes(n_vertices=2**26, n_edges=0, file_bytes=2**20).n_vertices == 2**26
    with pytest.raises(FileFormatError, match="in a file of 1048575 bytes"):
        DeclaredSizes(n_vertices=2**26, n_edges=0, file_bytes=2**20 - 1)
