"""Compiled programs on disk, so that each program is compiled only once for all processes.

There is one file per program. It holds a line that names the format, the SHA-256 of the key and the
binary, and the binary. The key is also the name of the file: the SHA-256 of everything that the
binary depends on. Files are replaced atomically, so processes need no lock.

A driver may crash the process if it is given a damaged binary. So only a file with a correct
checksum is used. A file without one counts as missing: the program is compiled again, and the file
replaced.

Drivers that cache binaries themselves (NVIDIA's, PoCL's) do not use this cache.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from clmst.core import atomic_file
from clmst.core.errors import CacheWarning, ClmstError, warn_of_fallback
from clmst.core.machine import cache_folder, may_write

# If the files of the cache take more bytes than this, the least recently used ones are removed
# until they take half of it. All programs of one device together take about 20 MB.
LIMIT_BYTES = 512 << 20
# A process lists the files of the cache at its first write, and again whenever it has written more
# bytes than this. To list thousands of files takes longer than to write one. So processes that
# write at the same time may exceed the limit by this number of bytes each.
LOOK_AFTER_BYTES = LIMIT_BYTES // 16

_FORMAT = b"clmst binary 1\n"
_DIGEST_BYTES = hashlib.sha256().digest_size
_unseen: dict[Path, int] = {}  # bytes written since this process last listed a folder
_warned: set[Path] = set()  # folders that could not be written, with one warning per process


def folder() -> Path:
    """Return the folder of the binaries, which may not exist yet."""
    return cache_folder() / "binaries"


def is_writable() -> bool:
    """Return whether this process may write binaries, which are compiled programs, to the cache."""
    return may_write(folder())


def key_of(device: Any, text: str, options: list[str]) -> str:
    """Compute the cache key of a source text with compiler options for a ``pyopencl.Device``."""
    platform = device.platform
    parts = (
        _FORMAT.decode(), text, *options,
        platform.name, platform.vendor, platform.version,
        device.name, device.vendor, device.version, device.driver_version,
    )  # fmt: skip
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    return digest.hexdigest()


def read(key: str) -> bytes | None:
    """Read the compiled program that is stored under a key of :func:`key_of`.

    Returns None if the file is missing or its checksum is wrong.
    """
    path = folder() / key
    try:
        content = path.read_bytes()
    except OSError:
        return None
    begin = len(_FORMAT) + _DIGEST_BYTES
    binary = content[begin:]
    if content[:begin] != _FORMAT + _digest(key, binary):
        return None
    with suppress(OSError):  # the cache may be read-only
        os.utime(path)
    return binary


def write(key: str, binary: bytes) -> None:
    """Store a compiled program in the cache under a key of :func:`key_of`.

    If the file cannot be written, for example to a read-only folder, a CacheWarning is given once
    per process, and no error is raised.
    """
    where = folder()
    try:
        atomic_file.make_folder(where)
        content = _FORMAT + _digest(key, binary) + binary
        atomic_file.write_bytes(where / key, content, durable=False)
        _cut_back_in_turn(where, len(content))
    except (ClmstError, OSError) as error:
        if where not in _warned:
            _warned.add(where)
            warn_of_fallback(
                f"compiled kernels cannot be kept, so every process compiles them anew: {error}",
                CacheWarning,
            )


def _digest(key: str, binary: bytes) -> bytes:
    return hashlib.sha256(key.encode() + binary).digest()


def _cut_back_in_turn(where: Path, n_bytes: int) -> None:
    """Call `_cut_back` at the first write into a folder, and after each LOOK_AFTER_BYTES written.

    `n_bytes` is the size of the file that has just been written into the folder `where`.
    """
    _unseen[where] = _unseen.get(where, LOOK_AFTER_BYTES) + n_bytes
    if _unseen[where] > LOOK_AFTER_BYTES:
        _unseen[where] = 0
        _cut_back(where)


def _cut_back(where: Path) -> None:
    """If the files in the folder `where` exceed LIMIT_BYTES, remove the least recently used ones.

    Files are removed until half the limit is left.
    """
    found = []
    with os.scandir(where) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # another process has renamed or removed the file
                status = entry.stat()
                found.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in found)
    if total <= LIMIT_BYTES:
        return
    for _, size, path in sorted(found):
        if total <= LIMIT_BYTES // 2:
            return
        with suppress(OSError):  # another process has removed the file
            Path(path).unlink()
        total -= size
