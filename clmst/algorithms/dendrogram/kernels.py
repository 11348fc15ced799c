"""Every specialisation of the dendrogram's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.dendrogram.merge import SERIAL_SOURCE
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.program import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device."""
    yield specialise(SERIAL_SOURCE, capabilities, tuning)
