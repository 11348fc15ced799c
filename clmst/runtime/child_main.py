"""The child process that runs self-tests for its parent (``child.py``).

The child reads one request per line. It answers each with two marked lines: one when the test
begins, and one with the result. Output of the driver appears among them without the mark. The
process ends when its parent ends, or when it has had no request for a few seconds.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from clmst.core.errors import ClmstError
from clmst.runtime import ahead, failures
from clmst.runtime.child import IDLE_SECONDS, LIMIT_SECONDS, MARK, DeviceSpec, decoded
from clmst.runtime.device import Device
from clmst.runtime.discovery import first_usable
from clmst.runtime.kernel_family import KernelFamily, SelfTestResult
from clmst.runtime.listing import opencl_devices
from clmst.runtime.trial import DOUBLES, TRIAL
from clmst.runtime.trust import BUILD
from clmst.runtime.verdicts import note_opened

# Maximum number of characters in the reason of a failed test, which the child writes to the parent
# as a line. A line of this length is written at once, not in parts: Linux writes up to 4096 bytes
# to a pipe atomically, and POSIX guarantees 512.
_LONGEST = 600


def opened(spec: DeviceSpec) -> Device:
    """Open the device that `spec` describes, without the usual first test of a device.

    No self-tests run before its kernels are used, because the test of one kernel family may use
    other families.
    """
    device = Device(
        spec.found(), without=spec.without, tuning=spec.policy, _trusted=True,
        _optimised=spec.optimised,
    )  # fmt: skip
    device.capabilities = spec.capabilities
    vars(device)["trial_failure"] = None
    return device


class ChildServer:
    """Runs, in the child process, the self-tests that the parent process asks for.

    `table` names a module whose ``BY_NAME`` maps the names of families to the families.
    """

    def __init__(self, table: str) -> None:
        self._table = table
        self._opened: tuple[DeviceSpec, Device] | None = None

    def answer(self, line: bytes) -> None:
        """Run the self-test that a request line asks for, and write the result to standard output.

        If the test raises an error, the process ends after it has written the error.
        """
        try:
            spec, name, case = decoded(line)
            if spec is None:
                _say(state="testing")
                if name == TRIAL.name:
                    _try_default_device(case)
                _say(state="tested", outcome=SelfTestResult(None, lasts=False))
                return
            family = self._family(name)
            device = self._device(spec, keep=family is not TRIAL)
            _say(state="testing")
            _ = family is TRIAL or device.queue  # opens the queue; a trial does so itself
        except Exception as error:
            _say(state="unable", reason=_in_words(error))
            return
        # End this process if the request takes too long and the parent, which would end it, is
        # gone.
        faulthandler.dump_traceback_later(2 * LIMIT_SECONDS, exit=True)
        try:
            outcome = device.trust.run(family, case)
        except Exception as error:
            settled = failures.explained(device, error, is_lost=True)
            words, place = str(settled)[:_LONGEST], _place(error, family)
            _say(state="raised", kind=type(settled).__name__, reason=words, place=place)
            os._exit(0)
        with suppress(Exception):
            device.release_memory()
            if case is not None:
                ahead.note_built(device, case if family is BUILD else (name, case))
        faulthandler.cancel_dump_traceback_later()
        reason = outcome.reason and outcome.reason[:_LONGEST]
        _say(state="tested", outcome=outcome._replace(reason=reason))

    def _family(self, name: str) -> KernelFamily:
        for one in (TRIAL, DOUBLES, BUILD):
            if name == one.name:
                return one
        family: KernelFamily = importlib.import_module(self._table).BY_NAME[name]
        return family

    def _device(self, spec: DeviceSpec, *, keep: bool) -> Device:
        """Open the device that `spec` describes, or return it if the previous test has opened it.

        With `keep` the device and its built programs stay for the next test. `keep` is False for a
        trial, which is a first test with a few small kernels. After a trial the OpenCL context is
        closed at once, because some GPUs allow only one process to have a context.
        """
        if self._opened is not None and self._opened[0] == spec:
            return self._opened[1]
        self._opened = None
        device = opened(spec)
        if keep:
            self._opened = spec, device
        return device


def serve(table: str) -> None:
    """Run self-tests for a parent process. Never returns.

    The process ends when the parent ends, or when no request has come for IDLE_SECONDS.

    `table` is explained at :class:`ChildServer`.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    faulthandler.disable()  # so that the driver's own last output is the last
    _dump_no_core()
    server, lines = ChildServer(table), SimpleQueue[bytes]()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    with suppress(Exception):
        opencl_devices()  # takes a tenth of a second, often before the first request comes
    while True:
        try:
            line = lines.get(timeout=IDLE_SECONDS)
        except Empty:
            os._exit(0)  # without clean-up, in which some drivers crash
        server.answer(line)


def _read(lines: SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)  # the parent has ended


def _try_default_device(call: Callable[[Device], object] | None) -> None:
    """Open the default device, run its trial, and make a call of the user on it if one is given.

    So the driver has the programs of the trial and of the call in a cache, and the verdicts of the
    self-tests are stored. Errors are ignored, because the parent makes the call later itself. The
    device is closed afterwards, because some GPUs allow only one process to have a context.
    """
    faulthandler.dump_traceback_later(2 * LIMIT_SECONDS, exit=True)
    with suppress(Exception):
        found = first_usable(None)
        if call is not None:
            found.notes_builds = True
            call(found)
    faulthandler.cancel_dump_traceback_later()
    note_opened()


def _say(**facts: Any) -> None:
    """Write a marked line with `facts` to standard output.

    The output begins with a newline, because the driver may have written an unfinished line.
    """
    os.write(1, b"\n" + MARK + json.dumps(facts).encode() + b"\n")


def _in_words(error: BaseException) -> str:
    kind = "" if isinstance(error, ClmstError) else f"{type(error).__name__}: "
    return f"{kind}{error}"[:_LONGEST]


def _place(error: BaseException, family: KernelFamily) -> str:
    """Describe the place at which the self-test of a family raised an error.

    The text is for the traceback of the parent.
    """
    *_, last = traceback.extract_tb(error.__traceback__)
    where = f"{last.filename}, line {last.lineno}, in {last.name}"
    return f"in the child process that tests {family.name}: {where}"[:_LONGEST]


def _dump_no_core() -> None:
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, most))
