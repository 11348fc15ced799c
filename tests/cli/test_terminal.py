"""The screen: colours and spinners on terminals only, nothing cut off elsewhere."""

from __future__ import annotations

import io
import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import pytest

from clmst.cli.terminal import (
    Stages,
    console,
    counted,
    duration,
    new_table,
    print_json,
)
from tests.helpers.bounds import bounds


class FakeTerminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> FakeTerminal:
    """Return a terminal of 60 columns."""
    for name, value in {"TERM": "xterm", "COLUMNS": "60"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return FakeTerminal()


@contextmanager
def shown_on(screen: FakeTerminal) -> Iterator[None]:
    """Let a terminal, which is told early that a stage is at work, be stdout and stderr."""
    with redirect_stdout(screen), redirect_stderr(screen), bounds(patience_seconds=0.05):
        yield


def test_stages_are_timed_in_order() -> None:
    stages = Stages(quiet=True)
    with stages.stage("sleep", "sleeping"):
        time.sleep(0.02)
    with stages.stage("wake", "waking up"):
        pass
    assert list(stages.seconds) == ["sleep", "wake"]
    assert stages.seconds["sleep"] >= 0.02 > stages.seconds["wake"]


def test_spinner_when_it_takes_long(screen: FakeTerminal) -> None:
    with shown_on(screen), Stages(quiet=False).stage("read", "reading a[b].gr"):
        time.sleep(0.3)
    assert "reading a[b].gr ..." in screen.getvalue()


@pytest.mark.parametrize(("quiet", "seconds"), [(False, 0), (True, 0.1)])
def test_no_spinner(screen: FakeTerminal, quiet: bool, seconds: float) -> None:
    """Neither when it is quick, nor when it is to be quiet."""
    with shown_on(screen), Stages(quiet=quiet).stage("read", "reading"):
        time.sleep(seconds)
    assert screen.getvalue() == ""


def test_spinner_is_gone_after_an_error(screen: FakeTerminal) -> None:
    """A spinner left running would write over the message and the prompt."""

    def read_what_is_gone() -> None:
        with Stages(quiet=False).stage("read", "reading"):
            time.sleep(0.2)
            raise OSError("gone")

    with shown_on(screen), pytest.raises(OSError, match="gone"):
        read_what_is_gone()
    assert "reading" in screen.getvalue()
    length = len(screen.getvalue())
    time.sleep(0.2)
    assert len(screen.getvalue()) == length


@bounds(patience_seconds=0.05)
def test_no_spinner_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    with Stages(quiet=False).stage("read", "reading"):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_table_in_a_pipe_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    table = new_table()
    table.add_row("name", "x" * 3000)
    console().print(table)
    out = capsys.readouterr().out
    assert "x" * 3000 in out
    assert "\x1b" not in out


def test_table_on_a_terminal_folds(screen: FakeTerminal) -> None:
    """Folded, never cut: all characters are there."""
    table = new_table("name", "count", numbers=("count",))
    table.add_row("x" * 100, "7")
    with shown_on(screen):
        console(stderr=True).print(table)
    text = screen.getvalue()
    assert text.count("x") == 100
    assert "\x1b[1m" in text
    assert "…" not in text


def test_counted_and_durations() -> None:
    assert [counted(n, "vertices") for n in (0, 1)] == ["0 vertices", "1 vertex"]
    assert counted(12345, "edges") == "12,345 edges"
    assert [duration(s) for s in (0.0, 0.01234, 1.5)] == ["0.0 ms", "12.3 ms", "1.50 s"]


@pytest.mark.parametrize("number", [0, -7, 2**90, 0.1, -0.0, 1e300, math.inf, -math.inf, math.nan])
def test_json_keeps_numbers(number: float, capsys: pytest.CaptureFixture[str]) -> None:
    """It cannot express infinities and NaN, which are written as text."""
    print_json(number)
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert found == (number if math.isfinite(number) else str(number))
