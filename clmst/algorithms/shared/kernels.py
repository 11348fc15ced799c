"""Every specialisation of this folder's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.shared import contraction, read_back
from clmst.algorithms.shared.weights import WIDTHS, every_weight
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device."""
    for bits in WIDTHS:
        yield specialise(read_back.SOURCE, capabilities, tuning, WEIGHT_BITS=bits)
    for weights in every_weight(False):  # one kernel of it looks at weights
        yield specialise(contraction.SOURCE, capabilities, tuning, **weights, **contraction.DEFINES)
