"""Borůvka's algorithm made of primitives, without atomics."""

from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

RECORD = AlgorithmRecord(
    name="boruvka",
    purpose="recursive contraction made of primitives alone",
    good_for="devices without atomics on global memory; to compare",
    rank=60,
    bytes_needed=(0, 85),
)
