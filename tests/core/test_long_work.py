"""Notices of work that lasts: where they are written, when, and that they go away."""

from __future__ import annotations

import errno
import io
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst import Device
from clmst.core import long_work
from clmst.core.long_work import LongWork, Silence, lasting, timed_step
from clmst.runtime import program
from clmst.runtime.kernel_family import KernelFamily
from clmst.runtime.specialisation import specialise
from tests.helpers.bounds import bounds
from tests.helpers.caches import use_own_cache
from tests.helpers.processes import needs, run_python

ROOT = Path(__file__).parents[2]


class Stream(io.StringIO):
    """Standard error as a test wants it: a terminal, or not."""

    def __init__(self, *, is_terminal: bool = False) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


# What a kernel of Jupyter puts in the place of standard error.
Notebook = type("OutStream", (Stream,), {"__module__": "ipykernel.iostream"})


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let no self-test be one that was done, and no setting be one of the machine."""
    use_own_cache(monkeypatch, tmp_path)
    monkeypatch.delenv("CLMST_PROGRESS", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def on(stream: Any, monkeypatch: pytest.MonkeyPatch, seconds: float = 0.4) -> str:
    """Return the text that work of some seconds writes to a stream."""
    monkeypatch.setattr(sys, "stderr", stream)
    with bounds(patience_seconds=0.05), LongWork("reading roads.gr"):
        time.sleep(seconds)
    written: str = stream.getvalue()
    time.sleep(0.2)
    assert stream.getvalue() == written  # nothing comes when the work is over
    return written


# ------------------------------------------------------------------------------- where


@pytest.mark.parametrize(
    ("stream", "setting", "begins", "ends"),
    [
        (Stream(is_terminal=True), None, "\r\x1b[Kclmst: 0 s: reading roads.gr ...\r", "\r\x1b[K"),
        (Notebook(), None, "\rclmst: 0 s: reading roads.gr ...\r", f"\r{' ' * 32}\r"),
        (Stream(), "1", "clmst: 0 s: reading roads.gr ...\n", ""),
        (Stream(), None, "", ""),
        (Stream(), "0", "", ""),
        (Stream(is_terminal=True), "0", "", ""),
        (Notebook(), "0", "", ""),
    ],
)
def test_where_a_line_is_written(
    stream: Any, setting: str | None, begins: str, ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal and in a notebook, where it is erased; elsewhere only on demand."""
    if setting is not None:
        monkeypatch.setenv("CLMST_PROGRESS", setting)
    assert on(stream, monkeypatch) == begins + ends


def test_a_terminal_that_can_erase_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    said = on(Stream(is_terminal=True), monkeypatch)
    assert said == "clmst: 0 s: reading roads.gr ...\n"


@pytest.mark.parametrize("kind", ["terminal", "notebook", "pipe"])
def test_short_work_says_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Notebook() if kind == "notebook" else Stream(is_terminal=kind == "terminal")
    assert on(stream, monkeypatch, seconds=0.0) == ""


def test_stream_that_takes_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that was closed, has another encoding, or is missing as under ``pythonw``."""
    closed = Stream(is_terminal=True)
    closed.close()
    for stream in (closed, None):
        monkeypatch.setattr(sys, "stderr", stream)
        with bounds(patience_seconds=0.01), LongWork("reading"):
            time.sleep(0.2)
    ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stderr", ascii_only)
    monkeypatch.setenv("CLMST_PROGRESS", "1")
    with bounds(patience_seconds=0.01), LongWork("reading Straße.gr"):
        time.sleep(0.2)
    assert b"reading Stra?e.gr" in ascii_only.buffer.getvalue()


# -------------------------------------------------------------------------------- what


def test_the_outermost_work_and_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """And how far it has come; one line for all of it."""
    stream = Stream(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    with bounds(patience_seconds=0.01), LongWork("clustering", done=lambda: "42%"):
        with LongWork("solving"), LongWork("compiling", is_step=True):
            time.sleep(0.3)
        time.sleep(0.3)
    lines = [line for line in stream.getvalue().replace("\x1b[K", "").split("\r") if line]
    assert lines == ["clmst: 0 s: clustering ... 42%, compiling", "clmst: 0 s: clustering ... 42%"]


def test_a_step_may_say_how_far_it_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the progress of the work itself."""
    stream = Stream(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    with bounds(patience_seconds=0.01), LongWork("warming", done=lambda: "1 of 3"):
        with timed_step("compiling", lambda: "2 left"):
            time.sleep(0.3)
        with timed_step("testing", lambda: ""):
            time.sleep(0.3)
    lines = [line for line in stream.getvalue().replace("\x1b[K", "").split("\r") if line]
    assert lines[0] == "clmst: 0 s: warming ... 1 of 3, compiling, 2 left"
    assert "clmst: 0 s: warming ... 1 of 3, testing" in lines


def test_work_that_is_not_to_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is what goes on inside it."""
    stream = Stream(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    work, step = LongWork("solving", display=Silence()), LongWork("compiling", is_step=True)
    with bounds(patience_seconds=0.01), work, step:
        time.sleep(0.3)
    assert stream.getvalue() == ""


def test_work_that_fails_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is erased. Otherwise it would stand before the error message."""
    stream = Stream(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)

    @lasting("solving")
    def fail() -> None:
        time.sleep(0.3)
        raise OSError(errno.EIO, "gone")

    with bounds(patience_seconds=0.01), pytest.raises(OSError, match="gone"):
        fail()
    assert stream.getvalue().endswith("\r\x1b[K")
    assert long_work._alive() == []


def test_an_interrupted_announcement_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C may come between any two instructions, such as before the end of the work."""
    stream = Stream(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    with bounds(patience_seconds=0.01):
        work = LongWork("solving")
        work.__enter__()
        time.sleep(0.3)
        assert "solving" in stream.getvalue()
        del work
        time.sleep(0.3)
        assert stream.getvalue().endswith("\r\x1b[K")
        assert long_work._alive() == []


# ------------------------------------------------------------------------ whole processes

LASTING = """
import sys, time
import clmst
from clmst.core.long_work import LongWork
with LongWork("reading roads.gr"):
    time.sleep(1.6)
print("done")
"""


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Return both ends of a terminal: the program's end and the viewer's end."""
    pty = pytest.importorskip("pty")  # not on Windows
    screen, end = pty.openpty()
    yield end, screen
    os.close(screen)


def test_on_a_terminal_after_a_second(terminal: tuple[int, int]) -> None:
    end, screen = terminal
    began, seen = time.monotonic(), b""
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(
        [sys.executable, "-c", LASTING], stderr=end, stdout=end, cwd=ROOT, env=environment
    ):
        os.close(end)
        while chunk := _read(screen):
            seen += chunk
    assert time.monotonic() - began > 1.6
    assert seen.startswith(b"\r\x1b[Kclmst: 1 s: reading roads.gr ...\r")
    assert seen.endswith(b"\r\x1b[Kdone\r\n")


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 4096)
    except OSError:  # which Linux raises when the other end is closed
        return b""


def test_in_a_pipe() -> None:
    """Also without any time to end the line: a program may end in the middle of the work.

    All processes run at the same time, since they wait for most of it.
    """
    ended = LASTING.replace("time.sleep(1.6)", "time.sleep(1.3); sys.exit()")
    expected = {"": "", "0": "", "1": "clmst: 1 s: reading roads.gr ...\n"}
    cases = [
        (setting, program, printed, said)
        for setting, said in expected.items()
        for program, printed in ((LASTING, "done\n"), (ended, ""))
    ]
    with ThreadPoolExecutor(len(cases)) as pool:
        found = pool.map(
            lambda case: run_python("-c", case[1], environment={"CLMST_PROGRESS": case[0]}), cases
        )
        for (setting, _, printed, said), done in zip(cases, found, strict=True):
            assert (done.stdout, done.stderr) == (printed, said), setting


def test_in_a_notebook() -> None:
    """As the kernel of a notebook sends it, which the browser then shows."""
    needs("ipykernel", "dev")
    from jupyter_client.manager import start_new_kernel

    said = {"stdout": "", "stderr": ""}

    def note(message: dict[str, Any]) -> None:
        if message["msg_type"] == "stream":
            said[message["content"]["name"]] += message["content"]["text"]

    manager, client = start_new_kernel(kernel_name="python3", cwd=str(ROOT))
    try:
        client.execute_interactive(LASTING, output_hook=note, timeout=120)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert said["stdout"] == "done\n"
    assert said["stderr"].startswith("\rclmst: 1 s: reading roads.gr ...\r")
    assert said["stderr"].split("\r")[-2:] == [" " * 32, ""]


FORKED = """
import os, time
from clmst.core.long_work import LongWork
with LongWork("solving"):
    time.sleep(1.3)
    child = os.fork()
    if not child:
        with LongWork("reading roads.gr"):
            time.sleep(1.3)
    else:
        os.waitpid(child, 0)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_child_of_a_fork() -> None:
    """At first it lacks a watcher of its own, and does not see its parent's work."""
    done = run_python("-W", "ignore", "-c", FORKED, environment={"CLMST_PROGRESS": "1"})
    expected = "clmst: 1 s: solving ...\nclmst: 1 s: reading roads.gr ...\n"
    assert done.stderr == expected


# ------------------------------------------------------------------- what announces itself


RNG = np.random.default_rng(1)


def random_graph(n: int, m: int) -> clmst.Graph:
    u, v = RNG.integers(0, n, (2, m))
    return clmst.Graph.from_edges(u, v, RNG.random(m))


def random_matrix(n: int, m: int) -> sparse.csr_array:
    """Return a matrix of random entries. SciPy's own takes a minute to draw this one's."""
    return sparse.csr_array((RNG.random(m), tuple(RNG.integers(0, n, (2, m)))), shape=(n, n))


GRAPH, MATRIX = random_graph(20_000, 60_000), random_matrix(20_000, 80_000)
CALLS: dict[str, Callable[[], Any]] = {
    "computing a spanning forest": lambda: clmst.minimum_spanning_forest(GRAPH),
    "computing a spanning tree": lambda: clmst.csgraph.minimum_spanning_tree(MATRIX),
    "computing core numbers": lambda: clmst.core_numbers(GRAPH),
    "clustering by HDBSCAN": lambda: clmst.cluster.HDBSCAN().fit(RNG.random((5000, 3))),
    "computing the forest of a stream": lambda: clmst.stream_minimum_spanning_forest(
        [(*RNG.integers(0, 9000, (2, 90_000)), RNG.random(90_000)) for _ in range(3)], 9000),
    "preparing a graph for repeated solves": lambda: clmst.RepeatedSolver(
        random_graph(90_000, 900_000)).close(),
    "verifying a forest": lambda: clmst.verify(GRAPH, clmst.kruskal(GRAPH)),
    "generating a graph": lambda: clmst.generate("random", n=30_000),
}  # fmt: skip


@contextmanager
def looking_at_once() -> Iterator[None]:
    """Let whatever lasts for a few milliseconds be shown."""
    with bounds(patience_seconds=0.001):
        with LongWork("waiting", display=Silence()):
            time.sleep(0.3)  # until the watcher looks so often
        yield


@pytest.mark.parametrize("words", CALLS)
def test_public_calls_say_what_they_do(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    with looking_at_once():
        CALLS[words]()
    assert f": {words} ..." in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_files_say_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stream = Stream(is_terminal=True)
    monkeypatch.setattr(sys, "stderr", stream)
    with looking_at_once():
        clmst.write_graph(GRAPH, "roads.gr")
        clmst.read_graph("roads.gr")
    for words in ("writing roads.gr", "reading roads.gr"):
        assert f": {words} ..." in stream.getvalue()


def family(lasts: float) -> KernelFamily:
    """Return a family whose self-test takes so long."""
    return KernelFamily(name="sums", what="sums", test=lambda *_: time.sleep(lasts))


def test_self_tests_and_builds_are_steps(
    any_device: Device, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    """The logger has each with its seconds, at INFO: a program without logging sees nothing."""
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path / "without programs"))
    stream, name = Stream(is_terminal=True), any_device.name.strip()
    monkeypatch.setattr(sys, "stderr", stream)
    one = specialise("device/fill.cl", any_device.capabilities, any_device.policy)
    with caplog.at_level(logging.INFO, "clmst"):
        program.build(any_device.context, any_device.cl_device, one)
        with bounds(patience_seconds=0.05), LongWork("solving"):
            Device(any_device.cl_device).trust.require(family(0.3))
    tested = f"compiling and testing kernels (sums), once for {any_device.name}"
    said = [record.getMessage() for record in caplog.records]
    ended = [one for one in said if " took " in one]
    assert ended[0].startswith(f"compiling kernels (fill), once for {name} took ")
    assert ended[1].startswith(f"{tested} took 0.")
    assert {record.levelname for record in caplog.records} == {"INFO"}
    assert f": solving ... {tested}"[:50] in stream.getvalue()
