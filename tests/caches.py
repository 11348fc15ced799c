"""Caches of a test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmst.runtime import binary_cache


def use_own_cache(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Use a folder as the cache: empty, but for the compiled programs of all tests.

    Compiling them again would be most of a test's time. What is damaged or missing among them is
    what ``tests/runtime/test_binary_cache.py`` is about.
    """
    binaries = binary_cache.folder().resolve()
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("CLMST_CACHE", str(folder))
    binary_cache.folder().symlink_to(binaries)
    return folder
