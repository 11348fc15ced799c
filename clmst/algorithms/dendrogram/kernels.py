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
    yield specialise(SERIAL_SOURCE, capabilities, tuning)
    if tuning.work_group_size > 1:
        yield specialise(CONTRACT_SOURCE, capabilities, tuning)
        yield specialise(CHAINS_SOURCE, capabilities, tuning)
