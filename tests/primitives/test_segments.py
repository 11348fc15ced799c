"""Segments by offsets, and one result a segment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from clmst import Device, DeviceArray
from clmst.core.errors import ClmstError
from clmst.primitives import end_flags, head_flags, segmented_reduce


def refusals(device: Device) -> dict[str, tuple[Callable[[], object], str]]:
    """Return bad calls, and words of the errors that they must get."""
    values = DeviceArray.from_host(np.arange(8, dtype=np.uint32), device)
    flags = DeviceArray.from_host(np.zeros(8, np.uint8), device)
    offsets = DeviceArray.from_host(np.array([0, 8], np.uint32), device)
    none = DeviceArray.empty(0, np.uint32, device)
    reduce_any: Any = segmented_reduce  # whose types refuse some of these
    return {
        "both": (lambda: reduce_any(values, flags, offsets=offsets), "one way"),
        "neither": (lambda: reduce_any(values), "one way"),
        "short flags": (lambda: segmented_reduce(values, flags[:7]), "must have 8"),
        "no offsets": (lambda: segmented_reduce(values, offsets=none), "one more than"),
        "no offsets for flags": (lambda: head_flags(none, 3), "one more than"),
        "wide offsets": (lambda: head_flags(values.view(np.uint64), 3), "must be of uint32"),
        "small out": (lambda: segmented_reduce(values, flags, out=values[:1]), "at least"),
        "out is read": (lambda: segmented_reduce(values, flags, out=values), "overlap"),
        "ends over heads": (lambda: end_flags(flags, out=flags), "overlap"),
        "ends of words": (lambda: end_flags(values), "must be of uint8"),
        "array": (lambda: reduce_any(np.arange(3), flags), "device arrays"),
    }


def test_refusals(any_device: Device) -> None:
    """Each bad call gets one clear error, whichever way it is bad."""
    for name, (call, words) in refusals(any_device).items():
        with pytest.raises(ClmstError) as caught:
            call()
        assert words in str(caught.value), name
