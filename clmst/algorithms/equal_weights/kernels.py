"""Every specialisation of the kernel for equal weights that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.equal_weights.solve import SOURCE
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield the one of a device; none where work-groups have several work-items."""
    if tuning.work_group_size == 1:
        yield specialise(SOURCE, capabilities, tuning)
