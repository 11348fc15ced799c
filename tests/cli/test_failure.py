"""Whatever a command raises, the user gets one line and a status, and a traceback on request."""

from __future__ import annotations

import os

import click
import pytest

from clmst.cli.failure import CommandFailure, Interruption, reported
from clmst.core.errors import KernelBuildError, UnsupportedDeviceError


def message_of(error: BaseException) -> str:
    with pytest.raises(CommandFailure) as failure, reported():
        raise error
    return failure.value.message


def test_own_errors_speak_for_themselves() -> None:
    assert message_of(UnsupportedDeviceError("no device; install one")) == "no device; install one"


def test_build_log_follows_the_first_line() -> None:
    message = message_of(KernelBuildError("ecl[X=1]", "GPU", "line 3: error: no\nline 4: stop"))
    assert message.splitlines() == [
        "ecl[X=1] does not build for GPU; the compiler said:",
        "line 3: error: no",
        "line 4: stop",
    ]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(13, "Permission denied", "/x/y"), "/x/y: Permission denied"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (MemoryError(), "out of memory"),
        (
            MemoryError("8 GiB for an array"),
            "this machine has not enough memory: 8 GiB for an array",
        ),
    ],
)
def test_errors_of_the_system(error: Exception, message: str) -> None:
    assert message_of(error) == message


def test_bugs_are_called_so() -> None:
    message = message_of(ZeroDivisionError("division by zero"))
    assert message.startswith("unexpected ZeroDivisionError: division by zero\n")
    assert "CLMST_TRACEBACK=1" in message


def test_interrupt_has_the_status_of_shells() -> None:
    with pytest.raises(Interruption) as interruption, reported():
        raise KeyboardInterrupt
    assert interruption.value.exit_code == 130


def test_traceback_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "CLMST_TRACEBACK", "1")
    with pytest.raises(UnsupportedDeviceError), reported():
        raise UnsupportedDeviceError("no device")


@pytest.mark.parametrize(
    "exception", [click.UsageError("what?"), click.exceptions.Exit(0), BrokenPipeError()]
)
def test_what_click_handles_passes(exception: Exception) -> None:
    with pytest.raises(type(exception)), reported():
        raise exception


def test_failure_is_one_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    CommandFailure("it broke").show()
    assert capsys.readouterr() == ("", "clmst: error: it broke\n")
