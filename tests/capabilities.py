"""Devices that lack something."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from clmst import Device, get_device


def with_capabilities(device: Device, **changes: Any) -> Device:
    """Return the same device, which thinks that it can do other things."""
    other = device.with_policy(device.policy)
    other.capabilities = replace(device.capabilities, **changes)
    return other


@contextmanager
def chosen_with(**changes: Any) -> Iterator[None]:
    """Let the device that is used when none is asked for think so meanwhile."""
    device = get_device()
    usual = device.capabilities
    device.capabilities = replace(usual, **changes)
    try:
        yield
    finally:
        device.capabilities = usual
