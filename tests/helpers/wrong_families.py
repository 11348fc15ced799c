"""Let families of kernels fail their self-tests, whatever their kernels do. Other families pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from clmst import Device
from clmst.runtime.kernel_family import KernelFamily
from tests.helpers.caches import resolving_anew


class WrongFamilies:
    """The names of the families that are refused, and of the families that were tested."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.tested: list[str] = []


@contextmanager
def wrong_families() -> Iterator[WrongFamilies]:
    """Let a test choose which families are refused while the body runs.

    Devices then begin with an empty cache, in which no self-test has been passed.
    """
    made = WrongFamilies()

    def failure(family: KernelFamily, device: Device, case: object) -> str | None:
        made.tested.append(family.name)
        return "3 edges came out wrong" if family.name in made.names else None

    with resolving_anew(), patch.object(KernelFamily, "failure", failure):
        yield made
