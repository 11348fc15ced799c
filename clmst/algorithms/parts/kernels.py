"""Every specialisation of the kernels of parts that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.parts import union
from clmst.algorithms.shared.weights import WIDTHS
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield one for each width of weights."""
    for bits in WIDTHS:
        yield specialise(union.SOURCE, capabilities, tuning, WEIGHT_BITS=bits)
