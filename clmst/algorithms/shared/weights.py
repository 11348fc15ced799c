"""All weights that kernels are built for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from clmst.core.weight_keys import WeightKind
from clmst.runtime.device_graph import weight_defines

# Widths and kinds that encoded weights come in (clmst.core.weight_keys.encode).
WEIGHTS: tuple[tuple[int, WeightKind], ...] = (
    *((bits, "unsigned") for bits in (8, 16, 32, 64)),
    *((bits, "signed") for bits in (8, 16, 32, 64)),
    *((bits, "float") for bits in (16, 32, 64)),
)
WIDTHS = tuple(sorted({bits for bits, _ in WEIGHTS}))


def every_weight(*directions: bool) -> Iterator[dict[str, int]]:
    """Yield the macros of all weights, for minimum (False) and maximum (True) forests.

    Both when no direction is given.
    """
    for (bits, kind), maximum in product(WEIGHTS, directions or (False, True)):
        yield weight_defines(bits, kind, maximum=maximum)
