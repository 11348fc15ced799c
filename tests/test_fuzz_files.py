"""A small part of tests/fuzz_files.py, and that it finds what it looks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmst.core.graph import Graph
from clmst.io import FORMATS
from clmst.io.compression import CODECS
from clmst.io.registry import Format
from tests import fuzz_files
from tests.bounds import bounds

pytest.importorskip("pyarrow")


def test_every_reader_reads_or_refuses(tmp_path: Path) -> None:
    """2,000 damaged files: a graph, or one error that names the file; nothing else."""
    told = fuzz_files.fuzz(200, 3, tmp_path)
    assert told.keys() == {each.name for each in FORMATS if each.reader}
    for name, counts in told.items():
        assert counts.keys() == {"read", "refused"}, name
        assert sum(counts.values()) == 200


@pytest.mark.parametrize("error", [RuntimeError("a bug"), MemoryError(), KeyError("x")])
def test_other_errors_are_failures(tmp_path: Path, error: Exception) -> None:
    def fail(path: Path, *, format: str) -> Graph:  # noqa: A002
        raise error

    ecl = [each for each in FORMATS if each.name == "ecl"]
    told = fuzz_files.fuzz(5, 1, tmp_path, formats=ecl, read=fail)
    assert told == {"ecl": {"failed": 5}}


@pytest.mark.parametrize("chosen", [each for each in FORMATS if each.reader], ids=lambda f: f.name)
@bounds(expansion_free=1 << 20)
def test_small_files_that_expand_are_refused(tmp_path: Path, chosen: Format) -> None:
    """With a limit of a megabyte, since to fill 256 takes a second for each of them.

    tests/io/test_compression.py has the other kinds of compression.
    """
    found = fuzz_files.explode(tmp_path, formats=[chosen], codecs=CODECS[:1])
    assert found == {"refused": 3}
