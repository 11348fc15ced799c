"""A fixture with which ``clmst.warm`` makes two small calls instead of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from clmst import Device, warming
from tests.helpers.caches import resolving_anew


@pytest.fixture
def few_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    """Let it make one call of each kind, with an empty cache, and yield a list of those made."""
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("clmst.runtime.ahead.specialisations", lambda *_: [])
    made: list[str] = []

    def one(kind: warming.What, device: Device) -> None:
        made.append(kind)
        device.program("device/fill.cl")

    def few(device: Device) -> Iterator[tuple[warming.What, Callable[[], object]]]:
        for kind in warming.WHAT[:2]:
            yield kind, partial(one, kind, device)

    monkeypatch.setattr(warming, "calls_of", few)
    with resolving_anew():
        yield made
