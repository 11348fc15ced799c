"""Results of self-tests, stored in the user's cache with one file per family of kernels.

A verdict depends on the device, its driver, the kernel sources and the policy, which is the sizes
of work-groups and launches. Each combination of these has a folder of its own. Errors of files are
not raised: a verdict that cannot be read counts as missing, and if a verdict cannot be written, the
next process tests again.

A file of verdicts has one per line, in JSON. If two lines are about one case, the later one
counts. A process appends a line with a single write, so processes need not wait for one another. If
two of them write at the same time on a system that mixes their lines up, the damaged lines are
skipped, and their cases are tested again. The same can happen if one process appends a line while
another removes one.

Old folders are removed when the folder of a new combination is created: those that have not been
used for `UNUSED_DAYS` days, and those with another number than `EDITION`, the version of the
self-tests.

While a process runs a test, it holds a lock on a marker file in the folder, to which it has added a
line. If the file has lines and is not locked, each line stands for a process that has ended in the
middle of this test, for whatever reason.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clmst.core.atomic_file import write_bytes, write_text
from clmst.core.errors import ClmstError
from clmst.core.machine import cache_folder
from clmst.runtime import source
from clmst.runtime.file_lock import locked

_MOST_READ = 1 << 12  # bytes read from a marker file

# The number of the edition of verdicts (recorded results of self-tests). Increase it when
# self-tests test more or judge differently, or when the format of the files changes. Verdicts with
# another number are ignored.
EDITION = 4

UNUSED_DAYS = 90
"""Days after which unused verdicts are removed."""

_DAY = 86400.0  # number of seconds
_NAME_LENGTH = 24  # number of hexadecimal digits in the name of a folder of verdicts
_DEVICE = "device.txt"  # a file in each folder that describes the device
_OPENED = "opened"  # an empty file; see `note_opened`
_BUILT = "built.txt"  # a file with the names of programs; see `VerdictStore.note_built`


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of a self-test: whether a device may use a family of kernels in one case."""

    family: str  # the name of the kernel family
    case: str = ""  # the weights, layout or options tested; empty if the family has only one case
    reason: str | None  # why the device may not use these kernels; None if it passed
    seconds: float = 0.0  # the duration of the test, including the builds of its kernels

    @property
    def passed(self) -> bool:
        """Whether the device has passed the self-test."""
        return self.reason is None


def verdicts_folder() -> Path:
    """Return the folder with results of self-tests on all devices, which may not exist yet."""
    return cache_folder() / "trust"


def note_opened() -> None:
    """Record that a process has looked for a device that works, whether or not it found one."""
    with suppress(OSError):
        verdicts_folder().mkdir(parents=True, exist_ok=True)
        (verdicts_folder() / _OPENED).touch()


def was_opened() -> bool:
    """Return whether a process has looked for a device before, or a self-test is recorded."""
    folder = verdicts_folder()
    return (folder / _OPENED).exists() or next(folder.glob("*/*.jsonl"), None) is not None


class VerdictStore:
    """The stored results of self-tests on one device with one driver and one policy.

    `identity` maps the names of facts on which the results depend, such as "driver", to their
    values. Other values mean another folder.
    """

    def __init__(self, identity: dict[str, str]) -> None:
        self._identity = {**identity, "kernels": source.digest(), "edition": str(EDITION)}
        text = json.dumps(self._identity, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        self.folder = verdicts_folder() / digest[:_NAME_LENGTH]
        self._is_marked = False  # whether the use of the folder has been recorded on the disk

    def find(self, family: str, case: str) -> Verdict | None:
        """Return the stored result of the self-test of a kernel family, or None if there is none.

        `case` is the case of the test, such as a dtype of weights.
        """
        self._note_use()
        return _read(self._file(family), family).get(case)

    def every(self) -> list[Verdict]:
        """Return the stored results of all self-tests, sorted by kernel family and case.

        A family is a set of kernels, which is tested in several cases, such as dtypes of weights.
        """
        with suppress(OSError):
            files = sorted(self.folder.glob("*.jsonl"))
            found = [one for path in files for one in _read(path, path.stem).values()]
            return sorted(found, key=lambda one: (one.family, one.case))
        return []

    def keep(self, verdict: Verdict) -> None:
        """Store the result of a self-test in place of any earlier result of the same case."""
        with suppress(OSError, ClmstError):
            self.make_folder()
            with self._file(verdict.family).open("ab", buffering=0) as file:
                # The line break comes first, in case a process was killed in the middle of an
                # earlier line.
                file.write(b"\n" + _line_of(verdict))

    def note_built(self, name: str) -> None:
        """Record that a program of this device was compiled, and is in a cache now.

        `name` is any text without line breaks that stands for the program.
        """
        with suppress(OSError, ClmstError):
            self.make_folder()
            with (self.folder / _BUILT).open("ab", buffering=0) as file:
                file.write(name.encode() + b"\n")

    def built(self) -> set[str]:
        """Read the names of the programs for which :meth:`note_built` was called."""
        try:
            return set((self.folder / _BUILT).read_text(encoding="utf-8").splitlines())
        except (OSError, ValueError):
            return set()

    def make_folder(self) -> None:
        """Create the folder of these results of self-tests, and raise OSError if that fails.

        If the folder did not exist, old folders are removed.
        """
        if not (self.folder / _DEVICE).exists():
            _remove_unused(self.folder.parent)
            self.folder.mkdir(parents=True, exist_ok=True)
            facts = json.dumps(self._identity, indent=2)
            write_text(self.folder / _DEVICE, facts + "\n", durable=False)

    def forget(self, family: str, case: str) -> None:
        """Remove the stored result of a self-test, and its marker file.

        `family` is the name of the kernel family, and `case` the case of its self-test, such as a
        dtype of weights.
        """
        path = self._file(family)
        known = _read(path, family)
        with suppress(OSError, ClmstError):
            self.marker_file(family, case).unlink(missing_ok=True)
            if known.pop(case, None) is not None:
                write_bytes(path, b"".join(map(_line_of, known.values())), durable=False)

    @contextmanager
    def testing(self, family: str, case: str) -> Iterator[Marker]:
        """Hold a marker file while the caller runs the self-test of a kernel family in a case.

        A case is what the kernels are tested with, such as a dtype of weights. The caller runs the
        test inside the ``with``. If the process dies there, the file stays and tells that to later
        processes. Yields the :class:`Marker`.
        """
        marker = Marker(self.marker_file(family, case))
        try:
            yield marker
        finally:
            marker.remove()

    def marker_file(self, family: str, case: str) -> Path:
        """Return the path of the file that a process locks while it runs a self-test.

        `family` names the kernels that are tested, and `case` the form in which they are used.
        """
        digest = hashlib.sha256(f"{family}\n{case}".encode()).hexdigest()[:10]
        return self.folder / f"{family}-{digest}.began"

    def _file(self, family: str) -> Path:
        return self.folder / f"{family}.jsonl"

    def _note_use(self) -> None:
        """Record on the disk, at most once a day, that these results of self-tests are in use."""
        if self._is_marked:
            return
        self._is_marked, file = True, self.folder / _DEVICE
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _DAY:
                os.utime(file)


class Marker:
    """A locked file that exists while a test runs.

    If a process dies in the test, the file stays and shows that to later processes.

    `left` is the number of processes that have died in this test, by the lines that they have left
    in the file. If `stays` is set, :meth:`remove` keeps these lines for the next process. On
    systems without file locks, a process that is still running the test counts as dead, too.
    """

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        self._path, self._file, self.left, self.stays = path, -1, 0, False
        file = locked(path, os.O_APPEND)
        if file is None:  # another process is running this test, or files cannot be locked
            return
        try:
            before = os.read(file, _MOST_READ)
            self.left, self._size = before.count(b"\n"), len(before)
            os.write(file, f"process {os.getpid()}, {time.ctime()}\n".encode())
            if durable:
                os.fsync(file)  # since a driver may crash the whole machine
        except OSError:
            self.left = 0
            os.close(file)
            return
        self._file = file

    def remove(self) -> None:
        """Remove the file after the test, because this process has not died in the test.

        If `stays` is set, only the line of this process is removed from the file.
        """
        if self._file < 0:
            return
        with suppress(OSError):
            if self.stays:
                os.ftruncate(self._file, self._size)
            else:
                os.ftruncate(self._file, 0)  # for a process that has opened the file already
                self._path.unlink(missing_ok=True)
        os.close(self._file)


def _line_of(verdict: Verdict) -> bytes:
    return json.dumps(asdict(verdict)).encode() + b"\n"


def _read(path: Path, family: str) -> dict[str, Verdict]:
    """Read the stored results of the self-tests of a kernel family from the file `path`.

    A family is a set of kernels, which is tested in several cases, such as dtypes of weights. The
    result maps each case to its verdict. Damaged lines are skipped.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return {}
    found = filter(None, map(_verdict, lines))
    return {one.case: one for one in found if one.family == family}


def _verdict(line: bytes) -> Verdict | None:
    """Parse a line of a file with results of self-tests. Return None if the line is damaged."""
    try:
        content: Any = json.loads(line)
        verdict = Verdict(**content)
    except (ValueError, TypeError):
        return None
    sound = isinstance(verdict.family, str) and isinstance(verdict.case, str)
    sound &= isinstance(verdict.reason, str | None) and isinstance(verdict.seconds, int | float)
    return verdict if sound else None


def _remove_unused(folder: Path) -> None:
    """Remove folders with results of self-tests in an older format, or not used for long."""
    oldest = time.time() - UNUSED_DAYS * _DAY
    for one in folder.glob("[0-9a-f]" * _NAME_LENGTH):
        is_used, file = True, one / _DEVICE
        try:
            facts: Any = json.loads(file.read_bytes())
            is_used = facts["edition"] == str(EDITION) and file.stat().st_mtime >= oldest
        except FileNotFoundError:  # another process is creating it, or was killed in its first test
            with suppress(OSError):
                is_used = one.stat().st_mtime >= oldest
        except (OSError, ValueError, TypeError, KeyError):
            is_used = False
        if not is_used:
            shutil.rmtree(one, ignore_errors=True)
