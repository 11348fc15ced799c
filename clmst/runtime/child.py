"""Self-tests in a child process, which a driver may crash without harm to the user's process.

One child runs one test after the other, for all devices. It is started for the first, and ends by
itself when there is nothing more to test. If it ends in the middle of a test, its exit tells why:

* **by itself**, as by SIGSEGV or SIGABRT: the driver crashes. A child that has run other tests
  before may suffer from these, so a new child repeats the test.
* **from outside**, as by SIGKILL, which a machine without memory sends: that says nothing. A new
  child repeats the test, once.

A child that does not answer for long is ended, and nothing is kept of that.
"""

from __future__ import annotations

import atexit
import builtins
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Hashable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from clmst.core import errors, long_work
from clmst.runtime.child_process import VARIABLE, ending, may_start, printable
from clmst.runtime.child_request import DeviceSpec, encoded
from clmst.runtime.kernel_family import ENDS_PROCESS, SelfTestResult

if TYPE_CHECKING:
    from clmst.runtime.device import Device
    from clmst.runtime.kernel_family import KernelFamily

LIMIT_SECONDS = 300.0  # of a test, with the child's start
MARK: Final = b"clmst self-test: "  # what begins a line that is not the driver's

_TABLE = "clmst.families"  # of all families, which is above this layer
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from clmst.runtime.child_main import serve; "
    f"serve({_TABLE!r})"
)
_LONGEST = 1 << 16  # bytes of a line that are looked at
_LOOK_SECONDS = 1.0  # after which a child that is silent is looked for
_CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGSYS", "SIGTRAP")

Facts = dict[str, Any]  # what came of a request: its `state`, and what belongs to that


class ChildProcess:
    """A process that runs self-tests."""

    def __init__(self) -> None:
        session: dict[str, Any] = {}
        if os.name == "posix":
            session = {"start_new_session": True}  # Ctrl-C is for the parent, which ends the child
        paths = [path for path in sys.path if isinstance(path, str)]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", "-c", _PROGRAM, *paths],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
            env={**os.environ, VARIABLE: "1", long_work.VARIABLE: "0"}, **session,
        )  # fmt: skip
        self._owner = os.getpid()
        self._lines = SimpleQueue[bytes | None]()
        try:
            threading.Thread(target=self._read, name="clmst-self-test", daemon=True).start()
        except BaseException:
            self.end()
            raise

    def _read(self) -> None:
        """Put the child's lines into the queue, then None."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        rest = b""
        with self._process.stdin, self._process.stdout as stream:
            while chunk := stream.read(_LONGEST):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._lines.put(line)
                rest = rest[-_LONGEST:]
        self._lines.put(rest)
        self._process.wait()  # else a zombie would be left until the next test
        self._lines.put(None)

    def ask(self, request: bytes) -> Facts:
        """Return what came of a request.

        The child says "tested", "raised" or "unable"; else it "ended", or was "late" and is ended.
        """
        assert self._process.stdin is not None
        has_begun, words, until = False, b"", time.monotonic() + LIMIT_SECONDS
        try:
            with suppress(OSError, ValueError):  # it has ended: so do its lines
                self._process.stdin.write(request)
            while (line := self._next_line(until)) is not None:
                facts = _facts(line)
                if facts is None:
                    words = line.strip() or words
                elif facts["state"] != "testing":
                    return facts
                else:
                    has_begun = True
        except TimeoutError:
            self.end()
            return {"state": "late"}
        except BaseException:  # such as Ctrl-C
            self.end()
            raise
        status = self._process.wait()
        return {"state": "ended", "status": status, "begun": has_begun, "words": printable(words)}

    def _next_line(self, until: float) -> bytes | None:
        """Return a line of the child, or None if it has ended.

        What a driver has started may outlive the child, and keep its output open.
        """
        while True:
            try:
                return self._lines.get(timeout=_LOOK_SECONDS)
            except Empty:
                if self._process.poll() is not None:
                    return None
            if time.monotonic() > until:
                raise TimeoutError

    @property
    def is_running(self) -> bool:
        """Whether it may be asked."""
        return self._process.poll() is None

    def end(self) -> None:
        """End it and what it has started, unless this process was forked from its parent."""
        if self._owner != os.getpid() or not self.is_running:
            return
        with suppress(OSError):
            if sys.platform == "win32":  # which has no groups of processes
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):  # a driver may hang in the kernel
            self._process.wait(5)


class Child:
    """The child of this process, which is started when a test needs it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: ChildProcess | None = None
        self._can_start = True
        self._late = dict[bytes, SelfTestResult]()  # requests that no child has answered in time
        atexit.register(self.end)

    def end(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.end()

    def tested(self, request: bytes) -> SelfTestResult | None:
        """Run a self-test; see :func:`tested`."""
        with self._lock:  # one test at a time
            if request in self._late:
                return self._late[request]
            is_repeated = False
            while True:
                process, is_new = self._running()
                if process is None:
                    return None
                facts = process.ask(request)
                if facts["state"] == "unable":
                    return None
                if facts["state"] == "ended" and not facts["begun"]:
                    if not is_new:
                        continue  # nothing was left to test, and it was about to end
                    self._can_start = False  # nor will the next
                    return None
                outcome = _outcome(facts)
                if facts["state"] == "late":
                    self._late[request] = outcome
                if facts["state"] in ("tested", "late"):
                    return outcome
                if is_new if outcome.lasts else is_repeated:
                    return outcome
                is_repeated = is_repeated or not outcome.lasts

    def _running(self) -> tuple[ChildProcess | None, bool]:
        """Return the process, and whether it is a new one; None if none can be started."""
        if self._process is not None and self._process.is_running:
            return self._process, False
        self._process = None
        if self._can_start and may_start():
            try:
                self._process = ChildProcess()
            except (OSError, ValueError, RuntimeError):  # no more processes, threads or memory
                self._can_start = False
        return self._process, True


_child = Child()


def tested(device: Device, family: KernelFamily, case: Hashable) -> SelfTestResult | None:
    """Run a self-test in the child of this process; raise errors that say nothing about kernels.

    Returns None if the test did not run: no child can be started, or it does not find the family or
    the device, or cannot open it beside this process.
    """
    try:
        request = encoded(DeviceSpec.of(device), family.name, case)
    except (AttributeError, TypeError, pickle.PicklingError):  # an options class of the user's
        return None
    return _child.tested(request)


def _facts(line: bytes) -> Facts | None:
    """Return what the child says in a line; None if the line is the driver's."""
    if not line.startswith(MARK):
        return None
    try:
        facts: Facts = json.loads(line.removeprefix(MARK))
    except ValueError:
        return None
    return facts


def _outcome(facts: Facts) -> SelfTestResult:
    """Return what the end of a request means for the kernels."""
    if facts["state"] == "tested":
        return SelfTestResult(*facts["outcome"])
    if facts["state"] == "late":
        reason = f"its self-test has not ended after {LIMIT_SECONDS:g} s"
        return SelfTestResult(reason, lasts=False, seconds=LIMIT_SECONDS)
    if facts["state"] == "ended":
        return _outcome_of_end(facts["status"], facts["words"])
    if facts["kind"] == errors.DeviceLostError.__name__:
        return SelfTestResult(f"does not run: {facts['reason']}", lasts=False)
    raise _raised(facts)  # it says nothing about the kernels


def _raised(facts: Facts) -> Exception:
    """Return the error that a self-test has raised in the child, with the place there as a note."""
    kind, reason = facts["kind"], facts["reason"]
    known: Any = getattr(errors, kind, None) or getattr(builtins, kind, None)
    try:
        error: Exception = known(reason)
    except TypeError:  # another library's, or one that is made of more than a text
        error = RuntimeError(f"{kind}: {reason}")
    error.add_note(facts["place"])
    return error


def _outcome_of_end(status: int, words: str) -> SelfTestResult:
    """Return what it means that a child ended in a test; `words` are the last it wrote."""
    how = ending(status)
    if status < 0 and how not in _CRASHES:
        reason = f"the process of its self-test was ended from outside, twice ({how})"
        return SelfTestResult(reason, lasts=False)
    last = f": {words}" if words else ""
    return SelfTestResult(f"{ENDS_PROCESS} ({how}){last}", lasts=True)
