"""Other kernel sources in place of ``cl/``: the one place where tests put some."""

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
    """Let a folder take the place of ``cl/``."""
    with patch.object(source, "root", lambda: folder):
        _forget()
        yield folder
    _forget()


@contextmanager
def changed(folder: Path, *changes: tuple[str, str], file: str = "*.cl") -> Iterator[Path]:
    """Let a copy of ``cl/`` take its place, with texts changed where they stand in some files."""
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
    """Let devices compute by kernels that were changed, and be trusted; yield the one chosen.

    Devices that were made before keep the programs that they have.
    """
    with changed(folder, *changes, file=file), resolving_anew():
        device = get_device()
        device.trust.given = True
        yield device


# Some hundred integers are equal weights: wrong forests by "ecl" and "filter-boruvka".
COARSE_KEYS = ("(ulong)edge.key << 32", "(ulong)(edge.key >> 9) << 32")
# Records are told apart by half of each digit's bits or less: wrong orders.
COARSE_DIGITS = ("& mask;", "& mask >> 1;")


def _forget() -> None:
    source.compose.cache_clear()
    source.digest.cache_clear()
