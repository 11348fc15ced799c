"""Every specialisation of pma's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from clmst.algorithms.pma.solve import SOURCE, defines, lanes_for
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device; the other steps are shared/kernels.py's."""
    for lanes, rows_rise in product({1, lanes_for(capabilities, tuning)}, (False, True)):
        chosen = defines(lanes=lanes, rows_rise=rows_rise)
        yield specialise(SOURCE, capabilities, tuning, **chosen)
