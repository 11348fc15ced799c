"""Every specialisation of ecl's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.ecl.options import (
    EclOptions,
    populate_defines,
    round_defines,
    topology_defines,
)
from clmst.algorithms.ecl.solve import POPULATE_SOURCE, SOURCE, TOPOLOGY_SOURCE
from clmst.algorithms.shared.weights import every_weight
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device: all weights, and the ablation on 32-bit ones."""
    for weights in every_weight():
        yield from _with_options(EclOptions(), weights, capabilities, tuning)
    weights = weight_defines(32, "unsigned", maximum=False)
    known = set(_with_options(EclOptions(), weights, capabilities, tuning))
    for _, options in EclOptions.ablation()[1:]:  # some differ only where lanes combine
        for one in _with_options(options, weights, capabilities, tuning):
            if one not in known:
                known.add(one)
                yield one


def _with_options(
    options: EclOptions, weights: dict[str, int], capabilities: Capabilities, tuning: Policy
) -> Iterator[Specialisation]:
    parts: dict[str, dict[str, int | bool]] = {
        SOURCE: round_defines(options, tuning),
        POPULATE_SOURCE: populate_defines(options, tuning),
    }
    if not options.data_driven:
        parts = {TOPOLOGY_SOURCE: topology_defines(options)}
    for source, defines in parts.items():
        yield specialise(source, capabilities, tuning, **(weights | defines))
