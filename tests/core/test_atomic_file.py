"""Files that are replaced as a whole, whatever goes wrong while they are written."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clmst.core import atomic_file
from clmst.core.errors import ClmstError, FileWriteError, InvalidArgumentError


def fail_at(monkeypatch: pytest.MonkeyPatch, name: str, code: int) -> None:
    def failing(*arguments: Any, **options: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, name, failing)


@pytest.mark.parametrize("old", [b"old", None])
@pytest.mark.parametrize("operation", ["fsync", "replace"])
def test_a_failure_of_the_system(
    tmp_path: Path, operation: str, old: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk often shows only when bytes are forced onto it."""
    path = tmp_path / "a"
    if old is not None:
        path.write_bytes(old)
    fail_at(monkeypatch, operation, errno.ENOSPC)
    with pytest.raises(FileWriteError, match=r"a was not written: No space left on device"):
        atomic_file.write_bytes(path, b"new")
    assert [one.read_bytes() for one in tmp_path.iterdir()] == ([] if old is None else [old])


def test_errors_of_other_files_pass(tmp_path: Path) -> None:
    """What the body of the statement does with other files is not this one's failure."""
    with pytest.raises(FileNotFoundError), atomic_file.replacing(tmp_path / "a"):
        (tmp_path / "b").read_bytes()
    with pytest.raises(BrokenPipeError), atomic_file.replacing(tmp_path / "a"):
        raise BrokenPipeError
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    calls: list[Callable[[], object]] = [
        lambda: atomic_file.write_bytes(tmp_path / "file" / "a", b""),
        lambda: atomic_file.make_folder(tmp_path / "file"),
    ]
    for call in calls:
        with pytest.raises(InvalidArgumentError, match="cannot be"):
            call()


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="the system names no open files")
def test_a_pipe_is_written_directly() -> None:
    """``-o /dev/stdout | less`` works, although the real path of a pipe is not a file's name."""
    source, target = os.pipe()
    atomic_file.write_bytes(Path(f"/dev/fd/{target}"), b"new")
    os.close(target)
    assert os.read(source, 9) == b"new"
    os.close(source)


def test_no_reader_sees_half_a_file(tmp_path: Path) -> None:
    """Two processes replace one file again and again; each read finds one whole content."""
    path = tmp_path / "a"
    code = (
        "import sys; from pathlib import Path; from clmst.core import atomic_file\n"
        "for _ in range(200): atomic_file.write_bytes(Path(sys.argv[1]), sys.argv[2].encode() *"
        " 100_000, durable=False)"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, path, letter]) for letter in "ab"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            content = path.read_bytes()
            seen.add((content[:1], len(content), len(set(content))))
    assert [writer.returncode for writer in writers] == [0, 0]
    assert seen <= {(b"a", 100_000, 1), (b"b", 100_000, 1)}
    assert seen
    assert list(tmp_path.iterdir()) == [path]


def test_it_is_a_clmst_error() -> None:
    """Callers of the library catch one root, and callers of files ``OSError``."""
    assert issubclass(FileWriteError, ClmstError)
    assert issubclass(FileWriteError, OSError)
