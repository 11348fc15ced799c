"""Specialisations of the primitives' kernels: representatives of all that a device can get."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from clmst.primitives.chain import SOURCE as CHAIN_SOURCE
from clmst.primitives.chain import scan_defines
from clmst.primitives.compact import representatives as selections
from clmst.primitives.histogram import representatives as histograms
from clmst.primitives.map import representatives as maps
from clmst.primitives.monoid import Monoid
from clmst.primitives.permute import representatives as permutations
from clmst.primitives.scan import PROPAGATE_SOURCE
from clmst.primitives.segments import SOURCE as SEGMENTS_SOURCE
from clmst.primitives.split import specialisations_of_split as splits
from clmst.primitives.sweeps import SOURCE as SCAN_SOURCE
from clmst.primitives.sweeps import Segments, sweep_defines
from clmst.primitives.widen import representatives as widenings
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise

# Neither commutative nor a scalar.
_MATRIX_PRODUCT = Monoid(
    dtype=np.dtype([(name, np.uint32) for name in ("a", "b", "c", "d")]),
    combine="(uint4)(a.x * b.x + a.y * b.z, a.x * b.y + a.y * b.w,"
    " a.z * b.x + a.w * b.z, a.z * b.y + a.w * b.w)",
    identity="(uint4)(1, 0, 0, 1)",
    name="matrix product",
)


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield representatives of all primitives: each kernel, size and kind of element."""
    yield from _scans(capabilities, tuning)
    for source, defines in (*splits(capabilities, tuning), *permutations(), *widenings()):
        yield specialise(source, capabilities, tuning, **defines)
    for source, prelude, more in (*selections(capabilities, tuning), *maps(), *histograms()):
        yield specialise(source, capabilities, tuning, prelude, **more)


def _scans(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    scalars = [np.uint32, np.int32, np.float32, np.uint64, np.int64, np.uint8, np.int16]
    if capabilities.doubles:
        scalars.append(np.float64)
    monoids = [
        *(Monoid.sum(dtype) for dtype in scalars),
        Monoid.minimum(np.uint64),
        Monoid.minimum_by_key(np.float32),
        _MATRIX_PRODUCT,
    ]
    # Exclusive and inclusive scans differ in one assignment, so they alternate.
    for (k, monoid), ways in product(enumerate(monoids), Segments):
        if ways != Segments.PACKED or monoid.dtype.kind == "u":
            defines = sweep_defines(tuning, segments=ways, exclusive=(k + ways) % 2 == 0)
            yield specialise(SCAN_SOURCE, capabilities, tuning, monoid.prelude, **defines)
            chain = scan_defines(
                capabilities,
                tuning,
                item_bytes=monoid.dtype.itemsize,
                segments=ways,
                exclusive=(k + ways) % 2 == 0,
            )
            if chain["WG_SIZE"] > 1 and monoid.exact and k % 3 == 0:
                yield specialise(CHAIN_SOURCE, capabilities, tuning, monoid.prelude, **chain)
    for monoid in (monoids[0], _MATRIX_PRODUCT):
        defines = sweep_defines(tuning, segments=Segments.NONE, exclusive=True)
        yield specialise(PROPAGATE_SOURCE, capabilities, tuning, monoid.prelude, **defines)
        yield specialise(SEGMENTS_SOURCE, capabilities, tuning, monoid.prelude)
