"""Checks that a device makes on the way, and whose outcome the host reads with a result.

A call that only enqueues work cannot raise an error about numbers that it has not read. The kernels
note the first fault in a word beside the result. A read of the result to the host reads that word,
too, and raises the error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clmst.core.errors import ClmstError
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher

NO_FAULT = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, eq=False)
class DeferredCheck:
    """A check whose outcome is a word on the device: the number of the first fault, or NO_FAULT."""

    word: Memory
    error: Callable[[int], ClmstError]  # the error about the fault of a number

    @classmethod
    def begin(cls, launch: Launcher, error: Callable[[int], ClmstError]) -> DeferredCheck:
        """Return a check that has found no fault yet. Kernels lower its word by atomic_min."""
        word = launch.device.allocate(4)
        launch.fill(word, NO_FAULT, 1)
        return cls(word, error)
