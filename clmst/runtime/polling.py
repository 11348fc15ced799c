"""Waiting for a queue without a call of the driver that waits."""

from __future__ import annotations

import time

from clmst.runtime.handles import Queue

# The system adds some 60 us to a pause, so shorter ones do not end earlier.
_PAUSE_S = 20e-6


def poll(queue: Queue) -> None:
    """Wait for all that is enqueued, and ask for its status again and again.

    A blocking read seems to hold a lock of NVIDIA's driver 580 until it is done: of two H200, one
    got its kernels only after the other one's read. A thread that polls holds no lock in between,
    neither the driver's nor Python's. An error of a command is left to the next call that waits.
    """
    import pyopencl as cl

    marker = cl.enqueue_marker(queue)
    queue.flush()
    while marker.command_execution_status > cl.command_execution_status.COMPLETE:
        time.sleep(_PAUSE_S)
