"""The family of kernels of parts on several devices, and its self-test (``runtime/trust.py``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.runtime.device import Device
from clmst.runtime.trust import KernelFamily


@dataclass(frozen=True, slots=True)
class PartsCase:
    """What decides which kernels list and unite the forests of parts.

    Attributes
    ----------
    bits : int
        Of a word of weight.
    """

    bits: int = 32

    def __str__(self) -> str:
        return f"{self.bits}-bit words"


def _failure(device: Device, case: PartsCase) -> str | None:
    from clmst.algorithms.parts import self_test

    return self_test.parts_failure(device, case)


PARTS = KernelFamily(
    name="parts",
    what="parts of a graph on several devices",
    test=_failure,
    cases=(PartsCase(), PartsCase(64)),
)


def require(device: Device, word: np.dtype[Any]) -> None:
    """Raise :class:`UnsupportedDeviceError` unless a device may have a part of a graph."""
    if not device.trust.given:
        device.trust.require(PARTS, PartsCase(8 * word.itemsize))
