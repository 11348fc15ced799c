"""Every specialisation of the kernels of edge streams that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.edge_stream import edges, generated, passes
from clmst.algorithms.shared.weights import every_weight
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield all weights, and representatives of all generated edges."""
    for weights in every_weight():
        for source in (edges.SOURCE, passes.SOURCE):
            yield specialise(source, capabilities, tuning, **weights)
    for prelude, defines in generated.representatives():
        yield specialise(generated.SOURCE, capabilities, tuning, prelude, **defines)
