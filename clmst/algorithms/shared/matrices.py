"""All cells that kernels of complete graphs are built for, but stored weights."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device_graph import weight_defines
from clmst.runtime.device_matrix import doubles_defines


def point_defines(capabilities: Capabilities) -> Iterator[dict[str, int]]:
    """Yield the macros of cells that need doubles; none where a device has no doubles."""
    if not capabilities.doubles:
        return
    for (points, bits, kind), maximum in product(doubles_defines(), (False, True)):
        yield points | {"COMPLETE": 1} | weight_defines(bits, kind, maximum=maximum)
