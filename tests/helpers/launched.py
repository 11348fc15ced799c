"""List the kernels that `simulated` launches, on the default device instead of Oclgrind.

    python -m tests.helpers.launched gpu-shape python -m tests.helpers.launched cpu int64-atomics

Prints each kernel in each specialisation, after the output of ``simulated`` itself. Run it before
and after a change of the graphs there. With smaller graphs no kernel may be missing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

import clmst
from clmst.runtime.handles import Event, KernelArgument
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program
from tests.helpers import simulated


@contextmanager
def launches() -> Iterator[list[str]]:
    """Record the kernels that are launched while the body runs."""
    launched = list[str]()
    launch = Launcher.__call__

    def note(
        self: Launcher, program: Program, name: str, groups: int, *arguments: KernelArgument
    ) -> Event:
        launched.append(f"{program.specialisation.label}: {name}")
        return launch(self, program, name, groups, *arguments)

    with patch.object(Launcher, "__call__", note):
        yield launched


@dataclass(slots=True)
class Transfers:
    """Bytes of each copy of an array to a device, and of each one back."""

    up: list[int] = field(default_factory=list)
    down: list[int] = field(default_factory=list)


@contextmanager
def transfers() -> Iterator[Transfers]:
    """Note the copies of arrays to devices, and back, that are enqueued meanwhile."""
    import pyopencl as cl

    noted, copy = Transfers(), cl.enqueue_copy

    def note(queue: Any, dest: Any, src: Any, **how: Any) -> Any:
        for array, to in ((src, noted.up), (dest, noted.down)):
            if isinstance(array, np.ndarray):
                to.append(array.nbytes)
        return copy(queue, dest, src, **how)

    with patch.object(cl, "enqueue_copy", note):
        yield noted


def main(shape: str, *without: str) -> None:
    simulated.only_device = clmst.get_device  # type: ignore[attr-defined]
    with launches() as launched:
        simulated.main(shape, *without)
    print("\n".join(sorted({*launched})))


if __name__ == "__main__":
    main(*sys.argv[1:])
