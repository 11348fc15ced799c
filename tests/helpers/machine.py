"""Let the system describe another machine to clmst."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def with_memory(n_bytes: int | None) -> Iterator[None]:
    """Let the system report `n_bytes` of memory while the body runs.

    None: it does not report any.
    """

    def sysconf(name: str) -> int:
        if n_bytes is None:
            raise ValueError(f"unrecognized configuration name {name}")
        return n_bytes if name == "SC_PHYS_PAGES" else 1  # a page is a byte

    with patch.object(os, "sysconf", sysconf):
        yield
