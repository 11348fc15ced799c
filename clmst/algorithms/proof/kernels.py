"""Every specialisation of the proof's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.proof import claim, tree
from clmst.algorithms.shared.matrices import point_defines
from clmst.algorithms.shared.weights import every_weight
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device."""
    yield specialise(tree.SOURCE, capabilities, tuning)
    for weights in every_weight():
        for source in (claim.SOURCE, claim.EDGES_SOURCE, claim.MATRIX_SOURCE):
            yield specialise(source, capabilities, tuning, **weights)
    for defines in point_defines(capabilities):
        yield specialise(claim.MATRIX_SOURCE, capabilities, tuning, **claim.matrix_defines(defines))
