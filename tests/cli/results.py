"""What the tests of all commands say about a result."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import CliRunner, Result

from clmst.cli import main

Run = Callable[..., Result]


def fed(text: str | bytes, *arguments: object) -> Result:
    """Run the command with `text` on stdin."""
    return CliRunner().invoke(main, [str(one) for one in arguments], input=text)


def assert_fails(result: Result, *words: str) -> None:
    """Assert that the command ended with one line of error, which has all `words` in it."""
    assert result.exit_code == 1, result.output
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("clmst: error: ")
    for word in words:
        assert word in lines[0]


def assert_not_understood(result: Result, *words: str) -> None:
    """Assert that click refused the command line, and said why in `words`."""
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("Usage: ")
    assert result.stdout == ""
    for word in words:
        assert word in result.stderr


def assert_fine(result: Result) -> None:
    """Assert that the command went well and complained of nothing."""
    assert (result.exit_code, result.stderr) == (0, ""), result.output
