"""Every specialisation of core numbers's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.k_core.core_numbers import (
    MIRROR_SOURCE,
    PEEL_SOURCE,
    SERIAL_SOURCE,
    SOURCE,
)
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device."""
    peel = SERIAL_SOURCE if tuning.work_group_size == 1 else PEEL_SOURCE
    for source in (SOURCE, MIRROR_SOURCE, peel):
        yield specialise(source, capabilities, tuning)
