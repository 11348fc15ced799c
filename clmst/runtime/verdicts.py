"""Results of self-tests, kept in the user's cache: one small file for each verdict.

A verdict belongs to a device, its driver, the kernel text and the policy. If one of these changes,
verdicts are looked for in another folder. Nothing here raises: a verdict that cannot be read counts
as missing, and if one cannot be written, the next process tests again.

While a test runs in a process, it holds a lock on a marker file beside the verdict. A marker file
that is not empty and not locked tells that a process ended in the middle of that test, by itself or
not; it has a line for each.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clmst.core.atomic_file import write_text
from clmst.core.errors import ClmstError
from clmst.core.machine import cache_folder
from clmst.runtime import source

_MOST_READ = 1 << 12  # bytes of a marker file

# Increased when self-tests test more, or judge otherwise: older verdicts then no longer count.
EDITION = 2


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
        self.folder = cache_folder() / "trust" / hashlib.sha256(text.encode()).hexdigest()[:24]

    def find(self, family: str, case: str) -> Verdict | None:
        """Return the verdict on a family in a case, or None if there is none."""
        found = _read(self._path(family, case))
        return found if found and (found.family, found.case) == (family, case) else None

    def every(self) -> list[Verdict]:
        """Return all verdicts, by family and case."""
        with suppress(OSError):
            found = (_read(path) for path in sorted(self.folder.glob("*.json")))
            known = [one for one in found if one is not None]
            return sorted(known, key=lambda one: (one.family, one.case))
        return []

    def keep(self, verdict: Verdict) -> None:
        """Write a verdict, in place of an older one."""
        path = self._path(verdict.family, verdict.case)
        facts = json.dumps(self._identity, indent=2)
        with suppress(OSError, ClmstError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_text(self.folder / "device.txt", facts + "\n", durable=False)
            write_text(path, json.dumps(asdict(verdict)) + "\n", durable=False)

    def forget(self, family: str, case: str) -> None:
        """Drop the verdict on a family in a case, and its marker."""
        path = self._path(family, case)
        for one in (path, path.with_suffix(".began")):
            with suppress(OSError):
                one.unlink(missing_ok=True)

    @contextmanager
    def testing(self, family: str, case: str) -> Iterator[Marker]:
        """Keep a marker file while a test runs."""
        marker = Marker(self._path(family, case).with_suffix(".began"))
        try:
            yield marker
        finally:
            marker.remove()

    def _path(self, family: str, case: str) -> Path:
        digest = hashlib.sha256(f"{family}\n{case}".encode()).hexdigest()[:10]
        return self.folder / f"{family}-{digest}.json"


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


def _read(path: Path) -> Verdict | None:
    """Return the verdict in a file, or None if there is no sound one."""
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        verdict = Verdict(**content)
    except (OSError, ValueError, TypeError):
        return None
    sound = isinstance(verdict.family, str) and isinstance(verdict.case, str)
    sound &= isinstance(verdict.reason, str | None) and isinstance(verdict.seconds, int | float)
    return verdict if sound else None
