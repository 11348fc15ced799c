"""Families of kernels that fail their self-tests, whatever their kernels do; others pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from clmst import Device
from clmst.runtime.kernel_family import KernelFamily
from tests.helpers.caches import resolving_anew


class WrongFamilies:
    """Families that are refused by name, and what was tested."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.tested: list[str] = []


@contextmanager
def wrong_families() -> Iterator[WrongFamilies]:
    """Let a test say what is refused, on devices that have passed nothing in an empty cache."""
    made = WrongFamilies()

    def failure(family: KernelFamily, device: Device, case: object) -> str | None:
        made.tested.append(family.name)
        return "3 edges came out wrong" if family.name in made.names else None

    with resolving_anew(), patch.object(KernelFamily, "failure", failure):
        yield made
