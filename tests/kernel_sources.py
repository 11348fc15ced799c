"""Other kernel sources in place of ``cl/``: the one place where tests put some."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from clmst.runtime import source


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


def _forget() -> None:
    source.compose.cache_clear()
    source.digest.cache_clear()
