"""Caches of a test's own: on disk, and of what names of devices mean."""

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
    """Use a folder as the cache: empty, but for the compiled programs of all tests.

    Compiling them again would be most of a test's time. What is damaged or missing among them is
    what ``tests/runtime/test_binary_cache.py`` is about.
    """
    binaries = binary_cache.folder().resolve()
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("CLMST_CACHE", str(folder))
    binary_cache.folder().symlink_to(binaries)
    return folder


@contextmanager
def resolving_anew(*devices: Device | None) -> Iterator[None]:
    """Forget for a while which devices names resolved to, and which were passed over.

    Names then resolve to the machine's devices, or to others; with None, to none.
    """
    others: dict[str, Any] = {"_resolved": {}, "_passed_over": [], "_hosts": set()}
    if devices:
        others["enumerate_devices"] = lambda: [*filter(None, devices)]
    with patch.multiple(discovery, **others):
        yield
