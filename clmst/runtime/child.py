"""Child processes: start them, ask them for self-tests and builds of programs, and end them.

One child runs the self-tests of all devices, one after the other, so that a driver that crashes
does not harm the user's process. It is started for the first test, and ends itself when it has had
no request for a while. If it ends in the middle of a test, the exit status tells why:

* **From inside**, by a signal such as SIGSEGV or SIGABRT: the driver crashes. A child that has run
  other tests before may suffer from these, so a new child repeats the test.
* **From outside**, by a signal such as SIGKILL, which the system sends when memory runs out. That
  says nothing about the driver. A new child repeats the test once.

A child that takes too long to answer is killed. That result is not stored on disk.

Further children, the helpers, open devices and build programs ahead of their use (``ahead.py``
decides which). ``child_main.py`` is what a child runs. It is a module of its own, because it
imports devices and self-tests, which import this module.
"""

from __future__ import annotations

import atexit
import base64
import builtins
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from clmst.core import errors, long_work
from clmst.core.machine import CHILD_VARIABLE, cache_folder, ending, may_start, printable
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.file_lock import locked
from clmst.runtime.kernel_family import BUILD_NAME, ENDS_PROCESS, TRIAL_NAME, SelfTestResult
from clmst.runtime.listing import opencl_devices
from clmst.runtime.policy import Policy

if TYPE_CHECKING:
    from clmst.runtime.device import Device
    from clmst.runtime.kernel_family import KernelFamily
    from clmst.runtime.specialisation import Specialisation

# Maximum number of bytes of the arrays with which a helper repeats a call of the user. A copy of
# 64 MiB takes a tenth of a second, which is a small part of the time of a first call.
REHEARSED_BYTES: Final = 1 << 26
LIMIT_SECONDS = 300.0  # time limit of one test, including the start of the child
IDLE_SECONDS = 5.0  # time after which a child without a request ends
TURN: Final = "helpers.lock"  # lock file in the cache, held by the one process that has helpers
MARK: Final = b"clmst self-test: "  # begins each line that is the child's own, not the driver's

# The module with all kernel families. It is given by name, because it imports the modules of
# `clmst.runtime`, which must not import it in turn.
_TABLE = "clmst.families"
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from clmst.runtime.child_main import serve; "
    f"serve({_TABLE!r})"
)
_LONGEST = 1 << 16  # maximum number of bytes of a line that are kept
_LOOK_SECONDS = 1.0  # how often the parent checks that a silent child is still alive
_CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGSYS", "SIGTRAP")

# What a helper is asked for, and the future that ends when it has finished.
_Request = tuple[bytes, "Future[object]"]
Facts = dict[str, Any]  # the result of a request: its `state`, and further facts for that state


# ------------------------------------------------------------------------ requests


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSpec:
    """The facts by which another process finds a device, and the device's settings."""

    identity: tuple[str, ...]  # names and versions of device and platform
    number: int  # index among the devices of the same identity
    # The settings of the device, with which the child opens it: the capabilities that are switched
    # off, all capabilities, and the policy.
    without: tuple[str, ...]
    capabilities: Capabilities
    policy: Policy
    optimised: bool  # whether the device's compiler may optimise programs

    @classmethod
    def of(cls, device: Device) -> DeviceSpec:
        """Describe a device so that another process can find it and open it with equal settings.

        A sub-device, which no platform lists, is described as the first device of its name.
        """
        identity = _identity(device.cl_device)
        alike = [one for one in opencl_devices() if _identity(one) == identity]
        return cls(
            identity=identity,
            number=alike.index(device.cl_device) if device.cl_device in alike else 0,
            without=device.without,
            capabilities=device.capabilities,
            policy=device.policy,
            optimised=device.is_optimised,
        )

    def found(self) -> Any:
        """Find the ``pyopencl.Device`` in this process. Raise LookupError if it is not there."""
        alike = [one for one in opencl_devices() if _identity(one) == self.identity]
        if self.number >= len(alike):
            raise LookupError(f"there is no device {self.identity[0]!r}")
        return alike[self.number]


def encoded(spec: DeviceSpec | None, family: str, case: Any) -> bytes:
    """Encode a request for a self-test in a child process as one line of bytes.

    `spec` describes the device, or is None for the default device, which the child then finds.
    `family` is the name of the kernel family, and `case` the case of its self-test, which says what
    is tested. For the trial of the default device `case` is a function that the child calls with
    the device, or None. A build for the default device only shows that the child has started.
    Raises an error of `pickle` if `case` cannot be pickled.
    """
    return base64.b64encode(pickle.dumps((spec, family, case))) + b"\n"


def decoded(line: bytes) -> tuple[DeviceSpec | None, str, Any]:
    """Decode a line of :func:`encoded` into device, family name and case.

    The line is unpickled, so it must come from the parent process.
    """
    request: tuple[DeviceSpec | None, str, Any] = pickle.loads(base64.b64decode(line))
    return request


def _identity(cl_device: Any) -> tuple[str, ...]:
    platform = cl_device.platform
    named = cl_device.name, cl_device.version, cl_device.driver_version
    return tuple(str(one).strip() for one in (*named, platform.name, platform.version))


# ------------------------------------------------------------------------ processes


class ChildProcess:
    """A child process that runs self-tests."""

    def __init__(self) -> None:
        session: dict[str, Any] = {}
        if os.name == "posix":
            # The child gets a session of its own, so that Ctrl-C does not interrupt it directly.
            # The parent gets the signal and ends the child.
            session = {"start_new_session": True}
        paths = [path for path in sys.path if isinstance(path, str)]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", "-c", _PROGRAM, *paths],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
            env={**os.environ, CHILD_VARIABLE: "1", long_work.VARIABLE: "0"}, **session,
        )  # fmt: skip
        self._owner = os.getpid()
        self._lines = SimpleQueue[bytes | None]()
        try:
            threading.Thread(target=self._read, name="clmst-self-test", daemon=True).start()
        except BaseException:
            self.end()
            raise

    def _read(self) -> None:
        """Put each line of the child's output into the queue, and None when the child has ended."""
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
        self._process.wait()  # otherwise a zombie process would be left until the next test
        self._lines.put(None)

    def ask(self, request: bytes) -> Facts:
        """Send a request to the child, and block until the request has an outcome.

        The `state` of the outcome is "tested", "raised" or "unable" as the child reports it,
        "ended" if the child has ended, or "late" if it has not answered for LIMIT_SECONDS and was
        killed.
        """
        assert self._process.stdin is not None
        has_begun, words, until = False, b"", time.monotonic() + LIMIT_SECONDS
        try:
            with suppress(OSError, ValueError):  # the child has ended, so its output ends, too
                left = memoryview(request)
                while left:  # a signal may end a long write before all is written
                    left = left[self._process.stdin.write(left) :]
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
        """Return the next line of the child, or None if the child has ended.

        The child is checked directly, because processes that a driver has started may outlive the
        child and keep its output open. Raises TimeoutError after the time `until`.
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
        """Whether the process is still running."""
        return self._process.poll() is None

    def end(self) -> None:
        """Kill the child and all processes that the child has started.

        Nothing happens in a forked copy of the parent.
        """
        if self._owner != os.getpid() or not self.is_running:
            return
        with suppress(OSError):
            if sys.platform == "win32":  # Windows does not have process groups
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):  # a driver may hang inside the operating system
            self._process.wait(5)


class Child:
    """The child process in which this process runs self-tests.

    It is started when a test needs it, and replaced by a new one after it has ended.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: ChildProcess | None = None
        self._can_start = True
        self._late = dict[bytes, SelfTestResult]()  # results of requests that took too long
        atexit.register(self.close)

    def end(self) -> None:
        """Kill the child, if one is running."""
        if self._process is not None:
            self._process.end()

    def start(self) -> None:
        """Start the child, which imports its modules while this process continues."""
        with self._lock:
            self._running()

    def close(self) -> None:
        """Kill the child. From now on, no child is started."""
        self._can_start = False
        self.end()

    def tested(self, request: bytes) -> SelfTestResult | None:
        """Run the self-test that `request` encodes in the child process, and return the result.

        :func:`tested` explains the result. It is None if the test did not run.
        """
        with self._lock:  # because a child runs one test at a time
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
                        continue  # the child had been idle, and ended before it read the request
                    self._can_start = False  # other children would fail to start, too
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
        """Return the running child process, or start one, and return whether it is new.

        The first result is None if no child process can be started.
        """
        if self._process is not None and self._process.is_running:
            return self._process, False
        self._process = None
        if self._can_start and may_start():
            try:
                self._process = ChildProcess()
            except (OSError, ValueError, RuntimeError):  # too few processes, threads or memory
                self._can_start = False
        return self._process, True


class Helpers:
    """Child processes that build kernels on request while this process does other work.

    Only one process of a user has helpers at a time, because several processes that use a device
    for the first time would otherwise start more helpers than there are cores.
    """

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Forget all helper processes, at the start and in a forked copy of this process.

        A forked copy lacks the threads that wait for the answers of the helpers.
        """
        self._lock = threading.Lock()
        self._turn_to_open = threading.Lock()  # held while a helper opens a device
        self._to_open: bytes | None = None  # the request by which each helper opens a device
        self._requests = SimpleQueue[_Request | None]()  # None only wakes a helper up
        self._n_threads, self._turn = 0, -1
        self._children: list[Child] = []  # of each thread
        self._opening: Future[object] | None = None  # the first opening of the default device
        # The kinds of calls that helpers make ahead, each with a future that ends with the call.
        self._rehearsals = dict[tuple[object, ...], Future[object]]()
        # Requests for these calls that wait until the default device is open, with the futures.
        self._held = deque[_Request]()

    def start(self, n: int) -> None:
        """Start helper processes until `n` run, unless another process of the user has some."""
        with self._lock:
            if self._turn < 0 and (turn := locked(cache_folder() / TURN)) is not None:
                self._turn = turn
            for _ in range(self._n_threads, n if self._turn >= 0 else 0):
                with suppress(RuntimeError):  # too many threads
                    threading.Thread(target=self._serve, name="clmst-helper", daemon=True).start()
                    self._n_threads += 1

    def close(self) -> bool:
        """Kill all helper processes for good, and return whether there were any."""
        with self._lock:
            children, self._children = self._children, []
        for one in children:
            one.close()
        return bool(children)

    @property
    def are_running(self) -> bool:
        """Whether there are helper processes, at work, idle or still starting."""
        return self._n_threads > 0

    def open_default(self) -> None:
        """Let a helper open and try the default device, if one is running. Does not wait."""
        if self.are_running:
            self._opening = self._ask(encoded(None, TRIAL_NAME, None))

    @property
    def have_opened(self) -> bool:
        """Whether a helper was ever asked to open the default device."""
        return self._opening is not None

    @property
    def are_opening(self) -> bool:
        """Whether a helper is opening the default device at present."""
        return self._opening is not None and not self._opening.done()

    def rehearse(self, call: Callable[[Device], object]) -> None:
        """Let a helper make a call that the host answers while the default device is being opened.

        When the device is open, a helper calls the function `call` with it, so that the kernels of
        the call are built and tested. The helper gets a copy of all arguments that are bound to
        the function, which must be picklable. Its result is dropped. One call of each kind is made,
        that is, for each function and types of arguments. Nothing happens if the default device was
        not opened by a helper, if the function cannot be pickled, or if its arrays have more than
        REHEARSED_BYTES bytes. Does not wait.
        """
        bound = call if isinstance(call, partial) else partial(call)
        kind = (
            bound.func,
            *(one.func if isinstance(one, partial) else type(one) for one in bound.args),
        )
        if self._opening is None or kind in self._rehearsals:
            return
        arrays: list[pickle.PickleBuffer] = []
        try:
            # Copies only arrays that are not contiguous.
            rest = len(pickle.dumps(bound, protocol=5, buffer_callback=arrays.append))
            if rest + sum(one.raw().nbytes for one in arrays) > REHEARSED_BYTES:
                return
            request = encoded(None, TRIAL_NAME, bound)
        except Exception:  # objects of a user may raise anything while they are copied
            return
        made = self._rehearsals[kind] = Future()
        self._held.append((request, made))
        self._opening.add_done_callback(self._ask_held)

    def _ask_held(self, _: Future[object]) -> None:
        """Send the calls of `rehearse` to the helpers, when the default device has been opened.

        The requests are not kept here, because they may be large.
        """
        while self._held:
            self._requests.put(self._held.popleft())

    @property
    def are_rehearsing(self) -> bool:
        """Whether helpers are making calls of this process, or will do so (`rehearse`)."""
        return self.are_running and not all(one.done() for one in [*self._rehearsals.values()])

    def open(self, device: Device, n: int) -> None:
        """Start helper processes until `n` of them run, and let each open a device.

        They open it one after the other. A driver does not open it faster for several processes at
        the same time, and then the first helper would be ready no sooner than the last one. Does
        not wait.
        """
        if not n:
            return
        self.start(n)
        self._to_open = encoded(DeviceSpec.of(device), BUILD_NAME, None)
        for _ in range(n):
            self._requests.put(None)

    def stop_opening(self) -> None:
        """Let no further helper open the device of :meth:`open`."""
        self._to_open = None

    def build(
        self, device: Device, wanted: Iterable[Specialisation | tuple[str, Hashable]]
    ) -> list[Future[object]]:
        """Let helper processes build programs for a device. The next idle one takes each program.

        In place of a program, `wanted` may have a self-test whose programs are not known, as the
        name of its family of kernels with its case. The result of the test is dropped: the device
        runs it again, with programs from the cache.

        Returns one future for each without waiting. A future is done when the helper has finished,
        whether or not it succeeded. Until a helper begins, the future can be cancelled.
        """
        spec = DeviceSpec.of(device)  # created once, because it searches all devices
        tests = (one if isinstance(one, tuple) else (BUILD_NAME, one) for one in wanted)
        return [self._ask(encoded(spec, *test)) for test in tests]

    def _ask(self, request: bytes) -> Future[object]:
        """Send a request of :func:`encoded` to the next idle helper. Return a future as `build`."""
        future = Future[object]()
        self._requests.put((request, future))
        return future

    def _serve(self) -> None:
        """Start one helper and pass it requests, until no request has come for a while."""
        child, opened = Child(), None
        with self._lock:
            self._children.append(child)
        child.start()
        # Errors are ignored below, because the present process then builds the program itself and
        # raises the error.
        with suppress(Exception):
            child.tested(encoded(None, BUILD_NAME, None))  # which waits for the child's imports
        while True:
            if self._to_open not in (None, opened):
                with self._turn_to_open, suppress(Exception):
                    if (opened := self._to_open) is not None:
                        child.tested(opened)
            try:
                asked = self._requests.get(timeout=IDLE_SECONDS)
            except Empty:
                break
            if asked is None or not asked[1].set_running_or_notify_cancel():
                continue
            with suppress(Exception):
                child.tested(asked[0])
            asked[1].set_result(None)
            del asked  # it may be large
        with self._lock:
            self._n_threads -= 1
            if child in self._children:
                self._children.remove(child)
            if not self._n_threads:
                os.close(self._turn)
                self._turn = -1


_child = Child()
helpers = Helpers()


def tested(device: Device, family: KernelFamily, case: Hashable) -> SelfTestResult | None:
    """Run a self-test in the child of this process, and block until there is a result.

    `case` is the case of the family's self-test. Returns None if the test did not run: the child
    could not be started, could not find the family or the device, or could not open the device
    while this process has it open. If the test raised an error, and the error is not evidence
    against the kernels, such as one of too little memory, it is raised here again.
    """
    try:
        request = encoded(DeviceSpec.of(device), family.name, case)
    except (AttributeError, TypeError, pickle.PicklingError):  # such as for a user's options class
        return None
    return _child.tested(request)


def _facts(line: bytes) -> Facts | None:
    """Parse a line of the child's output, or return None if the driver has written the line.

    A line of the child itself is a dict with the state of a request.
    """
    if not line.startswith(MARK):
        return None
    try:
        facts: Facts = json.loads(line.removeprefix(MARK))
    except ValueError:
        return None
    return facts


def _outcome(facts: Facts) -> SelfTestResult:
    """Convert the outcome of a request, which `facts` describes, to a result of the self-test.

    If the test raised an error in the child, and the error is not evidence against the kernels, it
    is raised here again.
    """
    if facts["state"] == "tested":
        return SelfTestResult(*facts["outcome"])
    if facts["state"] == "late":
        reason = f"its self-test has not ended after {LIMIT_SECONDS:g} s"
        return SelfTestResult(reason, lasts=False, seconds=LIMIT_SECONDS)
    if facts["state"] == "ended":
        return _outcome_of_end(facts["status"], facts["words"])
    if facts["kind"] == errors.DeviceLostError.__name__:
        return SelfTestResult(f"does not run: {facts['reason']}", lasts=False)
    raise _raised(facts)  # the error says nothing about the kernels


def _raised(facts: Facts) -> Exception:
    """Rebuild the error that a self-test has raised in the child, from the `facts` about it.

    A note says at which place it was raised.
    """
    kind, reason = facts["kind"], facts["reason"]
    known: Any = getattr(errors, kind, None) or getattr(builtins, kind, None)
    try:
        error: Exception = known(reason)
    except TypeError:  # an error of another library, or one with several arguments
        error = RuntimeError(f"{kind}: {reason}")
    error.add_note(facts["place"])
    return error


def _outcome_of_end(status: int, words: str) -> SelfTestResult:
    """Convert the end of a child in the middle of a test to a result of the self-test.

    `status` is the exit status of the child, and `words` the last line that it has written.
    """
    how = ending(status)
    if status < 0 and how not in _CRASHES:
        reason = f"the process of its self-test was ended from outside, twice ({how})"
        return SelfTestResult(reason, lasts=False)
    last = f": {words}" if words else ""
    return SelfTestResult(f"{ENDS_PROCESS} ({how}){last}", lasts=True)
