"""Which threads of clmst run: other libraries begin and end threads of their own in a test."""

from __future__ import annotations

import threading


def own_threads(*names: str) -> set[threading.Thread]:
    """Return the threads of clmst whose pools have one of these names."""
    assert all(name.startswith("clmst-") for name in names), "so all pools of clmst are called"
    return {thread for thread in threading.enumerate() if thread.name.startswith(names)}


def all_end(threads: set[threading.Thread]) -> bool:
    """Return whether threads end, as those of a pool do that was shut down without waiting."""
    for thread in threads:
        thread.join(timeout=10)
    return not any(thread.is_alive() for thread in threads)
