"""Notices of builds and self-tests, which a first call does: none takes long in silence.

The logger "clmst" has each of them with its seconds at INFO. The first that takes long on a device
has a WARNING while it goes on, which Python prints to stderr unless a program says otherwise.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from clmst.core.errors import logger

PATIENCE = 5.0
"""Seconds after which work that is still under way has its warning."""

_under_way: list[str] = []
_announced: set[str] = set()  # devices


@contextmanager
def timed(what: str, detail: str, device: str) -> Iterator[None]:
    """Log the work inside the ``with``, as "compiling kernels" of "solve"; warn if it takes long.

    The detail is as short as progress can show; the device is a description.
    """
    text = f"{what} ({detail})"
    timer = threading.Timer(PATIENCE, _announce, (what, detail, device))
    timer.daemon = True
    timer.start()
    _under_way.append(text)
    began = time.perf_counter()
    try:
        yield
    finally:
        timer.cancel()
        _under_way.remove(text)
        logger.info("%s for %s took %.2f s", text, device, time.perf_counter() - began)


def under_way() -> str:
    """Return the latest work that goes on in any thread, in words; empty if none does."""
    return next(iter(_under_way[-1:]), "")


def _announce(what: str, detail: str, device: str) -> None:
    if device not in _announced:
        _announced.add(device)
        logger.warning("%s for %s, once for this device and driver (%s)", what, device, detail)
