"""Compiled programs on disk, so that a process need not compile what another one compiled.

A driver that is given a damaged binary may end the process. So a driver gets only files with a
right checksum. A file without one counts as missing: the program is built and written again. One
file a program: a line that names the format, the SHA-256 of key and binary, and the binary. The
key, which is the file's name, is the SHA-256 of all that the binary depends on. Files are replaced
as a whole, so processes need no lock.

Drivers that keep binaries of their own (NVIDIA's, PoCL's) use their own cache instead.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from clmst.core import atomic_file
from clmst.core.errors import CacheWarning, ClmstError, warn_of_fallback
from clmst.core.machine import cache_folder

# When the cache exceeds this size, the least recently used files go, until half of it is left. All
# programs of a device are some 20 MB.
LIMIT_BYTES = 512 << 20

_FORMAT = b"clmst binary 1\n"
_DIGEST_BYTES = hashlib.sha256().digest_size
_warned: set[Path] = set()  # folders that took no file: one warning each in a process


def folder() -> Path:
    """Return where the files are; it need not exist."""
    return cache_folder() / "binaries"


def key_of(device: Any, text: str, options: list[str]) -> str:
    """Return what names the binary of a source for a ``pyopencl.Device``."""
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
    """Return a binary, or None if there is none whose checksum is right."""
    path = folder() / key
    try:
        content = path.read_bytes()
    except OSError:
        return None
    begin = len(_FORMAT) + _DIGEST_BYTES
    binary = content[begin:]
    if content[:begin] != _FORMAT + _digest(key, binary):
        return None
    with suppress(OSError):  # a cache that may be read only
        os.utime(path)
    return binary


def write(key: str, binary: bytes) -> None:
    """Keep a binary; warn once if the folder cannot be written."""
    where = folder()
    try:
        atomic_file.make_folder(where)
        atomic_file.write_bytes(where / key, _FORMAT + _digest(key, binary) + binary, durable=False)
        _cut_back(where)
    except (ClmstError, OSError) as error:
        if where not in _warned:
            _warned.add(where)
            warn_of_fallback(
                f"compiled kernels cannot be kept, so every process compiles them anew: {error}",
                CacheWarning,
            )


def _digest(key: str, binary: bytes) -> bytes:
    return hashlib.sha256(key.encode() + binary).digest()


def _cut_back(where: Path) -> None:
    """Remove the files that were not used for longest, if all together are too large."""
    found = []
    with os.scandir(where) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # another process renamed or removed it meanwhile
                status = entry.stat()
                found.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in found)
    if total <= LIMIT_BYTES:
        return
    for _, size, path in sorted(found):
        if total <= LIMIT_BYTES // 2:
            return
        with suppress(OSError):  # another process was quicker
            Path(path).unlink()
        total -= size
