"""List all OpenCL devices, protected from drivers that crash the process that asks for them.

With some drivers, any process that asks for the platforms crashes or hangs
(quirk: driver-ends-listing). So a process holds a marker file while it lists the devices. If a
process crashes or is killed at that point, the file stays. The next process finds it, and first
lists each driver in a child process. A driver whose child crashes or hangs is left out, with the
reason, until its files change or the user has the devices tested again. As long as listing works,
all this costs a process no more than the marker file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from clmst.core.atomic_file import write_text
from clmst.core.errors import ClmstError
from clmst.core.long_work import LongWork
from clmst.core.machine import cache_folder, ending, may_start, printable
from clmst.runtime import embedded, forking
from clmst.runtime.verdicts import Marker

LIMIT_SECONDS = 60.0  # time limit for listing a driver in a child
# Stands for all drivers together, in place of one driver's path. On Windows, the loader does not
# tell the paths.
ALL = "every driver"

_DONE = "clmst listed the devices"
_PROGRAM = f"""
import pyopencl as cl
try:
    for platform in cl.get_platforms():
        try:
            platform.get_devices()
        except cl.Error:
            pass
except cl.Error:
    pass
print({_DONE!r}, flush=True)
"""

lock = threading.RLock()  # held while a thread lists devices, or tries them to resolve a name
_has_listed = False  # whether devices were listed; the loader enumerates drivers only once
_left_out: dict[str, str] = {}


def opencl_devices() -> list[Any]:
    """Return every ``pyopencl.Device`` of every platform, in the loader's order."""
    if not has_pyopencl():
        return []
    forking.opening()
    with LongWork("looking for OpenCL devices", is_step=True), lock:
        return devices()


def has_pyopencl() -> bool:
    """Return whether PyOpenCL can be imported."""
    try:
        import pyopencl  # noqa: F401
    except ImportError:
        return False
    return True


def devices() -> list[Any]:
    """Return every ``pyopencl.Device`` of every platform, in the loader's order.

    Drivers that crash or hang are left out; see :func:`left_out`. Only one thread at a time may
    call this function.
    """
    if _has_listed:
        return _listed()
    _left_out.clear()
    _left_out.update(_known())
    # A marker is a file that exists while drivers are listed. If a later process finds it, a driver
    # has crashed. A child process of clmst does not write it, because its parent may end it at any
    # moment.
    if not may_start():
        return _newly_listed()
    marker = Marker(_folder() / "listing.began", durable=False)
    try:
        if marker.left and not _left_out.get(ALL):
            _left_out.update(_tested(marker.left))
            _keep(_left_out)
        return _newly_listed()
    finally:
        marker.remove()


def _newly_listed() -> list[Any]:
    """List the devices of all drivers but those that are left out, for the first time."""
    global _has_listed  # noqa: PLW0603 - a fact about the process
    if ALL in _left_out:
        return []
    with embedded.offered_to_loader(without=[Path(name) for name in _left_out]):
        found = _listed()
    _has_listed = True
    return found


def left_out() -> dict[str, str]:
    """Return the OpenCL drivers that this process does not use, with the reason for each.

    A key is the path of the driver's .icd file, or :data:`ALL`.
    """
    return dict(_left_out)


def test_again() -> None:
    """Test once more each driver that is left out because it has crashed, and store the result.

    Each test runs in a child process. The result takes effect in processes that list devices later.
    """
    if known := _known():
        _keep({name: reason for name in known if (reason := _failure(name))})


def _listed() -> list[Any]:
    import pyopencl as cl

    try:
        platforms = cl.get_platforms()
    except cl.LogicError:  # the loader found no platform
        return []
    found = []
    for platform in platforms:
        with suppress(cl.Error):  # a platform without devices reports an error
            found += platform.get_devices()
    return found


def _tested(times: int) -> dict[str, str]:
    """Ask each driver for its devices in a child process, and return those that fail.

    A key of the result is the path of a driver's .icd file, and the value is the reason.

    `times` is the number of earlier processes that have crashed, or were killed, while they listed
    devices. If each driver succeeds by itself, the drivers may still crash together. So one more
    child process lists all of them if `times` is more than one. If it is one, that process may have
    been killed for another reason, and the test is left out. The test is also made if no .icd files
    are found. If it fails, the only key of the result is :data:`ALL`.
    """
    names = [str(path) for path in embedded.installed_icds()]
    found = {name: reason for name in names if (reason := _failure(name))}
    if not found and (not names or times > 1) and (reason := _failure(ALL)):
        return {ALL: reason}
    return found


def _failure(name: str) -> str | None:
    """Ask one driver for its devices in a child process, and return how that fails, or None.

    `name` is the path of the driver's .icd file, or ALL for all drivers together. Also returns None
    if no child process can be started.
    """
    if not may_start():
        return None
    with embedded.folder_of_icds([] if name == ALL else [Path(name)]) as folder:
        variables = dict(os.environ)
        if name != ALL:
            variables[embedded.VENDORS_VARIABLE] = str(folder)
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-W", "ignore", "-c", _PROGRAM], env=variables, check=False,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=LIMIT_SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"listing its devices has not ended after {LIMIT_SECONDS:g} s"
        except OSError:
            return None
    lines = done.stdout.strip().splitlines()
    if _DONE.encode() in lines:
        return None
    last = f": {printable(lines[-1])}" if lines else ""
    return f"listing its devices ends the process ({ending(done.returncode)}){last}"


def _folder() -> Path:
    return cache_folder() / "trust"


def _known() -> dict[str, str]:
    """Read which drivers have failed before, with the reasons, from the user's cache.

    Drivers whose files have changed since are left out, because they may work now.
    """
    try:
        kept = json.loads((_folder() / "listing.json").read_text(encoding="utf-8"))
        return {
            name: reason
            for name, (identity, reason) in kept.items()
            if isinstance(reason, str) and identity == _identity(name)
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _keep(reasons: dict[str, str]) -> None:
    kept = {name: (_identity(name), reason) for name, reason in reasons.items()}
    with suppress(OSError, ClmstError):
        _folder().mkdir(parents=True, exist_ok=True)
        write_text(_folder() / "listing.json", json.dumps(kept) + "\n", durable=False)


def _identity(name: str) -> list[str]:
    """Return facts that change when a driver's .icd file or library changes.

    `name` is the path of the .icd file, or ALL, for which the list is empty. Facts about the
    library are left out if the .icd file names it without a path.
    """
    if name == ALL:
        return []
    path = Path(name)
    library = path.read_text(encoding="utf-8", errors="replace").strip()
    found = [library, _state(path)]
    return [*found, _state(Path(library))] if os.path.isabs(library) else found


def _state(path: Path) -> str:
    try:
        state = path.stat()
    except OSError:
        return "gone"
    return f"{state.st_size} bytes, {state.st_mtime_ns}"
