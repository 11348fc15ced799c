"""Devices that lack capabilities, or that report other properties."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from clmst import Device, get_device


def with_capabilities(device: Device, **changes: Any) -> Device:
    """Return the same device with changed capabilities, which it then believes to have."""
    other = device.with_policy(device.policy)
    other.capabilities = replace(device.capabilities, **changes)
    return other


@contextmanager
def chosen_with(**changes: Any) -> Iterator[None]:
    """Change the capabilities of the default device while the body runs."""
    device = get_device()
    with patch.object(device, "capabilities", replace(device.capabilities, **changes)):
        yield


class Saying:
    """An OpenCL device that reports some given properties, and all others like another device."""

    def __init__(self, cl_device: Any, **facts: Any) -> None:
        self._cl_device = cl_device
        vars(self).update(facts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cl_device, name)
