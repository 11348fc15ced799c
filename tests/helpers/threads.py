"""Find the running threads of clmst, as other libraries have threads of their own."""

from __future__ import annotations

import sys
import time
from collections.abc import Set
from typing import Any

from clmst.core import threads


def own_threads(*names: str) -> set[Any]:
    """Return the task queues of clmst's threads whose names begin with one of `names`."""
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
    """Wait up to 10 seconds for threads to end, and return whether they did.

    A thread ends when nothing refers to its worker any more.
    """
    limit = time.monotonic() + 10
    while own & own_threads("clmst-") and time.monotonic() < limit:
        time.sleep(0.01)
    return not own & own_threads("clmst-")
