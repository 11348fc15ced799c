"""Put other kernel sources in place of ``cl/``. Tests do this only here."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from clmst import Device, get_device
from clmst.runtime import source
from tests.helpers.caches import resolving_anew


@contextmanager
def sources_in(folder: Path) -> Iterator[Path]:
    """Use a folder in place of ``cl/`` while the body runs."""
    with patch.object(source, "root", lambda: folder):
        _forget()
        yield folder
    _forget()


@contextmanager
def changed(folder: Path, *changes: tuple[str, str], file: str = "*.cl") -> Iterator[Path]:
    """Use a changed copy of ``cl/`` while the body runs, and yield its path.

    Each of `changes` is (old text, new text), and is made in all files that match `file` and
    contain the old text. There must be at least one.
    """
    copy = shutil.copytree(source.root(), folder / "cl", dirs_exist_ok=True)
    for old, new in changes:
        found = [path for path in copy.rglob(file) if old in path.read_text(encoding="utf-8")]
        assert found, f"no kernel source has {old!r}: choose another change"
        for path in found:
            path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with sources_in(copy):
        yield copy


@contextmanager
def miscomputing(folder: Path, *changes: tuple[str, str], file: str = "*.cl") -> Iterator[Device]:
    """Let devices compute with changed kernels, without self-tests. Yields the default device.

    Devices that were made before keep their programs.
    """
    with changed(folder, *changes, file=file), resolving_anew():
        device = get_device()
        device.trust.given = True
        yield device


# Hundreds of integers become equal weights, so "ecl" and "filter-boruvka" find wrong forests.
COARSE_KEYS = ("(ulong)edge.key << 32", "(ulong)(edge.key >> 9) << 32")
# With this change, only some bits of each digit distinguish records, so sorts return wrong orders.
COARSE_DIGITS = ("& mask;", "& mask >> 1;")


def _forget() -> None:
    source.compose.cache_clear()
    source.digest.cache_clear()
