"""Every specialisation of the kernel for small matrices that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.shared.weights import every_weight
from clmst.algorithms.small_matrix.solve import SOURCE
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device; none where work-groups have several work-items."""
    if tuning.work_group_size == 1:
        for weights in every_weight():
            yield specialise(SOURCE, capabilities, tuning, **weights)
