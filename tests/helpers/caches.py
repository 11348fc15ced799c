"""Separate caches for a test: the one on disk, and the one of devices by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from clmst import Device
from clmst.runtime import binary_cache, discovery


def use_own_cache(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Use an empty folder as the cache, except that compiled programs are shared by all tests.

    Compiling them again would be most of the time of a test. Damaged and missing programs are the
    subject of ``tests/runtime/test_binary_cache.py``.
    """
    monkeypatch.setenv("CLMST_CACHE", str(with_compiled_programs(folder)))
    return folder


def with_compiled_programs(folder: Path) -> Path:
    """Make `folder` a cache that has nothing except the compiled programs of all tests."""
    binaries = binary_cache.folder()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / binaries.name).symlink_to(binaries.resolve())
    return folder


@contextmanager
def resolving_anew(*devices: Device | None) -> Iterator[None]:
    """Forget, while the body runs, which devices names stand for and which were skipped.

    Names then stand for devices of the machine, or for the given devices. With None there are none.
    """
    others: dict[str, Any] = {"_resolved": {}, "_passed_over": [], "_hosts": set()}
    others |= {"_in_order": {}, "_passed_on": set()}
    if devices:
        others["enumerate_devices"] = lambda: [*filter(None, devices)]
    with patch.multiple(discovery, **others):
        yield
