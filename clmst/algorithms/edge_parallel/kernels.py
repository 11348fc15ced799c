"""Every specialisation of edge-parallel's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import get_args

from clmst.algorithms.edge_parallel.options import EdgeParallelOptions, UnionFind
from clmst.algorithms.edge_parallel.solve import SOURCE
from clmst.algorithms.edge_parallel.solve import defines as defines_of
from clmst.algorithms.shared.weights import WEIGHTS
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield all weights by the usual sets, and the other sets on one of each width of words."""
    for (bits, kind), maximum in product(WEIGHTS, (False, True)):
        for union_find in get_args(UnionFind):
            if union_find == EdgeParallelOptions().union_find or (
                (bits, kind, maximum) in ((32, "unsigned", False), (64, "unsigned", False))
            ):
                defines = weight_defines(bits, kind, maximum=maximum)
                defines |= defines_of(union_find, capabilities.kind)
                yield specialise(SOURCE, capabilities, tuning, **defines)
