"""Every specialisation of bvh-boruvka's kernels that offline builds build."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.bvh_boruvka import candidates, choice, hierarchy, moved, neighbours, solve
from clmst.algorithms.shared.matrices import point_defines
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device_matrix import METRICS
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield specialisations for a device: of the metrics that bound boxes, each way of lists."""
    if capabilities.doubles:
        for dimensions in (2, 3, 0):
            yield specialise(hierarchy.SOURCE, capabilities, tuning, DIMENSION_CLASS=dimensions)
    metrics = tuple(METRICS[name][0] for name in choice.METRICS)
    for defines in point_defines(capabilities):
        if defines["METRIC"] not in metrics or defines["WEIGHT_DESCENDING"]:
            continue
        yield specialise(solve.SOURCE, capabilities, tuning, **defines)
        if not defines["CORE_DISTANCES"]:
            yield specialise(moved.SOURCE, capabilities, tuning, **defines)
            yield specialise(candidates.SOURCE, capabilities, tuning, **defines)
        for capacity in (8, 32):
            yield specialise(
                neighbours.SOURCE, capabilities, tuning, **defines, NEIGHBOURS=capacity
            )
