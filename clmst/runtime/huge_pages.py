"""Huge pages for buffers of devices that work in the host's memory.

If kernels access tens of megabytes at random, page look-ups take longer than the accesses
themselves, most of all in virtual machines. Linux gives huge pages on request. NumPy requests them
for its arrays; drivers do not.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from clmst.runtime.handles import Memory, Queue

# Buffers of fewer bytes are left alone.
ADVISED_FROM = 4 << 20

_HUGE = 2 << 20
_MADV_HUGEPAGE = 14


def advise(queue: Queue, buffer: Memory, n_bytes: int) -> None:
    """Ask for huge pages for a buffer that is not written to yet.

    Nothing happens if the system has none, or the driver does not show its memory. Only speed
    depends on it.
    """
    import pyopencl as cl

    if sys.platform != "linux" or n_bytes < ADVISED_FROM:
        return
    enqueue_map: Any = cl.enqueue_map_buffer  # whose stubs know no flags put together
    access = cl.map_flags.READ | cl.map_flags.WRITE
    view, _ = enqueue_map(queue, buffer, access, 0, (n_bytes,), np.uint8)
    begin = -(-view.ctypes.data // _HUGE) * _HUGE
    end = (view.ctypes.data + n_bytes) // _HUGE * _HUGE
    libc = ctypes.CDLL(None)
    libc.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), _MADV_HUGEPAGE)
    view.base.release(queue)
