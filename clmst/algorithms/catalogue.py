"""Every specialisation of every kernel that a device can get: what must build everywhere."""

from __future__ import annotations

from collections.abc import Iterator

from clmst.algorithms.bvh_boruvka import kernels as of_bvh_boruvka
from clmst.algorithms.canonical_csr import kernels as of_canonical_csr
from clmst.algorithms.csr_validation import kernels as of_csr_validation
from clmst.algorithms.dendrogram import kernels as of_dendrogram
from clmst.algorithms.edge_stream import kernels as of_edge_stream
from clmst.algorithms.equal_weights import kernels as of_equal_weights
from clmst.algorithms.k_core import kernels as of_k_core
from clmst.algorithms.parts import kernels as of_parts
from clmst.algorithms.proof import kernels as of_proof
from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.reweighting import kernels as of_reweighting
from clmst.algorithms.shared import kernels as of_several
from clmst.algorithms.small_matrix import kernels as of_small_matrix
from clmst.primitives import catalogue
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Specialisation, specialise


def specialisations(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    """Yield every specialisation for a device, each once."""
    yield from dict.fromkeys(_all(capabilities, tuning))


def _all(capabilities: Capabilities, tuning: Policy) -> Iterator[Specialisation]:
    yield from catalogue.specialisations(capabilities, tuning)
    for source in ("device/trial.cl", "device/fill.cl"):
        yield specialise(source, capabilities, tuning)
    folders = (
        of_several, of_bvh_boruvka, of_canonical_csr, of_csr_validation, of_dendrogram,
        of_edge_stream, of_equal_weights, of_k_core, of_parts, of_proof, of_reweighting,
        of_small_matrix,
    )  # fmt: skip
    for folder in folders:
        yield from folder.specialisations(capabilities, tuning)
    for record in ALGORITHMS.values():
        yield from record.specialisations(capabilities, tuning)
