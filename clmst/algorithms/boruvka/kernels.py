"""Every specialisation of boruvka's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.boruvka.solve import SOURCE, SPLIT_SOURCE
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device; the other steps are shared/kernels.py's."""
    for source in (SOURCE, SPLIT_SOURCE):
        yield specialise(source, capabilities, tuning)
