"""Every specialisation of the kernels for canonical order that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.canonical_csr.arrange import SOURCE
from clmst.algorithms.shared.weights import every_weight
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device."""
    for weights in every_weight(False):
        yield specialise(SOURCE, capabilities, tuning, **weights)
