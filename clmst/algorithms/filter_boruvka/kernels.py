"""Every specialisation of filter-boruvka's kernels that a device can get, in both shapes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from clmst.algorithms.filter_boruvka import cpu, plan
from clmst.algorithms.shared.weights import every_weight
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device."""
    for weights, symmetric in product(every_weight(), (False, True)):
        defines = weights | plan.defines(tuning, symmetric=symmetric)
        yield specialise(plan.SOURCE, capabilities, tuning, **defines)
        if tuning.resident_groups_per_compute_unit > 0:  # else only where it is asked for by name
            for one_window in (False, True):
                shape = plan.resident_defines(tuning, symmetric=symmetric, one_window=one_window)
                yield specialise(plan.RESIDENT_SOURCE, capabilities, tuning, **weights, **shape)
            shape = plan.finish_defines(tuning, symmetric=symmetric)
            yield specialise(plan.FINISH_SOURCE, capabilities, tuning, **weights, **shape)
    for weights in every_weight():
        for source in (cpu.SOURCE, cpu.FIRST_SOURCE):
            yield specialise(source, capabilities, tuning, **cpu.defines(weights))
