"""Checks by kernels, whose outcome the host reads later, together with a result.

A call that only enqueues work cannot raise an error about numbers that it has not read. Instead,
its kernels store the number of the first fault in a word beside the result. When the result is
read, the host reads that word as well, and raises the error.
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
    """A check whose outcome is a word on the device.

    The word is the number of the first fault, or NO_FAULT. `error` is a function that creates the
    exception for the number of a fault.
    """

    word: Memory
    error: Callable[[int], ClmstError]

    @classmethod
    def begin(cls, launch: Launcher, error: Callable[[int], ClmstError]) -> DeferredCheck:
        """Allocate the word of a new check and set it to NO_FAULT.

        A kernel that finds a fault lowers the word to the number of the fault by ``atomic_min``.
        `error` creates the exception for the number of the first fault.
        """
        word = launch.device.allocate(4)
        launch.fill(word, NO_FAULT, 1)
        return cls(word, error)
