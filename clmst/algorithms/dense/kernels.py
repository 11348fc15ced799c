"""Every specialisation of dense's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.dense.lightest import SOURCE as LIGHTEST_SOURCE
from clmst.algorithms.dense.nearest import SOURCE as NEAREST_SOURCE
from clmst.algorithms.dense.plan import BUILD_SOURCE, SOURCE, key_defines
from clmst.algorithms.dense.tiles import HAVE_SQUARES, tile_defines
from clmst.algorithms.dense.tiles import SOURCE as PACK_SOURCE
from clmst.algorithms.shared.matrices import point_defines
from clmst.algorithms.shared.weights import every_weight
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device_matrix import METRICS
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device: matrices whole and with gaps, and points."""
    for weights in every_weight():
        yield specialise(BUILD_SOURCE, capabilities, tuning, **weights)
        yield specialise(SOURCE, capabilities, tuning, **weights, COMPLETE=1)
    for wide in (False, True):
        yield specialise(SOURCE, capabilities, tuning, **key_defines(wide=wide))
    for defines in point_defines(capabilities):
        yield specialise(SOURCE, capabilities, tuning, **defines)
    if capabilities.doubles:
        yield from _of_tiles(capabilities, tuning)


def _of_tiles(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation of kernels of tiles; on a sphere points have few dimensions."""
    for metric, (_, _, kind) in METRICS.items():
        if metric == "great-circle":
            continue
        for core in (False, True) if kind == "float" else (False,):
            defines = tile_defines(metric, capabilities, tuning, core=core)
            if not core:
                yield specialise(PACK_SOURCE, capabilities, tuning, **defines)
            for products in (0, 1) if metric in HAVE_SQUARES else (0,):
                defines |= {"FILTER_PRODUCTS": 1} if products else {}
                yield specialise(LIGHTEST_SOURCE, capabilities, tuning, **defines)
                if kind == "float" and not core:
                    yield specialise(NEAREST_SOURCE, capabilities, tuning, **defines)
