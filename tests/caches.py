"""Caches of a test's own: of programs, of verdicts, and of what names of devices mean."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from clmst import Device
from clmst.runtime import binary_cache, discovery
from clmst.runtime.kernel_family import ONLY, KernelFamily
from clmst.runtime.verdicts import Verdict


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


def keep_verdict(
    device: Device, family: KernelFamily, case: Hashable = ONLY, *, reason: str | None
) -> None:
    """Let the cache have a verdict on a device: why it is refused, or None if it passed."""
    device.trust.store.keep(Verdict(family=family.name, case=str(case), reason=reason))


@contextmanager
def resolving_anew() -> Iterator[None]:
    """Forget for a while which devices names resolved to, and which were passed over."""
    with patch.multiple(discovery, _resolved={}, _passed_over=[], _hosts=set()):
        yield
