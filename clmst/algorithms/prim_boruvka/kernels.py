"""Every specialisation of prim-boruvka's kernels that a device can get."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.boruvka.kernels import specialisations as of_boruvka
from clmst.algorithms.prim.kernels import specialisations as of_prim
from clmst.algorithms.prim_boruvka.solve import SOURCE
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device, those of the two algorithms it is made of too."""
    yield specialise(SOURCE, capabilities, tuning)
    yield from of_boruvka(capabilities, tuning)
    yield from of_prim(capabilities, tuning)
