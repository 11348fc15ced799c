"""A small part of tests/helpers/fuzz_files.py, and that it finds what it looks for."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from clmst.core.errors import FileFormatError
from clmst.core.graph import Graph
from clmst.io import FORMATS
from clmst.io.compression import CODECS
from clmst.io.registry import POINT_FORMATS, Format
from tests.helpers import fuzz_files
from tests.helpers.bounds import bounds

pytest.importorskip("pyarrow")


@pytest.mark.parametrize("door", fuzz_files.DOORS, ids=lambda one: one.name)
def test_every_reader_reads_or_refuses(tmp_path: Path, door: fuzz_files.Door) -> None:
    """1,740 damaged files: a result, or one error that names the file; nothing else."""
    told = fuzz_files.fuzz(60, 3, tmp_path, doors=[door])
    assert told.keys() == {f"{door.name} {each.name}" for each in door.formats}
    for name, counts in told.items():
        assert counts.keys() == {"read", "refused"}, name
        assert sum(counts.values()) == 60


def test_every_format_that_is_read_is_fuzzed() -> None:
    doors = {each.name: each for each in fuzz_files.DOORS}
    assert {*doors["graphs"].formats} == {each for each in FORMATS if each.reader}
    assert {*doors["points"].formats} == {*POINT_FORMATS}


@pytest.mark.parametrize("how", ["dies", "reads"])
def test_a_file_that_kills_the_process_is_kept(tmp_path: Path, how: str) -> None:
    """So is none that is read."""

    def read(path: Path, *, format: str) -> Graph:  # noqa: A002
        if how == "dies" and path.read_bytes() == b"3":
            os.kill(os.getpid(), signal.SIGKILL)
        raise FileFormatError(f"{path}: no")

    ecl = next(each for each in FORMATS if each.name == "ecl")
    door = fuzz_files.Door(name="own", formats=(ecl,), samples=lambda _: (b"",), read=read)
    made: list[tuple[bytes, None]] = [(b"%d" % k, None) for k in range(6)]
    told = fuzz_files.in_a_process(tmp_path, lambda: made, door, ecl, 1)
    counts = {"failed": 1} if how == "dies" else {"refused": 6}
    assert told == ("own ecl", counts)
    kept = [path.read_bytes() for path in tmp_path.iterdir()]
    assert kept == ([b"3"] if how == "dies" else [])


@pytest.mark.parametrize("error", [RuntimeError("a bug"), MemoryError(), KeyError("x")])
def test_other_errors_are_failures(tmp_path: Path, error: Exception) -> None:
    def fail(path: Path, *, format: str) -> Graph:  # noqa: A002
        raise error

    ecl = [each for each in FORMATS if each.name == "ecl"]
    told = fuzz_files.fuzz(5, 1, tmp_path, formats=ecl, read=fail)
    assert told == {"graphs ecl": {"failed": 5}}


@pytest.mark.parametrize("chosen", [each for each in FORMATS if each.reader], ids=lambda f: f.name)
@bounds(expansion_free=1 << 20)
def test_small_files_that_expand_are_refused(tmp_path: Path, chosen: Format) -> None:
    """With a limit of a megabyte, since to fill 256 takes a second for each of them.

    tests/io/test_compression.py has the other kinds of compression.
    """
    found = fuzz_files.explode(tmp_path, formats=[chosen], codecs=CODECS[:1])
    assert found == {"refused": 3}
