"""Every specialisation of the dendrogram's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.dendrogram.merge import SERIAL_SOURCE
from clmst.algorithms.dendrogram.parallel import CHAINS_SOURCE, CONTRACT_SOURCE
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device."""
    serial = tuning.work_group_size == 1
    for source in (SERIAL_SOURCE,) if serial else (CONTRACT_SOURCE, CHAINS_SOURCE):
        yield specialise(source, capabilities, tuning)
