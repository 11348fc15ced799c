"""Opening, compressing and replacing files."""

from __future__ import annotations

import gzip
import os
import stat
import threading
from io import BytesIO
from pathlib import Path

import pytest

from clmst.core.errors import ClmstError, FileFormatError, InvalidArgumentError
from clmst.io import files, read_graph


def test_a_directory_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "roads.gr"
    folder.mkdir()
    with pytest.raises(InvalidArgumentError, match="is a directory; it must be a file"):
        read_graph(folder)
    with pytest.raises(InvalidArgumentError, match="is a directory"), files.writing(folder):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "roads.gr"
    path.touch(mode=0)
    with pytest.raises(InvalidArgumentError, match="cannot be read: Permission denied"):
        read_graph(path)


def test_a_pipe_can_be_read(tmp_path: Path) -> None:
    """Readers go back to the start of a file; a pipe cannot."""
    path = tmp_path / "pipe.gr"
    os.mkfifo(path)
    feeder = threading.Thread(target=path.write_text, args=["p sp 2 1\na 1 2 5\n"])
    feeder.start()
    assert read_graph(path).weights.tolist() == [5]
    feeder.join()


def test_writing_replaces_a_file_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o640)
    with files.writing(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["a", "a.gz"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("old")

    def fail() -> None:
        with files.writing(path) as stream:
            stream.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    with files.writing(tmp_path / "new") as stream:
        stream.write(b"new")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with files.writing(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_what_is_no_regular_file_is_written_to_and_not_replaced() -> None:
    with files.writing(Path(os.devnull)) as stream:
        stream.write(b"new")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "no" / "a"
    with (
        pytest.raises(InvalidArgumentError, match="cannot be written: No such file"),
        files.writing(path),
    ):
        pass


def test_expansion_of_a_compressed_file_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few kilobytes may be gigabytes of zeros; what is usual passes."""
    path = tmp_path / "bomb.gr.gz"
    path.write_bytes(gzip.compress(b"c comment\n" * 10**5))
    assert path.stat().st_size * files.MAX_EXPANSION < 10**6 < files.FREE_EXPANSION
    with files.reading(path) as source:
        assert len(source.stream.read()) == 10**6
    monkeypatch.setattr(files, "FREE_EXPANSION", 10**4)
    rule = f"there may be 10000, or {files.MAX_EXPANSION} times as many"
    for read in (
        lambda stream: stream.read(),
        lambda stream: [*iter(lambda: stream.read(10**4), b"")],
        lambda stream: [*iter(stream.readline, b"")],
    ):
        with pytest.raises(FileFormatError, match=rule), files.reading(path) as source:
            read(source.stream)
    with pytest.raises(FileFormatError, match=rule):
        read_graph(path)


def test_what_a_pipe_gives_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert files.read_whole(BytesIO(b"x" * 3 * 10**6)) == b"x" * 3 * 10**6
    monkeypatch.setattr(files, "physical_memory", lambda: 10**6)
    with pytest.raises(FileFormatError, match="half of this machine's memory"):
        files.read_whole(BytesIO(b"x" * 3 * 10**6))


def test_missing_file_is_an_error_of_both_kinds(tmp_path: Path) -> None:
    for kind in (FileNotFoundError, OSError, InvalidArgumentError, ValueError, ClmstError):
        with pytest.raises(kind, match=f"^no such file: {tmp_path}/missing.gr$"):
            read_graph(tmp_path / "missing.gr")
