"""What compilers said is kept, and never taken for the answer to another question."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from tests.offline import kept


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept, "folder", lambda: tmp_path)
    return tmp_path


def test_asked_once(folder: Path) -> None:
    """Unless anything of the question or the compiler differs, or the answer is damaged."""
    compiler = count(1)
    questions = [
        (("skl", "text"), "1"), (("skl", "text "), "1"), (("pvc", "text"), "1"),
        (("skl", "text"), "2"), (("sk", "ltext"), "1"),
    ]  # fmt: skip
    for _ in range(2):
        for number, (question, version) in enumerate(questions, 1):
            assert kept.kept(question, version, lambda: next(compiler)) == number
    for file in folder.iterdir():
        file.write_bytes(file.read_bytes()[:-1])
    for _ in range(2):
        assert kept.kept(*questions[0], lambda: next(compiler)) == 6


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
