"""The machine, as the system and the drivers describe it to clmst, for tests of other machines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def with_memory(n_bytes: int | None) -> Iterator[None]:
    """Let the system have so much memory meanwhile; None: it does not tell."""

    def sysconf(name: str) -> int:
        if n_bytes is None:
            raise ValueError(f"unrecognized configuration name {name}")
        return n_bytes if name == "SC_PHYS_PAGES" else 1  # a page is a byte

    with patch.object(os, "sysconf", sysconf):
        yield
