"""The family of kernels that bring edges into canonical order (``runtime/trust.py``)."""

from __future__ import annotations

from clmst.algorithms.families import CsrValidationCase
from clmst.core.weight_keys import Encoding
from clmst.runtime.device import Device
from clmst.runtime.trust import KernelFamily


def _failure(device: Device, case: CsrValidationCase) -> str | None:
    from clmst.algorithms.canonical_csr import self_test

    return self_test.canonical_csr_failure(device, case)


CANONICAL_CSR = KernelFamily(
    name="canonical-csr",
    what="edges of arrays and matrices in canonical order; where it is refused, by the host",
    test=_failure,
    cases=(CsrValidationCase(), CsrValidationCase(64, "float")),
)


def is_trusted(device: Device, encoding: Encoding) -> bool:
    """Return whether a device has shown that it sorts edges; else the host does."""
    case = CsrValidationCase(bits=8 * encoding.word.itemsize, kind=encoding.kind)
    return device.trust.given or device.trust.refusal(CANONICAL_CSR, case) is None
