"""Results of self-tests, kept in the user's cache: one file for each family of kernels.

A verdict belongs to a device, its driver, the kernel text and the policy. If one of these changes,
verdicts are looked for in another folder. Nothing here raises: a verdict that cannot be read counts
as missing, and if one cannot be written, the next process tests again.

A file has a verdict a line, as JSON; of two on the same case the later one counts. A process adds
a line by one write at the end of the file, so processes need not wait for one another. If two of
them write at once on a system that mixes their lines up, the damaged lines are skipped, and those
cases are tested again. The same happens if a line is added while another process removes one.

The folders of devices, drivers and kernels that are not met any more are removed: when the folder
of a new one is made, all that were not used for `UNUSED_DAYS` go, and all of an older edition.

While a test runs in a process, it holds a lock on a marker file beside the verdict. A marker file
that is not empty and not locked tells that a process ended in the middle of that test, by itself or
not; it has a line for each.
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

_MOST_READ = 1 << 12  # bytes of a marker file

# Increased when self-tests test more, or judge otherwise, or when verdicts are kept in another
# form: older verdicts then no longer count.
EDITION = 3

UNUSED_DAYS = 90
"""Days after which verdicts are removed if their device, driver or kernels were not used."""

_DAY = 86400.0  # seconds
_NAME_LENGTH = 24  # of a folder of verdicts, which is named by hexadecimal digits
_DEVICE = "device.txt"  # in each folder: which device its verdicts are on


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The result of a self-test."""

    family: str  # the kernels tested
    case: str = ""  # the weights, layout or options tested; empty if the family has one case only
    reason: str | None  # why the device was refused for these kernels; None if it passed
    seconds: float = 0.0  # the time of the test, with its kernel builds

    @property
    def passed(self) -> bool:
        """Whether every answer was right."""
        return self.reason is None


class VerdictStore:
    """The verdicts of one device with one policy, by all facts of it that these depend on."""

    def __init__(self, identity: dict[str, str]) -> None:
        self._identity = {**identity, "kernels": source.digest(), "edition": str(EDITION)}
        text = json.dumps(self._identity, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        self.folder = cache_folder() / "trust" / digest[:_NAME_LENGTH]
        self._is_marked = False  # on the disk, as in use

    def find(self, family: str, case: str) -> Verdict | None:
        """Return the verdict on a family in a case, or None if there is none."""
        self._note_use()
        return _read(self._file(family), family).get(case)

    def every(self) -> list[Verdict]:
        """Return all verdicts, by family and case."""
        with suppress(OSError):
            files = sorted(self.folder.glob("*.jsonl"))
            found = [one for path in files for one in _read(path, path.stem).values()]
            return sorted(found, key=lambda one: (one.family, one.case))
        return []

    def keep(self, verdict: Verdict) -> None:
        """Write a verdict, in place of an older one."""
        with suppress(OSError, ClmstError):
            if not (self.folder / _DEVICE).exists():
                _remove_unused(self.folder.parent)
                self.folder.mkdir(parents=True, exist_ok=True)
                facts = json.dumps(self._identity, indent=2)
                write_text(self.folder / _DEVICE, facts + "\n", durable=False)
            with self._file(verdict.family).open("ab", buffering=0) as file:
                # It begins a line of its own, whatever a process has left that was killed here.
                file.write(b"\n" + _line_of(verdict))

    def forget(self, family: str, case: str) -> None:
        """Drop the verdict on a family in a case, and its marker."""
        path = self._file(family)
        known = _read(path, family)
        with suppress(OSError, ClmstError):
            self.marker_file(family, case).unlink(missing_ok=True)
            if known.pop(case, None) is not None:
                write_bytes(path, b"".join(map(_line_of, known.values())), durable=False)

    @contextmanager
    def testing(self, family: str, case: str) -> Iterator[Marker]:
        """Keep a marker file while a test runs."""
        marker = Marker(self.marker_file(family, case))
        try:
            yield marker
        finally:
            marker.remove()

    def marker_file(self, family: str, case: str) -> Path:
        """Return the file that exists while a family is tested in a case."""
        digest = hashlib.sha256(f"{family}\n{case}".encode()).hexdigest()[:10]
        return self.folder / f"{family}-{digest}.began"

    def _file(self, family: str) -> Path:
        return self.folder / f"{family}.jsonl"

    def _note_use(self) -> None:
        """Note on the disk, at most once a day, that these verdicts are in use."""
        if self._is_marked:
            return
        self._is_marked, file = True, self.folder / _DEVICE
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _DAY:
                os.utime(file)


class Marker:
    """A file that is locked and not empty while a test runs.

    `left` counts the processes that have ended in the middle of this test, one after the other;
    those that run it at this moment do not count. While `stays`, that is unexplained, and the next
    process has to know it too. Systems without such locks take the marker of a running process for
    one that was left.
    """

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        self._path, self._file, self.left, self.stays = path, -1, 0, False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError:
            return
        try:
            with suppress(ImportError):  # not a POSIX system
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            before = os.read(file, _MOST_READ)
            self.left, self._size = before.count(b"\n"), len(before)
            os.write(file, f"process {os.getpid()}, {time.ctime()}\n".encode())
            if durable:
                os.fsync(file)  # a driver may crash the machine
        except OSError:  # another process runs the same test, or the file cannot be locked
            self.left = 0
            os.close(file)
            return
        self._file = file

    def remove(self) -> None:
        """Note that this process has not ended in the test."""
        if self._file < 0:
            return
        with suppress(OSError):
            if self.stays:
                os.ftruncate(self._file, self._size)
            else:
                os.ftruncate(self._file, 0)  # for a process that has opened it already
                self._path.unlink(missing_ok=True)
        os.close(self._file)


def _line_of(verdict: Verdict) -> bytes:
    return json.dumps(asdict(verdict)).encode() + b"\n"


def _read(path: Path, family: str) -> dict[str, Verdict]:
    """Return the verdicts in a file by their cases, without those that are damaged."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return {}
    found = filter(None, map(_verdict, lines))
    return {one.case: one for one in found if one.family == family}


def _verdict(line: bytes) -> Verdict | None:
    """Return the verdict in a line, or None if there is no sound one."""
    try:
        content: Any = json.loads(line)
        verdict = Verdict(**content)
    except (ValueError, TypeError):
        return None
    sound = isinstance(verdict.family, str) and isinstance(verdict.case, str)
    sound &= isinstance(verdict.reason, str | None) and isinstance(verdict.seconds, int | float)
    return verdict if sound else None


def _remove_unused(folder: Path) -> None:
    """Remove verdicts of older editions, and those that were not used for long."""
    oldest = time.time() - UNUSED_DAYS * _DAY
    for one in folder.glob("[0-9a-f]" * _NAME_LENGTH):
        is_used, file = True, one / _DEVICE
        try:
            facts: Any = json.loads(file.read_bytes())
            is_used = facts["edition"] == str(EDITION) and file.stat().st_mtime >= oldest
        except FileNotFoundError:  # another process is making it, or was killed in a first test
            with suppress(OSError):
                is_used = one.stat().st_mtime >= oldest
        except (OSError, ValueError, TypeError, KeyError):
            is_used = False
        if not is_used:
            shutil.rmtree(one, ignore_errors=True)
