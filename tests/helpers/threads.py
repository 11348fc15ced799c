"""Which threads of clmst run: other libraries begin and end threads of their own in a test."""

from __future__ import annotations

import sys
import time
from collections.abc import Set
from typing import Any

from clmst.core import threads


def own_threads(*names: str) -> set[Any]:
    """Return the queues of clmst's threads that have one of these names."""
    assert all(name.startswith("clmst-") for name in names), "so all threads of clmst are called"
    found = set()
    for top in sys._current_frames().values():
        frame = top
        while frame.f_back is not None:
            frame = frame.f_back
        if frame.f_code is threads._serve.__code__ and frame.f_locals["_name"].startswith(names):
            found.add(frame.f_locals["tasks"])
    return found


def all_end(own: Set[Any]) -> bool:
    """Return whether threads end, as those do whose worker nobody refers to any more."""
    limit = time.monotonic() + 10
    while own & own_threads("clmst-") and time.monotonic() < limit:
        time.sleep(0.01)
    return not own & own_threads("clmst-")
