"""What compilers said is kept, and never taken for the answer to another question."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offline import kept


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept, "folder", lambda: tmp_path)
    return tmp_path


class Compiler:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> tuple[bytes, int]:
        self.asked += 1
        return b"binary", self.asked


def test_asked_once(folder: Path) -> None:
    compiler = Compiler()
    assert kept.kept(("skl", "text"), "1", compiler) == (b"binary", 1)
    assert kept.kept(("skl", "text"), "1", compiler) == (b"binary", 1)
    assert compiler.asked == len(list(folder.iterdir())) == 1


@pytest.mark.usefixtures("folder")
def test_everything_counts() -> None:
    compiler = Compiler()
    for question, version in (
        (("skl", "text"), "1"),
        (("skl", "text "), "1"),
        (("pvc", "text"), "1"),
        (("skl", "text"), "2"),
        (("sk", "ltext"), "1"),
    ):
        kept.kept(question, version, compiler)
    assert compiler.asked == 5


def test_damaged_answer_is_asked_for_again(folder: Path) -> None:
    compiler = Compiler()
    kept.kept(("skl", "text"), "1", compiler)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert kept.kept(("skl", "text"), "1", compiler) == (b"binary", 2)
    assert kept.kept(("skl", "text"), "1", compiler) == (b"binary", 2)


@pytest.mark.usefixtures("folder")
def test_compiler_that_fails_is_asked_again() -> None:
    def fail() -> None:
        raise TimeoutError

    for _ in range(2):
        with pytest.raises(TimeoutError):
            kept.kept(("skl", "text"), "1", fail)


def test_another_installation_is_another_compiler(tmp_path: Path) -> None:
    program = tmp_path / "compiler"
    program.write_bytes(b"1")
    before = kept.installed(program)
    program.write_bytes(b"22")
    assert kept.installed(program) != before
