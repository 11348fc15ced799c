"""Every specialisation of this folder's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.reweighting import repeated, sensitivity, series
from clmst.algorithms.shared.weights import every_weight
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device."""
    for source in (sensitivity.CLASSIFY_SOURCE, series.SOURCE):
        yield specialise(source, capabilities, tuning)
    for weights in every_weight():
        yield specialise(sensitivity.SOURCE, capabilities, tuning, **weights)
    for weights in every_weight(False):
        yield specialise(repeated.SOURCE, capabilities, tuning, **weights)
