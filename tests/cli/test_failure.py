"""Whatever a command raises, the user gets one line and a status, and a traceback on request."""

from __future__ import annotations

import click
import pytest

from clmst.cli.failure import CommandFailure, reported
from clmst.core.errors import KernelBuildError, UnsupportedDeviceError


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (UnsupportedDeviceError("no device; install one"), "no device; install one"),
        (
            KernelBuildError("ecl[X=1]", "GPU", "line 3: error: no\nline 4: stop"),
            "ecl[X=1] does not build for GPU; the compiler said:\nline 3: error: no\nline 4: stop",
        ),
        (PermissionError(13, "Permission denied", "/x/y"), "/x/y: Permission denied"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (MemoryError(), "out of memory"),
        (MemoryError("8 GiB"), "this machine has not enough memory: 8 GiB"),
        (
            ZeroDivisionError("division by zero"),
            "unexpected ZeroDivisionError: division by zero\n"
            "This is a bug in clmst; CLMST_TRACEBACK=1 shows where.",
        ),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_errors_have_a_message_and_a_status(
    error: BaseException, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandFailure) as failure, reported():
        raise error
    failure.value.show()
    assert capsys.readouterr() == ("", f"clmst: error: {message}\n")
    assert failure.value.exit_code == (130 if isinstance(error, KeyboardInterrupt) else 1)


@pytest.mark.parametrize(
    "exception", [click.UsageError("what?"), click.exceptions.Exit(0), BrokenPipeError()]
)
def test_what_click_handles_passes(exception: Exception) -> None:
    with pytest.raises(type(exception)), reported():
        raise exception
