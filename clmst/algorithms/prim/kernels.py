"""Every specialisation of prim's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.prim import mirror, trees
from clmst.algorithms.shared.weights import WIDTHS, every_weight
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device."""
    yield specialise(trees.COMPONENTS_SOURCE, capabilities, tuning)
    for bits in WIDTHS:
        yield specialise(mirror.SOURCE, capabilities, tuning, **mirror.defines(bits))
    for weights in every_weight():
        yield specialise(trees.SOURCE, capabilities, tuning, **weights)
