"""Devices that lack something."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clmst import Device


def with_capabilities(device: Device, **changes: Any) -> Device:
    """Return the same device, which thinks that it can do other things."""
    other = device.with_policy(device.policy)
    other.capabilities = replace(device.capabilities, **changes)
    return other
