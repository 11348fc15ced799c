"""Separate processes for a test, and skipping of tests that the machine cannot run."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import entry_points
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

import pytest

_SPAWN = multiprocessing.get_context("spawn")  # no child shares a driver's threads
_START_SECONDS = 300.0  # maximum time until a child is ready


def run_python(
    *arguments: str, environment: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run Python from the root of the tree. Raises AssertionError unless its exit status is 0."""
    done = subprocess.run(
        [sys.executable, *arguments], env={**os.environ, **(environment or {})},
        cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False,
        **{"timeout": 300, **options},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def printed(*arguments: str, **environment: str) -> Any:
    """Run Python and return the JSON that it prints, ignoring what a driver printed before."""
    said = run_python(*arguments, environment=environment).stdout
    return json.loads(re.split(r"^(?=[\[{])", said, maxsplit=1, flags=re.MULTILINE)[-1])


def lacks(what: str) -> NoReturn:
    """Skip a test because the machine lacks something. On CI, which must have it, fail instead."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def is_running(process: int) -> bool:
    """Return whether a process has not ended yet."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def processes_of(cache: Path) -> Iterator[int]:
    """Yield the processes whose cache is in a folder."""
    wanted = f"CLMST_CACHE={cache}".encode()
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                environment = (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if wanted in environment and is_running(int(folder.name)):
                yield int(folder.name)


@contextmanager
def all_ended(cache: Path) -> Iterator[None]:
    """Fail unless no process with a cache is left soon after the body."""
    yield
    until = time.monotonic() + 30
    while left := list(processes_of(cache)):
        assert time.monotonic() < until, left
        time.sleep(0.1)


def needs(module: str, extra: str) -> None:
    """Skip a test if a module is missing. `extra` is the extra of the package that installs it."""
    if find_spec(module) is None:
        lacks(f"{module} is not installed; pip install 'clmst[{extra}]'")


def needs_entry_points() -> None:
    """Skip a test if NetworkX cannot find its backend."""
    if not entry_points(group="networkx.backends", name="clmst"):
        lacks("clmst's entry points are not installed; install it again")


# ------------------------------------------------------------------- children that may end

Answer = Callable[[Any], Any]


class LostError(Exception):
    """A child process ended or hung before it answered."""

    def __init__(self, verdict: str, detail: str) -> None:
        super().__init__(verdict, detail)
        self.verdict, self.detail = verdict, detail


class Child:
    """A process that answers questions.

    It starts with the first question, and again if it was lost.

    Parameters
    ----------
    begin : callable
        Called in the process with `arguments`. It returns the function that answers questions. If
        it raises, the error is raised in the parent.
    *arguments : object
        Arguments of `begin`.
    """

    def __init__(self, begin: Callable[..., Answer], *arguments: Any) -> None:
        self._work = (begin, *arguments)
        self._log: Path | None = None

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(self, question: Any, seconds: float) -> Any:
        """Send a question and return its answer. Blocks for at most `seconds` seconds.

        Raises
        ------
        LostError
            The process ended, or did not answer in time.
        """
        if self._log is None:
            self._start()
        self._connection.send(question)
        return self._receive(seconds)

    def end(self) -> str:
        """End the process if it still runs, and return its last line of output and status."""
        if self._log is None:
            return ""
        self._connection.close()
        self._process.join(0.2)
        self._process.kill()
        self._process.join()
        lines = self._log.read_text(errors="replace").strip().splitlines()
        self._log.unlink()
        self._log = None
        return f"{lines[-1][:300] if lines else ''} (status {self._process.exitcode})"

    def _start(self) -> None:
        # In the cache of these tests, if it exists, so that a killed parent leaves nothing else.
        cache = os.environ.get("CLMST_CACHE")
        place = cache if cache and Path(cache).is_dir() else None
        descriptor, log = tempfile.mkstemp(prefix="clmst-child-", dir=place)
        os.close(descriptor)
        self._log = Path(log)  # the standard output and error, where drivers may write
        self._connection, other = _SPAWN.Pipe()
        self._process = _SPAWN.Process(target=_serve, args=(log, other, *self._work), daemon=True)
        self._process.start()
        other.close()  # so that the child's end is the end of the connection
        error = self._receive(_START_SECONDS)
        if error is not None:
            self.end()
            raise error

    def _receive(self, seconds: float) -> Any:
        if not self._connection.poll(seconds):
            self.end()
            raise LostError("hang", f"no answer within {seconds:g} s")
        try:
            return self._connection.recv()
        except (EOFError, ConnectionResetError):
            raise LostError("crash", self.end()) from None


def _serve(log: str, connection: Connection, begin: Callable[..., Answer], *arguments: Any) -> None:
    with Path(log).open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        answer = begin(*arguments)
    except Exception as error:
        connection.send(error)
        return
    connection.send(None)
    with suppress(EOFError):
        while True:
            connection.send(answer(connection.recv()))
