"""The table of all families of kernels, which devices are tested for (``runtime/trust.py``)."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms import ALGORITHMS
from clmst.algorithms import families as of_algorithms
from clmst.algorithms.canonical_csr.family import CANONICAL_CSR
from clmst.algorithms.edge_stream.family import EDGE_PASSES, EDGE_STREAM
from clmst.algorithms.equal_weights.family import EQUAL_WEIGHTS
from clmst.algorithms.parts.family import PARTS
from clmst.algorithms.small_matrix.family import SMALL_MATRIX
from clmst.primitives import families as of_primitives
from clmst.repeated import families as of_rounds
from clmst.runtime.device import Device
from clmst.runtime.trust import KernelFamily
from clmst.runtime.verdicts import Verdict

FAMILIES: tuple[KernelFamily, ...] = (
    *map(of_algorithms.family_of, sorted(ALGORITHMS)),
    of_algorithms.COMPLETE,
    of_algorithms.TILES,
    of_algorithms.POINTS,
    of_algorithms.CORE_NUMBERS,
    of_algorithms.DENDROGRAM,
    of_algorithms.CSR_VALIDATION,
    CANONICAL_CSR,
    SMALL_MATRIX,
    EQUAL_WEIGHTS,
    of_algorithms.PROOF,
    of_algorithms.COMPLETE_PROOF,
    EDGE_STREAM,
    EDGE_PASSES,
    PARTS,
    of_rounds.ROUNDS,
    of_rounds.SERIES,
    of_rounds.WARM_START,
    of_rounds.MOVED,
    *of_primitives.FAMILIES.values(),
)
BY_NAME = {family.name: family for family in FAMILIES}


def tested(device: Device, family: KernelFamily) -> Iterator[Verdict]:
    """Test a family anew in each of its usual cases, in a child process, till one fails.

    In none if its kernels are not for such a device.
    """
    for case in family.cases if family.suits(device) else ():
        verdict = device.trust.test(family, case, apart=True)
        yield verdict
        if not verdict.passed:
            return
