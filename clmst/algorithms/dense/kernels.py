"""Every specialisation of dense's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.dense.plan import BUILD_SOURCE, SOURCE, key_defines
from clmst.algorithms.shared.matrices import point_defines
from clmst.algorithms.shared.weights import every_weight
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.program import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device: matrices whole and with gaps, and points."""
    for weights in every_weight():
        yield specialise(BUILD_SOURCE, capabilities, tuning, **weights)
        yield specialise(SOURCE, capabilities, tuning, **weights, COMPLETE=1)
    for wide in (False, True):
        yield specialise(SOURCE, capabilities, tuning, **key_defines(wide=wide))
    for defines in point_defines(capabilities):
        yield specialise(SOURCE, capabilities, tuning, **defines)
